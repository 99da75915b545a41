"""The cvt instruction: a number in another format, or two short ones at once."""

import numpy as np

from tools.sim.triton.assembly.formats import E2M1, FLOATS, MODIFIERS, PAIRS, as_numbers, bits_of, format_of
from tools.sim.triton.casts import nearest, to_integer, toward_zero


def converted(parts: list[str], given: list[np.ndarray]) -> np.ndarray:
    *how, target, source = parts
    if set(how) - MODIFIERS:
        raise KeyError("cvt")
    if target in PAIRS and source in PAIRS:  # two short floats, from a byte or two
        return _widened(PAIRS[target], PAIRS[source], given[0])
    if target in PAIRS:  # the second operand becomes the lower half
        dtype, (high, low) = PAIRS[target], [as_numbers(each, FLOATS[source]) for each in given]
        shift = 4 if dtype == E2M1 else 8 * dtype.itemsize
        return _rounded(low, dtype, how) | _rounded(high, dtype, how) << np.uint64(shift)
    values, dtype = as_numbers(given[0], format_of(source)), format_of(target)
    if dtype.kind in "iu":
        if source in FLOATS:
            whole = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
            (direction,) = [each for each in how if each in whole]
            return bits_of(to_integer(whole[direction](values.astype(np.float64)).astype(values.dtype), dtype))
        return bits_of(values.astype(dtype))
    return _rounded(values, dtype, how)


def _rounded(values: np.ndarray, dtype: np.dtype, how: list[str]) -> np.ndarray:
    """A number in another format, as bits."""
    if dtype == E2M1:
        limited = np.clip(np.nan_to_num(values, nan=6.0), -6, 6)  # NaN becomes the largest number
        return limited.astype(dtype).view(np.uint8).astype(np.uint64)
    if "rz" in how:
        return bits_of(toward_zero(values, dtype))
    if dtype in FLOATS.values() and "satfinite" in how:
        raise KeyError("satfinite")
    converted = nearest(values, dtype) if values.dtype.kind not in "iu" else values.astype(dtype)
    if "sat" in how:
        converted = np.fmin(np.fmax(converted, dtype.type(0)), dtype.type(1)).astype(dtype)
    return bits_of(converted)


def _widened(target: np.dtype, source: np.dtype, bits: np.ndarray) -> np.ndarray:
    result = np.zeros_like(bits)
    shift = 4 if source == E2M1 else 8 * source.itemsize
    for number in range(2):
        part = bits >> np.uint64(shift * number) & np.uint64((1 << shift) - 1)
        values = part.astype(np.uint8).view(source) if source.itemsize == 1 else as_numbers(part, source)
        result |= bits_of(values.astype(np.float32).astype(target)) << np.uint64(16 * number)
    return result
