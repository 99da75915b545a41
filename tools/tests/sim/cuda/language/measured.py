"""Results of a GPU for every operation, every pair of types and awkward values, to compare the simulator with.

`python -m tools.tests.sim.cuda.language.measured`, where there are a GPU and numba-cuda, writes h200.json. Of each
row, an expression with one type of a and all types of b, it keeps a checksum of the results, bit by bit; NaNs are
alike. Left out is what depends on a fused multiply-add or on a mathematical library: products, quotients and powers
of complex numbers, and powers with a float exponent.
"""

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.numbers.mathematics import meaning
from tools.sim.cuda.numbers.promotion import TYPES

FILE = Path(__file__).with_name("h200.json")

BINARY = {
    "a + b": operations.add,
    "a - b": operations.sub,
    "a * b": operations.mul,
    "a / b": operations.truediv,
    "a // b": operations.floordiv,
    "a % b": operations.mod,
    "a & b": operations.and_,
    "a | b": operations.or_,
    "a ^ b": operations.xor,
    "a == b": operations.eq,
    "a != b": operations.ne,
    "a < b": operations.lt,
    "a <= b": operations.le,
    "a > b": operations.gt,
    "a >= b": operations.ge,
    "a is b": operations.is_,
    "min(a, b)": meaning(min),
    "max(a, b)": meaning(max),
    "max(a, b, a)": lambda a, b: meaning(max)(a, b, a),
    "divmod(a, b)[0]": lambda a, b: meaning(divmod)(a, b)[0],
    "divmod(a, b)[1]": lambda a, b: meaning(divmod)(a, b)[1],
    "math.copysign(a, b)": meaning(math.copysign),
    "math.fmod(a, b)": meaning(math.fmod),
    "math.nextafter(a, b)": meaning(math.nextafter),
    "math.remainder(a, b)": meaning(math.remainder),
}
BY_AMOUNT = {
    "a << b": operations.lshift,
    "a >> b": operations.rshift,
    "a ** b": operations.pow,
    "math.ldexp(a, b)": meaning(math.ldexp),
}
UNARY = {
    "-a": operations.neg,
    "+a": operations.pos,
    "~a": operations.invert,
    "not a": operations.not_,
    **{f"{function.__name__}(a)": meaning(function) for function in (abs, int, float, bool, round)},
    "round(a, 2)": lambda a: meaning(round)(a, np.int64(2)),
    "round(a, -1)": lambda a: meaning(round)(a, np.int64(-1)),
    **{
        f"math.{name}(a)": meaning(getattr(math, name))
        for name in ("ceil", "floor", "trunc", "fabs", "sqrt", "isnan", "isinf", "isfinite")
    },
    "math.frexp(a)[0]": lambda a: meaning(math.frexp)(a)[0],
    "math.frexp(a)[1]": lambda a: meaning(math.frexp)(a)[1],
    "math.modf(a)[0]": lambda a: meaning(math.modf)(a)[0],
    "math.modf(a)[1]": lambda a: meaning(math.modf)(a)[1],
    "np.bool(a)": meaning(np.bool_),
    **{f"np.{dtype}(a)": lambda a, dtype=dtype: operations.convert(a, dtype) for dtype in TYPES[1:]},
}
WHOLE = (0, 1, -1, 2, 3, 7, -7, 100, 127, -128, 255, 32767, 65536, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63))
REAL = (
    0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -0.1,
    7.25,
    128.0,
    255.5,
    40000.0,
    -70000.0,
    3e9,
    1e-3,
    1e10,
    -1e19,
    2e19,
    math.inf,
    -math.inf,
    math.nan,
)
AMOUNTS = (0, 1, -1, 2, -2, 5, 17, 31, 32, 39, 62, 63, 64)


def values(dtype: np.dtype) -> np.ndarray:
    """Awkward ones of a type."""
    if dtype.kind == "c":
        return np.array([complex(x, y) for x in REAL[::3] for y in REAL[::4]], dtype)
    with np.errstate(over="ignore"):
        return np.array(REAL if dtype.kind == "f" else WHOLE).astype(dtype)


def amounts(dtype: np.dtype) -> np.ndarray:
    return np.array(AMOUNTS).astype(dtype)


def pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each of x with each of y."""
    return np.repeat(x, y.size), np.tile(y, x.size)


def is_left_out(expression: str, a: np.dtype, b: np.dtype) -> bool:
    if expression == "a ** b":
        return b.kind in "fc" or a.kind == "c"
    return "c" in (a.kind, b.kind) and expression in ("a * b", "a / b", "abs(a)")


# Rows --------------------------------------------------------------------------------------------


def rows(results: Callable) -> dict[str, str]:
    """Checksums by expression and type of a. results(expressions, x, y): an array or None for each expression."""
    sums = {}
    for a in TYPES:
        for b in TYPES:
            for expressions, second in ((BINARY, values(b)), (BY_AMOUNT, amounts(b))):
                wanted = [each for each in expressions if not is_left_out(each, a, b)]
                _add(sums, a, wanted, results(wanted, *pairs(values(a), second)))
        wanted = [each for each in UNARY if not is_left_out(each, a, a)]
        _add(sums, a, wanted, results(wanted, values(a), values(a)))
    return {row: checksum.hexdigest()[:16] for row, checksum in sums.items()}


def _add(sums: dict, a: np.dtype, expressions: list[str], found: list) -> None:
    for expression, result in zip(expressions, found, strict=True):
        checksum = sums.setdefault(f"{expression}  {a}", hashlib.sha256())
        checksum.update(b"refused" if result is None else _bits(expression, result))


def _bits(expression: str, result: np.ndarray) -> bytes:
    """With one NaN for all, and in min and max one 0.0."""
    name, parts = str(result.dtype), result
    if result.dtype.kind in "fc":
        parts = result.view(result.real.dtype).copy()
        parts[np.isnan(parts)] = np.nan
        if expression.startswith("m"):
            parts[parts == 0] = 0
    return name.encode() + parts.tobytes()


def simulated(expressions: list[str], x: np.ndarray, y: np.ndarray) -> list:
    known = {**BINARY, **BY_AMOUNT}
    return [_simulated(known.get(each), x, y) if each in known else _simulated(UNARY[each], x) for each in expressions]


def _simulated(function: Callable, *arrays: np.ndarray):
    try:
        with np.errstate(all="ignore"):
            result = function(*arrays)
            return np.broadcast_to(result, arrays[0].shape)
    except Refused:
        return None


def on_the_gpu(expressions: list[str], x: np.ndarray, y: np.ndarray) -> list:
    from numba import cuda

    types = {each: _result_type(each, x.dtype, y.dtype) for each in expressions}
    arrays = {each: cuda.to_device(np.zeros(x.size, dtype)) for each, dtype in types.items() if dtype is not None}
    outs = [f"out{number}" for number in range(len(arrays))]
    lines = [
        f"def kernel(x, y, {', '.join(outs)}):",
        "    i = cuda.grid(1)",
        "    if i < x.size:",
        "        a, b = x[i], y[i]",
        *(f"        {out}[i] = {each}" for out, each in zip(outs, arrays)),
    ]
    space = {"cuda": cuda, "math": math, "np": np}
    exec("\n".join(lines), space)
    cuda.jit(space["kernel"])[-(-x.size // 128), 128](x, y, *arrays.values())
    return [arrays[each].copy_to_host() if each in arrays else None for each in expressions]


def _result_type(expression: str, a: np.dtype, b: np.dtype) -> np.dtype | None:
    """Numba's; None if it does not compile the expression."""
    from numba.cuda.compiler import compile_cuda, compile_ptx_for_current_device
    from numba.cuda.np.numpy_support import as_dtype, from_dtype

    function = eval(f"lambda a, b: {expression}", {"math": math, "np": np})
    types = from_dtype(a), from_dtype(b)
    try:
        if expression in UNARY:  # some fail late
            return as_dtype(compile_ptx_for_current_device(function, types, device=True)[1])
        return as_dtype(compile_cuda(function, None, types, cc=(9, 0)).signature.return_type)
    except Exception:
        return None


def main() -> None:
    np.row_stack = np.vstack  # which numba-cuda 0.30 still asks NumPy 2.5 for
    import numba_cuda
    from numba import cuda

    card = cuda.get_current_device().name
    record = {
        "card": card.decode() if isinstance(card, bytes) else card,
        "numba-cuda": numba_cuda.__version__,
        "rows": rows(on_the_gpu),
    }
    FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
