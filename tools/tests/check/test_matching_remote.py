"""assert_matches of a lesson in another process."""

import textwrap

import numpy as np
import pytest

from tools import worker
from tools.check import Mismatch, assert_matches
from tools.tests.check.told import cause_of

X = np.array([3.0, -1.0, 2.5])


def double(x):
    return 2 * x


LESSON = """
    import os

    import numpy as np

    def double(x, *, out=None):
        out = np.empty_like(x) if out is None else out
        out[...] = 2 * x
        return out

    def half_filled(x, *, out=None):
        if out is None:
            return 2 * x
        out[: len(x) // 2] = 2 * x[: len(x) // 2]
        return out

    def stray(x, *, out=None):
        if out is None:
            return 2 * x
        out[...] = 2 * x
        np.lib.stride_tricks.as_strided(out, (len(x) + 1,), out.strides)[-1] = 9
        return out

    def in_place(x):
        x *= 2
        return x.copy()

    def same(x):
        return x

    def triple(x):
        return 3 * x

    def crash_with_out(x, *, out=None):
        return 2 * x if out is None else os._exit(3)

    def apply(function, x):
        return function(x)

    def broken(x):
        return x[9]

    def gap(x):
        raise NotImplementedError("week1/day1 task 1: gap")
"""


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    file = tmp_path_factory.mktemp("lesson") / "far_away.py"
    file.write_text(textwrap.dedent(LESSON))
    return worker.proxy("far_away", file)


@pytest.mark.parametrize(
    "name, cause",
    [
        ("half_filled", "never_written"),
        ("stray", "outside_out"),
        ("in_place", "input_modified"),
        ("same", "returns_its_input"),
        ("broken", "raised"),
    ],
)
def test_a_remote_lesson_is_judged_alike(remote, name, cause, monkeypatch):
    monkeypatch.setattr("tools.check.diagnosis.diagnose", lambda symptoms: None)
    assert cause_of(getattr(remote, name), X.copy(), oracle=double) == cause


def test_a_crash_in_a_call_that_only_explains_leaves_the_fault_as_it_is(remote):
    assert cause_of(remote.crash_with_out, X, oracle=lambda x: 7 * x) != "raised"


def test_functions_of_a_remote_lesson_may_be_arguments(remote):
    assert_matches(remote.apply, remote.triple, X, oracle=lambda function, x: 3 * x)
    assert cause_of(remote.apply, remote.triple, X, oracle=lambda function, x: x * x) is None


def test_a_right_remote_lesson_matches_in_every_layout(remote):
    result = assert_matches(remote.double, X, oracle=double, layouts="any")
    np.testing.assert_array_equal(result, 2 * X)


def test_the_line_of_a_remote_error_is_shown(remote):
    with pytest.raises(Mismatch, match=r"IndexError.*\nfar_away.py line \d+, in broken:\n    return x\[9\]"):
        assert_matches(remote.broken, X, oracle=double)


def test_a_remote_gap_is_a_gap(remote):
    with pytest.raises(NotImplementedError, match="week1/day1 task 1: gap"):
        assert_matches(remote.gap, X, oracle=double)
