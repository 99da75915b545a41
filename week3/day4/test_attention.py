"""The lesson again, as checks: scores and their spread, weights, who sees what, all of it, what it takes."""

import numpy as np
import pytest
import torch

from tools.check import assert_matches, count, memory
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.day4 import attention as lesson

INF, NAN = float("inf"), float("nan")
FLOAT32 = 4  # bytes


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def story():
    """The query, the keys and the values of the lesson's picture."""
    q = tensor([[1, 2, 0, 1]])
    k = tensor([[2, 1, 5, 0], [-2, 1, 3, 0], [1, 0, 0, 1], [1, 2, 1, 1]])
    v = tensor([[1, 0], [0, 1], [1, 1], [2, 0]])
    return q, k, v


def products(q, k, scale=None):
    scale = 1 / q.shape[-1]**0.5 if scale is None else scale
    return torch.einsum("...id,...jd->...ij", q, k) * scale


def softmax(scores):
    hidden = (scores == -INF).all(-1, keepdim=True)
    return torch.softmax(scores, -1).masked_fill(hidden, 0.0)


def attended(q, k, v, *, mask=None, scale=None):
    scores = products(q, k, scale)
    if mask is not None:
        scores = torch.where(mask, scores, -INF)
    return torch.einsum("...ij,...je->...ie", softmax(scores), v)


def earlier(n_q, n_k, first=0):
    rows = [[j <= first + i for j in range(n_k)] for i in range(n_q)]
    return tensor(rows, torch.bool).reshape(n_q, n_k)


def within(lengths, n_k):
    rows = [[j < int(length) for j in range(n_k)] for length in lengths]
    return tensor(rows, torch.bool).reshape(len(rows), 1, 1, n_k)


# Task 1: scores and their spread ------------------------------------------------------------------

@pytest.mark.task(1)
def test_the_query_of_the_lesson_scores_2_0_1_3():
    q, k, _ = story()
    scores = lesson.scaled_scores(q, k).tolist()
    assert scores != [[4, 0, 2, 6]], "this is q . k, times 1: is 1 / sqrt(d) there, and is d the length of the last axis?"
    assert scores != [[1, 0, 0.5, 1.5]], "a quarter of q . k: is it divided by d, or by sqrt(d) twice?"
    assert_matches(lesson.scaled_scores, q, k, oracle=products)


@pytest.mark.task(1)
def test_every_query_meets_every_key(rng):
    q, k = numbers(rng, (3, 9), (5, 9))
    assert_matches(lesson.scaled_scores, q, k, oracle=products, tolerance=accumulated("float32", 9))


@pytest.mark.task(1)
@pytest.mark.parametrize("d", [1, 2, 100])
def test_the_scale_is_one_over_the_root_of_d(d, rng):
    q, k = numbers(rng, (3, d), (5, d))
    assert_matches(lesson.scaled_scores, q, k, oracle=products, tolerance=accumulated("float32", d))


@pytest.mark.task(1)
def test_a_scale_that_is_given_takes_the_place_of_the_usual_one(rng):
    q, k = numbers(rng, (3, 9), (5, 9))
    assert_matches(lesson.scaled_scores, q, k, 2.0, oracle=products, tolerance=accumulated("float32", 9))


@pytest.mark.task(1)
@pytest.mark.edge
def test_a_scale_of_0_makes_all_scores_0():
    q, k, _ = story()
    scores = lesson.scaled_scores(q, k, 0.0).tolist()
    assert scores != [[2, 0, 1, 3]], "0.0 was taken for no scale at all: only None is none"
    assert_matches(lesson.scaled_scores, q, k, 0.0, oracle=products)


@pytest.mark.task(1)
def test_each_head_of_each_sequence_has_scores_of_its_own_wherever_it_is_stored(rng):
    q, k = numbers(rng, (2, 3, 5, 8), (2, 3, 7, 8))
    assert_matches(lesson.scaled_scores, q, k, oracle=products, tolerance=accumulated("float32", 8), layouts="any")


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(0, 3), (3, 0), (1, 1)])
def test_there_may_be_no_query_or_no_key(n_q, n_k, rng):
    q, k = numbers(rng, (2, n_q, 4), (2, n_k, 4))
    assert_matches(lesson.scaled_scores, q, k, oracle=products)


@pytest.mark.task(1)
@pytest.mark.edge
def test_float16_scores_that_fit_when_scaled_do_not_overflow_before():
    """64 products of 60 and 60 are 230400, beyond float16's 65504; an eighth of it is not."""
    q, k = (torch.full((1, 64), 60.0, dtype=torch.float16, device=device) for _ in range(2))
    assert_matches(lesson.scaled_scores, q, k, oracle=products)


@pytest.mark.task(1)
@pytest.mark.counters
def test_scores_take_one_matrix_and_as_much_as_q(rng):
    q, k = numbers(rng, (2, 3, 128, 64), (2, 3, 256, 64))
    scores = FLOAT32 * 2 * 3 * 128 * 256
    like_q = FLOAT32 * 2 * 3 * 128 * 64
    used = memory(lesson.scaled_scores, q, k)
    assert used.peak <= scores + like_q


@pytest.mark.task(1)
def test_of_64_products_the_variance_is_64_and_of_an_eighth_of_them_1():
    variance_at_64 = lesson.score_variance(64)
    assert variance_at_64 != 8, "8 is how far scores spread; their variance is the square of that"
    assert variance_at_64 == 64
    variance_of_an_eighth = lesson.score_variance(64, 0.125)
    assert variance_of_an_eighth != 8, "64 / 8: a factor changes a variance by its square"
    assert variance_of_an_eighth == 1


@pytest.mark.task(1)
@pytest.mark.parametrize("d, scale", [(16, 1.0), (16, 0.25), (100, 0.3)])
def test_random_scores_spread_as_predicted(d, scale, rng):
    q, k = (rng.standard_normal((20_000, d)) for _ in range(2))
    observed = float(np.var((q * k).sum(1) * scale))
    predicted = lesson.score_variance(d, scale)
    assert predicted == pytest.approx(observed, rel=0.08)


# Task 2: weights ----------------------------------------------------------------------------------

@pytest.mark.task(2)
def test_the_scores_of_the_lesson_become_its_weights():
    assert_matches(lesson.attention_weights, tensor([[2, 0, 1, 3], [1, 1, 1, 1]]), oracle=softmax)


@pytest.mark.task(2)
def test_each_row_is_a_softmax_of_its_own(rng):
    scores, more = numbers(rng, (3, 5), (2, 3, 4, 7))
    assert_matches(lesson.attention_weights, scores, oracle=softmax)
    assert_matches(lesson.attention_weights, more, oracle=softmax, layouts="any")


@pytest.mark.task(2)
@pytest.mark.edge
def test_scores_may_be_large():
    scores = tensor([[1000, 1001, 999]])
    sum_of_weights = lesson.attention_weights(scores).sum().item()
    assert sum_of_weights == pytest.approx(1), "exp(1000) is inf in float32: what is subtracted first?"
    assert_matches(lesson.attention_weights, scores, oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.edge
def test_rows_may_lie_far_apart():
    scores = tensor([[1000, 1001, 999], [-1000, -1001, -999], [0, 1, 2]])
    sum_of_row_1 = lesson.attention_weights(scores)[1].sum().item()
    assert sum_of_row_1 == pytest.approx(1), "row 1 lies 2000 below row 0: which maximum is subtracted there?"
    assert_matches(lesson.attention_weights, scores, oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_score_of_minus_infinity_weighs_nothing():
    assert_matches(lesson.attention_weights, tensor([[2, 0, 1, -INF]]), oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_row_of_minus_infinity_alone_has_weights_0_and_the_others_do_not_mind():
    assert_matches(lesson.attention_weights, tensor([[-INF, -INF]]), oracle=softmax)
    assert_matches(lesson.attention_weights, tensor([[2, 0], [-INF, -INF], [1, 3]]), oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.edge
def test_there_may_be_a_single_score_or_none_or_no_row(rng):
    for scores in numbers(rng, (2, 3, 1), (2, 3, 0), (2, 0, 3)):
        assert_matches(lesson.attention_weights, scores, oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_spoils_its_own_row_alone(strange):
    assert_matches(lesson.attention_weights, tensor([[2, 0, 1], [0, strange, 1], [1, 3, 2]]), oracle=softmax)


@pytest.mark.task(2)
def test_scores_may_turn_into_weights_where_they_lie(rng):
    def scores_after_attention_weights(scores):
        scores = scores.clone()
        lesson.attention_weights(scores, out=scores)
        return scores

    (scores,) = numbers(rng, (3, 5))
    assert_matches(scores_after_attention_weights, scores, oracle=softmax)


@pytest.mark.task(2)
@pytest.mark.counters
def test_beside_out_only_columns_are_allocated(rng):
    (scores,) = numbers(rng, (3, 128, 256))
    column = FLOAT32 * 3 * 128
    used = memory(lesson.attention_weights, scores, out=torch.empty_like(scores))
    assert used.peak <= 6 * column


# Task 3: who sees what ----------------------------------------------------------------------------

@pytest.mark.task(3)
def test_a_query_sees_its_own_place_and_those_before():
    query_1_sees = lesson.causal_mask(3, 3).tolist()[1]
    assert query_1_sees == [True, True, False], "query 1 sees key 0, before it, and key 1, its own place"
    assert_matches(lesson.causal_mask, 3, 3, oracle=earlier)


@pytest.mark.task(3)
@pytest.mark.edge
def test_query_0_stands_at_place_0_however_many_keys_there_are():
    query_0_sees = lesson.causal_mask(2, 5).tolist()[0]
    assert query_0_sees == [True] + [False] * 4, "`first` alone says where query 0 stands: at place 0 if not given"
    assert_matches(lesson.causal_mask, 2, 5, oracle=earlier)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(5, 2), (1, 1), (0, 3), (3, 0)])
def test_there_may_be_more_queries_than_keys_or_none(n_q, n_k):
    assert_matches(lesson.causal_mask, n_q, n_k, oracle=earlier)


@pytest.mark.task(3)
def test_the_first_query_may_stand_further_on():
    assert_matches(lesson.causal_mask, 1, 4, 3, oracle=earlier)
    assert_matches(lesson.causal_mask, 2, 4, 1, oracle=earlier)


@pytest.mark.task(3)
@pytest.mark.edge
def test_each_sequence_has_its_own_length_0_and_all_among_them():
    lengths = tensor([2, 4, 0], torch.int64)
    seen_of_sequence_0 = lesson.padding_mask(lengths, 4)[0].flatten().tolist()
    assert seen_of_sequence_0 == [True, True, False, False], "sequence 0 has length 2: keys 0 and 1 are seen"
    assert_matches(lesson.padding_mask, lengths, 4, oracle=within)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("lengths, n_k", [([3], 5), ([0, 0], 0), ([1, 1, 1, 1], 1)])
def test_there_may_be_one_sequence_or_no_key(lengths, n_k):
    assert_matches(lesson.padding_mask, tensor(lengths, torch.int64), n_k, oracle=within)


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_causal_mask_takes_a_byte_for_each_pair_and_vectors():
    n_q, n_k = 128, 256
    pairs, vectors = n_q * n_k, 4 * 8 * (n_q + n_k)
    used = memory(lesson.causal_mask, n_q, n_k)
    assert used.peak <= pairs + vectors


# Task 4: all of it --------------------------------------------------------------------------------

@pytest.mark.task(4)
def test_the_query_of_the_lesson_takes_most_of_the_last_value():
    assert_matches(lesson.attention, *story(), oracle=attended)


@pytest.mark.task(4)
def test_without_the_last_key_the_others_share_its_weight():
    mask = tensor([[True, True, True, False]], torch.bool)
    out = lesson.attention(*story(), mask=mask).tolist()
    assert out != [[2, 0]], "this is the value of key 3, which is hidden: True is for keys that are seen"
    assert_matches(lesson.attention, *story(), mask=mask, oracle=attended)


@pytest.mark.task(4)
def test_the_weights_of_what_is_seen_add_up_to_1():
    q, k, _ = story()
    mask = tensor([[True, True, True, False]], torch.bool)
    sum_of_weights = lesson.attention(q, k, tensor([[1]] * 4), mask=mask).item()  # all values are 1
    assert sum_of_weights == pytest.approx(1)


@pytest.mark.task(4)
def test_heads_sequences_and_values_of_any_width_stored_in_any_way(rng):
    q, k, v = numbers(rng, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8), layouts="any")


@pytest.mark.task(4)
def test_a_scale_is_handed_on(rng):
    q, k, v = numbers(rng, (2, 5, 8), (2, 7, 8), (2, 7, 6))
    usual, other = lesson.attention(q, k, v)[0, 0, 0].item(), lesson.attention(q, k, v, scale=0.1)[0, 0, 0].item()
    assert other != usual, "scale=0.1 changes nothing: which call is told of it?"
    assert_matches(lesson.attention, q, k, v, scale=0.1, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_query_that_sees_no_key_gets_zeros(rng):
    q, k = numbers(rng, (3, 8), (4, 8))
    v = tensor([[1], [2], [3], [6]])
    mask = tensor([[True] * 4, [False] * 4, [True, False, True, True]], torch.bool)
    query_1_gets = lesson.attention(q, k, v, mask=mask)[1].item()
    assert query_1_gets != 3, "3 is the mean of all values: is each hidden score -inf?"
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
@pytest.mark.parametrize("shape", [(5, 7), (2, 1, 1, 7), (1, 3, 5, 1), (2, 3, 5, 7)])
def test_a_mask_fits_with_axes_of_size_1(shape, rng):
    q, k, v = numbers(rng, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))
    mask = torch.from_numpy(rng.random(shape) < 0.6).to(device)
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
def test_your_masks_join(rng):
    q, k, v = numbers(rng, (2, 3, 6, 8), (2, 3, 6, 8), (2, 3, 6, 5))
    lengths = tensor([6, 4], torch.int64)
    mask = lesson.causal_mask(6, 6) & lesson.padding_mask(lengths, 6)
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(0, 3), (3, 0), (3, 1)])
def test_there_may_be_no_query_no_key_or_a_single_key(n_q, n_k, rng):
    q, k, v = numbers(rng, (2, n_q, 8), (2, n_k, 8), (2, n_k, 5))
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
@pytest.mark.edge
def test_large_scores_hide_no_more_than_the_mask_says():
    """The seen key scores -2e9, which is less than -1e9: a hidden score has to be less than any number."""
    q, k, v = tensor([[1e5]]), tensor([[-2e4], [1.0]]), tensor([[1, 0], [0, 1]])
    mask = tensor([[True, False]], torch.bool)
    assert_matches(lesson.attention, q, k, v, mask=mask, scale=1.0, oracle=attended)


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF, -INF])
def test_what_is_not_finite_in_a_key_concerns_those_that_see_it(strange, rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5))
    k[2, 0] = strange
    mask = tensor([[True, True, False, True], [True] * 4, [False, True, False, False]], torch.bool)
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_in_a_query_or_a_value_stays_in_its_row_or_column(rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5))
    q[1, 3] = NAN
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))
    q[1, 3], v[2, 4] = 0.5, NAN
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(4)
def test_float64_stays_float64(rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5), dtype=torch.float64)
    assert_matches(lesson.attention, q, k, v, oracle=attended)


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("masked", [False, True])
def test_at_its_peak_one_matrix_of_scores_is_alive_and_something_like_q(masked, rng):
    q, k, v = numbers(rng, (2, 3, 128, 64), (2, 3, 512, 64), (2, 3, 512, 64))
    scores, like_q = FLOAT32 * 2 * 3 * 128 * 512, FLOAT32 * 2 * 3 * 128 * 64
    mask = torch.ones(128, 512, dtype=torch.bool, device=device).tril() if masked else None
    used = memory(lesson.attention, q, k, v, mask=mask)
    assert used.peak <= scores + like_q
    assert used.kept == 0


@pytest.mark.task(4)
@pytest.mark.counters
def test_all_heads_are_computed_at_once(rng):
    def calls(batch, heads):
        q, k, v = numbers(rng, *[(batch, heads, 4, 8)] * 3)
        mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril()
        return len(count(lesson.attention, q, k, v, mask=mask).library_operations)

    calls_for_six, calls_for_one = calls(2, 3), calls(1, 1)
    assert calls_for_six <= calls_for_one


# Task 5: what it takes ----------------------------------------------------------------------------

@pytest.mark.task(5)
@pytest.mark.parametrize("batch, heads, n_q, n_k, d", [(1, 1, 128, 256, 64), (1, 3, 128, 128, 16), (2, 3, 256, 64, 32)])
def test_predicted_is_what_is_measured(batch, heads, n_q, n_k, d, rng):
    q, k, v = numbers(rng, (batch, heads, n_q, d), *[(batch, heads, n_k, d)] * 2)
    measured = memory(lesson.attention, q, k, v)
    predicted = lesson.attention_memory(batch, heads, n_q, n_k, d, FLOAT32)
    assert predicted == measured.peak


@pytest.mark.task(5)
def test_numbers_of_8_bytes_take_twice_as_much(rng):
    q, k, v = numbers(rng, *[(1, 2, 64, 32)] * 3, dtype=torch.float64)
    measured = memory(lesson.attention, q, k, v)
    predicted = lesson.attention_memory(1, 2, 64, 64, 32, 8)
    assert predicted == measured.peak


@pytest.mark.task(5)
@pytest.mark.parametrize("budget", [0, 203, 204, 10**6, 80 * 10**9])
def test_the_longest_sequence_fits_and_the_next_does_not(budget):
    n = lesson.longest_sequence(budget, 3, 16, 4)
    bytes_of_n, bytes_of_one_more = (lesson.attention_memory(1, 3, m, m, 16, 4) for m in (n, n + 1))
    assert bytes_of_n <= budget, f"longest_sequence({budget}, 3, 16, 4) is {n}, which is too long"
    assert bytes_of_one_more > budget, f"longest_sequence({budget}, 3, 16, 4) is {n}, and one more fits"
    assert isinstance(n, int)
