"""Instructions of PTX, each over all runs at once: arithmetic, operations on bits, conversions.

Approximations (ex2.approx, tanh.approx, ...) are as exact here as the others; a GPU's are off by a few units.
"""

from collections.abc import Callable

import numpy as np

from tools.sim.triton.assembly.conversions import converted
from tools.sim.triton.assembly.formats import FLOATS, MODIFIERS, PAIRS, PLAIN, as_numbers, bits_of, format_of
from tools.sim.triton.assembly.source import Registers


class Unknown(Exception):
    """An instruction, or a form of one, that is not known here."""


FLOAT: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.fmin,
    "max": np.fmax,
    "abs": np.abs,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcp": lambda x: 1 / x,
    "ex2": np.exp2,
    "lg2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "fma": lambda x, y, z: x * y + z,
}
WHOLE: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "mad": lambda x, y, z: x * y + z,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "abs": np.abs,
    "neg": np.negative,
}
COMPARED: dict[str, Callable] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def execute(opcode: str, operands: list[str], known: Registers) -> None:
    """Carry out one instruction. Raises Unknown for another one, or for a form that is not known."""
    name, *parts = opcode.split(".")
    try:
        given = [known.read(each) for each in operands[1:]]
        known.write(operands[0], _result(name, parts, given))
    except (KeyError, ValueError, IndexError):
        raise Unknown(opcode) from None


def _result(name: str, parts: list[str], given: list[np.ndarray]) -> np.ndarray:
    if name == "cvt":
        return converted(parts, given)
    if name == "mov":
        return bits_of(as_numbers(given[0], PLAIN.get(parts[-1], FLOATS.get(parts[-1], np.dtype("u8")))))
    if name == "selp":
        return np.where(given[2] != 0, given[0], given[1])
    if name == "setp":
        dtype = format_of(parts[-1])
        return COMPARED[parts[0]](*(as_numbers(each, dtype) for each in given)).astype(np.uint64)
    if name in BITS:
        return BITS[name](parts, *given)
    if set(parts[:-1]) - MODIFIERS or "rz" in parts:
        raise KeyError(name)
    kind = parts[-1]
    if kind in PAIRS:
        return _of_pairs(FLOAT[name], PAIRS[kind], given)
    if kind in FLOATS:
        return bits_of(_in_floats(name, parts, [as_numbers(each, FLOATS[kind]) for each in given]))
    return bits_of(_in_whole(name, parts, [as_numbers(each, PLAIN[kind]) for each in given]))


# Arithmetic --------------------------------------------------------------------------------------


def _in_floats(name: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    """Short floats are computed in float32, float32 in float64, and rounded once."""
    dtype = values[0].dtype
    inside = np.dtype("f8") if dtype.itemsize > 2 else np.dtype("f4")
    if "ftz" in parts:
        values = [_flushed(each) for each in values]
    result = FLOAT[name](*(each.astype(inside) for each in values)).astype(dtype)
    if "sat" in parts:
        result = np.fmin(np.fmax(result, dtype.type(0)), dtype.type(1))
    return _flushed(result) if "ftz" in parts else result


def _flushed(values: np.ndarray) -> np.ndarray:
    """Without the smallest numbers of float32, of which ftz makes zeros."""
    tiny = (np.abs(values) < np.finfo(np.float32).tiny) & (values.dtype == np.float32)
    return np.where(tiny, np.copysign(np.zeros_like(values), values), values).astype(values.dtype)


def _of_pairs(operate: Callable, dtype: np.dtype, given: list[np.ndarray]) -> np.ndarray:
    """Two short floats in each register."""
    halves = []
    for shift in (np.uint64(0), np.uint64(16)):
        values = [as_numbers(each >> shift, dtype).astype(np.float32) for each in given]
        halves.append(bits_of(operate(*values).astype(dtype)) << shift)
    return halves[0] | halves[1]


def _in_whole(name: str, parts: list[str], values: list[np.ndarray]) -> np.ndarray:
    if name in ("mul", "mad") and {"hi", "wide"} & set(parts):
        dtype = values[0].dtype
        if dtype.itemsize > 4 or name == "mad":
            raise KeyError(name)
        product = values[0].astype(f"{dtype.kind}8") * values[1].astype(f"{dtype.kind}8")
        wide = product.astype(f"{dtype.kind}{2 * dtype.itemsize}")
        return wide if "wide" in parts else (wide >> 8 * dtype.itemsize).astype(dtype)
    return WHOLE[name](*values)


# Bits --------------------------------------------------------------------------------------------


def _shifted(left: bool) -> Callable:
    def shift(parts: list[str], bits: np.ndarray, by: np.ndarray) -> np.ndarray:
        dtype = PLAIN[parts[-1]]
        width = 8 * dtype.itemsize
        values, places = as_numbers(bits, dtype), as_numbers(by, np.dtype("u4"))
        most = places >= width  # then nothing is left but signs
        places = np.where(most, width - 1, places).astype(dtype)
        if left:
            return bits_of(np.where(most, dtype.type(0), values << places))
        rest = values >> (dtype.type(width - 1)) if dtype.kind == "i" else np.zeros_like(values)
        return bits_of(np.where(most, rest, values >> places))

    return shift


def _chosen_by_table(parts: list[str], *given: np.ndarray) -> np.ndarray:
    """lop3: each bit of the result is that of a table of eight, by the three bits there."""
    a, b, c = (as_numbers(each, np.dtype("u4")) for each in given[:3])
    table, result = int(given[3][0]), np.zeros_like(a)
    for number in range(8):
        if table >> number & 1:
            result |= (a if number & 4 else ~a) & (b if number & 2 else ~b) & (c if number & 1 else ~c)
    return bits_of(result)


def _permuted(parts: list[str], x: np.ndarray, y: np.ndarray, selector: np.ndarray) -> np.ndarray:
    """prmt: four of eight bytes, each by three bits of the selector; a fourth asks for its sign."""
    if parts != ["b32"]:
        raise KeyError("prmt")
    low = np.uint64(0xFFFFFFFF)
    both, result = x & low | (y & low) << np.uint64(32), np.zeros_like(x)
    for place in range(4):
        code = selector >> np.uint64(4 * place)
        byte = both >> np.uint64(8) * (code & np.uint64(7)) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0))
        result |= np.where(code & np.uint64(8), sign, byte) << np.uint64(8 * place)
    return result


def _field(parts: list[str], bits: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """bfe: a field of bits, without a sign."""
    if parts != ["u32"]:
        raise KeyError("bfe")
    byte = np.uint64(255)
    mask = (np.uint64(1) << np.minimum(length & byte, 32)) - np.uint64(1)
    return (bits & np.uint64(0xFFFFFFFF)) >> np.minimum(start & byte, 63) & mask


BITS: dict[str, Callable] = {
    "shl": _shifted(True),
    "shr": _shifted(False),
    "lop3": _chosen_by_table,
    "prmt": _permuted,
    "bfe": _field,
    "popc": lambda parts, bits: np.bitwise_count(as_numbers(bits, PLAIN[parts[-1]])).astype(np.uint64),
}
