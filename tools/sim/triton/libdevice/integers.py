"""Functions of whole numbers and of bits."""

from collections.abc import Callable

import numpy as np

from tools.sim.triton.libdevice.mathematics import exponent


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.itemsize}")


def _leading_zeros(x: np.ndarray) -> np.ndarray:
    bits, width = _unsigned(x), 8 * x.itemsize
    places = np.arange(width).reshape(-1, *[1] * x.ndim)
    set_bits = (bits[None] >> places.astype(bits.dtype)) & bits.dtype.type(1) != 0
    return np.where(bits == 0, width, width - 1 - np.max(places * set_bits, axis=0)).astype(np.int32)


def _first_set(x: np.ndarray) -> np.ndarray:
    """1 for the lowest bit; 0 if none is set."""
    bits = _unsigned(x)
    lowest = bits & (~bits + bits.dtype.type(1))
    return np.where(bits == 0, 0, 8 * x.itemsize - _leading_zeros(lowest)).astype(np.int32)


def _reversed(x: np.ndarray) -> np.ndarray:
    bits, width = _unsigned(x), 8 * x.itemsize
    result = np.zeros_like(bits)
    for place in range(width):
        result |= ((bits >> bits.dtype.type(place)) & bits.dtype.type(1)) << bits.dtype.type(width - 1 - place)
    return result.view(x.dtype)


def _permuted(x: np.ndarray, y: np.ndarray, selector: np.ndarray) -> np.ndarray:
    """Four of the bytes of x (the low ones) and y, by three bits of the selector each; a fourth asks for its sign."""
    both = _unsigned(x).astype(np.uint64) | _unsigned(y).astype(np.uint64) << np.uint64(32)
    chosen, result = _unsigned(selector).astype(np.uint64), np.zeros(both.shape, np.uint64)
    for place in range(4):
        code = chosen >> np.uint64(4 * place)
        byte = both >> np.uint64(8) * (code & np.uint64(7)) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        result |= np.where(code & np.uint64(8), sign, byte) << np.uint64(8 * place)
    return result.astype(np.uint32)


def _high_half(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The upper half of the whole product."""
    product = np.multiply(x.astype(object), y.astype(object))
    return np.asarray(product // (1 << 8 * x.itemsize), object).astype(x.dtype)


def _of_24_bits(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The lower 32 bits of the product of the lower 24 bits, which keep their sign."""
    eight = x.dtype.type(8)
    return ((x << eight >> eight).astype(np.int64) * (y << eight >> eight).astype(np.int64)).astype(x.dtype)


def _difference_added(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return (np.abs(x.astype(np.int64) - y.astype(np.int64)) + z).astype(np.uint32)


def _mean(rounded_up: int) -> Callable:
    """(x + y) / 2 without overflow."""
    return lambda x, y: ((x.astype(np.int64) + y.astype(np.int64) + rounded_up) >> 1).astype(x.dtype)


def _bits_as(dtype: str) -> Callable:
    return lambda x: x.view(dtype)


def _whole_exponent(x: np.ndarray) -> np.ndarray:
    """That of the power of two below |x|; the least int32 for 0 and NaN, the greatest for infinity."""
    limits = np.iinfo(np.int32)
    found = exponent(x.astype(np.float64))
    return np.nan_to_num(found, nan=limits.min, neginf=limits.min, posinf=limits.max).astype(np.int32)


def _from_halves(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    bits = _unsigned(high).astype(np.uint64) << np.uint64(32) | _unsigned(low).astype(np.uint64)
    return bits.view(np.float64)


MEANINGS: dict[str, Callable] = {
    **dict.fromkeys(("clz", "clzll"), _leading_zeros),
    **dict.fromkeys(("ffs", "ffsll"), _first_set),
    **dict.fromkeys(("popc", "popcll"), lambda x: np.bitwise_count(_unsigned(x)).astype(np.int32)),
    **dict.fromkeys(("brev", "brevll"), _reversed),
    **dict.fromkeys(("mulhi", "umulhi", "mul64hi", "umul64hi"), _high_half),
    **dict.fromkeys(("mul24", "umul24"), _of_24_bits),
    **dict.fromkeys(("sad", "usad"), _difference_added),
    **dict.fromkeys(("hadd", "uhadd"), _mean(0)),
    **dict.fromkeys(("rhadd", "urhadd"), _mean(1)),
    **dict.fromkeys(("abs", "llabs"), np.abs),
    "byte_perm": _permuted,
    "ilogb": _whole_exponent,
    "ilogbf": _whole_exponent,
    "int_as_float": _bits_as("f4"),
    "uint_as_float": _bits_as("f4"),
    "float_as_int": _bits_as("i4"),
    "float_as_uint": _bits_as("i4"),
    "longlong_as_double": _bits_as("f8"),
    "double_as_longlong": _bits_as("i8"),
    "hiloint2double": _from_halves,
    "double2loint": lambda x: x.view(np.int64).astype(np.int32),
    "double2hiint": lambda x: (x.view(np.int64) >> 32).astype(np.int32),
}
