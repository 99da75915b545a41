"""The types that the device knows, and its conversions and arithmetic where they are not NumPy's."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

SUPPORTED = frozenset("?bBhHiIlLqQefdFD")
SMALLEST = np.finfo(np.float32).tiny  # of full precision


def device_dtype(dtype: Any) -> np.dtype:
    """The NumPy dtype of this specifier. ValueError, with CuPy's words, if no array on the device can have it.

    NotImplementedError for what CuPy has and the simulated one has not: records and raw bytes.
    """
    dtype = np.dtype(dtype)
    if dtype.byteorder == ">":
        raise ValueError(f"Unsupported dtype {dtype} with big-endian byte-order")
    if dtype.kind == "V" and not dtype.hasobject and dtype.name != "bfloat16":
        raise NotImplementedError(
            f"The simulated CuPy has no arrays of {dtype}; on a GPU there are such.\n"
            "Take an array of numbers for each part."
        )
    if dtype.char not in SUPPORTED and dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {dtype}")
    return dtype


def convert(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The values in another type, as conversions on the device give them; the array itself if it has that type."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "c" and dtype.kind not in "cb":
        values = values.real
    if values.dtype.kind == "f" and dtype.kind in "iu":
        return _to_integer(values, dtype)
    with np.errstate(all="ignore"):
        return flushed(flushed(values).astype(dtype))


def flushed(values: np.ndarray) -> np.ndarray:
    """The values as arithmetic sees and gives them: CuPy's kernels are compiled so that float32 below 1.2e-38 is 0."""
    if values.dtype != np.float32:
        return values
    small = np.abs(values) < SMALLEST
    if not (small & (values != 0)).any():
        return values
    return np.where(small, np.copysign(np.float32(0), values), values)


def _to_integer(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """From floating point, saturating (PTX ISA, "cvt"): what is too large gives the largest integer.

    NaN gives 0; where either type has 64 bits, the highest bit alone. 8 and 16 bits are the low ones of 32.
    """
    wide = np.dtype(f"{dtype.kind}{max(4, dtype.itemsize)}")
    values = values.astype(np.float32) if values.dtype.itemsize < 4 else values
    low, high = float(np.iinfo(wide).min), float(np.iinfo(wide).max)
    with np.errstate(all="ignore"):
        whole = np.where((values > low) & (values < high), values, 0).astype(wide)
    whole = np.where(values <= low, np.iinfo(wide).min, np.where(values >= high, np.iinfo(wide).max, whole))
    if 8 in (values.dtype.itemsize, wide.itemsize):
        highest = np.array(1 << (8 * wide.itemsize - 1), f"u{wide.itemsize}").view(wide)
        whole = np.where(np.isnan(values), highest, whole)
    return whole.astype(dtype)


@contextmanager
def quietly() -> Iterator[None]:
    """No warnings: the device gives none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
