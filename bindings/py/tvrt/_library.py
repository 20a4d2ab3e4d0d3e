# SPDX-License-Identifier: Apache-2.0
"""libtvrt's C API as tvrt.h declares it."""

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

MAX_RANK = 8
TENSOR, SEQUENCE, NONE = range(3)
STRING = 8
OPTIONAL, HAS_DEFAULT = 1, 2


class String(Structure):
    _fields_ = [("data", c_void_p), ("size", c_int64)]


class Value(Structure):
    pass


Value._fields_ = [
    ("kind", c_int32),
    ("dtype", c_int32),
    ("rank", c_int32),
    ("reserved", c_int32),
    ("dims", c_int64 * MAX_RANK),
    ("data", c_void_p),
    ("bytes", c_int64),
    ("count", c_int64),
    ("items", POINTER(Value)),
]


class ValueInfo(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int32),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("flags", c_uint32),
        ("dims", POINTER(c_int64)),
        ("dim_names", POINTER(c_char_p)),
        ("dim_symbols", POINTER(c_int32)),
    ]


class SymbolInfo(Structure):
    _fields_ = [("name", c_char_p), ("source_name", c_char_p), ("low", c_int64), ("high", c_int64)]


class ModelOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("verify", c_int32),
        ("reserved", c_int32),
        ("target", c_char_p),
        ("program", c_void_p),
    ]


class ContextOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int32),
        ("reserved", c_int32),
        ("parallel", c_void_p),
        ("parallel_user", c_void_p),
        ("allocate", c_void_p),
        ("deallocate", c_void_p),
        ("allocator_user", c_void_p),
    ]


METRICS = ("runs", "p50_ns", "p95_ns", "p99_ns", "arena_bytes", "pool_bytes", "state_bytes", "weight_bytes")


class Metrics(Structure):
    _fields_ = [("size", c_size_t)] + [(name, c_int64) for name in METRICS]


FUNCTIONS = {
    "tvrt_version": (c_uint32, []),
    "tvrt_last_error": (c_char_p, []),
    "tvrt_model_open": (c_int32, [c_char_p, POINTER(ModelOptions), POINTER(c_void_p)]),
    "tvrt_model_close": (None, [c_void_p]),
    "tvrt_model_input_count": (c_int32, [c_void_p]),
    "tvrt_model_output_count": (c_int32, [c_void_p]),
    "tvrt_model_symbol_count": (c_int32, [c_void_p]),
    "tvrt_model_input_info": (POINTER(ValueInfo), [c_void_p, c_int32]),
    "tvrt_model_output_info": (POINTER(ValueInfo), [c_void_p, c_int32]),
    "tvrt_model_symbol_info": (POINTER(SymbolInfo), [c_void_p, c_int32]),
    "tvrt_model_target": (c_char_p, [c_void_p]),
    "tvrt_model_metadata": (c_char_p, [c_void_p, c_char_p]),
    "tvrt_context_create": (c_int32, [c_void_p, POINTER(ContextOptions), POINTER(c_void_p)]),
    "tvrt_context_destroy": (None, [c_void_p]),
    "tvrt_context_set_input": (c_int32, [c_void_p, c_int32, c_void_p]),
    "tvrt_context_bind_output": (c_int32, [c_void_p, c_int32, c_void_p, c_int64]),
    "tvrt_context_prepare": (c_int32, [c_void_p]),
    "tvrt_context_reserve": (c_int32, [c_void_p, POINTER(c_int64)]),
    "tvrt_context_run": (c_int32, [c_void_p]),
    "tvrt_context_output": (c_int32, [c_void_p, c_int32, POINTER(POINTER(Value))]),
    "tvrt_context_reset": (None, [c_void_p]),
    "tvrt_context_error": (c_char_p, [c_void_p]),
    "tvrt_context_threads": (c_int32, [c_void_p]),
    "tvrt_context_metrics": (c_int32, [c_void_p, POINTER(Metrics)]),
}


def _load():
    beside = Path(__file__).with_name("libtvrt.so")
    library = ctypes.CDLL(str(beside) if beside.exists() else "libtvrt.so.0")
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


class Error(RuntimeError):
    """A call of the runtime failed; status is its code."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


def text(raw):
    return raw.decode("utf-8", "replace") if raw is not None else None


def check_open(status):
    if status:
        raise Error(text(lib.tvrt_last_error()), status)


__all__ = ["byref", "check_open", "lib", "text"]
