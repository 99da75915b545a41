"""Reductions and scans as a tree of whole-tensor steps, which is how a GPU combines them, and fast besides.

A GPU's tree has another shape, so sums of floats agree to rounding only. tl.sum of float16 or bfloat16 rounds
after every addition; tl.max, tl.min and tl.cumsum widen bfloat16 to float32 before (Triton's own rules).
"""

import operator
from types import ModuleType
from typing import Any

import numpy as np

from tools.sim.triton.casts import is_float

NAN_LOSES = {np.nanmax: np.fmax.reduce, np.nanmin: np.fmin.reduce}  # the same, but no warning if all are NaN


def patch(interpreter: ModuleType) -> None:
    """Replace the general ways of `ReduceOps` and `ScanOps`, which combine one element at a time."""
    reductions, scans = interpreter.ReduceOps, interpreter.ScanOps
    apply, min_max = reductions.apply_impl, reductions.min_max
    sums_at_once, products_at_once = scans.cumsum, scans.cumprod
    reductions.generic_reduce, scans.generic_scan = _reduce, _scan
    reductions.sum = lambda self, x: _reduce(self, (x,))[0] if _rounds_each_step(x) else _sum_at_once(self, x)
    reductions.min_max = lambda self, x, val_reduce_op, idx_reduce_op=None: min_max(
        self, x, NAN_LOSES.get(val_reduce_op, val_reduce_op), idx_reduce_op
    )
    reductions.apply_impl = lambda self, x: _reduce(self, x) if _nan_decides(x) else apply(self, x)
    scans.cumsum = lambda self, x: _scan(self, (x,)) if _rounds_each_step(x) else sums_at_once(self, x)
    scans.cumprod = lambda self, x: _scan(self, (x,)) if _rounds_each_step(x) else products_at_once(self, x)


def _rounds_each_step(tensor: Any) -> bool:
    """NumPy would add such floats one after the other, or in a wider format, and true and true to true."""
    dtype = tensor.handle.data.dtype
    return dtype == bool or is_float(dtype) and dtype.itemsize < 4


def _sum_at_once(self: Any, tensor: Any) -> Any:
    """In the tensor's own type: whole numbers that leave its range wrap around."""
    values = tensor.handle.data
    total = np.sum(values, axis=self.axis, keepdims=self.keep_dims, dtype=values.dtype)
    return self.to_tensor(total, tensor.dtype)


def _nan_decides(inputs: tuple) -> bool:
    """tl.argmax and tl.argmin: whether a NaN wins depends on its place. With NumPy it would always win."""
    values = inputs[0].handle.data
    return len(inputs) > 1 and is_float(values.dtype) and bool(np.isnan(values).any())


def _reduce(self: Any, inputs: tuple) -> list:
    """tl.reduce: neighbours are combined, then neighbours among the results, until one is left."""
    arrays = [tensor.handle.data for tensor in inputs]
    if self.axis is None:
        parts = [array.reshape(-1) for array in arrays]
    else:
        parts = [np.moveaxis(array, operator.index(self.axis), 0) for array in arrays]
    while len(parts[0]) > 1:
        parts = _combined(self, [part[0::2] for part in parts], [part[1::2] for part in parts], inputs)
    shape = list(arrays[0].shape) if self.keep_dims else list(parts[0].shape[1:])
    if self.keep_dims:
        shape = [1] * len(shape) if self.axis is None else shape
        shape[operator.index(self.axis or 0)] = 1
    return [self.to_tensor(part.reshape(shape), tensor.dtype) for part, tensor in zip(parts, inputs)]


def _scan(self: Any, inputs: tuple) -> list:
    """tl.associative_scan: each element takes in the one 1, 2, 4, ... places before it."""
    parts = [tensor.handle.data for tensor in inputs]
    axis, rank = operator.index(self.axis), parts[0].ndim
    length = parts[0].shape[axis]
    index = np.arange(length).reshape([length if d == axis % rank else 1 for d in range(rank)])
    step = 1
    while step < length:
        before = [np.roll(part, step, axis) for part in parts]
        combined = _combined(self, before, parts, inputs)
        parts = [np.where(index >= step, new, old) for new, old in zip(combined, parts)]
        step *= 2
    return [self.to_tensor(part, tensor.dtype) for part, tensor in zip(parts, inputs)]


def _combined(self: Any, left: list[np.ndarray], right: list[np.ndarray], inputs: tuple) -> list[np.ndarray]:
    """The combine function, called once for all pairs."""
    operands = zip([*left, *right], [*inputs, *inputs])
    results = self.combine_fn(*(self.to_tensor(part, tensor.dtype) for part, tensor in operands))
    results = results if isinstance(results, tuple) else (results,)
    return [
        np.broadcast_to(getattr(result, "handle", result).data, part.shape).astype(part.dtype)
        for result, part in zip(results, left)
    ]
