"""Matrix products as tensor cores compute them: exact products of elements, sums in float32 or int32.

The order of the sums is NumPy's, not a GPU's; sums of float8 keep all of float32, of which Hopper keeps less.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.nvidia.compiler import min_dot_size

from tools.sim.triton.casts import round_to_tf32, truncate_to_tf32

PRECISION = ir.INPUT_PRECISION
FORMATS = ir.ScaleDotElemTypeTY
SCALE_BIAS, SCALE_NAN = 127, 255  # e8m0, a scale: the exponent of a power of two, and nothing else


def product(a: np.ndarray, b: np.ndarray, accumulator: np.ndarray, precision: Any) -> np.ndarray:
    """a @ b + accumulator, in the accumulator's format; precision counts for float32 operands only."""
    if a.dtype.kind in "iu":  # float64 holds such sums exactly, and has a fast product
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32) + accumulator
    if a.dtype == np.float64:
        return a @ b + accumulator
    multiply: Callable = np.matmul
    if a.dtype == np.float32:
        multiply = {PRECISION.TF32: _tf32, PRECISION.TF32x3: _tf32x3}.get(precision, np.matmul)
    total = multiply(a.astype(np.float32), b.astype(np.float32)) + accumulator.astype(np.float32)
    return total.astype(accumulator.dtype)


def _tf32(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return truncate_to_tf32(a) @ truncate_to_tf32(b)


def _tf32x3(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each operand as a sum of two tf32 numbers; the product of the two small parts is left out."""
    a_large, b_large = round_to_tf32(a), round_to_tf32(b)
    a_small, b_small = round_to_tf32(a - a_large), round_to_tf32(b - b_large)
    return np.nan_to_num(a_small @ b_large + a_large @ b_small, posinf=0, neginf=0) + a_large @ b_large


def scaled(values: np.ndarray, scales: np.ndarray | None, form: Any, packed_along_k: bool) -> np.ndarray:
    """One operand of dot_scaled as float32, K along its last axis: each group of elements times its scale.

    values: [..., K] in format `form`; e2m1 has two elements in a byte, along K or along the axis before it.
    scales: [..., K / 32] in e8m0 (bytes), or [..., K / 16] in e4m3, or None.
    """
    if form == FORMATS.E2M1:
        values = _unpacked(values, axis=-1 if packed_along_k else -2)
    values = values.astype(np.float32)
    if scales is None:
        return values
    if scales.dtype.kind in "iu":
        exponents = scales.view(np.uint8).astype(np.int32) - SCALE_BIAS
        powers = np.ldexp(np.float32(1), exponents)
        scales = np.where(scales.view(np.uint8) == SCALE_NAN, np.float32(np.nan), powers)
    return values * np.repeat(scales.astype(np.float32), values.shape[-1] // scales.shape[-1], axis=-1)


def _scales(handle: Any) -> np.ndarray | None:
    """Those of one operand. A handle whose first scale is 0 is as good as any: its truth says nothing."""
    return None if handle is None else handle.data


def _unpacked(values: np.ndarray, axis: int) -> np.ndarray:
    """Two e2m1 numbers from each byte, that of the lower bits first, side by side along the axis."""
    pairs = np.stack([values & 15, values >> 4], axis=-1)
    shape = list(values.shape)
    shape[axis] *= 2
    return np.moveaxis(pairs, -1, axis).reshape(shape).view(ml_dtypes.float4_e2m1fn)


# Around Triton's interpreter ---------------------------------------------------------------------


def patch(interpreter: ModuleType) -> None:
    """Replace `create_dot`, and add `create_dot_scaled`, which these releases lack."""
    handle, semantic = interpreter.TensorHandle, type(interpreter.interpreter_semantic)
    of_triton = semantic.dot_scaled

    def create_dot(self: Any, a: Any, b: Any, accumulator: Any, precision: Any, max_num_imprecise_acc: Any) -> Any:
        return handle(product(a.data, b.data, accumulator.data, precision), accumulator.dtype.scalar)

    def create_dot_scaled(
        self: Any,
        a: Any,
        a_scale: Any,
        a_form: Any,
        b: Any,
        b_scale: Any,
        b_form: Any,
        fast_math: Any,
        a_k_pack: Any,
        b_k_pack: Any,
        accumulator: Any,
    ) -> Any:
        left = scaled(a.data, _scales(a_scale), a_form, a_k_pack)
        right = scaled(np.swapaxes(b.data, -1, -2), _scales(b_scale), b_form, b_k_pack)
        total = left @ np.swapaxes(right, -1, -2) + accumulator.data.astype(np.float32)
        return handle(total.astype(accumulator.data.dtype), accumulator.dtype.scalar)

    def dot_scaled(self: Any, a: Any, a_scale: Any, a_form: Any, b: Any, b_scale: Any, b_form: Any, *rest: Any) -> Any:
        """The compiler would hand over the names of the formats as constants."""
        return of_triton(self, a, a_scale, tl.constexpr(a_form), b, b_scale, tl.constexpr(b_form), *rest)

    builder = interpreter.InterpreterBuilder
    builder.create_dot, builder.create_dot_scaled = create_dot, create_dot_scaled
    semantic.dot_scaled = dot_scaled
    interpreter.interpreter_builder.codegen_fns["min_dot_size"] = min_dot_size(None)  # of any NVIDIA chip
