"""A sentence says no more than its recogniser has checked."""

import numpy as np
import pytest

from tools.check.diagnosis import Symptoms, diagnose
from tools.check.diagnosis.source import Source
from tools.check.diagnosis.values import which_of
from tools.sim.counters import Counters, Counts, Launch, Line
from tools.tests.check_diagnosis.examine import told


def words(got, want, *args, **more) -> str:
    found = told(got, want, *args, **more)
    return found.words if found else ""


@pytest.mark.parametrize(
    "wrong, text",
    [
        ([1], "It"),
        ([1, 1], "Each"),
        ([0, 1, 0], "Number 2"),
        ([1, 0, 1], "Each of numbers 1 and 3"),
        ([1, 1, 0, 1], "Each of numbers 1, 2 and 4"),
    ],
)
def test_all_numbers_that_are_wrong_are_named(wrong, text):
    assert which_of(np.array(wrong, bool)) == text


def test_few_numbers_in_reverse_order_have_no_end_at_which_a_loop_starts():
    wanted = 3.5, 21.25, 7.125
    assert words(wanted[::-1], wanted) == "The wanted numbers in reverse order. Which comes first?"
    want = np.arange(20.0) ** 2
    assert words(want[::-1].copy(), want).endswith("at which end does it start?")


def test_a_root_in_the_factor_need_not_be_one_of_a_sum():
    want = np.linspace(1, 2, 40) ** 2
    assert words(want * np.sqrt(32), want) == (
        "Everything is sqrt(32) times what was wanted.\nWhich root is taken, and of what?"
    )


def test_a_result_is_called_stored_by_columns_only_where_it_is():
    rows = np.arange(45.0).reshape(5, 9) ** 2
    wrong = rows.reshape(9, 5).T
    assert "row by row where out is stored column by column" in words(np.asfortranarray(wrong), rows)
    assert words(np.ascontiguousarray(wrong), rows).startswith("Read column by column it holds the wanted elements row")


def test_numbers_are_called_stored_only_in_an_array():
    want = np.arange(1.0, 6.0) ** 2
    assert words(np.zeros(5), want).endswith("Is it the computed value that is stored?")
    assert words((0.0,) * 5, tuple(want.tolist())).endswith("Which line computes them?")


@pytest.mark.parametrize(
    "annotation, seen",
    [
        (" -> tuple[int, int]", "The two are exchanged: wanted is (row, col)."),
        ("", "The two are exchanged: wanted is (row, col)."),
        (" -> list[int]", "The two are the other way round."),
    ],
)
def test_two_names_in_a_docstring_are_those_of_the_result_where_it_is_a_pair(annotation, seen):
    def place(n):
        return n, 3 * n + 1

    text = f'def place(n){annotation}:\n    """(row, col) of element n."""'
    (want, got), source = (place(5), place(5)[::-1]), Source(text, "place")
    found = diagnose(
        Symptoms(
            "values",
            got,
            want,
            np.ones(2, bool),
            (5,),
            ("n",),
            oracle=place,
            again=lambda n: place(n)[::-1],
            source=source,
        )
    )
    assert found.words == f"{seen} Which comes first?"


def test_the_number_that_a_call_gives_for_a_block_is_not_called_that_of_the_kernel():
    launch = Launch("copy_kernel", (4,), Counts(programs=4, bytes_stored=192), ())
    counters = Counters()
    counters.add(launch)
    missing = np.arange(64) >= 48
    found = diagnose(Symptoms("never_written", wrong=missing, keywords={"block": 16}, count=lambda: counters))
    assert found.words.splitlines()[0] == "4 programs stored 48 of 64 elements; block is 16."


def test_a_store_that_several_empty_axes_may_keep_away_names_them_all():
    source = Source('def f(x):\n    """x: (m, k)"""\n    for i in x:\n        store(i)', "f")
    line = Counts(programs=1, bytes_stored=4)

    def counted(x):
        counters = Counters()
        lines = (Line("a.py", 4, "store(i)", "store", line),) if x.size else ()
        counters.add(Launch("k", (1,), line if x.size else Counts(programs=1), lines))
        return counters

    empty = np.ones((0, 0), np.float32)
    found = diagnose(
        Symptoms("never_written", wrong=np.ones(3, bool), args=(empty,), names=("x",), count=counted, source=source)
    )
    assert found.words.splitlines()[0] == "No store for m = 0 and k = 0: line 4 stores inside the loop of line 3."
