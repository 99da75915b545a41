"""Mistakes in attention, in kernels and in PyTorch, are named."""

import math

import pytest
import torch

from tools.check import assert_matches
from tools.tests.check_diagnosis.formula_cases import CLOSE, attend, failure, numbers, said


def qkv(heads, kv_heads, m, n, d=16):
    return 2 * numbers(heads, m, d), numbers(kv_heads, n, d, seed=4), numbers(kv_heads, n, d, seed=5)


SHAPES = [(2, 2, 20, 41), (4, 2, 35, 50)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    "how, causal, cause, seen",
    [
        ("not scaled", False, "scale_forgotten", "the scores were q . k without the factor 1/sqrt(16)."),
        ("acc not rescaled", False, "acc_not_rescaled", "As if acc stayed as it is when a block of 16 keys raises"),
        ("sum not rescaled", True, "sum_not_rescaled", "As if l_i stayed as it is when a block of 16 keys raises"),
        ("sum not carried", False, "sum_not_carried", "As if l_i held only the sum of the keys from {last} on."),
        ("padding counted", False, "padding_counted", "As if keys of zeros followed the {n}, up to {padded}."),
        ("not divided", True, "not_divided", "As if acc were not divided by l_i."),
        ("masked by zero", True, "mask_by_zero", "As if hidden keys had score 0."),
        ("own hidden", True, "own_key_hidden", "a query did not see the key of its own position."),
        ("from the start", True, "causal_other_end", "the mask of {m} queries and {n} keys began at the other end."),
        ("acc in float16", False, "float16_accumulation", "As if acc were kept in float16 from one block of 16 keys"),
    ],
)
def test_the_mistake_in_an_attention_kernel_is_named(formulas, shape, how, causal, cause, seen):
    args = qkv(*shape)
    assert_matches(formulas.attention, *args, "", causal, oracle=attend, tolerance=CLOSE)
    found = failure(formulas.attention, *args, how, causal, oracle=attend)
    m, n = shape[2:]
    assert found.cause == cause, found.text
    assert seen.format(m=m, n=n, last=(n - 1) // 16 * 16, padded=-(-n // 16) * 16) in said(found)


def test_a_head_that_takes_the_keys_of_another_is_named(formulas):
    found = failure(formulas.attention, *qkv(4, 2, 20, 30), "head modulo", oracle=attend)
    assert found.cause == "wrong_head" and "head h of 4 took keys and values of head h % 2." in said(found)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_log_sum_exp_of_scores_is_known_too(formulas, shape):
    found = failure(formulas.attention, *qkv(*shape), "lse without maximum", True, oracle=attend)
    assert found.cause == "maximum_left_out" and "In result[1]: " in found.text


def test_a_scale_that_the_call_gives_is_the_one_that_is_forgotten(formulas):
    args = qkv(2, 2, 20, 30)

    def ignores_scale(q, k, v, scale):
        return attend(q, k, v, "", scale=1.0)[0]

    found = failure(ignores_scale, *args, 0.3, oracle=lambda q, k, v, scale: attend(q, k, v, "", scale=scale)[0])
    assert found.cause == "scale_forgotten" and "without the factor 0.3." in said(found)


@pytest.mark.parametrize("given", ["mask", "lengths", "bias"])
def test_masks_and_lengths_among_the_arguments_are_known(given):
    q, k, v = (numbers(2, 3, length, 8, seed=length) for length in (10, 12, 12))
    masks = {
        "mask": torch.rand(2, 1, 10, 12, generator=torch.Generator().manual_seed(1)) < 0.7,
        "lengths": torch.tensor([7, 12]),
        "bias": torch.where(torch.arange(12) < 9, 0.0, -math.inf)[None].repeat(10, 1),
    }

    def scores(q, k, mask):
        plain = q @ k.transpose(-1, -2) * 8**-0.5
        if given == "bias":
            return plain + mask
        allowed = mask if given == "mask" else (torch.arange(12) < mask[:, None])[:, None, None, :]
        return plain.masked_fill(~allowed, -math.inf)

    def right(q, k, v, mask):
        return torch.softmax(scores(q, k, mask), -1) @ v

    def late(q, k, v, mask):
        plain = torch.softmax(q @ k.transpose(-1, -2) * 8**-0.5, -1)
        return torch.where(scores(q, k, mask) > -math.inf, plain, 0.0) @ v

    assert failure(late, q, k, v, masks[given], oracle=right).cause == "mask_after_softmax"


def test_queries_that_see_no_key_are_told_apart():
    q, k, v = (numbers(length, 8, seed=length) for length in (9, 6, 6))
    allowed = torch.arange(6) < torch.tensor([2, 0, 6, 3, 1, 0, 4, 5, 6])[:, None]

    def plain(q, k, v, mask):
        return torch.softmax((q @ k.T * 8**-0.5).masked_fill(~mask, -math.inf), 1) @ v

    def right(q, k, v, mask):
        return plain(q, k, v, mask).nan_to_num(0.0)

    found = failure(plain, q, k, v, allowed, oracle=right)
    assert found.cause == "empty_row"
    assert "NaN came back just for the queries that see no key" in said(found)


def test_one_query_and_scores_that_are_given_are_attention_too():
    q, k, v = numbers(8), numbers(30, 8), numbers(30, 5)

    def one(q, k, v):
        return torch.softmax(k @ q * 8**-0.5, 0) @ v

    found = failure(lambda q, k, v: torch.softmax(k @ q, 0) @ v, q, k, v, oracle=one)
    assert found.cause == "scale_forgotten"

    def weighted(scores, v):
        return torch.softmax(scores, 0) @ v

    scores = 3 * numbers(30, seed=8)
    found = failure(lambda scores, v: torch.exp(scores - scores.max()) @ v, scores, v, oracle=weighted)
    assert found.cause == "not_divided"
