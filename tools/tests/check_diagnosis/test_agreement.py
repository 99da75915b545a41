"""Judge and diagnosis speak of the same elements; and no recogniser is there that a check never reaches."""

import numpy as np
import pytest

from tools.check import Mismatch, assert_matches, diagnosis
from tools.check.diagnosis.symptoms import Call, Symptoms
from tools.tests.check_diagnosis.corpus import CORPUS
from tools.tests.check_diagnosis.examine import examine, handed_over, symptoms_of

ELSEWHERE = {  # reached by kernels, clocks and terms, or by a comparison to the bit: in the tests of these
    "kernels": {
        "never_launched",
        "no_programs",
        "nothing_stored",
        "tail_not_stored",
        "head_not_stored",
        "same_block",
        "blocks_overlap",
        "right_when_square",
        "one_too_many",
        "mask_lets_through",
        "misread_strides",
        "row_by_row",
        "padding_counted",
        "store_not_reached",
        "same_in_every_block",
        "threads_overlap",
        "stored_twice",
        "left_out_of_a_store",
        "all_pass_it_on",
        "index_from_data",
        "downloads_under_way",
        "row_not_stored",
        "stored_otherwise",
        "sum_of_another_type",
        "summed_along_the_other_axis",
        "stored_in_another_shape",
        "larger_than_any_tile",
        "type_changes_in_a_loop",
        "too_short_for_a_function",
    },
    "products": {"tiles_gone_wrong", "bounds_exchanged"},
    "sums": {"no_steps_taken", "each_block_alone"},
    "clocks": {"clock_not_read", "work_not_done", "clock_misread"},
    "terms": {"one_term_off", "one_term_scaled", "told_apart"},
    "silence": {"sign_of_zero_lost"},
    "lengths": {"lengths_mixed_up"},
    "gradients": {"gradient_gone_wrong", "no_gradient"},
}


def large_ones_a_little_off(x):
    """Within the tolerance of their own size, far beyond it of the typical one; and the last one is wrong."""
    result = 2 * x * np.where(np.abs(x) > 1e3, 1 + 1e-6, 1).astype(np.float32)
    result[-1] += 1e4
    return result


def test_what_the_judge_lets_pass_is_right_for_the_diagnosis_too():
    x = np.concatenate([np.linspace(1, 2, 1000), np.linspace(2e3, 9e3, 11)]).astype(np.float32)
    with handed_over() as seen, pytest.raises(Mismatch, match="1 of 1011 elements differs"):
        assert_matches(large_ones_a_little_off, x, oracle=lambda x: 2 * x)
    assert np.flatnonzero(seen[0].wrong).tolist() == [1010]
    with pytest.raises(Mismatch) as caught:
        assert_matches(large_ones_a_little_off, x, oracle=lambda x: 2 * x)
    assert "Right up to element 1009; everything after it is wrong." in caught.value.text


@pytest.mark.parametrize("entry", CORPUS, ids=[entry.name for entry in CORPUS])
def test_the_mask_is_the_judges_own(entry):
    args = entry.inputs(np.random.default_rng(5))
    symptoms = symptoms_of(entry.right, entry.wrong, args)
    if symptoms and symptoms.comparable:
        assert symptoms.wrong.shape == symptoms.here.got.shape and symptoms.wrong.any()


def test_of_a_further_call_the_wrong_elements_are_known_as_well():
    """Of a square that is cut from a matrix, say: a float32 that is rounded is right, and one that is not is wrong."""
    want = np.linspace(1, 2, 6).reshape(2, 3)
    got = want.astype(np.float32).astype(np.float64) + 0.1 * (np.arange(6) == 4).reshape(2, 3)
    symptoms = Symptoms("refusal", args=(want,), dtype="float32").instead(Call((want,), got, want))
    assert np.argwhere(symptoms.wrong).tolist() == [[1, 1]] and symptoms.comparable


def test_every_recogniser_is_reached_by_a_check(monkeypatch):
    spoke = set()

    def heard(recognise):
        def listening(symptoms):
            found = recognise(symptoms)
            if found:
                spoke.add(recognise.__name__)
            return found

        return listening

    tables = {fault: tuple(map(heard, table)) for fault, table in diagnosis.RECOGNISERS.items()}
    known = {recognise.__name__ for table in diagnosis.RECOGNISERS.values() for recognise in table}
    monkeypatch.setattr(diagnosis, "RECOGNISERS", tables)
    for entry in CORPUS:
        examine(entry.right, entry.wrong, entry.inputs(np.random.default_rng(7)))
    assert known - spoke == set().union(*ELSEWHERE.values()), (known - spoke) ^ set().union(*ELSEWHERE.values())
