"""Operands of tl.dot_scaled: numbers of four or eight bits, with a scale for each group of them along K."""

from typing import Any

import ml_dtypes
import numpy as np
from triton._C.libtriton import ir

from tools.sim.triton.casts import BF16

FORMATS = ir.ScaleDotElemTypeTY
SCALE_BIAS, SCALE_NAN = 127, 255  # e8m0, a scale: the exponent of a power of two, and nothing else
FLOAT32 = np.dtype(np.float32)


def computed_in(*forms: Any) -> np.dtype:
    """The type in which an operand meets its scales.

    float32 stands for a product that is exact. Beside an operand of 16 bits, which no tensor core scales, the
    compiler widens the other one to that type and multiplies there: in fp16, scales from 2 ** 16 on are infinite.
    """
    if FORMATS.FP16 in forms:
        return np.dtype(np.float16)
    return BF16 if FORMATS.BF16 in forms else FLOAT32


def operand(
    values: np.ndarray, scales: np.ndarray | None, form: Any, packed_along_k: bool, inside: np.dtype
) -> np.ndarray:
    """One operand of dot_scaled as float32, K along its last axis: each group of elements times its scale.

    values: [..., K] in format `form`; e2m1 has two elements in a byte, along K or along the axis before it.
    scales: [..., K / 32] in e8m0 (bytes), or [..., K / 16] in e4m3, or None. inside: the type of the product.
    """
    if form == FORMATS.E2M1:
        values = _unpacked(values, axis=-1 if packed_along_k else -2)
    values = values.astype(np.float32)
    if scales is None:
        return values
    if scales.dtype.kind in "iu":
        scales = _powers(scales.view(np.uint8), inside)
    each = np.repeat(scales.astype(inside), values.shape[-1] // scales.shape[-1], axis=-1)
    return (values.astype(inside) * each).astype(np.float32)


def _powers(exponents: np.ndarray, inside: np.dtype) -> np.ndarray:
    """Scales in e8m0 as float32. What is widened is shifted to where a float has its exponent: 0 becomes zero there."""
    powers = np.ldexp(np.float32(1), exponents.astype(np.int32) - SCALE_BIAS)
    if inside != FLOAT32:
        powers[exponents == 0] = 0
    return np.where(exponents == SCALE_NAN, np.float32(np.nan), powers)


def _unpacked(values: np.ndarray, axis: int) -> np.ndarray:
    """Two e2m1 numbers from each byte, that of the lower bits first, side by side along the axis."""
    pairs = np.stack([values & 15, values >> 4], axis=-1)
    shape = list(values.shape)
    shape[axis] *= 2
    return np.moveaxis(pairs, -1, axis).reshape(shape).view(ml_dtypes.float4_e2m1fn)
