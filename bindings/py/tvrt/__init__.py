# SPDX-License-Identifier: Apache-2.0
"""Runs models that tvc compiled.

    model = tvrt.load("model.tvc", threads=2)
    results = model.run({"image": array})

Contiguous inputs are read in place, results belong to the caller. bfloat16, float8 and 2- and 4-bit types are ml_dtypes
arrays, strings are arrays of objects, sequences are lists, an empty optional is None.
"""

import ctypes
import os
import threading
from collections import namedtuple

import numpy as np

from . import _values
from ._library import (
    HAS_DEFAULT,
    METRICS,
    OPTIONAL,
    SEQUENCE,
    STRING,
    TENSOR,
    ContextOptions,
    Error,
    Metrics,
    ModelOptions,
    Value,
    byref,
    check_open,
    lib,
    text,
)

__all__ = ["Error", "Model", "Signature", "load", "version"]

# An input or output: shape has sizes, and names where a size is free; dtype is numpy's (a sequence's: of its items).
Signature = namedtuple("Signature", "name shape dtype")
VERIFY = {"default": 0, "all": 1, "code": 2}


def version():
    number = lib.tvrt_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def load(path, threads=0, dims=None, target=None, verify="default"):
    """Opens an artifact.

    threads: 0 for the physical cores that the process may use. dims: sizes of free dimensions by name, for which memory
    is got now rather than in the first run. target: the variant to use. verify: whether weights are checked against
    their hash ("all"), or not ("code"); by default they are where that is quick.
    """
    return Model(path, threads, dims, target, verify)


def _dimension(info, axis, symbols):
    """Its size, or the source model's name of it, or the expression that it is."""
    if info.dims[axis] >= 0:
        return info.dims[axis]
    symbol = info.dim_symbols[axis]
    return symbols[symbol][1] if symbol >= 0 else text(info.dim_names[axis])


class _Slot:
    """An input or output of the model."""

    def __init__(self, info, symbols):
        self.name = text(info.name)
        self.kind, self.number, self.flags = info.kind, info.dtype, info.flags
        self.shape = [_dimension(info, k, symbols) for k in range(max(info.rank, 0))]
        self.any_shape = info.rank < 0
        self.bindable = self.kind == TENSOR and not self.any_shape and self.number != STRING and self.number not in _values.SUB_BYTE
        self.value = Value()
        self.pointer = ctypes.addressof(self.value)

    def signature(self):
        return Signature(self.name, None if self.any_shape else self.shape, _values.dtype_of(self.number))


class Model:
    """An open artifact with one context. Threads may share it; their runs take turns."""

    def __init__(self, path, threads=0, dims=None, target=None, verify="default"):
        self._model, self._context = ctypes.c_void_p(), ctypes.c_void_p()
        self._lock = threading.Lock()
        options = ModelOptions(size=ctypes.sizeof(ModelOptions), verify=VERIFY[verify])
        options.target = target.encode() if target else None
        check_open(lib.tvrt_model_open(os.fsencode(path), byref(options), byref(self._model)))
        model = self._model
        context_options = ContextOptions(size=ctypes.sizeof(ContextOptions), threads=threads or 0)
        check_open(lib.tvrt_context_create(model, byref(context_options), byref(self._context)))
        infos = [lib.tvrt_model_symbol_info(model, k).contents for k in range(lib.tvrt_model_symbol_count(model))]
        self._symbols = symbols = [(text(info.name), text(info.source_name)) for info in infos]
        inputs, outputs = range(lib.tvrt_model_input_count(model)), range(lib.tvrt_model_output_count(model))
        self._inputs = [_Slot(lib.tvrt_model_input_info(model, k).contents, symbols) for k in inputs]
        self._outputs = [_Slot(lib.tvrt_model_output_info(model, k).contents, symbols) for k in outputs]
        self._names = {slot.name for slot in self._inputs}
        self._results = None
        if dims:
            self._reserve(dims)

    @property
    def inputs(self):
        return [slot.signature() for slot in self._inputs]

    @property
    def outputs(self):
        return [slot.signature() for slot in self._outputs]

    @property
    def target(self):
        """The variant in use, as "avx512"."""
        return text(lib.tvrt_model_target(self._model))

    @property
    def threads(self):
        return lib.tvrt_context_threads(self._context)

    def metadata(self, key):
        """What the compiler wrote under this key, or None."""
        return text(lib.tvrt_model_metadata(self._model, key.encode()))

    def metrics(self):
        """Count and percentiles of the runs, and memory, as a dict."""
        metrics = Metrics(size=ctypes.sizeof(Metrics))
        self._check(lib.tvrt_context_metrics(self._context, byref(metrics)))
        return {name: getattr(metrics, name) for name in METRICS}

    def reset(self):
        """Forgets what lives from run to run."""
        lib.tvrt_context_reset(self._context)

    def run(self, feeds):
        """Results by name. An input that is not fed takes its default value."""
        with self._lock:
            kept = self._set_inputs(feeds)
            self._check(lib.tvrt_context_prepare(self._context))
            arrays = self._bind_outputs()
            self._check(lib.tvrt_context_run(self._context))
            results = {}
            for slot, value, array in zip(self._outputs, self._results, arrays):
                results[slot.name] = _values.copied(value) if array is None else array
            del kept
            return results

    def close(self):
        if self._context:
            lib.tvrt_context_destroy(self._context)
        if self._model:
            lib.tvrt_model_close(self._model)
        self._model, self._context = ctypes.c_void_p(), ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if lib is not None and hasattr(self, "_context"):
            self.close()

    def _check(self, status):
        if status:
            raise Error(text(lib.tvrt_context_error(self._context)), status)

    def _set_inputs(self, feeds):
        for name in feeds:
            if name not in self._names:
                raise Error(f"the model has no input '{name}'; it has {sorted(self._names)}")
        kept = []
        for k, slot in enumerate(self._inputs):
            pointer = None
            if slot.name in feeds:
                given = feeds[slot.name]
                if given is not None or slot.flags & OPTIONAL:
                    kind = slot.kind if not slot.any_shape or slot.kind == SEQUENCE else None
                    kept.append(_values.fill(slot.value, given, kind, slot.number))
                    pointer = slot.pointer
                elif not slot.flags & HAS_DEFAULT:
                    raise Error(f"input '{slot.name}' may not be None")
            self._check(lib.tvrt_context_set_input(self._context, k, pointer))
        return kept

    def _bind_outputs(self):
        """Arrays for results whose sizes are known; None for others, which are copied after the run."""
        if self._results is None:  # their addresses stay
            pointers = [ctypes.POINTER(Value)() for _ in self._outputs]
            for k, pointer in enumerate(pointers):
                self._check(lib.tvrt_context_output(self._context, k, byref(pointer)))
            self._results = [pointer.contents for pointer in pointers]
        arrays = []
        for k, (slot, value) in enumerate(zip(self._outputs, self._results)):
            array = None
            if slot.bindable:
                shape = value.dims[: value.rank]
                if all(size >= 0 for size in shape):
                    array = np.empty(shape, _values.dtype_of(slot.number))
            data = array.__array_interface__["data"][0] if array is not None else None
            self._check(lib.tvrt_context_bind_output(self._context, k, data, array.nbytes if data else 0))
            arrays.append(array)
        return arrays

    def _reserve(self, dims):
        unknown = set(dims) - {name for pair in self._symbols for name in pair}
        if unknown:
            raise Error(f"the model has no free dimension {sorted(unknown)}; it has {[pair[1] for pair in self._symbols]}")
        sizes = [dims.get(name, dims.get(source)) for name, source in self._symbols]
        if None not in sizes:
            self._check(lib.tvrt_context_reserve(self._context, (ctypes.c_int64 * len(sizes))(*sizes)))
