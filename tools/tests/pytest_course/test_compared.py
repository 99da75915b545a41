"""What an assertion compares is shown in short, with its first difference in full; no object is dumped."""

import numpy as np
import pytest
from _pytest._io.saferepr import saferepr

from tools.pytest_course import compared
from tools.pytest_course.explanation import without_dump
from tools.sim.counters import Transfers
from tools.tests.pytest_course.test_runs import FEW, TESTS

LONG = list(range(60))
BEGINS = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...]"


@pytest.mark.parametrize(("got", "wanted", "says"), [
    ({"a": [1], "b": [2, 3]}, {"a": [1], "b": [2]}, ["At 'b': got [2, 3], wanted [2]."]),
    ({"a": 1}, {"a": 1, "b": LONG}, [f"At 'b': nothing, wanted {BEGINS}."]),
    ({"a": 1, "c": 2}, {"a": 1}, ["At 'c': got 2, wanted nothing."]),
    ([(1, 2), (3, 4)], [(1, 2), (4, 3)], ["At [1]: got (3, 4), wanted (4, 3)."]),
    ([(1, 2), (3, 4)], [], ["It has 2 entries, wanted 0.", "The first that is too many: (1, 2)."]),
    ((1,), (1, 2, 3), ["It has 1 entry, wanted 3.", "The first that is left out: 2."]),
    ([5, 2, 3], [1, 2], ["At [0]: got 5, wanted 1.", "It has 3 entries, wanted 2."]),
    ({"x", "y"}, {"y", "z"}, ["Too many: 'x'.", "Left out: 'z'."]),
    ([*LONG, 1], [*LONG, 2], ["At [60]: got 1, wanted 2."]),
])  # fmt: skip
def test_the_first_difference_is_in_words(got, wanted, says):
    assert compared.told(got, wanted)[1:] == says


def test_both_are_shown_in_short_around_it():
    assert compared.told([*LONG, 1], [*LONG, 2])[0] == "[..., 56, 57, 58, 59, 1] == [..., 56, 57, 58, 59, 2]"
    kept = {"one": LONG, "two": [1]}
    assert (
        compared.told({"a": 7 * "long", "b": 7 * "long"}, {})[0] == "{'a': 'longlonglonglonglonglonglong', ...} == {}"
    )
    assert compared.told(kept, kept | {"two": []})[0] == "{..., 'two': [1]} == {..., 'two': []}"


@pytest.mark.parametrize(("got", "wanted"), [(3, 2), ("a", "b"), ([1], (1,)), ([np.ones(2)], [np.zeros(2)])])
def test_of_anything_else_pytest_speaks(got, wanted):
    assert compared.told(got, wanted) is None


def test_a_lessons_test_is_told_so(course):
    course.write(TESTS, FEW.replace("lesson.matmul_flops(1, 1, 1) == 2", "[3, 4] == [3, 5]"))
    ran = course.pytest("week1/day1")
    assert "           here  assert [3, 4] == [3, 5]\n                 At [1]: got 4, wanted 5." in ran.text


def test_of_an_object_is_shown_what_was_asked_of_it():
    moved = saferepr(Transfers(1, 1, 0, 2400, 2400, 0, 3))
    assert without_dump(f"+  where 3 = {moved}.synchronizations") == "+  where 3 = transfers.synchronizations"
    assert without_dump(f"+    where {moved} = <counters: 1 launch>.transfers") == ""
    kernel = "Kernel(name='total', chip='h100', occupancy=Occupancy(blocks=2, ...y='2XPDMXJA')"
    assert without_dump(f"+  where 288 = {kernel}.spills") == "+  where 288 = total.spills"
    assert without_dump("+  where 11 = <counters: 1 launch>.programs") == "+  where 11 = <counters: 1 launch>.programs"
    assert without_dump("+  where 2 = total(3)") == "+  where 2 = total(3)"
