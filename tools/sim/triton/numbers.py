"""Arithmetic of Triton's interpreter with the formats and the rules of a GPU.

bfloat16 and float8 are computed in float32 and rounded after each operation, as `add.bf16` and its like do.
The compiler fuses x * y + z into one operation, of any float, which rounds once; here it rounds twice.
Arithmetic on float8 it refuses.
"""

from functools import cache
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir

from tools.sim.triton import casts, dots, elements, reductions
from tools.sim.triton.casts import NARROW, garbage, nearest

EXTREMES = {ir.ATOMIC_OP.MIN: np.fmin, ir.ATOMIC_OP.MAX: np.fmax}  # of short floats, through a descriptor only
OBSOLETE = ("fp8e4b15", "fp8e4b8", "fp8e5b16")  # of chips before Hopper, and of another maker's
OF_ONE_BIT = {np.add: np.bitwise_xor, np.subtract: np.bitwise_xor}  # tl.int1 is a number of one bit, and 1 + 1 is 0
COMPARISONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def patch(interpreter: Any) -> None:
    """Replace the formats and the arithmetic of `triton.runtime.interpreter`."""
    _patch_formats(interpreter)
    _patch_memory(interpreter)
    _patch_arithmetic(interpreter)
    for room in (casts, dots, reductions):
        room.patch(interpreter)


def _patch_formats(interpreter: Any) -> None:
    of_interpreter, known = interpreter._get_np_dtype, {}  # asked for in every operation

    def np_dtype(kind: Any) -> np.dtype:
        scalar = kind.scalar
        if scalar.name not in known:
            if scalar.name in OBSOLETE:
                raise TypeError(f"{scalar} is not simulated. tl.float8e4nv and tl.float8e5 are.")
            plain = scalar.is_ptr() or scalar not in NARROW
            known[scalar.name] = of_interpreter(scalar) if plain else NARROW[scalar]
        return known[scalar.name]

    def get_bf16(self: Any, value: Any) -> Any:
        return interpreter.TensorHandle(np.array([value], NARROW[tl.bfloat16]), tl.bfloat16)

    interpreter._get_np_dtype = np_dtype
    interpreter.InterpreterBuilder.get_bf16 = get_bf16


def _patch_memory(interpreter: Any) -> None:
    """Narrow floats are loaded and stored as bits, which is what the interpreter's C++ part knows."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    memory = interpreter._interpreter
    atomic_of_interpreter = builder.create_atomic_rmw

    def create_masked_load(
        self: Any, pointers: Any, mask: Any, other: Any, cache_modifier: Any, eviction_policy: Any, is_volatile: Any
    ) -> Any:
        kind = pointers.get_element_ty()
        dtype = interpreter._get_np_dtype(kind)
        instead = _as_bits(garbage(pointers.data.shape, dtype) if other is None else other.data)
        loaded = elements.load(pointers.data, _array(mask), instead, _bits(dtype))
        return handle(loaded.view(dtype), kind)

    def create_masked_store(
        self: Any, pointers: Any, value: Any, mask: Any, cache_modifier: Any, eviction_policy: Any
    ) -> Any:
        elements.store(pointers.data, _as_bits(value.data), _array(mask))

    def create_atomic_rmw(
        self: Any, operation: Any, pointer: Any, value: Any, mask: Any, semantics: Any, scope: Any
    ) -> Any:
        short = value.data.dtype in NARROW.values() or value.data.dtype == np.float16 and operation in EXTREMES
        if not short:
            return atomic_of_interpreter(self, operation, pointer, value, mask, semantics, scope)
        combine = EXTREMES.get(operation, np.add)
        before = np.empty_like(value.data)  # one element after the other
        for place in np.ndindex(value.data.shape):
            one = [np.asarray(part.data[place]).reshape(1) for part in (pointer, value, mask)]
            old = memory.load(one[0], one[2], np.zeros(1, np.uint16), np.dtype(np.uint16)).view(one[1].dtype)
            memory.store(one[0], combine(old, one[1]).astype(old.dtype).view(np.uint16), one[2])
            before[place] = old[0]
        return handle(before, value.dtype.scalar)

    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store
    builder.create_atomic_rmw = create_atomic_rmw


@cache
def _bits(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"u{dtype.itemsize}") if dtype in NARROW.values() else dtype


def _as_bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(_bits(values.dtype))


def _array(mask: Any) -> np.ndarray:
    """Block pointers and descriptors give the mask as an array, loads and stores as a handle."""
    return mask if isinstance(mask, np.ndarray) else mask.data


def _patch_arithmetic(interpreter: Any) -> None:
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle

    def binary_op(self: Any, left: Any, right: Any, operation: Any) -> Any:
        kind = left.dtype.scalar
        if left.data.dtype == bool:
            operation = OF_ONE_BIT.get(operation, operation)
        result = operation(left.data, right.data)
        return handle(result.astype(interpreter._get_np_dtype(kind), copy=False), kind)

    def compare(operation: Any) -> Any:
        return lambda self, left, right: handle(operation(left.data, right.data), tl.int1)

    def create_fma(self: Any, x: Any, y: Any, z: Any) -> Any:
        """float64 holds the product of two float32 exactly."""
        exact = x.data.astype(np.float64) * y.data.astype(np.float64) + z.data
        return handle(nearest(exact, z.data.dtype), z.dtype.scalar)

    def create_clampf(self: Any, x: Any, low: Any, high: Any, propagate_nan: Any) -> Any:
        smaller, larger = _EXTREMES[propagate_nan == tl.PropagateNan.ALL]
        return handle(smaller(larger(x.data, low.data), high.data), x.dtype.scalar)

    def create_histogram(self: Any, values: Any, bins: Any, mask: Any) -> Any:
        counted = values.data if mask is None else values.data[mask.data]
        counted = counted[(counted >= 0) & (counted < bins)]
        return handle(np.bincount(counted, minlength=bins).astype(np.int32), tl.int32)

    def get_all_ones_value(self: Any, kind: Any) -> Any:
        """~x is made of it. NumPy no longer takes -1 for an unsigned number."""
        return handle(np.array([-1]).astype(interpreter._get_np_dtype(kind)), kind.scalar)

    def create_ashr(self: Any, left: Any, right: Any) -> Any:
        """Of a number with a sign. The interpreter's own changes its operands."""
        kind = left.dtype.scalar
        signed = left.data.view(f"i{left.data.itemsize}"), right.data.view(f"i{right.data.itemsize}")
        return handle(np.right_shift(*signed).astype(interpreter._get_np_dtype(kind), copy=False), kind)

    for replacement in (binary_op, create_fma, create_clampf, create_histogram, get_all_ones_value):
        setattr(builder, replacement.__name__, replacement)
    builder.create_ashr = create_ashr
    builder.create_minnumf = lambda self, left, right: self.binary_op(left, right, np.fmin)
    builder.create_maxnumf = lambda self, left, right: self.binary_op(left, right, np.fmax)
    for prefix in ("icmpS", "icmpU", "icmp", "fcmpO", "fcmpU"):
        for name, operation in COMPARISONS.items():
            if hasattr(builder, f"create_{prefix}{name}"):
                setattr(builder, f"create_{prefix}{name}", compare(operation))


_EXTREMES = {True: (np.minimum, np.maximum), False: (np.fmin, np.fmax)}  # NaN wins (min.NaN.f32) or loses
