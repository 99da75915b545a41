"""What the learner reads: what is seen, then a question; never more than two lines."""

import math

import numpy as np
import pytest

from tools.check.diagnosis import Symptoms, diagnose
from tools.check.diagnosis.words import factor_text
from tools.tests.check_diagnosis.corpus import CORPUS
from tools.tests.check_diagnosis.examine import symptoms_of, told


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def matrix(rng, *shape):
    return rng.normal(size=shape) + 1


def words(got, want, *args, **more) -> str:
    return told(got, want, *args, **more).words


def words_of_missing(missing) -> str:
    """Of elements that were never written."""
    return diagnose(Symptoms("never_written", wrong=missing)).words


def test_a_repeated_argument_is_shown_as_the_call_that_it_amounts_to(rng):
    a, b = matrix(rng, 5, 5), matrix(rng, 5, 5)
    assert (
        words(a @ a, a @ b, a, b, names=("a", "b"), oracle=np.matmul, again=lambda a, b: a @ a)
        == "What came back equals a @ a: is b used at all?"
    )


def test_swapped_arguments_are_shown_by_the_oracles_name(rng):
    def blend(x, y):
        return 2 * x + y

    x, y = matrix(rng, 9), matrix(rng, 9)
    assert (
        words(2 * y + x, 2 * x + y, x, y, names=("x", "y"), oracle=blend)
        == "What came back equals blend(y, x). What is x for, and what is y?"
    )


def test_plain_numbers_are_not_shown_as_a_call_of_the_tests_own_function():
    def bytes_tile_by_tile(m, n, k, tile):
        return 4 * m * n + 8 * -(-m // tile) * n * k

    said = words(
        4 * 70 * 33 + 8 * 33 * 20,
        bytes_tile_by_tile(70, 33, 20, 32),
        70,
        33,
        20,
        32,
        names=("m", "n", "k", "tile"),
        oracle=bytes_tile_by_tile,
        again=lambda m, n, k, tile: 4 * m * n + 8 * n * k,
        tolerance=None,
    )
    assert said == "What came back is right for tile = m: is tile used at all?"


def test_an_argument_that_may_be_left_out_is_told_as_left_out(rng):
    def affine(x, bias=None):
        return 3 * x if bias is None else 3 * x + bias

    x, bias = matrix(rng, 9), matrix(rng, 9)
    said = words(3 * x, 3 * x + bias, x, bias, names=("x", "bias"), oracle=affine, again=lambda x, bias=None: 3 * x)
    assert said == "What came back is right without bias: is bias used at all?"


def test_an_oracle_without_a_name_is_the_right_result(rng):
    x, y = matrix(rng, 9), matrix(rng, 9)
    assert (
        words(2 * x, x + y, x, y, names=("x", "y"), oracle=lambda x, y: x + y, again=lambda x, y: 2 * x)
        == "What came back equals the right result for (x, x): is y used at all?"
    )


def test_an_argument_that_moves_the_result_or_cannot_be_moved_is_not_called_unused(rng):
    """The larger of two is x throughout, where y is far below: another y, far above, changes it."""
    x, y = matrix(rng, 9) + 20, matrix(rng, 9)
    for again in (np.maximum, None):
        said = words(
            x + x, x + y, x, y, names=("x", "y"), oracle=np.add, again=again and (lambda x, y: x + again(x, y))
        )
        assert said == "What came back equals x + x: where does y come in?"


def test_a_wrong_tail_names_the_last_right_element(rng):
    want = matrix(rng, 1100)
    got, seen = np.where(np.arange(1100) < 1024, want, 0), "Right up to element 1023; everything after it is wrong.\n"
    assert words(got, want) == f"{seen}What is different there?"
    assert words(got, want, keywords={"block": 64}) == f"{seen}Which elements does the last block hold?"


def test_a_wrong_tail_of_a_matrix_is_told_in_rows_or_columns(rng):
    want = matrix(rng, 9, 6)
    got = want.copy()
    got[8] = 0
    assert words(got, want).startswith("Right up to row 7; everything after it is wrong.")
    assert words(got.T, want.T).startswith("Right up to column 7; everything after it is wrong.")


def test_minus_infinity_alone_is_not_called_an_overflow(rng):
    want = matrix(rng, 4)
    below, both = want.copy(), want.copy()
    below[1], both[1], both[2] = -np.inf, -np.inf, np.inf
    assert words(below, want) == (
        "-inf came back where a number was wanted, first at element 1.\n"
        "Which line makes the first: a start, a mask, a log of 0, or an overflow?"
    )
    assert words(both, want).endswith("Which step overflows?")


def test_unwritten_elements_are_called_never_written():
    tail, steps = np.arange(100) >= 96, np.arange(100) // 10 % 2 == 1
    assert words_of_missing(tail).startswith("The result was never written from element 96 on.")
    assert "never written in every 2nd block of 10 elements." in words_of_missing(steps)
    assert words_of_missing(~tail).startswith("The result was never written up to element 95.")
    assert "only the first block" in words_of_missing(np.arange(100) >= 16)


def test_running_sums_of_four_small_numbers_are_enough_to_tell():
    want = np.array([[58.0, 64.0], [139.0, 154.0]])
    assert words(np.cumsum(want).reshape(2, 2), want).startswith("What came back is the running sum")


@pytest.mark.parametrize(
    "got, want, seen",
    [
        (5e7, 0.05, "It is 1000000000 times what was wanted."),
        (7 / 2**30, 7 / 1e9, "It is 10**9 / 2**30 of what was wanted."),
        (1200, 2400, "It is half of what was wanted."),
        (17, 16, "It is exactly one too high."),
        (15, 16, "It is exactly one too low."),
    ],
)
def test_a_single_number_is_compared_in_whole_steps(got, want, seen):
    assert words(got, want).startswith(seen)


@pytest.mark.parametrize(
    "counted, seen",
    [
        (2, "It is 2/3 of what was wanted. Of 3 equal parts, is one left out?"),
        (4, "It is 4/3 of what was wanted. Is the last of 4 equal parts one too many?"),
        (5, "It is 5/3 of what was wanted. What is added, multiplied or divided once too often"),
    ],
)
def test_a_third_too_much_or_too_little_is_a_part_of_a_sum(counted, seen):
    said = words(800 * counted, 2400, 200, oracle=lambda n: 12 * n, again=lambda n: 4 * n * counted)
    assert " ".join(said.split()).startswith(seen)


@pytest.mark.parametrize(
    "factor, text",
    [
        (131 / 6, "21.8 times"),
        (7 / 3, "7/3 of"),
        (39 / 40, "39/40 of"),
        (16 / 15, "16/15 of"),
        (5 / 12, "0.417 times"),
        (0.001, "1/1000 of"),
        (1.44265, "1.4427 = log2(e) times"),
        (13 / 9, "1.44 times"),
        (0.693147, "0.69315 = ln(2) times"),
        (1 - 1.7e-8, "1 - 1.7e-08 times"),
        (1 + 2**-20, "1 + 9.5e-07 times"),
    ],
)
def test_a_fraction_of_many_parts_is_told_in_decimals(factor, text):
    assert factor_text(factor) == text


@pytest.mark.parametrize("format_name", ["float16", "bfloat16"])
def test_a_constant_is_named_as_far_as_16_bits_tell_it(format_name, rng):
    """The largest number, rounded, may be 1.44515 times what was wanted: log2(e) is 1.44270."""
    narrow = pytest.importorskip("ml_dtypes").bfloat16 if format_name == "bfloat16" else np.float16
    want = rng.normal(size=(12, 12)).astype(narrow)
    got = (want.astype(np.float64) * math.log2(math.e)).astype(narrow)
    assert words(got, want).startswith("Everything is 1.4427 = log2(e) times what was wanted.")


def test_a_factor_of_16_bits_that_is_near_a_constant_and_does_not_fit_is_told_as_it_is(rng):
    want = matrix(rng, 6, 7).astype(np.float16)
    for factor in (1.42, 1.47, 0.7):
        got = (want.astype(np.float64) * factor).astype(np.float16)
        assert "log2(e)" not in words(got, want)
        assert "ln(2)" not in words(got, want)


def test_a_factor_of_32_bits_is_as_near_a_constant_as_32_bits_tell(rng):
    want = matrix(rng, 6, 7).astype(np.float32)
    assert "log2(e)" not in words(want * np.float32(1.44515), want)
    assert "log2(e)" in words(want * np.float32(math.log2(math.e)), want)


def test_two_numbers_that_are_the_same_part_are_spoken_of_together():
    said = words((20, 80), (30, 120), 10, oracle=lambda n: (3 * n, 12 * n), again=lambda n: (2 * n, 8 * n))
    assert said == "Each is 2/3 of what was wanted. Of 3 equal parts, is one left out?"


def test_a_format_that_numpy_lacks_is_compared_at_its_own_precision(rng):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    want = matrix(rng, 6, 7).astype(bfloat16)
    assert words(want.T.copy(), want).startswith("What came back is the wanted array transposed.")
    assert words(-want, want).startswith("Every number has the opposite sign.")


def test_a_call_with_many_arguments_is_cut_but_the_question_stays(rng):
    names = tuple(f"argument_number_{i}" for i in range(9))
    args = tuple(matrix(rng, 5) for _ in names)

    def weigh(*args):
        return sum(i * arg for i, arg in enumerate(args))

    got = weigh(args[1], args[0], *args[2:])
    seen, question = words(got, weigh(*args), *args, names=names, oracle=weigh).split("\n")
    assert seen.endswith("...") and len(seen) <= 76 and question.endswith("?")


def test_all_words_fit_two_lines_of_76_and_end_in_a_question():
    for entry in CORPUS:
        symptoms = symptoms_of(entry.right, entry.wrong, entry.inputs(np.random.default_rng(3)))
        cause = symptoms and diagnose(symptoms)
        if cause:
            lines = cause.words.splitlines()
            assert len(lines) <= 2 and max(map(len, lines)) <= 76 and cause.words.endswith("?"), cause
