# SPDX-License-Identifier: Apache-2.0
"""numpy arrays, lists and None from and to the runtime's values.

Types that numpy lacks are ml_dtypes'. Elements of 2 and 4 bits take a byte each in an array and are packed, low bits
first, in a value.
"""

import ctypes

import numpy as np

from ._library import MAX_RANK, NONE, SEQUENCE, STRING, TENSOR, Error, String, Value

# By ONNX's TensorProto.DataType.
NAMES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "object",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
}
NUMBERS = {name: number for number, name in NAMES.items()}
SUB_BYTE = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
SIGNED = {22: 4, 26: 2}
_dtypes = {}


def dtype_of(number):
    """The numpy dtype of a type's number."""
    if number not in _dtypes:
        if number < 16:
            _dtypes[number] = np.dtype(NAMES[number])
        else:
            import ml_dtypes

            _dtypes[number] = np.dtype(getattr(ml_dtypes, NAMES[number]))
    return _dtypes[number]


def _number_of(array):
    if array.dtype.kind in "US":
        return STRING
    number = NUMBERS.get(array.dtype.name)
    if number is None or not array.dtype.isnative:
        raise Error(f"arrays of {array.dtype} are not supported")
    return number


def pack(array, bits):
    """One element a byte to packed bytes."""
    per_byte = 8 // bits
    flat = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-flat.size // per_byte) * per_byte, np.uint8)
    padded[: flat.size] = flat
    groups = padded.reshape(-1, per_byte)
    packed = np.zeros(len(groups), np.uint8)
    for k in range(per_byte):
        packed |= groups[:, k] << (bits * k)
    return packed


def unpack(packed, count, number):
    bits = SUB_BYTE[number]
    fields = [(packed >> (bits * k)) & ((1 << bits) - 1) for k in range(8 // bits)]
    flat = np.stack(fields, axis=-1).reshape(-1)[:count].astype(np.uint8)
    if number in SIGNED:
        sign = 1 << (bits - 1)
        flat = ((flat ^ sign).astype(np.int16) - sign).astype(np.int8)
    return flat.view(dtype_of(number))


def _strings(array):
    """Descriptors of the elements and what keeps them alive."""
    texts = [item if isinstance(item, bytes) else str(item).encode() for item in array.reshape(-1)]
    table = (String * max(len(texts), 1))()
    for entry, item in zip(table, texts):
        entry.data, entry.size = ctypes.cast(ctypes.c_char_p(item), ctypes.c_void_p), len(item)
    return table, texts


def fill_tensor(value, array, number):
    """Makes `value` describe the array (a contiguous one in place); returns what must stay alive."""
    if not isinstance(array, (np.ndarray, np.generic)):
        array = np.asarray(array, dtype_of(number))
    array = np.asarray(array)
    if array.ndim > MAX_RANK:
        raise Error(f"arrays of more than {MAX_RANK} dimensions are not supported")
    value.kind, value.dtype, value.rank = TENSOR, _number_of(array), array.ndim
    value.dims[: array.ndim] = array.shape
    if value.dtype == STRING:
        table, kept = _strings(array)
        value.data, value.bytes = ctypes.addressof(table), 16 * array.size
        return table, kept
    if not array.flags.c_contiguous:
        array = array.copy(order="C")
    if value.dtype in SUB_BYTE:
        array = pack(array, SUB_BYTE[value.dtype])
    value.data, value.bytes = array.__array_interface__["data"][0], array.nbytes
    return array


def fill(value, given, kind, number):
    """The same for anything that a model takes."""
    if given is None:
        value.kind = NONE
        return None
    if kind == SEQUENCE or isinstance(given, (list, tuple)) and kind != TENSOR:
        items = (Value * max(len(given), 1))()
        kept = [fill(item, part, None if isinstance(part, (list, tuple)) else TENSOR, number) for item, part in zip(items, given)]
        value.kind, value.dtype, value.rank = SEQUENCE, number, 0
        value.count, value.items = len(given), items
        return items, kept
    return fill_tensor(value, given, number)


def _tensor_copy(value):
    shape = tuple(value.dims[: value.rank])
    count = int(np.prod(shape, dtype=np.int64))
    dtype = dtype_of(value.dtype)
    if count == 0:
        return np.empty(shape, dtype)
    if value.dtype == STRING:
        table = ctypes.cast(value.data, ctypes.POINTER(String))
        texts = [ctypes.string_at(table[k].data, table[k].size).decode("utf-8", "replace") if table[k].size else "" for k in range(count)]
        array = np.empty(count, object)
        array[:] = texts
        return array.reshape(shape)
    bits = SUB_BYTE.get(value.dtype, 8 * dtype.itemsize)
    raw = np.frombuffer(ctypes.string_at(value.data, -(-count * bits // 8)), np.uint8)
    if value.dtype in SUB_BYTE:
        return unpack(raw, count, value.dtype).reshape(shape)
    return raw.copy().view(dtype).reshape(shape)


def copied(value):
    """The value as an array, a list, or None, in memory of its own."""
    if value.kind == NONE:
        return None
    if value.kind == SEQUENCE:
        return [copied(value.items[k]) for k in range(value.count)]
    return _tensor_copy(value)
