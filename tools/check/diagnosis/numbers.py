"""Arrays as recognisers compare them: in float64 or int64, equal up to a slack that the dtype explains."""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tools.check.arrays import in_elements
from tools.check.tolerances import errors

MOST_ELEMENTS = 4_000_000  # larger results are not searched: a failure must be told at once
SLACK = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}  # of the rms, sums included
SAMPLE = 1024


def slack_of(dtype: DTypeLike) -> float:
    """How far two computations of one result may lie apart, relative to its rms. Integers: not at all."""
    dtype = np.dtype(dtype)
    return 0.0 if dtype.kind in "biu" else SLACK.get(dtype.name, 0.25)


def is_float(dtype: DTypeLike) -> bool:
    """True for NumPy's floats and those that ml_dtypes adds (bfloat16, float8_e4m3fn, ...)."""
    return np.dtype(dtype).kind == "f" or np.dtype(dtype).name.startswith(("bfloat", "float"))


def number(value: object) -> Any:
    """`value` as a contiguous array of int64 or float64; None if it is no real number, or too large.

    Accepts arrays, NumPy and Python scalars, and tuples or lists of plain numbers.
    """
    if isinstance(value, (tuple, list)) and not all(isinstance(part, (bool, int, float)) for part in value):
        return None
    if not isinstance(value, (np.ndarray, np.generic, bool, int, float, tuple, list)):
        return None
    array = np.asarray(value)
    if array.size > MOST_ELEMENTS:
        return None
    if array.dtype.kind in "biu":
        return np.ascontiguousarray(array, np.int64).reshape(array.shape)
    if is_float(array.dtype):
        return np.ascontiguousarray(array, np.float64).reshape(array.shape)
    return None


def rms(array: np.ndarray) -> float:
    """Root mean square of the finite elements; 0 if there are none."""
    square = np.abs(array) ** 2.0
    finite = np.isfinite(square)
    if not finite.any():
        return 0.0
    return math.sqrt(square.mean() if finite.all() else square[finite].mean())


def excess(got: np.ndarray, want: np.ndarray, limit: float) -> np.ndarray:
    """How many times its limit each element is off, by the check's own measure: 0 where equal, above 1 where wrong."""
    if limit:
        return errors(got, want) / limit
    return np.where((got == want) | ((got != got) & (want != want)), 0.0, np.inf)


def sample(array: np.ndarray) -> np.ndarray:
    """About a thousand elements, the same ones from every array of one shape; all of a small one."""
    if array.size <= 4 * SAMPLE:
        return array.reshape(-1)
    chosen = np.arange(0, array.size, array.size // SAMPLE)
    return array[np.unravel_index(chosen, array.shape)]


def differ(got: np.ndarray, want: np.ndarray, slack: float) -> bool:
    """Whether any element is wrong. A sample is looked at first, because most guesses are far off."""
    if got.size > 4 * SAMPLE and (excess(sample(got), sample(want), 4 * slack) > 1).any():
        return True  # 4: the sample's rms is not that of the whole
    return bool((excess(got, want, slack) > 1).any())


def bits(claim: np.ndarray, telling: np.ndarray, slack: float) -> float:
    """How unlikely it is that numbers agree with `claim` by luck, in bits. Only its `telling` elements count.

    A float is worth the digits that its slack leaves, each value once; a whole number the range they span.
    """
    values = claim[telling][:SAMPLE]
    if not values.size:
        return 0.0
    whole = claim.dtype.kind == "i" or bool((values == np.round(values)).all())
    if whole:
        spread = np.ptp(values) if claim.size > 1 else abs(values[0])
        return values.size * math.log2(1 + float(spread))
    return len(np.unique(values)) * -math.log2(slack)


def copied(array: np.ndarray) -> np.ndarray:
    """A copy whose elements lie as far apart as those of the array, where each has a place of its own."""
    strides = in_elements(array)
    if strides is None:
        return array.copy()
    memory = np.empty(1 + sum((length - 1) * step for length, step in zip(array.shape, strides)), array.dtype)
    copy = np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)
    copy[...] = array
    return copy


def varied(value: Any, by: int) -> Any:
    """Another value that is legal where `value` is: numbers some way off, those of a tuple too, array elements moved.

    Arrays of floats also shrink unevenly, and in others half of the elements repeat, so that no sum is kept.
    """
    if type(value) in (int, float):
        return value + by if isinstance(value, int) else value * (1 + by / 8)
    if type(value) is tuple:
        return tuple(varied(part, by) for part in value)
    if not isinstance(value, np.ndarray) or value.size < 2:
        return value
    flat = np.roll(value.reshape(-1), by)
    if is_float(value.dtype):
        flat = (flat * np.linspace(0.3 + by % 5 / 10, 1, value.size)).astype(value.dtype)
    else:
        flat[: value.size // 2] = flat[-(value.size // 2) :]
    return flat.reshape(value.shape)
