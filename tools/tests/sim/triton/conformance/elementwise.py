"""Arithmetic, functions and comparisons, one element at a time."""

from collections.abc import Iterator

import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import FLOATS, INTEGERS, Case, N, name, on_device, some, with_specials


@triton.jit
def unary(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if OP == "neg":
        y = -x
    elif OP == "abs":
        y = tl.abs(x)
    elif OP == "not":
        y = ~x
    elif OP == "exp":
        y = tl.exp(x)
    elif OP == "exp2":
        y = tl.exp2(x)
    elif OP == "log":
        y = tl.log(x)
    elif OP == "log2":
        y = tl.log2(x)
    elif OP == "sin":
        y = tl.sin(x)
    elif OP == "cos":
        y = tl.cos(x)
    elif OP == "sqrt":
        y = tl.sqrt(x)
    elif OP == "sqrt_rn":
        y = tl.sqrt_rn(x)
    elif OP == "rsqrt":
        y = tl.rsqrt(x)
    elif OP == "erf":
        y = tl.erf(x)
    elif OP == "floor":
        y = tl.floor(x)
    elif OP == "ceil":
        y = tl.ceil(x)
    elif OP == "sigmoid":
        y = tl.sigmoid(x)
    elif OP == "clamp":
        y = tl.clamp(x, -1.0, 2.0)
    elif OP == "plus half":
        y = x + 0.5
    tl.store(out_ptr + i, y)


@triton.jit
def binary(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    if OP == "add":
        z = x + y
    elif OP == "sub":
        z = x - y
    elif OP == "mul":
        z = x * y
    elif OP == "div":
        z = x / y
    elif OP == "div_rn":
        z = tl.div_rn(x, y)
    elif OP == "floordiv":
        z = x // y
    elif OP == "mod":
        z = x % y
    elif OP == "minimum":
        z = tl.minimum(x, y)
    elif OP == "maximum":
        z = tl.maximum(x, y)
    elif OP == "maximum, NaN wins":
        z = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    elif OP == "fma":
        z = tl.fma(x, y, x)
    elif OP == "and":
        z = x & y
    elif OP == "or":
        z = x | y
    elif OP == "xor":
        z = x ^ y
    elif OP == "shl":
        z = x << y
    elif OP == "shr":
        z = x >> y
    elif OP == "umulhi":
        z = tl.umulhi(x, y)
    elif OP == "where":
        z = tl.where(x < y, x, y)
    elif OP == "lt":
        z = x < y
    elif OP == "le":
        z = x <= y
    elif OP == "gt":
        z = x > y
    elif OP == "ge":
        z = x >= y
    elif OP == "eq":
        z = x == y
    elif OP == "ne":
        z = x != y
    elif OP == "not lt":
        z = not (x < y)
    elif OP == "and of two":
        z = (x < y) and (x > 0)
    elif OP == "or of two":
        z = (x < y) or (x > 0)
    tl.store(out_ptr + i, z)


MATHS = {  # allowed error on a GPU and here, and the range of arguments
    "exp": (torch.exp, 4, -8, 8),
    "exp2": (torch.exp2, 4, -8, 8),
    "log": (torch.log, 4, 0.5, 20),
    "log2": (torch.log2, 4, 2, 20),
    "sin": (torch.sin, 4, 0.1, 3),
    "cos": (torch.cos, 4, -1.4, 1.4),
    "sqrt": (torch.sqrt, 2, 0.1, 9),
    "sqrt_rn": (torch.sqrt, 0.5, 0.1, 9),
    "rsqrt": (torch.rsqrt, 4, 0.1, 9),
    "erf": (torch.erf, 8, 0.1, 3),
    "sigmoid": (torch.sigmoid, 8, -8, 8),
    "floor": (torch.floor, 0, -8, 8),
    "ceil": (torch.ceil, 0, -8, 8),
}
ANY_FLOAT = {"neg": torch.neg, "abs": torch.abs, "plus half": lambda x: x + 0.5}


def with_one(op: str, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = on_device(torch.empty(x.shape, dtype=dtype))
    unary[(1,)](on_device(x), out, OP=op, N=N)
    return out


def of_one() -> Iterator[Case]:
    for op, (wanted, allowed, low, high) in MATHS.items():

        def compute(op=op, wanted=wanted, low=low, high=high):
            x = some(torch.float32, N, low=low, high=high)
            return with_one(op, x, torch.float32), wanted(x.double())

        yield Case(op, "float32", compute, allowed)
    for dtype in FLOATS:
        for op, wanted in ANY_FLOAT.items():
            yield Case(
                op,
                name(dtype),
                lambda op=op, wanted=wanted, dtype=dtype: (
                    with_one(op, with_specials(dtype, 0), dtype),
                    wanted(with_specials(dtype, 0)),
                ),
            )
    for op, wanted in {"neg": torch.neg, "abs": torch.abs, "not": torch.bitwise_not}.items():
        for dtype in INTEGERS:
            if not (op == "abs" and dtype == torch.uint8):
                yield Case(
                    op,
                    name(dtype),
                    lambda op=op, wanted=wanted, dtype=dtype: (
                        with_one(op, some(dtype, N, high=99), dtype),
                        wanted(some(dtype, N, high=99)),
                    ),
                )
    yield Case(
        "clamp",
        "float32",
        lambda: (
            with_one("clamp", with_specials(torch.float32, 0), torch.float32),
            torch.fmin(torch.fmax(with_specials(torch.float32, 0), torch.tensor(-1.0)), torch.tensor(2.0)),
        ),
    )


BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "minimum": torch.fmin,
    "maximum": torch.fmax,
    "where": lambda x, y: torch.where(x < y, x, y),
}
COMPARISONS = {
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
    "not lt": lambda x, y: ~(x < y),
    "and of two": lambda x, y: (x < y) & (x > 0),
    "or of two": lambda x, y: (x < y) | (x > 0),
}
OF_FLOATS = {
    "div": (lambda x, y: x / y, 2),
    "div_rn": (lambda x, y: x / y, 0),
    "mod": (torch.fmod, 0),
    "maximum, NaN wins": (torch.maximum, 0),
    "fma": (lambda x, y: (x.double() * y.double() + x.double()).float(), 0),
}
OF_INTEGERS = {
    "floordiv": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "mod": torch.fmod,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
}


def with_two(op: str, x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = on_device(torch.empty(x.shape, dtype=dtype))
    binary[(1,)](on_device(x), on_device(y), out, OP=op, N=x.numel())
    return out


def of_two() -> Iterator[Case]:
    def case(op, wanted, x, y, dtype=None, allowed=0.0):
        return Case(op, name(x.dtype), lambda: (with_two(op, x, y, dtype or x.dtype), wanted(x, y)), allowed)

    for dtype in FLOATS:
        x, y = with_specials(dtype, 0), with_specials(dtype, 1)
        yield from (case(op, wanted, x, y) for op, wanted in BINARY.items())
        yield from (case(op, wanted, x, y, torch.bool) for op, wanted in COMPARISONS.items())
    for op, (wanted, allowed) in OF_FLOATS.items():
        x, y = some(torch.float32, N, low=-9), some(torch.float32, N, seed=1, low=0.5)
        yield case(op, wanted, x, y, None, allowed)
    for dtype in INTEGERS:
        x, y = some(dtype, N, low=-100, high=100), some(dtype, N, seed=1, low=-9, high=9)
        integers = BINARY | {"minimum": torch.minimum, "maximum": torch.maximum} | OF_INTEGERS
        yield from (case(op, wanted, x, y) for op, wanted in integers.items())
        yield from (case(op, wanted, x, y, torch.bool) for op, wanted in COMPARISONS.items())
    for dtype in (torch.int32, torch.int64, torch.uint8):
        x, y = some(dtype, N, low=-100, high=100), some(dtype, N, seed=1, low=1, high=6)
        yield case("shl", torch.bitwise_left_shift, x, y)
        yield case("shr", torch.bitwise_right_shift, x, y)
    large = some(torch.int32, N, low=1e9, high=2e9)
    yield case("mul", torch.mul, large, large)  # wraps around
    yield case("umulhi", lambda x, y: (x.long() * y.long() >> 32).int(), large, large)


def cases() -> Iterator[Case]:
    yield from of_one()
    yield from of_two()
