"""The words of each kind of failure, in full: what a learner reads is as much the course as a lesson is."""

import importlib.util
import textwrap

import numpy as np

from tools import worker
from tools.check import text
from tools.check.compare import Discrepancy
from tools.check.diagnosis import Cause
from tools.check.tolerances import accumulated
from tools.tests.check.told import expect, failure

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
B = np.array([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])


def lesson(tmp_path, source: str):
    """A lesson file of its own, so that the lines of its errors are known."""
    file = tmp_path / "numpy_baseline.py"
    file.write_text(textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location("numpy_baseline", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Values ---------------------------------------------------------------------------------------------------


def test_a_small_matrix_is_shown_whole_with_its_first_wrong_element(cause):
    def matmul_naive(a, b):
        return np.array([[58.0, 64.0], [139.0, 22.5]])

    cause(Cause("tail", "Right for all but the last.\nWhat happens there?"))
    expect(
        failure(matmul_naive, A, B, oracle=np.matmul),
        """
        matmul_naive(a: float64[2,3], b: float64[3,2])

        1 of 4 elements differs, at [1, 1]: got 22.5, wanted 154.0.
          got   58.0   64.0    wanted   58.0   64.0
               139.0   22.5            139.0  154.0

        Right for all but the last.
        What happens there?
        """,
    )


def test_a_small_vector_is_shown_above_what_was_wanted(cause):
    def double(x):
        return np.array([2.0, 4.0, 0.0, 0.0])

    expect(
        failure(double, np.array([1.0, 2.0, 3.0, 4.25]), oracle=lambda x: 2 * x),
        """
        double(x: float64[4])

        2 of 4 elements differ. First: [2]: got 0.0, wanted 6.0.
          got     2.0  4.0  0.0  0.0
          wanted  2.0  4.0  6.0  8.5
        """,
    )


def test_of_a_large_array_the_first_wrong_elements_are_listed(cause):
    def double(x):
        return np.where(x % 2 == 0, 2 * x, x)

    expect(
        failure(double, np.arange(1000), oracle=lambda x: 2 * x),
        """
        double(x: int64[1000])

        500 of 1000 elements differ:
               got  wanted
          [1]    1       2
          [3]    3       6
          [5]    5      10
        """,
    )


def test_a_nearly_right_result_names_its_error_and_the_tolerance_with_the_reason(cause):
    def total(x):
        return x.sum(axis=0) * np.float32(1.0003)

    x = np.arange(1, 129, dtype=np.float32).reshape(64, 2)
    expect(
        failure(total, x, oracle=lambda x: x.sum(axis=0), tolerance=accumulated(np.float32, 64)),
        """
        total(x: float32[64,2])

        All 2 elements differ. First: [0]: got 4097.23, wanted 4096.0.
        Error 3.0e-04 of the typical size, allowed 5.7e-06 (float32 sums of 64
        terms).
          got     4097.23  4161.25
          wanted  4096.0   4160.0
        """,
    )


def test_numbers_get_as_many_digits_as_keep_got_and_wanted_apart(cause):
    def third(x):
        return 0.333333333

    expect(
        failure(third, 3, oracle=lambda x: 1 / x),
        """
        third(x=3)

        Got 0.333333333, wanted 0.333333333333.
        Error 1.0e-09 of its size, allowed 1.0e-12 (Python floats).
        """,
    )


def test_plain_values_are_shown_as_python_writes_them(cause):
    def linear_index(row, col, n_cols):
        return row + col * n_cols

    expect(
        failure(linear_index, 2, 4, n_cols=5, oracle=lambda row, col, n_cols: row * n_cols + col),
        """
        linear_index(row=2, col=4, n_cols=5)

        Got 22, wanted 14.
        """,
    )
    expect(
        failure(lambda i, n: (i % n, i // n), 17, 5, oracle=divmod),
        """
        <lambda>(i=17, n=5)

        Got (2, 3), wanted (3, 2).
        """,
    )


def test_a_long_value_is_cut_around_the_first_difference(cause):
    def repeat(word, times):
        return word * times

    expect(
        failure(repeat, "tile", 30, oracle=lambda word, times: word * 20 + "tide" + word * 9),
        """
        repeat(word='tile', times=30)

        Another value:
          got     ...letiletiletiletiletiletiletiletiletiletiletiletiletiletile...
          wanted  ...letiletiletiletiletiletiletiletidetiletiletiletiletiletile...
        """,
    )


def test_huge_integers_stay_short(cause):
    def factorial(n):
        return 10**9000

    expect(
        failure(factorial, 10**400, oracle=lambda n: 10**9000 + 1),
        f"""
        factorial(n=1{"0" * 18}...{"0" * 18})

        Another value:
          got     ...{"0" * 33}
          wanted  ...{"0" * 32}1
        """,
    )


def test_a_wrong_part_of_a_tuple_is_named(cause):
    def top(x):
        return x.max(), np.zeros(3)

    expect(
        failure(top, np.array([3.0, 1.0, 2.0]), oracle=lambda x: (x.max(), np.sort(x))),
        """
        top(x: float64[3])

        In result[1]: All 3 elements differ. First: [0]: got 0.0, wanted 1.0.
          got     0.0  0.0  0.0
          wanted  1.0  2.0  3.0
        """,
    )


def test_the_sign_of_zero_shows_when_it_counts(cause):
    def negate(x):
        return 0.0 - x

    expect(
        failure(negate, np.array([0.0, np.nan, np.inf]), oracle=np.negative, exact=True),
        """
        negate(x: float64[3])

        1 of 3 elements differs, at [0]: got 0.0, wanted -0.0.
          got        0.0   nan    -inf
          wanted    -0.0   nan    -inf
        """,
    )


def test_another_result_in_a_second_call_is_said_before_any_guess():
    calls = []

    def count(x):
        calls.append(x)
        return x + len(calls)

    expect(
        failure(count, 9, oracle=lambda x: x),
        """
        count(x=9)

        Got 10, wanted 9.

        The same call again gave something else.
        What is never written, read too early, or left over from call to call?
        """,
    )


# Form -----------------------------------------------------------------------------------------------------


def test_a_forgotten_return():
    def matmul_naive(a, b):
        np.matmul(a, b)

    expect(
        failure(matmul_naive, A, B, oracle=np.matmul),
        """
        matmul_naive(a: float64[2,3], b: float64[3,2])

        It returned None; wanted an array of shape (2, 2).

        Is a return missing?
        """,
    )


def test_none_that_is_returned_on_purpose_is_not_called_forgotten():
    def first_above(limit, largest):
        for n in range(largest):
            if n > limit:
                return n
        return None

    expect(
        failure(first_above, 3, 4, oracle=lambda limit, largest: 4),
        """
        first_above(limit=3, largest=4)

        It returned None; wanted an int.
        """,
    )


def test_a_wrong_type():
    def linear_index(row, col):
        return float(row + col)

    expect(
        failure(linear_index, 2, 4, oracle=lambda row, col: row + col),
        """
        linear_index(row=2, col=4)

        It returned 6.0, a float; wanted an int.
        """,
    )


def test_a_list_in_place_of_an_array():
    expect(
        failure(lambda a: [[1, 2], [3, 4]], A, oracle=lambda a: a @ a.T),
        """
        <lambda>(a: float64[2,3])

        It returned a list; wanted an array of shape (2, 2).
        """,
    )


def test_a_wrong_dtype():
    def double(a):
        return (2 * a).astype(np.float32)

    expect(
        failure(double, A, oracle=lambda a: 2 * a),
        """
        double(a: float64[2,3])

        Wrong dtype: the result is float32[2,3], wanted float64. Which line decides
        the dtype?
        """,
    )


def test_a_wrong_shape(cause):
    def double(a):
        return 2 * a.T

    cause(Cause("transposed", "What came back is the wanted array transposed.\nWhich index comes first?"))
    expect(
        failure(double, A, oracle=lambda a: 2 * a),
        """
        double(a: float64[2,3])

        Wrong shape: the result is float64[3,2], wanted shape (2, 3). Which line
        decides the shape?

        What came back is the wanted array transposed.
        Which index comes first?
        """,
    )


# Memory ---------------------------------------------------------------------------------------------------


def test_a_changed_input():
    def scaled(x, factor):
        x[1:] *= factor
        return x.copy()

    expect(
        failure(scaled, np.array([3.0, 5.0]), 2.0, oracle=lambda x, factor: x * factor),
        """
        scaled(x: float64[2], factor=2.0)

        It changed its input x: x[1] was 5.0, now it is 10.0. Which line writes
        there?
        """,
    )


def test_a_returned_input():
    expect(
        failure(lambda x: x, np.ones(3), oracle=lambda x: x),
        """
        <lambda>(x: float64[3])

        It returned its input x itself, not memory of its own. Where is the result
        allocated?
        """,
    )


def test_a_returned_view():
    expect(
        failure(lambda x: x[::-1], np.ones(3), oracle=lambda x: x[::-1]),
        """
        <lambda>(x: float64[3])

        It returned a view of its input x: whoever writes to one changes the other.
        Where is the result allocated?
        """,
    )


def test_elements_of_out_that_were_never_written(cause):
    def add(x, y, *, out=None):
        out = np.zeros_like(x) if out is None else out
        out[:8] = (x + y)[:8]
        return out

    expect(
        failure(add, np.arange(10.0), np.arange(10.0), oracle=np.add),
        """
        add(x: float64[10], y: float64[10], out: float64[10])

        2 of 10 elements of out were never written. First: [8].
        """,
    )


def test_out_that_is_added_to_and_not_set():
    def add(x, *, out=None):
        out = np.zeros_like(x) if out is None else out
        out += x
        return out

    expect(
        failure(add, np.arange(10.0), oracle=lambda x: x),
        """
        add(x: float64[10], out: float64[10])

        The result depends on what out held before the call. Is out set, or added
        to?
        """,
    )


def test_writing_past_out():
    def fill(x, *, out=None):
        whole = np.empty(4096 + 16) if out is None else out.base
        whole[4096 : 4096 + 16] = 5.0
        return whole[4096 : 4096 + 10].copy() if out is None else out

    expect(
        failure(fill, np.ones(10), oracle=lambda x: 5 * x),
        """
        fill(x: float64[10], out: float64[10])

        It wrote to memory after out, which has 10 elements. Which positions exist?
        """,
    )


def test_out_that_is_not_given_back():
    expect(
        failure(lambda x, out=None: 2 * x, np.ones(3), oracle=lambda x: 2 * x),
        """
        <lambda>(x: float64[3], out: float64[3])

        Given out, it returned an array float64[3] that is not out. Write into out
        and return it.
        """,
    )


def test_a_function_that_counts_on_contiguous_inputs_names_the_layout():
    def double(b):
        return 2 * np.frombuffer(b.tobytes("A")).reshape(b.shape)

    expect(
        failure(double, B, oracle=lambda b: 2 * b, layouts="any"),
        """
        double(b: float64[3,2])
        the same values with b stored column by column (strides (8, 24))

        4 of 6 elements differ. First: [0, 1]: got 18.0, wanted 16.0.
          got  14.0  18.0    wanted  14.0  16.0
               22.0  16.0            18.0  20.0
               20.0  24.0            22.0  24.0

        With b contiguous the result was right. Which line counts on how it is
        stored?
        """,
    )


# Errors ---------------------------------------------------------------------------------------------------


def test_an_error_is_shown_with_the_learners_own_line(tmp_path, monkeypatch):
    module = lesson(
        tmp_path,
        """
        def matmul_naive(a, b):
            return row(a, 3) * b

        def row(a, i):
            return a[i]  # one too far
        """,
    )
    monkeypatch.setitem(__import__("sys").modules, "numpy_baseline", module)
    expect(
        failure(module.matmul_naive, A, B, oracle=np.matmul),
        """
        matmul_naive(a: float64[2,3], b: float64[3,2])

        It raised IndexError: index 3 is out of bounds for axis 0 with size 2
        numpy_baseline.py line 6, in row:
            return a[i]  # one too far
        """,
    )


def test_a_long_error_is_cut_and_control_characters_never_reach_the_terminal():
    frame = worker.Frame("f.py", 3, "f", "x" * 99)
    error = worker.Raised("ValueError", "\x1b[31mred\n" + "word " * 200, (frame,))
    lines = text.compose(["f()"], Discrepancy("raised", error), None).split("\n")
    assert lines[:3] == ["f()", "", "It raised ValueError: ?[31mred"]
    assert lines[9:] == ["...", "f.py line 3, in f:", "    " + "x" * 33 + "..." + "x" * 36]
    assert max(map(len, lines)) <= 76
