"""Operators, conversions and built-in functions compute what a GPU computes, of Numba's types."""

import json
import operator
import random
from types import SimpleNamespace

import numpy as np
import pytest

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.numbers.mathematics import meaning
from tools.sim.cuda.numbers.operations import convert
from tools.sim.cuda.numbers.promotion import TYPES, dtype_of
from tools.tests.sim.cuda.language import measured

MEASURED = json.loads(measured.FILE.read_text(encoding="utf-8"))["rows"]
EXPRESSIONS = {**measured.BINARY, **measured.BY_AMOUNT, **measured.UNARY}
SIGNED = np.iinfo(np.int64)


@pytest.fixture(autouse=True)
def as_in_a_kernel():
    with np.errstate(all="ignore"):
        yield


def is_same(a, b) -> bool:
    """Type, values and signs; NaNs are alike."""
    return (
        a.dtype == b.dtype
        and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
        and (a.dtype.kind != "f" or np.array_equal(np.signbit(a)[a == 0], np.signbit(b)[b == 0]))
    )


# What was measured -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> dict[str, str]:
    return measured.rows(measured.simulated)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_of_all_types_are_those_of_an_h200_bit_by_bit(rows, expression):
    of_gpu = {row: checksum for row, checksum in MEASURED.items() if row.split("  ")[0] == expression}
    assert of_gpu and {row: rows.get(row) for row in of_gpu} == of_gpu


def test_every_operation_was_measured_with_every_type(rows):
    assert rows.keys() == MEASURED.keys()


# Scalars and arrays ------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize(
    "a, b", [("int64", "int64"), ("float32", "int32"), ("int32", "uint64"), ("bool", "float64"), ("float32", "float32")]
)
def test_scalars_stay_scalars_and_give_what_arrays_give(expression, a, b):
    function, a, b = EXPRESSIONS[expression], np.dtype(a), np.dtype(b)
    second = measured.amounts(b) if expression in measured.BY_AMOUNT else measured.values(b)
    x, y = measured.pairs(measured.values(a)[:9], second[:9])
    arrays = (x,) if expression in measured.UNARY else (x, y)
    try:
        results = np.broadcast_to(function(*arrays), x.shape)
    except Refused:
        return
    singles = [function(*scalars) for scalars in zip(*arrays)]
    assert all(isinstance(single, np.generic) for single in singles)
    assert {single.dtype for single in singles} == {results.dtype}
    assert is_same(np.array(singles, results.dtype), results)


@pytest.mark.parametrize("name", ["add", "truediv", "floordiv", "mod", "pow", "lshift", "lt"])
def test_a_scalar_and_an_array_give_an_array(name):
    x, y = np.arange(1, 9), np.int64(3)
    result = getattr(operations, name)(x, y)
    assert result.shape == x.shape and list(result) == [getattr(operator, name)(int(each), 3) for each in x]


# Integers ----------------------------------------------------------------------------------------


def wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("name", ["add", "sub", "mul", "and_", "or_", "xor"])
def test_int64_wraps(name):
    numbers = random.Random(1)
    x = [numbers.randrange(-(2**63), 2**63) for _ in range(200)]
    y = [numbers.randrange(-(2**63), 2**63) for _ in range(200)]
    result = getattr(operations, name)(np.array(x), np.array(y))
    assert result.tolist() == [wrapped(getattr(operator, name)(a, b)) for a, b in zip(x, y)]


@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_integers_are_divided_as_python_divides_them(name):
    numbers = random.Random(2)
    x = [numbers.randrange(-(10 ** numbers.randrange(1, 18)), 10**18) for _ in range(200)]
    y = [numbers.randrange(1, 10 ** numbers.randrange(1, 18)) * numbers.choice((1, -1)) for _ in range(200)]
    result = getattr(operations, name)(np.array(x), np.array(y))
    assert result.tolist() == [getattr(operator, name)(a, b) for a, b in zip(x, y)]


@pytest.mark.parametrize("name", ["floordiv", "mod"])
@pytest.mark.parametrize("x, y", [(7, 0), (-7, 0), (SIGNED.min, -1)])
def test_a_division_without_a_result_gives_0(name, x, y):
    assert getattr(operations, name)(np.int64(x), np.int64(y)) == 0
    assert getattr(operations, name)(np.array([x, x]), np.array([y, y])).tolist() == [0, 0]


@pytest.mark.parametrize(
    "a, b, result",
    [
        ("int32", "int32", "int64"),
        ("uint8", "uint16", "uint64"),
        ("int8", "uint64", "int64"),
        ("bool", "bool", "int64"),
        ("int32", "float32", "float64"),
        ("int16", "float32", "float32"),
        ("uint16", "float32", "float64"),
        ("float16", "float32", "float32"),
        ("int64", "float64", "float64"),
        ("float32", "complex64", "complex64"),
    ],
)
def test_a_sum_has_the_type_that_numba_gives_it(a, b, result):
    assert operations.add(np.dtype(a).type(1), np.dtype(b).type(1)).dtype == result


def test_a_minus_comes_before_the_integer_grows():
    assert operations.neg(np.uint8(3)) == 253 and operations.neg(np.uint8(3)).dtype == np.uint64
    assert operations.invert(np.uint16(1)) == 65534
    assert operations.neg(np.int8(-128)) == -128


def test_int64_and_uint64_are_compared_as_float64():
    assert operations.eq(np.int64(2**53), np.uint64(2**53 + 1))
    assert operations.lt(np.int64(-1), np.uint64(0))


def test_a_long_long_is_an_int64():
    x = np.array([1, 2], np.longlong)
    assert operations.add(x, np.int64(1)).tolist() == [2, 3]
    assert convert(x, np.dtype(np.float32)).dtype == np.float32


# Floats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, y, quotient, rest",
    [
        (7.0, 2.0, 3.0, 1.0),
        (-7.0, 2.0, -4.0, 1.0),
        (7.0, -2.0, -4.0, -1.0),
        (-7.0, -2.0, 3.0, -1.0),
        (1.0, 0.0, np.inf, np.nan),
        (-1.0, 0.0, -np.inf, np.nan),
        (0.0, 0.0, np.nan, np.nan),
        (5.0, np.inf, np.nan, np.nan),
    ],
)
def test_floats_are_divided_as_the_gpu_divides_them(x, y, quotient, rest):
    assert is_same(operations.floordiv(np.float64(x), np.float64(y)), np.float64(quotient))
    assert is_same(operations.mod(np.float64(x), np.float64(y)), np.float64(rest))


def test_the_remainder_of_a_long_division_is_the_gpus_and_not_exact():
    rest = operations.mod(np.float64(1e30), np.float64(3))
    assert rest == 70368744177664.0  # measured; exact is 1.0


def test_a_float_power_with_a_whole_exponent_is_a_chain_of_products():
    x = np.float32(1.1)
    assert operations.pow(x, np.int64(5)) == (x * x) * (x * x) * x
    assert operations.pow(x, np.int64(-1)) == np.float32(1) / x
    assert operations.pow(np.array([2.0, 3.0]), np.array([3, 0])).tolist() == [8.0, 1.0]


@pytest.mark.parametrize(
    "x, y, result",
    [
        (3, 39, 3**39),
        (2, 64, 0),
        (-3, 3, -27),
        (0, 0, 1),
        (0, -1, SIGNED.min),
        (1, -5, 1),
        (-1, -5, -1),
        (2, -1, 0),
        (2, 70_000, SIGNED.max),
    ],
)
def test_a_whole_power_wraps_and_has_no_fractions(x, y, result):
    assert operations.pow(np.int64(x), np.int64(y)) == result
    assert operations.pow(np.array([x]), np.array([y])).tolist() == [result]


def test_float16_arithmetic_is_rounded_each_time():
    assert operations.add(np.float16(2048), np.float16(1)) == 2048
    assert operations.truediv(np.float16(1), np.float16(3)) == np.float16(1 / 3)


# Conversions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, target, result",
    [
        (np.float32(2.9), "int32", 2),
        (np.float32(-2.9), "int64", -2),
        (np.float16(2.9), "int32", 3),
        (np.float32(3e9), "int32", 2**31 - 1),
        (np.float32(-3e9), "int32", -(2**31)),
        (np.float64(-1), "uint32", 0),
        (np.float64(1e30), "int64", SIGNED.max),
        (np.float64(-1e30), "int64", SIGNED.min),
        (np.float64(np.inf), "uint64", 2**64 - 1),
        (np.float32(np.nan), "int32", 0),
        (np.float64(np.nan), "int32", -(2**31)),
        (np.float32(np.nan), "int64", -(2**63)),
        (np.float32(300), "int8", 44),
        (np.float32(1e5), "int8", -1),
        (np.float32(-1), "uint8", 0),
        (np.float16(300), "int8", 127),
        (np.int64(2**40 + 1), "int32", 1),
        (np.int64(-1), "uint8", 255),
        (np.uint64(2**63), "int64", -(2**63)),
        (np.float64(1e6), "float16", np.inf),
        (np.float64(2049), "float16", 2048),
        (np.int64(2**24 + 1), "float32", 2**24),
        (np.float32(np.nan), "bool", True),
        (np.int64(0), "bool", False),
        (np.bool_(True), "float32", 1),
    ],
)
def test_a_conversion_is_that_of_the_gpu(value, target, result):
    converted = convert(value, np.dtype(target))
    assert converted.dtype == target and converted == result
    several = convert(np.array([value, value]), np.dtype(target))
    assert several.dtype == target and several.tolist() == [result, result]


@pytest.mark.parametrize(
    "thing, name",
    [
        (np.float32, "float32"),
        (np.dtype("int8"), "int8"),
        ("uint16", "uint16"),
        ("f8", "float64"),
        (np.bool_, "bool"),
        (np.intp, "int64"),
        (np.longlong, "int64"),
    ],
)
def test_a_type_is_known_by_many_names(thing, name):
    assert dtype_of(thing) == np.dtype(name)


@pytest.mark.parametrize(
    "thing", [float, int, None, 3, "nothing", np.dtype("datetime64[s]"), np.str_, [], np.float32(1)]
)
def test_other_things_are_no_types(thing):
    assert dtype_of(thing) is None


# Others than numbers -----------------------------------------------------------------------------


def test_tuples_are_joined_and_compared():
    a, b = (np.int64(1), np.float32(2)), (np.int64(1), np.float32(3))
    assert operations.add(a, b) == (*a, *b)
    assert operations.eq(a, a) and not operations.eq(a, b) and operations.ne(a, b) and not operations.eq(a, a + b)
    many = operations.eq((np.array([1, 2]),), (np.array([1, 3]),))
    assert many.tolist() == [True, False]


def test_is_compares_numbers_of_one_type():
    three = np.int64(3)
    assert operations.is_(three, np.int64(3)) and not operations.is_(three, np.int32(3))
    assert operations.is_(None, None) and operations.is_not(three, None)
    assert operations.is_(np.array([1, 2]), np.array([1, 3])).tolist() == [True, False]


ARRAY = SimpleNamespace(dtype=np.dtype(np.float32))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: operations.add(ARRAY, ARRAY), "no + of an array and an array"),
        (lambda: operations.mul(ARRAY, np.int64(2)), "no * of an array and int64"),
        (lambda: operations.neg(ARRAY), "no - of an array"),
        (lambda: operations.lt(np.complex64(1j), np.int64(1)), "no < of complex64 and int64"),
        (lambda: operations.lshift(np.float32(1), np.int64(1)), "no << of float32 and int64"),
        (lambda: operations.invert(np.float32(1)), "no ~ of float32"),
        (lambda: operations.add("text", np.int64(1)), "no + of a str and int64"),
        (lambda: operations.lt((1,), (2,)), "no < of a tuple and a tuple"),
        (lambda: convert(np.complex64(1j), np.dtype(np.float32)), "no complex64 to float32"),
        (lambda: convert(np.float16(1), np.dtype(bool)), "float16 as a condition"),
        (lambda: meaning(min)(np.complex64(1j), np.int64(1)), "no min(complex64, int64)"),
        (lambda: meaning(max)(np.bool_(True), np.int64(1)), "no max(bool, int64)"),
        (lambda: meaning(float)(np.bool_(True)), "no float(bool)"),
        (lambda: meaning(int)(np.complex64(1)), "no int(complex64)"),
        (lambda: meaning(round)(np.complex64(1)), "no round(complex64)"),
        (lambda: meaning(divmod)(np.complex64(1), np.int64(1)), "no divmod(complex64, int64)"),
        (lambda: meaning(complex)(np.bool_(True)), "no complex(bool)"),
    ],
)
def test_what_numba_refuses_is_refused_in_words(call, words):
    with pytest.raises(Refused) as caught:
        call()
    assert words in caught.value.reason and caught.value.kind == "refused"


# Built-in functions ------------------------------------------------------------------------------


def test_min_and_max_of_two_floats_prefer_numbers():
    nan, one, two = np.float32(np.nan), np.float32(1), np.float64(2)
    assert meaning(min)(nan, one) == 1 and meaning(max)(one, nan) == 1 and meaning(max)(nan, two) == 2


def test_min_and_max_of_more_compare_as_python_does():
    nan, one, two = np.float64(np.nan), np.float64(1), np.float64(2)
    for values in [(nan, one, two), (one, nan, two), (two, one, nan)]:
        for function in (min, max):
            assert is_same(meaning(function)(*values), function(values))
    assert meaning(max)((np.int32(1), np.int64(3), np.int32(2))) == 3


def test_float_takes_the_names_of_infinity_and_nan():
    assert meaning(float)("inf") == np.inf and np.isnan(meaning(float)("nan"))


def test_complex_joins_two_parts():
    z = meaning(complex)(np.float32(1), np.float32(2))
    assert z == 1 + 2j and z.dtype == np.complex64
    assert meaning(complex)(np.int64(1), np.float32(2)).dtype == np.complex128
    assert meaning(complex)(np.float64(1), np.float64(np.inf)).real == 1
    assert meaning(abs)(np.complex64(3 + 4j)) == 5 and meaning(bool)(np.complex64(1j))


@pytest.mark.parametrize(
    "x, digits, result",
    [
        (0.5, None, 0),
        (1.5, None, 2),
        (-2.5, None, -2),
        (1e19, None, SIGNED.max),
        (123.455, 2, 123.46),
        (125.0, -1, 120.0),
        (1e18, 2, 9.223372036854776e16),
    ],
)
def test_round_goes_by_way_of_an_int64(x, digits, result):
    if digits is None:
        rounded = meaning(round)(np.float64(x))
        assert rounded == result and rounded.dtype == np.int64
    else:
        assert meaning(round)(np.float64(x), np.int64(digits)) == result


def test_every_type_has_a_conversion_to_every_type_or_a_reason():
    for old in TYPES:
        for new in TYPES:
            try:
                assert convert(np.ones(3, old), new).dtype == new
            except Refused:
                assert old.kind == "c" or (old, new) == (np.float16, np.bool_)
