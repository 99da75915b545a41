"""Instructions of PTX, each over all runs at once: arithmetic, operations on bits, conversions.

Approximations (ex2.approx, tanh.approx, ...) are as exact here as the others; a GPU's are off by a few units.
"""

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tools.sim.triton.assembly.source import Registers
from tools.sim.triton.casts import BF16, E4M3, E5M2, nearest, to_integer, toward_zero

E2M1 = np.dtype(ml_dtypes.float4_e2m1fn)
PLAIN = {f"{kind}{8 * size}": np.dtype(f"{'u' if kind == 'b' else 'i' if kind == 's' else kind}{size}")
         for kind in "bus" for size in (1, 2, 4, 8)}  # fmt: skip
FLOATS = {"f16": np.dtype("f2"), "bf16": BF16, "f32": np.dtype("f4"), "f64": np.dtype("f8")}
PAIRS = {"f16x2": np.dtype("f2"), "bf16x2": BF16, "e4m3x2": E4M3, "e5m2x2": E5M2, "e2m1x2": E2M1}
MODIFIERS = {"rn", "rz", "approx", "full", "ftz", "sat", "satfinite", "lo", "hi", "wide", "rni", "rzi", "rmi", "rpi"}


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
        return _converted(parts, given)
    if name == "mov":
        return _bits(_as(given[0], PLAIN.get(parts[-1], FLOATS.get(parts[-1], np.dtype("u8")))))
    if name == "selp":
        return np.where(given[2] != 0, given[0], given[1])
    if name == "setp":
        dtype = _number(parts[-1])
        return COMPARED[parts[0]](*(_as(each, dtype) for each in given)).astype(np.uint64)
    if name in BITS:
        return BITS[name](parts, *given)
    if set(parts[:-1]) - MODIFIERS or "rz" in parts:
        raise KeyError(name)
    kind = parts[-1]
    if kind in PAIRS:
        return _of_pairs(FLOAT[name], PAIRS[kind], given)
    if kind in FLOATS:
        return _bits(_in_floats(name, parts, [_as(each, FLOATS[kind]) for each in given]))
    return _bits(_in_whole(name, parts, [_as(each, PLAIN[kind]) for each in given]))


def _number(kind: str) -> np.dtype:
    return FLOATS[kind] if kind in FLOATS else PLAIN[kind]


def _as(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def _bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(f"u{values.itemsize}").astype(np.uint64)


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
        values = [_as(each >> shift, dtype).astype(np.float32) for each in given]
        halves.append(_bits(operate(*values).astype(dtype)) << shift)
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
        values, places = _as(bits, dtype), _as(by, np.dtype("u4"))
        most = places >= width  # then nothing is left but signs
        places = np.where(most, width - 1, places).astype(dtype)
        if left:
            return _bits(np.where(most, dtype.type(0), values << places))
        rest = values >> (dtype.type(width - 1)) if dtype.kind == "i" else np.zeros_like(values)
        return _bits(np.where(most, rest, values >> places))

    return shift


def _chosen_by_table(parts: list[str], *given: np.ndarray) -> np.ndarray:
    """lop3: each bit of the result is that of a table of eight, by the three bits there."""
    a, b, c = (_as(each, np.dtype("u4")) for each in given[:3])
    table, result = int(given[3][0]), np.zeros_like(a)
    for number in range(8):
        if table >> number & 1:
            result |= (a if number & 4 else ~a) & (b if number & 2 else ~b) & (c if number & 1 else ~c)
    return _bits(result)


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
    "popc": lambda parts, bits: np.bitwise_count(_as(bits, PLAIN[parts[-1]])).astype(np.uint64),
}


# Conversions -------------------------------------------------------------------------------------


def _converted(parts: list[str], given: list[np.ndarray]) -> np.ndarray:
    *how, target, source = parts
    if set(how) - MODIFIERS:
        raise KeyError("cvt")
    if target in PAIRS and source in PAIRS:  # two short floats, from a byte or two
        return _widened(PAIRS[target], PAIRS[source], given[0])
    if target in PAIRS:  # the second operand becomes the lower half
        dtype, (high, low) = PAIRS[target], [_as(each, FLOATS[source]) for each in given]
        shift = 4 if dtype == E2M1 else 8 * dtype.itemsize
        return _rounded(low, dtype, how) | _rounded(high, dtype, how) << np.uint64(shift)
    values, dtype = _as(given[0], _number(source)), _number(target)
    if dtype.kind in "iu":
        if source in FLOATS:
            whole = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
            (direction,) = [each for each in how if each in whole]
            return _bits(to_integer(whole[direction](values.astype(np.float64)).astype(values.dtype), dtype))
        return _bits(values.astype(dtype))
    return _rounded(values, dtype, how)


def _rounded(values: np.ndarray, dtype: np.dtype, how: list[str]) -> np.ndarray:
    """A number in another format, as bits."""
    if dtype == E2M1:
        limited = np.clip(np.nan_to_num(values, nan=6.0), -6, 6)  # NaN becomes the largest number
        return limited.astype(dtype).view(np.uint8).astype(np.uint64)
    if "rz" in how:
        return _bits(toward_zero(values, dtype))
    if dtype in FLOATS.values() and "satfinite" in how:
        raise KeyError("satfinite")
    converted = nearest(values, dtype) if values.dtype.kind not in "iu" else values.astype(dtype)
    if "sat" in how:
        converted = np.fmin(np.fmax(converted, dtype.type(0)), dtype.type(1)).astype(dtype)
    return _bits(converted)


def _widened(target: np.dtype, source: np.dtype, bits: np.ndarray) -> np.ndarray:
    result = np.zeros_like(bits)
    shift = 4 if source == E2M1 else 8 * source.itemsize
    for number in range(2):
        part = bits >> np.uint64(shift * number) & np.uint64((1 << shift) - 1)
        values = part.astype(np.uint8).view(source) if source.itemsize == 1 else _as(part, source)
        result |= _bits(values.astype(np.float32).astype(target)) << np.uint64(16 * number)
    return result
