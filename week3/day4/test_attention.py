"""The lesson again, as checks: scores and their spread, weights, who sees what, all of it, what it takes."""

import inspect
import textwrap
from bisect import bisect_right

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches, count, made_elsewhere, memory, terms
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.day4 import attention as lesson

INF, NAN = float("inf"), float("nan")
FLOAT32 = 4  # bytes
WIDER = "The inputs are float32. Line {line} makes float64, of twice the bytes: where do they become so?"


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def wide(arg):
    return arg.double() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg


def is_same(got, other, rtol=1e-3):
    """Floats to three digits, if not told otherwise, all else exactly."""
    got, other = (torch.as_tensor(each, device=device) for each in (got, other))
    rtol = rtol if got.is_floating_point() else 0.0
    return got.shape == other.shape and torch.allclose(got.double(), other.double(), rtol, atol=0.0, equal_nan=True)


def assert_named(function, *args, mistakes, oracle, tolerance=None, rtol=1e-3, **kwargs):
    """assert_matches; a failure that is one of the mistakes ends with its words, in place of a guess.

    mistakes: words, and the result that they are for, or what tells whether a result of the right shape is one.
    rtol: floats that are as near as this to what was wanted are none of them.
    """
    __tracebackhide__ = True
    again = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
    try:
        assert_matches(function, *args, oracle=oracle, tolerance=tolerance, **kwargs)
    except Mismatch as found:
        got = None if "It raised" in found.text else function(*again, **kwargs)
        words = words_for(got, oracle(*map(wide, again), **kwargs), mistakes, rtol)
        if words is None:
            raise
        raise found.retold(words) from None


def words_for(got, want, mistakes, rtol):
    want = getattr(want, "total", want)
    if got is None or np.shape(got) != np.shape(want) or is_same(got, want, rtol):
        return None
    named = (words for words, wrong in mistakes.items() if (wrong(got) if callable(wrong) else is_same(got, wrong)))
    return next(named, None)


def of_size(size, *operations, dtype="float32", times=1):
    """What finds tensors of so many bytes, made by these operations if any are named; none if there are fewer than
    `times` of them."""
    def those(alive):
        found = [each for each in alive if (each.bytes, each.dtype) == (size, dtype)]
        found = [each for each in found if not operations or each.operation in operations]
        return found if len(found) >= times else []

    return those


def of_no_out(size):
    """What finds the out that attention_weights makes where none is given."""
    return lambda alive: [each for each in of_size(size, "empty_like")(alive) if each.source.endswith("else out")]


def of_float64(alive):
    """Those that were converted last: they are the cause."""
    return sorted((each for each in alive if each.dtype == "float64"), key=lambda each: each.operation == "_to_copy")


def matrices_of(tensors):
    """Who made them: "line 7 makes a matrix of its own", "lines 7 and 9 make a matrix each"."""
    lines = sorted({each.line for each in tensors})
    if len(lines) == 1:
        return f"line {lines[0]} makes a matrix of its own"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} make a matrix each"


def why_so_much(used, asks):
    """The first question whose tensors are alive at the peak, None where there is none.

    asks: a question, {first} and {line} in it for the lines of the first and the last of its tensors, {matrices} for
    all; which those are.
    """
    for words, those in ({WIDER: of_float64} | asks).items():
        if found := those(used.at_peak):
            return words.format(first=found[0].line, line=found[-1].line, last=found[-1], matrices=matrices_of(found))
    return None


def assert_on_device(function, *args, **kwargs):
    """On a GPU a forgotten device is the CPU; without one, made_elsewhere tells it from `device` all the same."""
    __tracebackhide__ = True
    found = made_elsewhere(function)(*args, **kwargs)
    if not found:
        return
    line, operation = found[0]
    fact = (f"Line {line} does not tell {operation} where, and PyTorch takes the CPU. What lies there cannot meet what "
            "lies on `device`, a GPU. Which argument says where?")
    call = f"{function.__name__}({', '.join(inspect.signature(function).parameters)})"
    raise Mismatch(f"{call}\n\n{textwrap.fill(fact, 76)}", "device")


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
    assert_named(lesson.scaled_scores, q, k, oracle=products, mistakes={
        "This is q . k, times 1: is 1 / sqrt(d) there, and is d the length of the last axis?": [[4, 0, 2, 6]],
        "This is a quarter of q . k: is it divided by d, or by sqrt(d) twice?": [[1, 0, 0.5, 1.5]]})


@pytest.mark.task(1)
@pytest.mark.parametrize("d", [1, 2, 9, 100])
def test_every_query_meets_every_key_and_the_scale_is_one_over_the_root_of_d(d, rng):
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
    assert_named(lesson.scaled_scores, q, k, 0.0, oracle=products,
                 mistakes={"0.0 was taken for no scale at all: only None is none.": [[2, 0, 1, 3]]})


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
    words = "q . k is 230400, more than float16 can hold. Multiply q by the scale, before q meets k."
    assert_named(lesson.scaled_scores, q, k, oracle=products, mistakes={words: [[INF]]})


@pytest.mark.task(1)
@pytest.mark.counters
def test_scores_take_one_matrix_and_as_much_as_q(rng):
    q, k = numbers(rng, (2, 3, 128, 64), (2, 3, 256, 64))
    scores, a_number = FLOAT32 * 2 * 3 * 128 * 256, 512  # the scale may be a tensor, which takes 512 bytes of a GPU
    scores_and_as_much_as_q = scores + q.nbytes + a_number
    used = memory(lesson.scaled_scores, q, k)
    why = why_so_much(used, {
        "Line {line} makes 64 products for each score, and adds them up later. Which operation multiplies and adds at "
        "once?": of_size(64 * scores),
        "The scores are there twice, without the scale and with it. Which has fewer numbers to scale, q or the scores?":
            of_size(scores, "mul", "div"),
        "Line {line} makes a scaled copy of k. Here k has 256 rows, and q 128: which of the two is to be scaled?":
            of_size(k.nbytes, "mul", "div"),
        "Line {line} copies k as it is. A product takes k.mT where k lies: which call makes the copy?":
            of_size(k.nbytes)})
    assert used.peak <= scores_and_as_much_as_q, why


@pytest.mark.task(1)
def test_float64_scores_keep_all_their_digits(rng):
    q, k = numbers(rng, (5, 8), (16, 8), dtype=torch.float64)
    assert_matches(lesson.scaled_scores, q, k, oracle=products, tolerance=accumulated("float64", 8))


@pytest.mark.task(1)
def test_of_64_products_the_variance_is_64_and_of_an_eighth_of_them_1():
    assert_named(lesson.score_variance, 64, oracle=lambda d: 64.0,
                 mistakes={"8 is how far scores spread; their variance is the square of that.": 8})
    assert_named(lesson.score_variance, 64, 0.125, oracle=lambda d, scale: 1.0,
                 mistakes={"This is 64 / 8: a factor changes a variance by its square.": 8})


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
    assert_on_device(lesson.attention_weights, scores)


@pytest.mark.task(2)
def test_scores_may_be_large():
    words = "exp(1000) is inf in float32, and inf / inf is NaN: what is subtracted first?"
    assert_named(lesson.attention_weights, tensor([[1000, 1001, 999]]), oracle=softmax, mistakes={words: [[NAN] * 3]})


@pytest.mark.task(2)
def test_rows_may_lie_far_apart():
    scores = tensor([[1000, 1001, 999], [-1000, -1001, -999], [0, 1, 2]])
    words = "Row 1 lies 2000 below row 0: which maximum is subtracted there?"
    assert_named(lesson.attention_weights, scores, oracle=softmax, mistakes={words: lambda got: not got[1].sum() > 0})


@pytest.mark.task(2)
def test_a_score_of_minus_infinity_weighs_nothing():
    assert_matches(lesson.attention_weights, tensor([[2, 0, 1, -INF]]), oracle=softmax)


@pytest.mark.task(2)
def test_a_row_of_minus_infinity_alone_has_weights_0_and_the_others_do_not_mind():
    assert_matches(lesson.attention_weights, tensor([[-INF, -INF]]), oracle=softmax)
    assert_matches(lesson.attention_weights, tensor([[2, 0], [-INF, -INF], [1, 3]]), oracle=softmax)


@pytest.mark.task(2)
def test_a_nan_among_the_scores_is_not_turned_into_0():
    words = ("The NaN of the scores is gone from the weights. Only a row of -inf gets weights 0: mend its m and its l, "
             "and no NaN comes up there that would have to be replaced.")
    assert_named(lesson.attention_weights, tensor([[2, NAN], [-INF, -INF]]), oracle=softmax,
                 mistakes={words: lambda got: not got.isnan().any()})


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
    six_columns = 6 * FLOAT32 * 3 * 128
    used = memory(lesson.attention_weights, scores, out=torch.empty_like(scores))
    why = why_so_much(used, {
        "Line {line} makes a bool for each score. Which column tells that all scores of a row are -inf?":
            of_size(scores.numel(), dtype="bool"),
        "Beside out, which is given, {matrices}. copy_ moves a matrix that is there already. Which "
        "argument lets the operation that makes it write into out?": of_size(scores.nbytes)})
    assert used.peak <= six_columns, why


@pytest.mark.task(2)
def test_float64_weights_keep_all_their_digits(rng):
    (scores,) = numbers(rng, (5, 16), dtype=torch.float64)
    words = ("Each row adds up to a little less than 1: what is added to its l? Put 1 where l is 0, and leave other "
             "rows their l.")
    assert_named(lesson.attention_weights, scores, oracle=softmax, rtol=1e-13,
                 mistakes={words: lambda got: is_same(got / got.sum(-1, keepdim=True), softmax(scores), rtol=1e-13)})


# Task 3: who sees what ----------------------------------------------------------------------------

@pytest.mark.task(3)
def test_a_query_sees_its_own_place_and_those_before():
    assert_named(lesson.causal_mask, 3, 3, oracle=earlier,
                 mistakes={"Query 1 sees key 0, before it, and key 1, its own place.": lambda got: True})


@pytest.mark.task(3)
@pytest.mark.edge
def test_query_0_stands_at_place_0_however_many_keys_there_are():
    assert_named(lesson.causal_mask, 2, 5, oracle=earlier,
                 mistakes={"`first` alone says where query 0 stands: at place 0 if it is not given.": lambda got: True})


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(5, 2), (1, 1), (0, 3), (3, 0)])
def test_there_may_be_more_queries_than_keys_or_none(n_q, n_k):
    assert_matches(lesson.causal_mask, n_q, n_k, oracle=earlier)


@pytest.mark.task(3)
def test_the_first_query_may_stand_further_on():
    stands = "With first=3 query 0 stands at place 3, and sees keys 0 to 3. "
    assert_named(lesson.causal_mask, 1, 4, 3, oracle=earlier, mistakes={
        f"{stands}To which places does `first` belong, the queries' or the keys'?": [[False] * 4],
        f"{stands}Here it stands at place 0.": [[True, False, False, False]]})
    assert_matches(lesson.causal_mask, 2, 4, 1, oracle=earlier)


@pytest.mark.task(3)
def test_masks_lie_where_the_scores_do():
    assert_on_device(lesson.causal_mask, 3, 4)


@pytest.mark.task(3)
def test_masks_of_padding_lie_where_the_scores_do():
    assert_on_device(lesson.padding_mask, tensor([2, 4], torch.int64), 4)


@pytest.mark.task(3)
def test_each_sequence_has_its_own_length_0_and_all_among_them():
    lengths = tensor([2, 4, 0], torch.int64)
    assert_named(lesson.padding_mask, lengths, 4, oracle=within,
                 mistakes={"Sequence 0 has length 2: of it keys 0 and 1 are seen, and no other.": lambda got: True})


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("lengths, n_k", [([3], 5), ([0, 0], 0), ([1, 1, 1, 1], 1)])
def test_there_may_be_one_sequence_or_no_key(lengths, n_k):
    assert_matches(lesson.padding_mask, tensor(lengths, torch.int64), n_k, oracle=within)


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_causal_mask_takes_a_byte_for_each_pair_and_vectors():
    n_q, n_k = 128, 256
    pairs = n_q * n_k
    pairs_and_vectors = pairs + 4 * 8 * (n_q + n_k)
    used = memory(lesson.causal_mask, n_q, n_k)
    asks = {f"Line {{line}} makes {dtype}, {size} bytes a pair, and a bool takes one. Which comparison of two vectors "
            "makes bools at once?": of_size(size * pairs, dtype=dtype)
            for dtype, size in [("float32", 4), ("int64", 8), ("int32", 4)]}
    asks["The mask is there twice: line {line} makes it of another. Which comparison makes it of two vectors?"] = (
        of_size(pairs, dtype="bool", times=2))
    assert used.peak <= pairs_and_vectors, why_so_much(used, asks)


# Task 4: all of it --------------------------------------------------------------------------------

@pytest.mark.task(1, 2, 4)
def test_the_query_of_the_lesson_takes_most_of_the_last_value():
    assert_matches(lesson.attention, *story(), oracle=attended)


@pytest.mark.task(1, 2, 4)
def test_without_the_last_key_the_others_share_its_weight():
    mask = tensor([[True, True, True, False]], torch.bool)
    words = "This is the value of key 3, which is hidden: True is for keys that are seen."
    assert_named(lesson.attention, *story(), mask=mask, oracle=attended, mistakes={words: [[2, 0]]})


@pytest.mark.task(1, 2, 4)
def test_the_weights_of_what_is_seen_add_up_to_1():
    q, k, _ = story()
    mask = tensor([[True, True, True, False]], torch.bool)
    sum_of_weights = lesson.attention(q, k, tensor([[1]] * 4), mask=mask).item()  # all values are 1
    assert sum_of_weights == pytest.approx(1)


@pytest.mark.task(1, 2, 4)
def test_heads_sequences_and_values_of_any_width_stored_in_any_way(rng):
    q, k, v = numbers(rng, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8), layouts="any")


@pytest.mark.task(1, 2, 4)
def test_a_scale_is_handed_on(rng):
    q, k, v = numbers(rng, (2, 5, 8), (2, 7, 8), (2, 7, 6))
    assert_named(lesson.attention, q, k, v, scale=0.1, oracle=attended, tolerance=accumulated("float32", 8),
                 mistakes={"scale=0.1 changes nothing: which call is told of it?": attended(q, k, v)})


@pytest.mark.task(1, 2, 4)
@pytest.mark.edge
def test_a_query_that_sees_no_key_gets_zeros(rng):
    q, k = numbers(rng, (3, 8), (4, 8))
    v = tensor([[1], [2], [3], [6]])
    mask = tensor([[True] * 4, [False] * 4, [True, False, True, True]], torch.bool)
    words = "Query 1 gets 3, the mean of all values, and sees none: is each hidden score -inf?"
    assert_named(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8),
                 mistakes={words: lambda got: is_same(got[1, 0], 3)})


@pytest.mark.task(1, 2, 4)
@pytest.mark.parametrize("shape", [(5, 7), (2, 1, 1, 7), (1, 3, 5, 1), (2, 3, 5, 7)])
def test_a_mask_fits_with_axes_of_size_1(shape, rng):
    q, k, v = numbers(rng, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))
    mask = torch.from_numpy(rng.random(shape) < 0.6).to(device)
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(1, 2, 3, 4)
def test_your_masks_join(rng):
    q, k, v = numbers(rng, (2, 3, 6, 8), (2, 3, 6, 8), (2, 3, 6, 5))
    lengths = tensor([6, 4], torch.int64)
    mask = lesson.causal_mask(6, 6) & lesson.padding_mask(lengths, 6)
    assert_on_device(lesson.attention, q, k, v, mask=mask)
    assert_matches(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(1, 2, 4)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(0, 3), (3, 0), (3, 1)])
def test_there_may_be_no_query_no_key_or_a_single_key(n_q, n_k, rng):
    q, k, v = numbers(rng, (2, n_q, 8), (2, n_k, 8), (2, n_k, 5))
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(1, 2, 4)
@pytest.mark.edge
def test_large_scores_hide_no_more_than_the_mask_says():
    """The seen key scores -2e9, which is less than -1e9: a hidden score has to be less than any number."""
    q, k, v = tensor([[1e5]]), tensor([[-2e4], [1.0]]), tensor([[1, 0], [0, 1]])
    mask = tensor([[True, False]], torch.bool)
    assert_matches(lesson.attention, q, k, v, mask=mask, scale=1.0, oracle=attended)


@pytest.mark.task(1, 2, 4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF, -INF])
def test_what_is_not_finite_in_a_key_concerns_those_that_see_it(strange, rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5))
    k[2, 0] = strange
    mask = tensor([[True, True, False, True], [True] * 4, [False, True, False, False]], torch.bool)
    words = ("Query 0 does not see key 2, and yet what is in it came through. NaN + -inf is NaN: replace a hidden "
             "score, do not add to it.")
    assert_named(lesson.attention, q, k, v, mask=mask, oracle=attended, tolerance=accumulated("float32", 8),
                 mistakes={words: lambda got: got[0].isnan().all()})


@pytest.mark.task(1, 2, 4)
@pytest.mark.nonfinite
def test_nan_in_a_query_or_a_value_stays_in_its_row_or_column(rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5))
    q[1, 3] = NAN
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))
    q[1, 3], v[2, 4] = 0.5, NAN
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=accumulated("float32", 8))


@pytest.mark.task(1, 2, 4)
def test_float64_stays_float64(rng):
    q, k, v = numbers(rng, (3, 8), (4, 8), (4, 5), dtype=torch.float64)
    assert_matches(lesson.attention, q, k, v, oracle=attended)


@pytest.mark.task(1, 2, 4)
@pytest.mark.counters
@pytest.mark.parametrize("masked", [False, True])
def test_at_its_peak_one_matrix_of_scores_is_alive_and_something_like_q(masked, rng):
    q, k, v = numbers(rng, (2, 3, 128, 64), (2, 3, 512, 64), (2, 3, 512, 64))
    scores = torch.zeros(2, 3, 128, 512, device=device)
    mask = torch.ones(128, 512, dtype=torch.bool, device=device).tril() if masked else None
    used = memory(lesson.attention, q, k, v, mask=mask)
    in_your_scaled_scores = memory(lesson.scaled_scores, q, k).peak  # what tasks 1 and 2 waste is told there
    in_your_attention_weights = scores.nbytes + memory(lesson.attention_weights, scores, out=scores).peak
    one_matrix_and_as_much_as_q = max(scores.nbytes + q.nbytes, in_your_scaled_scores, in_your_attention_weights)
    why = why_so_much(used, {
        "Line {line} makes a bool for each score; the mask has one for all heads. masked_fill_ fits it to the scores: "
        "what makes it larger?": of_size(scores.numel(), dtype="bool"),
        "Line {line} makes a second matrix of scores, by {last.operation}. Which form of masked_fill writes into the "
        "first?": of_size(scores.nbytes, "masked_fill", "where", "add"),
        "attention_weights was given no out, and makes a second matrix beside the scores. Into which tensor may it "
        "write?": of_no_out(scores.nbytes),
        "Line {line} makes a second matrix, beside the scores. Which tensor may be the out of attention_weights?":
            of_size(scores.nbytes, times=2),
        "Line {line} copies k or v. A product takes both where they lie: which call makes the copy?":
            of_size(k.nbytes),
        "What line {first} made, as large as q, is still alive when line {line} makes as much once more. Which name "
        "holds it, and in which function would it end with the return?": of_size(q.nbytes, times=2)})
    assert used.peak <= one_matrix_and_as_much_as_q, why
    assert used.kept == 0


@pytest.mark.task(1, 2, 4)
@pytest.mark.counters
def test_all_heads_are_computed_at_once(rng):
    def calls(batch, heads):
        q, k, v = numbers(rng, *[(batch, heads, 4, 8)] * 3)
        mask = torch.ones(4, 4, dtype=torch.bool, device=device).tril()
        return len(count(lesson.attention, q, k, v, mask=mask).library_operations)

    calls_for_six, calls_for_one = calls(2, 3), calls(1, 1)
    assert calls_for_six <= calls_for_one


# Task 5: what it takes ----------------------------------------------------------------------------

def bytes_at_peak(batch, heads, n_q, n_k, d, itemsize):
    return terms(scores=batch * heads * n_q * n_k * itemsize, output=batch * heads * n_q * d * itemsize)


@pytest.mark.task(5)
@pytest.mark.parametrize("batch, heads, n_q, n_k, d, itemsize", [
    (1, 1, 128, 256, 64, 4), (1, 3, 128, 128, 16, 4), (2, 3, 256, 64, 32, 4), (1, 2, 64, 64, 32, 8)])
def test_the_peak_is_the_scores_and_what_is_alive_with_them(batch, heads, n_q, n_k, d, itemsize):
    sizes = batch, heads, n_q, n_k, d, itemsize
    scores, output = bytes_at_peak(*sizes).parts.values()
    columns = [scores + output + count * batch * heads * n_q * itemsize for count in range(1, 7)]
    words_of_columns = (f"The peak is {scores + output:,} bytes. You count columns of n_q numbers, too. Are m and l "
                        "still alive when the output is made?")
    words = (f"The peak is {scores + output:,} bytes, {output:,} fewer: as many as q takes. Is the scaled q still "
             "alive when the output is made?")
    assert_named(lesson.attention_memory, *sizes, oracle=bytes_at_peak, mistakes={
        words: scores + 2 * output, words_of_columns: lambda got: got in columns})


@pytest.mark.task(1, 2, 4, 5)
@pytest.mark.counters
def test_attention_takes_no_less_than_predicted(rng):
    q, k, v = numbers(rng, (2, 3, 128, 64), (2, 3, 256, 64), (2, 3, 256, 64))
    measured = memory(lesson.attention, q, k, v)
    predicted = lesson.attention_memory(2, 3, 128, 256, 64, FLOAT32)
    why = "You predict more than is ever alive at a time. Which tensor that you count is gone when another begins?"
    assert predicted <= measured.peak, why


def longest(budget, heads, d, itemsize):
    return bisect_right(range(2**32), budget, key=lambda n: bytes_at_peak(1, heads, n, n, d, itemsize).total) - 1


def assert_longest(budget, heads, d, itemsize, why=""):
    __tracebackhide__ = True
    n = longest(budget, heads, d, itemsize)
    of_n, of_one_more = (bytes_at_peak(1, heads, m, m, d, itemsize).total for m in (n, n + 1))
    assert_named(lesson.longest_sequence, budget, heads, d, itemsize, oracle=longest, mistakes={
        f"That is too long: {n + 1:,} queries and keys take {of_one_more:,} bytes.{why}": lambda got: got > n,
        f"That is too short: {n:,} queries and keys take {of_n:,} bytes, and fit.": lambda got: got < n})


@pytest.mark.task(5)
@pytest.mark.parametrize("budget", [0, 203, 204, 10**6, 80 * 10**9])
def test_the_longest_sequence_fits_and_the_next_does_not(budget):
    assert_longest(budget, 3, 16, 4)


@pytest.mark.task(5)
@pytest.mark.edge
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_the_longest_sequence_is_exact_for_an_odd_d_too(n):
    """One byte less than n + 1 queries and keys take, and just enough for n."""
    for budget in (bytes_at_peak(1, 1, n + 1, n + 1, 9, 4).total - 1, bytes_at_peak(1, 1, n, n, 9, 4).total):
        assert_longest(budget, 1, 9, 4, " d is odd here: what do you halve, and when is it rounded?")


@pytest.mark.task(5)
@pytest.mark.edge
def test_the_longest_sequence_is_exact_where_floats_are_not():
    """One byte less than 2**28 queries and keys take."""
    assert_longest(bytes_at_peak(1, 1, 2**28, 2**28, 64, 4).total - 1, 1, 64, 4,
                   " A float has 53 bits, and rounds what is longer: is each step exact?")
