"""Random kernels: a slice of those that `python -m tools.tests.sim.cuda.fuzz` runs, and the oracle against facts."""

import math
import operator
from collections import Counter

import numpy as np
import pytest

from tools.tests.sim.cuda.fuzz import gpu, kernels, source, threads
from tools.tests.sim.cuda.fuzz.constructs import ASKED, constructs
from tools.tests.sim.cuda.fuzz.memory import Memory
from tools.tests.sim.cuda.fuzz.scalars import Undefined, arithmetic, convert, operate, power, to_float32, unified
from tools.tests.sim.cuda.fuzz.trial import SIMULATOR, difference, trial

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
SLICE = range(100_000, 100_150)  # other kernels than those of the command
SAMPLE = SLICE[::3]  # always the same fifty; with --thorough all of them


def pytest_generate_tests(metafunc):
    if "random_kernel" in metafunc.fixturenames:
        metafunc.parametrize("random_kernel", SLICE if metafunc.config.getoption("thorough") else SAMPLE)


def test_a_random_kernel_gives_what_the_oracle_gives(random_kernel, tmp_path):
    result = trial(random_kernel, (SIMULATOR,), tmp_path)
    assert result.outcome in ("same", "undefined"), result.says


def test_few_random_kernels_are_without_a_defined_result():
    undefined = 0
    for number in SLICE[:40]:
        try:
            threads.run(kernels.kernel(number))
        except Undefined:
            undefined += 1
    assert undefined < 8


# The generator -----------------------------------------------------------------------------------


def test_a_number_always_makes_the_same_kernel():
    assert source.kernel(kernels.kernel(7)) == source.kernel(kernels.kernel(7)) != source.kernel(kernels.kernel(8))


@pytest.mark.parametrize("number", SLICE[:25])
def test_no_result_depends_on_the_order_in_which_threads_run(number):
    kernel = kernels.kernel(number)
    try:
        assert difference(threads.run(kernel, order=0), threads.run(kernel, order=1)) == ""
    except Undefined:
        pass


def test_everything_that_was_asked_for_occurs():
    held = Counter()
    for number in range(250):
        held.update(set(constructs(kernels.kernel(number))))
    assert [name for name in ASKED if held[name] < 5] == []  # 200 of 5,000 are 10 of these, on average


def test_constructs_are_read_from_the_text():
    found = constructs(kernels.kernel(3))
    text = source.kernel(kernels.kernel(3))
    assert found["cuda.syncthreads"] == text.count("cuda.syncthreads()")
    assert found["if"] + found["x if c else y"] == text.count(" if ") + text.count(" elif ")
    assert found["break"] == text.count("break\n")


# Numba's numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sign, type_, a, b, wanted",
    [
        ("+", "int64", 2**63 - 1, 1, -(2**63)),
        ("*", "int64", 2**40, 2**40, 0),
        ("-", "uint64", 3, 5, 2**64 - 2),
        ("//", "int64", -7, 2, -4),
        ("%", "int64", -7, 3, 2),
        ("%", "int64", 7, -3, -2),
        (">>", "int64", -8, 1, -4),
        ("<<", "uint64", 2**63, 1, 0),
        ("+", "float32", 1.0, 2.0**-24, 1.0),
        ("+", "float64", 1.0, 2.0**-24, 1.0 + 2.0**-24),
        ("/", "float64", 1.0, 0.0, math.inf),
        ("//", "float32", -7.5, 2.0, -4.0),
        ("%", "float64", -7.5, 2.0, 0.5),
    ],
)
def test_operators_wrap_round_and_floor(sign, type_, a, b, wanted):
    assert operate(sign, type_, a, b) == wanted


@pytest.mark.parametrize(
    "type_, value, wanted",
    [
        ("int32", 2**31, -(2**31)),
        ("uint8", -1, 255),
        ("int8", 200, -56),
        ("int64", -2.9, -2),
        ("bool", 7, True),
        ("float32", 0.1, 0.10000000149011612),
        ("float32", 2**24 + 1, 2.0**24),
        ("float32", 2**60 + 2**36 + 1, 2.0**60 + 2**37),  # rounding twice would give 2.0**60
    ],
)
def test_conversions_wrap_cut_and_round_once(type_, value, wanted):
    assert convert(type_, value) == wanted


@pytest.mark.parametrize(
    "operation",
    [
        lambda: operate("//", "int64", 1, 0),
        lambda: operate("<<", "int64", 1, 64),
        lambda: convert("int32", 3e9),
        lambda: operate("-", "float32", math.inf, math.inf),
        lambda: Memory("x", "int32", (3,), [1, 2, 3]).read((3,)),
        lambda: Memory("x", "int32", (3,)).read((0,)),
    ],
)
def test_what_has_no_defined_result_is_said_to_be_undefined(operation):
    with pytest.raises(Undefined):
        operation()


def test_floats_agree_with_numpy_step_by_step():
    rng = np.random.default_rng(1)
    signs = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "//": operator.floordiv,
        "%": operator.mod,
    }
    for type_ in ("float32", "float64"):
        for a, b in rng.normal(0, 9, (300, 2)).astype(type_):
            for sign, function in signs.items():
                assert operate(sign, type_, float(a), float(b)) == function(a, b), (sign, type_, a, b)
            assert power(type_, float(a), 3) == a * a * a
    for value in rng.integers(-(2**63), 2**63, 300):
        assert to_float32(int(value)) == np.float32(value)


TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64")


def test_types_of_results_are_numbas():
    gpu.mend_numpy()
    pytest.importorskip("numba.cuda", reason="compares typing rules with numba-cuda's, which is not installed here")
    from numba import types
    from numba.cuda.descriptor import cuda_target

    context = cuda_target.typing_context
    context.refresh()
    signs = {
        "+": operator.add,
        "/": operator.truediv,
        "//": operator.floordiv,
        "%": operator.mod,
        "<<": operator.lshift,
        "&": operator.and_,
    }
    for a in TYPES:
        for b in TYPES:
            pair = getattr(types, a), getattr(types, b)
            assert unified(a, b) == str(context.unify_types(*pair))
            for sign, function in signs.items():
                if sign in ("<<", "&") and "float" in a + b:
                    continue
                resolved = context.resolve_function_type(function, pair, {})
                assert arithmetic(sign, a, b) == str(resolved.return_type), (sign, a, b)
