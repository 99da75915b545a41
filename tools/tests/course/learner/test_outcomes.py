"""What a run's tests came to, and what follows for their unit."""

import pytest

from tools.course.learner import record
from tools.course.learner.outcomes import FAILED, NO_GPU, PASSED, WAITS, Ended, record_of
from tools.course.learner.record import CONFIRMED, HERE, OPEN, SIMULATED, STARTED, WAITING

CARD = "NVIDIA H200"


def ended(outcome, task=1, stage="correctness", needs_gpu=False):
    return Ended(task, stage, needs_gpu, outcome, "numba-cuda" if outcome == WAITS else "")


GPU = ended(PASSED, stage="speed", needs_gpu=True)


@pytest.mark.parametrize(("tests", "card", "overall"), [
    ([], None, OPEN),
    ([ended(PASSED)], None, record.PASSED),
    ([ended(PASSED), ended(FAILED)], None, OPEN),
    ([ended(PASSED), ended(FAILED, task=2)], None, STARTED),
    ([ended(PASSED), ended(WAITS)], None, HERE),
    ([ended(WAITS)], None, WAITING),
    ([ended(PASSED), ended(NO_GPU, stage="speed", needs_gpu=True)], None, SIMULATED),
    ([ended(PASSED), GPU], CARD, CONFIRMED),
    ([ended(PASSED), GPU, ended(WAITS)], CARD, HERE),
])  # fmt: skip
def test_a_unit_is_as_far_as_its_tests_say(tests, card, overall):
    assert record_of(tests, card).overall() == overall


def test_a_test_counts_for_its_own_task():
    known = record_of([ended(PASSED, task=1), ended(FAILED, task=2)])
    assert (known.is_done(1), known.is_done(2)) == (True, False)
