"""Every wrong answer of the corpus is rejected by assert_matches and gets a name that fits, or none if none does."""

import numpy as np
import pytest

from tools.tests.check_diagnosis.corpus import CORPUS
from tools.tests.check_diagnosis.examine import examine

SEEDS = (11, 12, 13)
NAMES = [entry.name for entry in CORPUS]


def test_the_corpus_has_at_least_twenty_different_mistakes():
    assert len(set(NAMES)) == len(NAMES) >= 20


@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_a_right_answer_is_accepted(entry):
    for seed in SEEDS:
        assert examine(entry.right, entry.right, entry.inputs(np.random.default_rng(seed))) is None


@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_a_wrong_answer_is_rejected_and_named(entry):
    for seed in SEEDS:
        found = examine(entry.right, entry.wrong, entry.inputs(np.random.default_rng(seed)))
        assert found is not None and found.cause in (entry.causes or {None}), found and found.text


@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_what_is_said_fits_the_frame(entry):
    lines = examine(entry.right, entry.wrong, entry.inputs(np.random.default_rng(3))).text.splitlines()
    assert len(lines) <= 12 and max(map(len, lines)) <= 76
