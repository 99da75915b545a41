"""Values as short text that never hides a difference."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tools.check import show
from tools.check.diagnosis.asserted import told_by_numbers

FLOATS = st.floats(allow_nan=False)


@pytest.mark.parametrize(
    "value, text",
    [
        (np.ones((2, 3)), "float64[2,3]"),
        (torch.ones(4, dtype=torch.bfloat16), "bfloat16[4]"),
        (np.array(1), "int64[]"),
        ((1,), "(1,)"),
        ([1.5, np.ones(2)], "[1.5, float64[2]]"),
        ({"a": (True, None)}, "{'a': (True, None)}"),
        ("a\nb", "'a\\nb'"),
        (slice(1), "slice(None, 1, None)"),
        (np.float32, "float32"),
        (torch.float32, "torch.float32"),
        (np.add, "add"),
        (len, "len"),
    ],
)
def test_literals(value, text):
    assert show.literal(value) == text


def test_the_repr_of_a_learners_class_may_fail():
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert show.literal(Odd()) == "<Odd>"


@pytest.mark.parametrize(
    "value, text",
    [
        (22.0, "22.0"),
        (1e-7, "1e-07"),
        (-0.0, "-0.0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (123456.0, "123456.0"),
        (1 / 3, "0.333333"),
        (7, "7"),
        (True, "True"),
        (np.int8(7), "7"),
        (1 + 2j, "(1+2j)"),
    ],
)
def test_numbers(value, text):
    assert show.number(value) == text


@settings(max_examples=300)
@given(FLOATS, FLOATS)
def test_two_different_floats_never_look_alike(a, b):
    mine, right = show.pair(a, b, 30)
    assert (mine == right) == (a == b and str(a) == str(b))


@settings(max_examples=300)
@given(st.text(min_size=30), st.text(max_size=5), st.text(max_size=5), st.text(max_size=60))
@example("0" * 30, "", " ", " ")
def test_two_different_long_values_never_look_alike(head, a, b, tail):
    mine, right = show.pair(head + a + tail, head + b + tail, 40)
    assert max(len(mine), len(right)) <= 40
    assert (mine == right) == (a == b)


@pytest.mark.parametrize(("values", "texts"), [
    ([0, 9.00924886873579], ["0", "9.009"]),
    ([0.25, 1e-9], ["0.25", "1e-09"]),
    ([2.000001, 2.0], ["2.000001", "2.0"]),
    ([2.0, 2], ["2.0", "2"]),
    ([16777216.0, 16777217.0], ["16,777,216", "16,777,217"]),
    ([1114112, 65536.0], ["1,114,112", "65,536"]),
    ([65536, 65536.5], ["65,536", "65,536.5"]),
    ([999, 999.5, 1000, -2000.0], ["999", "999.5", "1,000", "-2,000"]),
    ([12345.678, 1e18, float("inf")], ["12,346", "1e+18", "inf"]),
    ([True, "a"], ["True", "'a'"]),
])  # fmt: skip
def test_floats_are_rounded_unless_two_of_them_would_look_alike(values, texts):
    assert show.rounded(values) == texts


def test_a_sentence_on_a_bound_has_rounded_numbers():
    names = {"us": 0.0, "least": 9.00924886873579}
    assert told_by_numbers("assert us >= least", names) == ["us is 0.0, needed at least 9.009."]


@pytest.mark.parametrize(("value", "text"), [
    ([], "[]"), ((), "()"), ({}, "{}"), ((1,), "(1,)"), ([1, 2], "[1, 2]"),
    ([(1, 2), (3, 4), (5, 6)], "[(1, 2), (3, 4), ...]"), ({"a": 1, "bcd": "efghij", "e": 2}, "{'a': 1, ...}"),
    (["a" * 30], "[...]"), ("a" * 30, "'aaaaaaaaa...aaaaaaaa'"),
])  # fmt: skip
def test_a_list_that_is_too_long_ends_with_dots_after_whole_entries(value, text):
    assert show.shortened(value, 22) == text


def test_a_list_of_any_length_is_cut_at_once():
    assert show.shortened(list(range(200_000)), 12) == "[0, 1, ...]"


def test_decimal_points_stand_below_each_other():
    assert show.aligned(["1.0", "22.25", "-inf", "-3"]) == ["   1.0 ", "  22.25", "-inf   ", "  -3   "]


def test_a_grid_that_does_not_fit_is_not_drawn():
    got, want = np.arange(16.0).reshape(4, 4) / 7, np.arange(16.0).reshape(4, 4) / 7 + 1e-12
    assert show.grid(got, want, got != want, room=12) == []
    assert show.grid(np.ones((2, 2, 2)), np.zeros((2, 2, 2)), np.ones((2, 2, 2), bool), room=12) == []
    assert show.grid(np.ones(17), np.zeros(17), np.ones(17, bool), room=12) == []


def test_a_wide_matrix_is_stacked():
    got, want = np.full((2, 6), 1.25), np.full((2, 6), 1.5)
    assert show.grid(got, want, got != want, room=6) == [
        "  got     1.25  1.25  1.25  1.25  1.25  1.25",
        "          1.25  1.25  1.25  1.25  1.25  1.25",
        "  wanted  1.5   1.5   1.5   1.5   1.5   1.5",
        "          1.5   1.5   1.5   1.5   1.5   1.5",
    ]
