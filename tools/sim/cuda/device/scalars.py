"""Functions of one lane's numbers that are single instructions: bits, selection, fused multiply-add."""

import numpy as np

from tools.sim import floats
from tools.sim.cuda.numbers.fused import multiply_add, rounded_once
from tools.sim.cuda.numbers.promotion import Value, select
from tools.sim.cuda.numbers.signatures import FLOATS, INTEGERS, converted, only
from tools.sim.cuda.run.intrinsic import intrinsic

SELECTED = ("int16", "uint16", "int32", "uint32", "int64", "uint64", *FLOATS)


@intrinsic
def popc(x: Value) -> Value:
    """How many bits of x are 1, in the type of x."""
    (x,) = converted("cuda.popc", INTEGERS, x)
    return _ones(x).astype(x.dtype)


@intrinsic
def clz(x: Value) -> Value:
    """How many bits of x are 0 before the first 1, in the type of x."""
    (x,) = converted("cuda.clz", INTEGERS, x)
    width, below = 8 * x.itemsize, _bits(x)
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < width:
            below = below | below >> below.dtype.type(shift)  # in the end, all bits from the first 1 down are 1
    return (width - _ones(below)).astype(x.dtype)


@intrinsic
def ffs(x: Value) -> Value:
    """Number of the lowest bit of x that is 1, the lowest of all being 1; 0 for 0: uint32."""
    only("cuda.ffs", "x", x, ("int32", "int64", "uint32", "uint64"))
    x = _bits(x)
    return select(x == 0, 0, _ones(x ^ (x - x.dtype.type(1)))).astype(np.uint32)


@intrinsic
def brev(x: Value) -> Value:
    """The bits of x in reverse order: uint32, or uint64 for uint64. Other types become uint32, as in Numba."""
    (x,) = converted("cuda.brev", ("uint32", "uint64"), x)
    kind = x.dtype.type
    for shift, lower in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        mask, shift = kind(lower & np.iinfo(kind).max), kind(shift)
        x = (x & mask) << shift | x >> shift & mask
    return x.byteswap()


@intrinsic
def selp(test: Value, a: Value, b: Value) -> Value:
    """a if test else b, both of one type, and both evaluated."""
    only("cuda.selp", "test", test, ("bool",))
    only("cuda.selp", "a", a, SELECTED)
    only("cuda.selp", "b", b, (str(a.dtype),))
    return select(test, a, b)


@intrinsic
def fma(a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once: float32 if all three fit into it, else float64."""
    values = converted("cuda.fma", FLOATS, a, b, c)
    return floats.called(multiply_add(*values), values)


@intrinsic
def cbrt(x: Value) -> Value:
    """The cube root: float32 if x fits into it, else float64."""
    (x,) = converted("cuda.cbrt", FLOATS, x)
    return floats.called(rounded_once(np.cbrt)(x), [x])


@intrinsic
def nanosleep(nanoseconds: Value) -> None:
    """Wait a while. There is no time here, so nothing happens."""


def _bits(x: Value) -> Value:
    """The same bits as an unsigned number."""
    return x.view(f"u{x.itemsize}")


def _ones(x: Value) -> Value:
    return np.bitwise_count(_bits(x))
