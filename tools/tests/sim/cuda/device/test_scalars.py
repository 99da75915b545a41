"""Functions of one number: bits, selection, and a multiply-add that rounds once."""

from fractions import Fraction

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.fused import multiply_add
from tools.tests.sim.cuda.device.running import inside, run

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def bit_string(x) -> str:
    width = 8 * x.itemsize
    return f"{int(x) % 2**width:0{width}b}"


def some(dtype) -> np.ndarray:
    """Random bits, few bits, and the ends of the range."""
    rng, info = np.random.default_rng(np.dtype(dtype).num), np.iinfo(dtype)
    x = rng.integers(0, 2**64, 32, np.uint64) >> rng.integers(0, 64, 32).astype(np.uint64)
    x = x.astype(dtype)
    x[:4] = 0, 1, info.min, info.max
    return x


ORACLES = {  # name: result as a function of the bits as text
    "popc": lambda bits: bits.count("1"),
    "clz": lambda bits: len(bits) - len(bits.lstrip("0")),
    "ffs": lambda bits: len(bits) - bits.rindex("1") if "1" in bits else 0,
    "brev": lambda bits: int(bits[::-1], 2),
}


@pytest.mark.parametrize(
    "name, dtype, result",
    [
        *((name, dtype, dtype) for name in ("popc", "clz") for dtype in INTEGERS),
        *(("ffs", dtype, np.uint32) for dtype in (np.int32, np.int64, np.uint32, np.uint64)),
        *(("brev", dtype, dtype) for dtype in (np.uint32, np.uint64)),
    ],
)
def test_bits_are_counted_and_reversed(name, dtype, result):
    meaning = getattr(cuda, name).meaning
    with inside():
        got = meaning(some(dtype))
        alone = [meaning(x) for x in some(dtype)]
    assert got.dtype == result
    assert got.tolist() == [ORACLES[name](bit_string(x)) for x in some(dtype)]
    assert [type(x) for x in alone] == [result] * 32 and [int(x) for x in alone] == got.tolist()


def test_a_number_is_selected_by_a_condition():
    test, a, b = np.arange(32) % 3 == 0, np.arange(32, dtype=np.float32), np.float32(-1)
    with inside():
        got = cuda.selp.meaning(test, a, b)
        assert (got.dtype, got.tolist()) == (np.float32, [i if i % 3 == 0 else -1 for i in range(32)])
        assert type(cuda.selp.meaning(np.bool_(True), b, b)) is np.float32


def test_the_cube_root_keeps_the_type():
    with inside():
        assert cuda.cbrt.meaning(np.float32([27, -8])).tolist() == [3, -2]
        assert cuda.cbrt.meaning(np.float32(27)).dtype == np.float32


# a * b + c ----------------------------------------------------------------------------------------


def rounded(exact: Fraction, dtype) -> float:
    """The nearest number of this type, the even one of two: by a search in the neighbourhood."""
    near = dtype(float(exact))
    nearby = [np.nextafter(near, dtype(-np.inf)), near, np.nextafter(near, dtype(np.inf))]
    odd = {float(x): int(x.view(f"u{x.itemsize}")) & 1 for x in nearby}
    return min(odd, key=lambda x: (abs(Fraction(x) - exact), odd[x]))


@pytest.mark.parametrize(
    "dtype, least, most", [(np.float16, -6, 6), (np.float32, -60, 50), (np.float64, -30, 30), (np.float64, -520, 505)]
)
def test_a_multiply_add_rounds_once(dtype, least, most):
    rng, count = np.random.default_rng(most), 400
    a, b, c = (
        rng.uniform(1, 2, (3, count)) * rng.choice([-1, 1], (3, count)) * 2.0 ** rng.integers(least, most, (3, count))
    ).astype(dtype)
    c[: count // 2] = (-a * b)[: count // 2]  # what is left of such a sum is the product's rounding error
    with np.errstate(all="ignore"):
        got = multiply_add(a, b, c)
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c)]
    assert got.dtype == dtype
    assert got.tolist() == [rounded(each, dtype) for each in exact]
    assert (a * b + c != got).any()


@pytest.mark.parametrize("dtype, bits", [(np.float32, 23), (np.float64, 52)])
def test_a_sum_just_beside_the_middle_is_rounded_to_the_nearer_side(dtype, bits):
    last = 2.0**-bits
    a, b, c = dtype(1 + last), dtype((1 - last) * last / 2), dtype(1 + last)  # 1 + 1.5 last, less a very little
    assert multiply_add(a, b, c) == c
    assert a * b + c == 1 + 2 * last


INFINITY = float("inf")


@pytest.mark.parametrize(
    "a, b, c, want",
    [
        (0.0, 3.0, -0.0, 0.0),
        (-0.0, 3.0, -0.0, -0.0),
        (INFINITY, 1.0, 1.0, INFINITY),
        (1e200, 1e200, -1e308, INFINITY),
        (1e200, -1e200, 1e308, -INFINITY),
        (1e200, 1e200, -INFINITY, -INFINITY),
        (1e-200, -1e-200, 0.0, -0.0),
        (1e-200, 1e-200, 1.0, 1.0),
        (2.0**-1074, 0.5, 2.0**-1074, 2.0**-1073),
        (1e308, 2.0, -1e308, 1e308),
    ],
)
def test_a_multiply_add_at_the_ends_of_the_range(a, b, c, want):
    with np.errstate(all="ignore"):
        got = multiply_add(*map(np.float64, (a, b, c)))
    assert got.tobytes() == np.float64(want).tobytes()


def test_invalid_multiply_adds_are_nan():
    with np.errstate(all="ignore"):
        assert np.isnan(multiply_add(np.float64(INFINITY), np.float64(0), np.float64(1)))
        assert np.isnan(multiply_add(np.float32(INFINITY), np.float32(1), np.float32(-INFINITY)))


# In a kernel --------------------------------------------------------------------------------------


def horner(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = cuda.fma(x[i], cuda.fma(x[i], 2.0, 3.0), cuda.popc(i))
        cuda.nanosleep(100)


def test_they_work_in_kernels():
    x, out = np.arange(50) / 8, np.zeros(50)
    run(horner, 2, 32, x, out)
    assert out.tolist() == [t * (2 * t + 3) + i.bit_count() for i, t in enumerate(x.tolist())]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: cuda.ffs.meaning(np.int8(1)), "x is int8; cuda.ffs takes int32, int64, uint32 or uint64."),
        (lambda: cuda.selp.meaning(np.int64(1), np.int64(1), np.int64(1)), "test is int64; cuda.selp takes bool."),
        (lambda: cuda.selp.meaning(np.bool_(1), np.int64(1), np.int32(1)), "b is int32; cuda.selp takes int64."),
        (lambda: cuda.popc.meaning((np.int64(1),)), "cuda.popc takes numbers; an argument is of type tuple."),
    ],
)
def test_other_types_are_refused_with_the_reason(call, words):
    with inside(), pytest.raises(Refused) as caught:
        call()
    assert caught.value.reason == words
