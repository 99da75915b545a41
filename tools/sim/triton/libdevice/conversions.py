"""Conversions between floats and whole numbers that round in a direction.

To a whole number they saturate, and NaN becomes 0, or in 64 bits and from float64 the highest bit alone, as the cvt
instructions of PTX do.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from tools.sim.triton.casts import to_integer
from tools.sim.triton.libdevice.directed import DIRECTIONS, rounded
from tools.sim.triton.libdevice.mathematics import away

FLOATS = {"float": "f4", "double": "f8"}
WHOLES = {"int": "i4", "uint": "u4", "ll": "i8", "ull": "u8"}
TO_WHOLE: dict[str, Callable] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}


def _to_whole(dtype: str, direction: str) -> Callable:
    return lambda x: to_integer(TO_WHOLE[direction](x), np.dtype(dtype))


def _to_float(source: str, dtype: str, direction: str) -> Callable:
    def convert(x: np.ndarray) -> np.ndarray:
        given = x.view(source) if x.dtype.kind in "iu" else x
        result = given.astype(dtype)
        if direction != "rn":
            for place in np.ndindex(given.shape):
                if given.dtype.kind != "f" or np.isfinite(given[place]) and given[place] != 0:
                    result[place] = rounded(Fraction(given[place].item()), result.dtype, direction)
        return result

    return convert


def _rounded_to_int64(compute: Callable) -> Callable:
    return lambda x: to_integer(compute(x.astype(np.float64)), np.dtype(np.int64))


MEANINGS: dict[str, Callable] = {
    **{
        f"{a}2{b}_{direction}": _to_whole(dtype, direction)
        for a, (b, dtype), direction in product(FLOATS, WHOLES.items(), DIRECTIONS)
    },
    **{
        f"{a}2{b}_{direction}": _to_float(source, dtype, direction)
        for (a, source), (b, dtype), direction in product(WHOLES.items(), FLOATS.items(), DIRECTIONS)
    },
    **{f"double2float_{direction}": _to_float("f8", "f4", direction) for direction in DIRECTIONS},
    "int2double_rn": _to_float("i4", "f8", "rn"),
    **{f"llrint{end}": _rounded_to_int64(np.rint) for end in ("", "f")},
    **{f"llround{end}": _rounded_to_int64(away) for end in ("", "f")},
}
