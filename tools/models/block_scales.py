"""Narrow floats with a scale for each small block of neighbours: the MX formats, and NVIDIA's NVFP4."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tools.models.formats import E2M1, E4M3, NEAREST_EVEN, UE8M0, Format, Rounding
from tools.models.quantization import grouped

MX_BLOCK, NVFP4_BLOCK = 32, 16  # values that share a scale


@dataclass(frozen=True)
class Blocks:
    """Values as codes of a format, times the scales of their blocks, times the scale of all.

    codes: int64 (..., n), of `element`. scales: int64 (..., n / block), of `scale`. overall: one number.
    """

    element: Format
    scale: Format
    block: int
    codes: np.ndarray
    scales: np.ndarray
    overall: np.float32 = np.float32(1)

    def dequantize(self) -> np.ndarray:
        """The values, float64 (..., n)."""
        steps = self.scale.decode(self.scales) * float(self.overall)
        return self.element.decode(self.codes) * np.repeat(steps, self.block, axis=-1)

    @property
    def bits_per_value(self) -> float:
        """With the scales of the blocks: 4.25 for MXFP4, 4.5 for NVFP4."""
        return self.element.bits + self.scale.bits / self.block


def mx(values: ArrayLike, element: Format = E2M1, rounding: Rounding = NEAREST_EVEN) -> Blocks:
    """Blocks of 32 with a power of two as scale: values (..., n), n a multiple of 32.

    The scale is that which gives the largest value of the block the exponent of the format's largest; what is beyond
    that one saturates (OCP Microscaling Formats Specification 1.0, 6.3). A block with infinity or NaN becomes NaN.
    """
    blocks = grouped(np.asarray(values, float), MX_BLOCK)
    top = 2.0 ** np.floor(np.log2(element.max))
    largest = np.abs(blocks).max(axis=-1)
    scales = UE8M0.encode(np.maximum(largest / top, UE8M0.smallest), np.floor)
    return Blocks(element, UE8M0, MX_BLOCK, _codes(blocks, UE8M0.decode(scales), element, rounding), scales)


def nvfp4(values: ArrayLike, rounding: Rounding = NEAREST_EVEN) -> Blocks:
    """Blocks of 16 in E2M1 with an E4M3 scale each, and one float32 scale: values (..., n), n a multiple of 16.

    The float32 scale is such that the block with the largest value has the largest scale, 448 (NVIDIA, "Pretraining
    Large Language Models with NVFP4", 2025). A block too small for an E4M3 scale becomes 0; with infinity or NaN
    anywhere, everything becomes NaN.
    """
    blocks = grouped(np.where(np.isfinite(values), values, np.nan), NVFP4_BLOCK)
    largest = np.abs(blocks).max(axis=-1)
    overall = np.float32(largest.max(initial=0) / (E4M3.max * E2M1.max)) or np.float32(1)
    scales = E4M3.encode(largest / E2M1.max / float(overall), saturate=True)
    codes = _codes(blocks, E4M3.decode(scales) * float(overall), E2M1, rounding)
    return Blocks(E2M1, E4M3, NVFP4_BLOCK, codes, scales, overall)


def _codes(blocks: np.ndarray, steps: np.ndarray, element: Format, rounding: Rounding) -> np.ndarray:
    """Codes (..., n) of blocks (..., n / block, block) in steps (..., n / block)."""
    steps = np.broadcast_to(steps[..., None], blocks.shape)
    scaled = np.divide(blocks, steps, out=np.zeros(blocks.shape), where=steps != 0)
    rows = *blocks.shape[:-2], blocks.shape[-2] * blocks.shape[-1]
    return element.encode(scaled, rounding, saturate=True).reshape(rows)
