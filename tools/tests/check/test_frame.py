"""What every failure has in common: the call, its length and width, and the task that a line belongs to."""

import re

import numpy as np
import pytest

from tools import worker
from tools.check import Mismatch, assert_matches, text
from tools.check.diagnosis import Cause
from tools.check.given import fake_clock
from tools.tests.check.told import expect, failure

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
B = np.array([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])


def test_a_long_call_takes_a_second_line_and_long_values_are_cut():
    clock = fake_clock([100.0, 5.0, 1.0, 2.0])
    arguments = {"matmul": clock.work, "a": A, "b": B, "warmup": 1, "repeats": 3, "clock": clock}
    assert text.call_lines("measure_gflops", arguments) == [
        "measure_gflops(matmul=fake_clock.work, a: float64[2,3], b: float64[3,2],",
        "    warmup=1, repeats=3, clock=fake_clock([100.0, 5.0, 1.0, 2.0]))",
    ]
    arguments = {"x": A, "names": ["alpha", "beta"] * 20, "text": "z" * 90, "n": 10**300}
    assert text.call_lines("function", arguments) == [
        "function(x: float64[2,3], names=['alpha', 'beta', 'alpha', 'beta', 'alpha',",
        "    'beta', ...], text='zzzzzzzzzzzzzzzzzz...zzzzzzzzzzzzzzzzz',",
        "    n=1000000000000000000...000000000000000000)",
    ]


def test_a_list_that_is_the_whole_case_is_shown_whole_and_breaks_between_its_entries():
    accesses = [(thread, thread // 3, "store", 5) for thread in range(9)]
    assert text.call_lines("race_in", {"accesses": accesses}) == [
        "race_in(accesses=[(0, 0, 'store', 5), (1, 0, 'store', 5),",
        "    (2, 0, 'store', 5), (3, 1, 'store', 5), (4, 1, 'store', 5),",
        "    (5, 1, 'store', 5), (6, 2, 'store', 5), (7, 2, 'store', 5),",
        "    (8, 2, 'store', 5)])",
    ]


def test_what_is_cut_of_a_list_are_its_last_entries():
    accesses = [(thread, 0, "store", 5) for thread in range(99)]
    *_, last = text.call_lines("race_in", {"accesses": accesses})
    assert last.endswith("(6, 0, 'store', 5), ...])")
    *_, last = text.call_lines("balances_of", {f"rest[{number}]": float(number) for number in range(99)})
    assert re.search(r"\d\.0, \.\.\.\)$", last)


def test_two_long_lists_are_shown_around_their_first_difference_in_whole_entries(cause):
    wanted = list(range(384))
    expect(
        failure(lambda rows: wanted[:32] + wanted[128:], 1, oracle=lambda rows: wanted),
        """
        <lambda>(rows=1)

        Another value:
          got     [..., 27, 28, 29, 30, 31, 128, 129, 130, 131, 132, 133, ...]
          wanted  [..., 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, ...]
        """,
    )


def test_no_failure_is_longer_than_twelve_lines_or_wider_than_76_columns(cause):
    cause(Cause("long", "word " * 30))

    def wrong(some_argument, another_argument):
        return some_argument * 1.001

    x = np.arange(1.0, 17.0).reshape(4, 4)
    for shape in ((4, 4), (2, 8), (8, 2), (16, 1), (16,), (1, 16), (2, 2, 4)):
        with pytest.raises(Mismatch) as caught:
            assert_matches(wrong, x.reshape(shape), "y" * 200, oracle=lambda x, y: x)
        for words in (caught.value.text, caught.value.with_note("note " * 20)):
            lines = words.split("\n")
            assert len(lines) <= 12 and max(map(len, lines)) <= 76, lines


def test_a_failure_retold_keeps_the_call_and_what_came_back_and_ends_with_the_words_given():
    with pytest.raises(Mismatch) as caught:
        assert_matches(lambda x: 2 * x, 3.0, oracle=lambda x: x)
    retold = caught.value.retold("word " * 20)
    assert retold.text.split("\n\n")[:2] == caught.value.text.split("\n\n")[:2]
    assert retold.text.endswith(f"\n\n{('word ' * 15).strip()}\n{('word ' * 5).strip()}")
    assert retold.with_note("A note.").split("\n\n")[-1] == retold.text.split("\n\n")[-1]
    assert (retold.cause, retold.function) == (caught.value.cause, caught.value.function)


@pytest.mark.parametrize(
    "kernel, first_words, task",
    [
        ("total", "sum += x[i];", "task 2, "),  # the learner's own line; the function total is given, and launches it
        ("total", "__syncthreads();", "given, "),  # a line that is not there: the kernel's name must do
        ("add", "out[i] = x[i] + y[i];", "given, "),
        ("matmul", "copy_four(left, a + row);", "task 4, "),
    ],
)
def test_a_line_in_c_belongs_to_the_task_whose_function_holds_it(kernel, first_words, task, monkeypatch, tmp_path):
    lesson = '''
ADD = r"""
    out[i] = x[i] + y[i];
"""


# Given: a kernel
def add(x):
    return x


# Task 2
def total_code():
    return r"""
    sum += x[i];
    """


def total(x: int) -> int:
    """The sum. Given."""
    return x


# Task 4
def products_code():
    return r"""
    copy_four(left, a + row);
    """


def matmul(a: int) -> int:
    """The product. Given."""
    return a
'''
    (tmp_path / "lesson.py").write_text(lesson)
    monkeypatch.setattr(text, "ROOT", tmp_path)
    numbers = [i for i, line in enumerate(lesson.splitlines(), 1) if line.strip() == first_words]
    frame = worker.Frame("lesson.py", numbers[0] if numbers else 14, kernel, first_words)
    assert text.task_of(frame) == task


@pytest.mark.parametrize(
    "function, source, task",
    [
        ("run", "self.x = total(self.x)", "given, "),
        ("step", "self.x += 1", "task 2, "),
        ("after_it", "return 1 / 0", "task 2, "),
    ],
    ids=["of a given class", "of the learner's class", "below a given class"],
)
def test_a_line_of_a_method_is_given_where_its_class_is(function, source, task, monkeypatch, tmp_path):
    lesson = '''
# Task 2
def total(x: int) -> int:
    """The sum."""


class Sums:
    """Sums, one after the other. Given.

    x: the first of them.
    """

    def __init__(self, x: int):
        self.x = x

    def run(self) -> None:
        """The next one."""
        self.x = total(self.x)


def after_it() -> float:
    return 1 / 0


class Steps:
    """Steps of one."""

    def step(self) -> None:
        self.x += 1
'''
    (tmp_path / "lesson.py").write_text(lesson)
    monkeypatch.setattr(text, "ROOT", tmp_path)
    (number,) = (i for i, line in enumerate(lesson.splitlines(), 1) if line.strip() == source)
    assert text.task_of(worker.Frame("lesson.py", number, function, source)) == task
