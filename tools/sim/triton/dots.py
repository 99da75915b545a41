"""Matrix products as tensor cores compute them: exact products of elements, sums in float32 or int32.

The order of the sums is NumPy's, not a GPU's; sums of float8 keep all of float32, of which Hopper keeps less.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.nvidia.compiler import min_dot_size

from tools.sim.triton import block_scaled
from tools.sim.triton.blas import on_one_thread
from tools.sim.triton.casts import BF16, round_to_tf32, truncate_to_tf32

PRECISION = ir.INPUT_PRECISION


@on_one_thread
def product(a: np.ndarray, b: np.ndarray, accumulator: np.ndarray, precision: Any) -> np.ndarray:
    """a @ b + accumulator, in the accumulator's format; precision counts for float32 operands only."""
    if a.dtype.kind in "iu":  # float64 holds such sums exactly, and has a fast product
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64).astype(np.int32) + accumulator
    if a.dtype == np.float64:
        return a @ b + accumulator
    multiply: Callable = np.matmul
    if a.dtype == np.float32:
        multiply = PRODUCTS.get(precision, np.matmul)
    total = multiply(a.astype(np.float32), b.astype(np.float32)) + accumulator.astype(np.float32)
    return total.astype(accumulator.dtype)


def _tf32(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return truncate_to_tf32(a) @ truncate_to_tf32(b)


def _tf32x3(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each operand as a sum of two tf32 numbers; the product of the two small parts is left out."""
    a_large, b_large = round_to_tf32(a), round_to_tf32(b)
    a_small, b_small = round_to_tf32(a - a_large), round_to_tf32(b - b_large)
    return _without_nan(a_small @ b_large + a_large @ b_small) + a_large @ b_large


def _bf16x3(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each operand as a sum of two bfloat16 numbers; the product of the two small parts is left out."""
    (a_large, a_small), (b_large, b_small) = _parts(a, 2), _parts(b, 2)
    return _without_nan(a_small @ b_large + a_large @ b_small) + a_large @ b_large


def _bf16x6(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each as a sum of three; of nine products the three smallest are left out."""
    (a_large, a_middle, a_small), (b_large, b_middle, b_small) = _parts(a, 3), _parts(b, 3)
    small = a_middle @ b_middle + a_small @ b_large + a_large @ b_small
    return _without_nan(small + a_middle @ b_large + a_large @ b_middle) + a_large @ b_large


def _parts(values: np.ndarray, number: int) -> list[np.ndarray]:
    """bfloat16 numbers, as float32, that add up to the values: the largest first, each of what those before leave."""
    parts = []
    for _ in range(number):
        part = values.astype(BF16).astype(np.float32)
        parts.append(part)
        values = values - part
    return parts


def _without_nan(values: np.ndarray) -> np.ndarray:
    """An infinity has no small parts: inf - inf is none of the product's."""
    return np.nan_to_num(values, posinf=0, neginf=0)


PRODUCTS: dict[Any, Callable] = {
    PRECISION.TF32: _tf32,
    PRECISION.TF32x3: _tf32x3,
    PRECISION.BF16x3: _bf16x3,
    PRECISION.BF16x6: _bf16x6,
}


def _scales(handle: Any) -> np.ndarray | None:
    """Those of one operand. A handle whose first scale is 0 is as good as any: its truth says nothing."""
    return None if handle is None else handle.data


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
        inside = block_scaled.computed_in(a_form, b_form)
        left = block_scaled.operand(a.data, _scales(a_scale), a_form, a_k_pack, inside)
        right = block_scaled.operand(np.swapaxes(b.data, -1, -2), _scales(b_scale), b_form, b_k_pack, inside)
        total = on_one_thread(np.matmul)(left, np.swapaxes(right, -1, -2)) + accumulator.data.astype(np.float32)
        return handle(total.astype(accumulator.data.dtype), accumulator.dtype.scalar)

    def dot_scaled(self: Any, a: Any, a_scale: Any, a_form: Any, b: Any, b_scale: Any, b_form: Any, *rest: Any) -> Any:
        """The compiler would hand over the names of the formats as constants."""
        return of_triton(self, a, a_scale, tl.constexpr(a_form), b, b_scale, tl.constexpr(b_form), *rest)

    builder = interpreter.InterpreterBuilder
    builder.create_dot, builder.create_dot_scaled = create_dot, create_dot_scaled
    semantic.dot_scaled = dot_scaled
    interpreter.interpreter_builder.codegen_fns["min_dot_size"] = min_dot_size(None)  # of any NVIDIA chip
