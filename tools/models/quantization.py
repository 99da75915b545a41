"""Values as small integers, value = scale * (code - zero point): scales, rounding, error, packing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tools.models.formats import NEAREST_EVEN, Rounding


@dataclass(frozen=True)
class Quantizer:
    """A scale and a zero point for each value, or for many by broadcasting; codes are low to high, both included."""

    scale: np.ndarray
    zero_point: np.ndarray
    low: int
    high: int

    def quantize(self, values: ArrayLike, rounding: Rounding = NEAREST_EVEN) -> np.ndarray:
        """The codes of these values, as int64; values out of reach get the lowest or the highest."""
        codes = rounding(np.asarray(values, float) / self.scale) + self.zero_point
        return np.clip(codes, self.low, self.high).astype(np.int64)

    def dequantize(self, codes: ArrayLike) -> np.ndarray:
        """The values that these codes stand for, as float64."""
        return self.scale * (np.asarray(codes, float) - self.zero_point)

    def error_bound(self, nearest: bool = True) -> np.ndarray:
        """The most by which a value that the scale was made for can change: half a step, or, when it may be rounded
        to either neighbour, a whole one."""
        return self.scale / 2 if nearest else self.scale


def symmetric(values: ArrayLike, bits: int = 8, axis: int | None = None) -> Quantizer:
    """Zero point 0, and codes up to the same size on either side: -127 to 127 for 8 bits.

    bits: 2 or more. axis: the one whose values share a scale; None for one scale in all (per tensor), 1 for one of
    each row of a matrix (per channel), -1 of `grouped` values for one of each group. All values 0: scale 1.
    """
    high = 2 ** (bits - 1) - 1
    largest = np.abs(np.asarray(values, float)).max(axis=axis, keepdims=True)
    return Quantizer(_step(largest, high), np.zeros(largest.shape), -high, high)


def affine(values: ArrayLike, bits: int = 8, axis: int | None = None) -> Quantizer:
    """The smallest value gets code 0 and the largest the highest, 255 for 8 bits; 0.0 always has a code of its own.

    axis: as for `symmetric`.
    """
    values, high = np.asarray(values, float), 2**bits - 1
    smallest = np.minimum(values.min(axis=axis, keepdims=True), 0)
    largest = np.maximum(values.max(axis=axis, keepdims=True), 0)
    scale = _step(largest - smallest, high)
    return Quantizer(scale, np.rint(-smallest / scale), 0, high)


def _step(width: np.ndarray, steps: int) -> np.ndarray:
    return np.where(width > 0, width / steps, 1.0)


def grouped(values: ArrayLike, size: int) -> np.ndarray:
    """Values (..., n) as groups of neighbours, (..., n / size, size). ValueError when n is no multiple of size."""
    values = np.asarray(values)
    if values.shape[-1] % size:
        raise ValueError(f"rows of {values.shape[-1]} values cannot be cut into groups of {size}")
    return values.reshape(*values.shape[:-1], values.shape[-1] // size, size)


def stochastic(rng: np.random.Generator) -> Rounding:
    """Rounding to either neighbour, to the upper one with a probability of the distance from the lower one: the
    mean of many roundings is the number itself."""

    def rounding(numbers: np.ndarray) -> np.ndarray:
        below = np.floor(numbers)
        return below + (rng.random(np.shape(numbers)) < numbers - below)

    return rounding


# Two codes of 4 bits in a byte -------------------------------------------------------------------


def pack(codes: ArrayLike) -> np.ndarray:
    """Codes (..., n) of 4 bits, n even, as uint8 (..., n / 2); the first of two has the lower bits.

    Negative codes keep the lower 4 bits of their two's complement.
    """
    pairs = grouped(codes, 2) & 15
    return (pairs[..., 0] | pairs[..., 1] << 4).astype(np.uint8)


def unpack(packed: ArrayLike, signed: bool = False) -> np.ndarray:
    """What `pack` was given, as int64 (..., n): codes 0 to 15, or -8 to 7."""
    packed = np.asarray(packed, np.uint8).astype(np.int64)
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], 2 * packed.shape[-1])
    return (codes ^ 8) - 8 if signed else codes
