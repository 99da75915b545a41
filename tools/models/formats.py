"""Float formats down to 4 bits: what each code means, and which code a value is rounded to."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

Rounding = Callable[[np.ndarray], np.ndarray]  # takes numbers, in units of the last place, to whole ones
NEAREST_EVEN: Rounding = np.rint  # a tie goes to the even neighbour


@dataclass(frozen=True)
class Format:
    """A float format. From its highest bit on, a code has the sign, the exponent and the mantissa.

    bias: what the exponent's field is more than the exponent.
    infinity: the highest field means infinity and NaN, as in IEEE 754. nan: if not, the highest code means NaN.
    signed: if not, there are no zero and no subnormal values either, and every code but NaN's is a power of two.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    bias: int
    infinity: bool = False
    nan: bool = True
    signed: bool = True

    @property
    def bits(self) -> int:
        return self.signed + self.exponent_bits + self.mantissa_bits

    @property
    def max(self) -> float:
        """The largest finite value."""
        return float(self.decode(self._max_code))

    @property
    def smallest_normal(self) -> float:
        """The smallest value that has all bits of the mantissa."""
        return 2.0**self._lowest

    @property
    def smallest(self) -> float:
        """The smallest value above zero."""
        return float(self.decode(1 if self.signed else 0))

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger value."""
        return 2.0**-self.mantissa_bits

    def decode(self, codes: ArrayLike) -> np.ndarray:
        """The values of these codes (integers of any shape), as float64, which holds all of them exactly."""
        codes = np.asarray(codes, np.int64)
        if codes.size and not 0 <= codes.min() <= codes.max() < 1 << self.bits:
            raise ValueError(
                f"codes of {self.name} are 0 to {(1 << self.bits) - 1}; these are {codes.min()} to {codes.max()}"
            )
        magnitudes = codes & self._magnitude
        fields, mantissas = magnitudes >> self.mantissa_bits, magnitudes & (self._one - 1)
        normal = (fields > 0) | (not self.signed)
        exponents = np.where(normal, fields - self.bias, self._lowest)
        values = np.ldexp((mantissas + normal * self._one).astype(float), exponents - self.mantissa_bits)
        values = np.where(magnitudes > self._max_code, np.nan, values)
        if self.infinity:
            values = np.where(magnitudes == self._max_code + 1, np.inf, values)
        return np.where(codes > self._magnitude, -values, values)

    def encode(self, values: ArrayLike, rounding: Rounding = NEAREST_EVEN, saturate: bool = False) -> np.ndarray:
        """The codes, as int64, that these values (of any shape; read as float64) are rounded to.

        saturate: what is too large becomes the largest finite value, as in NVIDIA's conversions with .satfinite;
        if not, infinity, or NaN where there is none. A format with neither always saturates, and takes NaN for its
        largest value. A format without a sign takes zero and negative values for NaN.
        """
        values = np.asarray(values, float)
        sizes = np.where(np.isfinite(values), np.abs(values), 0)
        exponents = np.where(sizes < self.smallest_normal, self._lowest, np.frexp(sizes)[1] - 1)
        units = rounding(np.ldexp(sizes, self.mantissa_bits - exponents)).astype(np.int64)
        # Two ones of units are one of the exponent, so that what is rounded up carries by itself.
        codes = units + (exponents - self._lowest) * self._one - (not self.signed) * self._one
        largest = self._max_code + (self.nan and not saturate)
        codes = np.where(np.isinf(values), largest, np.clip(codes, 0, largest))
        if self.signed:
            codes = codes + np.signbit(values) * (self._magnitude + 1)
        lost = np.isnan(values) if self.signed else ~(values > 0)
        return np.where(lost, self._nan_code, codes)

    # In codes: 1.0 with the lowest exponent field, all bits but the sign, the largest finite value, NaN

    @property
    def _one(self) -> int:
        return 1 << self.mantissa_bits

    @property
    def _magnitude(self) -> int:
        return (1 << (self.exponent_bits + self.mantissa_bits)) - 1

    @property
    def _max_code(self) -> int:
        return self._magnitude - (self._one if self.infinity else int(self.nan))

    @property
    def _nan_code(self) -> int:
        return self._max_code + (self.infinity * self._one // 2) + self.nan

    @property
    def _lowest(self) -> int:
        """The smallest exponent of a normal value."""
        return int(self.signed) - self.bias


FP16 = Format("fp16", 5, 10, 15, infinity=True)  # IEEE 754-2019, binary16
BF16 = Format("bf16", 8, 7, 127, infinity=True)  # PTX ISA, "Alternate Floating-Point Data Formats", as are TF32's
TF32 = Format("tf32", 8, 10, 127, infinity=True)  # bits, which fill the upper 19 of 32
E4M3 = Format("E4M3", 4, 3, 7)  # OCP 8-bit Floating Point Specification 1.0, as is E5M2
E5M2 = Format("E5M2", 5, 2, 15, infinity=True)
E2M1 = Format("E2M1", 2, 1, 1, nan=False)  # OCP Microscaling Formats Specification 1.0, as is UE8M0
UE8M0 = Format("UE8M0", 8, 0, 127, signed=False)  # the scale of a block, there called E8M0
FORMATS = {each.name: each for each in (FP16, BF16, TF32, E4M3, E5M2, E2M1, UE8M0)}
