"""500 random mutants: almost none may get a wrong name."""

import pytest

from tools.tests.check_diagnosis.functions import FUNCTIONS
from tools.tests.check_diagnosis.mutants import judge_mutants, table

SEED = 20260  # not among the seeds 0 to 9 that the recognisers were tuned on
COUNT = 500
MOST_WRONG = 0.01
FEWEST_NAMED = 0.70


@pytest.fixture(scope="module")
def verdicts():
    return judge_mutants(SEED, COUNT)


def test_mutants_come_from_at_least_fifteen_functions():
    assert len(FUNCTIONS) >= 15


def test_what_is_said_of_mutants_fits_the_frame(verdicts):
    for verdict in verdicts:
        lines = verdict.found.text.splitlines()
        assert len(lines) <= 12 and max(map(len, lines)) <= 76, verdict


def test_at_most_one_mutant_in_a_hundred_is_wrongly_named(verdicts):
    outcomes = [verdict.outcome for verdict in verdicts]
    assert len(outcomes) == COUNT
    assert outcomes.count("wrongly named") <= MOST_WRONG * COUNT, table(verdicts)
    assert outcomes.count("named") >= FEWEST_NAMED * COUNT, table(verdicts)
