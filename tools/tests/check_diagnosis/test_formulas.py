"""What is wrong with the result of a formula otherwise is not named as a mistake in it; and the words fit."""

import numpy as np
import pytest
import torch

from tools.check.diagnosis import (
    attention_gradients,
    norm_gradients,
    norm_mistakes,
    softmax_blocks,
    softmax_gradients,
    softmax_mistakes,
)
from tools.check.diagnosis.attention_blocks import BLOCKS, END
from tools.check.diagnosis.attention_rounded import ROUNDED
from tools.check.diagnosis.attention_scores import HEADS, MASKS, OVER_QUERIES, SCALE
from tools.tests.check_diagnosis.formula_cases import attend, failure, normed, numbers

SOFTMAX = (*softmax_mistakes.PLAIN, *softmax_blocks.IN_BLOCKS, *softmax_blocks.NARROW, softmax_blocks.NOT_UPDATED)
NORMS = (*norm_mistakes.PLAIN, *norm_mistakes.IN_BLOCKS)
ATTENTION = (*SCALE, *MASKS, *HEADS, *BLOCKS, *END, *ROUNDED, OVER_QUERIES)
GRADIENTS = (
    *softmax_gradients.MISTAKES,
    *norm_gradients.OF_X,
    *norm_gradients.OF_WEIGHT,
    *norm_gradients.IN_BLOCKS,
    *attention_gradients.PLAIN,
    *attention_gradients.IN_BLOCKS,
)
ALL = (*SOFTMAX, *NORMS, *ATTENTION, *GRADIENTS)
OF_FORMULAS = {each.name for each in ALL} | {"cancelled", "normed_along_other_axis", "empty_row"}
FACTS = {
    "x": "x",
    "weight": "weight",
    "bias": "bias",
    "d": "d_out",
    "eps": "eps = 1e-05",
    "spread": "mean square",
    "scale": "1/sqrt(128)",
    "dtype": "float32",
    "above": 88.7,
    "below": -103.3,
    "axis": 1,
    "other": 0,
    "of_q": 32,
    "of_k": 8,
    "summed": "queries",
    **dict.fromkeys(("length", "before", "rows", "keys", "last", "whole", "padded", "block"), 1024),
}  # as long as they usually get


@pytest.mark.parametrize("mistake", ALL, ids=[f"{each.name}-{place}" for place, each in enumerate(ALL)])
def test_what_is_said_of_a_mistake_fits_the_frame_and_ends_in_a_question(mistake):
    facts = FACTS | {"d": 128} if mistake in ATTENTION else FACTS
    seen, asks = mistake.seen.format(**facts), mistake.asks.format(**facts)
    assert seen.endswith(".") and asks.endswith("?")
    assert max(len(seen), len(asks)) <= 76, (len(seen), seen, len(asks), asks)


CONTROLS = {  # name -> (what is wanted, random numbers) -> another array
    "noise": lambda want, rng: want + rng.normal(size=want.shape),
    "a little noise": lambda want, rng: want * (1 + 1e-3 * rng.normal(size=want.shape)),
    "some elements": lambda want, rng: np.where(rng.random(want.shape) < 0.1, 0.5, want),
    "one element": lambda want, rng: want + 5.0 * (np.arange(want.size) == 3).reshape(want.shape),
    "another factor for each row": lambda want, rng: want * rng.uniform(0.5, 1.5, (*want.shape[:-1], 1)),
    "an offset for each row": lambda want, rng: want + rng.normal(size=(*want.shape[:-1], 1)),
    "rows in another order": lambda want, rng: want[rng.permutation(len(want))],
    "a row of NaN": lambda want, rng: np.where(np.arange(len(want))[:, None] == 2, np.nan, want),
    "all NaN": lambda want, rng: np.full_like(want, np.nan),
    "rounded": lambda want, rng: np.round(want, 1),
    "squares": lambda want, rng: want * want,
}


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("formula", ["softmax", "layer norm", "attention", "causal attention"])
def test_what_is_wrong_otherwise_is_no_mistake_of_the_formula(formula, name):
    x, weight, bias = numbers(9, 24), numbers(24, seed=4), numbers(24, seed=5)
    q, k, v = (numbers(*shape, seed=6) for shape in ((9, 8), (20, 8), (20, 24)))
    args, oracle = {
        "softmax": ((x,), lambda x: torch.softmax(x, 1)),
        "layer norm": ((x, weight, bias), lambda *args: normed(*args, "")),
        "attention": ((q, k, v), lambda *args: attend(*(each[None] for each in args), "")[0][0]),
        "causal attention": ((q, k, v), lambda *args: attend(*(each[None] for each in args), "", True)[0][0]),
    }[formula]

    def wrong(*args):
        want = oracle(*(each.double() for each in args)).numpy()
        return torch.from_numpy(CONTROLS[name](want, np.random.default_rng(1))).float()

    found = failure(wrong, *args, oracle=oracle)
    assert found.cause not in OF_FORMULAS, found.text


def test_attention_over_a_few_equal_keys_is_not_told_apart():
    """Where all scores are equal, no mistake in them makes a difference: nothing is named that is not there."""
    q, k, v = torch.zeros(6, 8), numbers(10, 8), numbers(10, 5)

    def right(q, k, v):
        return torch.softmax(q @ k.T * 8**-0.5, 1) @ v

    assert failure(lambda q, k, v: right(q, k, v) + 0.25, q, k, v, oracle=right).cause == "constant_offset"
