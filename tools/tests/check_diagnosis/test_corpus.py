"""Every wrong answer of the corpus is rejected and gets a name that fits."""

import numpy as np
import pytest

from tools.check.diagnosis import diagnose
from tools.tests.check_diagnosis.corpus import CORPUS
from tools.tests.check_diagnosis.examine import examine

SEEDS = (11, 12, 13)
NAMES = [entry.name for entry in CORPUS]


def test_the_corpus_has_at_least_twenty_different_mistakes():
    assert len(set(NAMES)) == len(NAMES) >= 20


@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_a_wrong_answer_is_rejected(entry):
    for seed in SEEDS:
        assert examine(entry.right, entry.wrong, entry.inputs(np.random.default_rng(seed))) is not None


@pytest.mark.parametrize("entry", CORPUS, ids=NAMES)
def test_a_right_answer_is_accepted(entry):
    for seed in SEEDS:
        assert examine(entry.right, entry.right, entry.inputs(np.random.default_rng(seed))) is None


def test_nine_in_ten_wrong_answers_get_a_name_that_fits_and_none_another():
    found = {}
    for entry in CORPUS:
        for seed in SEEDS:
            cause = diagnose(examine(entry.right, entry.wrong, entry.inputs(np.random.default_rng(seed))))
            found[entry.name, seed] = cause and cause.name, entry.causes
    misnamed = {key: name for key, (name, causes) in found.items() if name and name not in causes}
    unnamed = [key for key, (name, _) in found.items() if not name]
    assert not misnamed
    assert len(unnamed) <= len(found) / 10, unnamed
