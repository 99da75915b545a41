"""The lesson again, as checks: the state of some keys, the merge of two, one read on a GPU, two for the weights."""

import re
from itertools import product
from math import prod

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, given, speed_ratio
from tools.check.inputs import awkward_lengths, matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.day5 import online_softmax as lesson

INF, NAN = float("inf"), float("nan")
SCORES = [2.0, 0.0, 1.0, 3.0]
VALUES = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]
ROWS = [[99, 98, 1, 0], [0, 1, 98, 99], [0, 1, 99, 98, 2, 3], [-999, -998, -997, -996]]
COPIED = "The kernel converts what it loads by .to, and a store converts by itself: what is copied besides?"
NAN_COMPARED = "NaN == 0 and NaN > 0 are both False."
FAR_BELOW_0 = [-200, -201, -202]
A_0_IN_M = f"Scores of {FAR_BELOW_0}, in a block of 4, gave 0: which 0 got into m, and is none of them?"
ALPHA_IS_1 = "l is 1.135 + 1.135, as if alpha were 1: of which two m is it made, and what is multiplied by it?"
ALPHA_AT_FIRST = "Each score is finite, and NaN came back. m begins as -inf: what is alpha then, and l * alpha?"


def array(numbers):
    return np.array(numbers, np.float64)


def tensor(numbers, dtype=torch.float32):
    return torch.tensor(numbers, dtype=dtype, device=device)


def rows_of(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(numbers).to(device, dtype) for numbers in matrices(rng, *shapes)]


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args, **kwargs: value


def state(scores, values=None):
    """(m, l), or (m, l, acc), of a list of scores: each term taken by itself."""
    m = max(scores, default=-INF)
    terms = [np.exp(score - m) if score > -INF else 0.0 for score in scores]
    if values is None:
        return float(m), float(sum(terms))
    acc = sum((p * array(value) for p, value in zip(terms, values)), np.zeros(np.shape(values)[1]))
    return float(m), float(sum(terms)), acc


def is_near(got, want):
    return len(got) == len(want) and all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(got, want))


def weights(x, block=None):
    """The softmax of each row; zeros where all of it is -inf."""
    return torch.softmax(x, -1).masked_fill((x == -INF).all(-1, keepdim=True), 0.0)


def attended(scores, values, block_n=None):
    lse = torch.logsumexp(scores, -1).masked_fill((scores == INF).any(-1), NAN)
    return torch.einsum("rk,rkd->rd", weights(scores), values), lse.float()


def assert_one_block_is_right(function, *values, **block):
    """Comes first where a text names what only more blocks or rows show: a kernel that is not written fails here."""
    assert_matches(function, tensor([SCORES]), *values, **block, oracle=attended if values else weights)


def zeros_of(scores):
    return f"The largest score is {max(scores)}, and all is 0, as without a key: what is m before the first block?"


# Task 1: the state of some keys -------------------------------------------------------------------

@pytest.mark.task(1)
def test_the_state_of_two_scores_of_the_lesson():
    m, l = lesson.part(array([3, 1]))
    assert l != np.exp(0) + np.exp(2), "part([3, 1]) sums exp(3 - 3) + exp(3 - 1): what is taken off what?"
    m, l = lesson.part(array([2, 0]))
    assert l != np.exp(2) + np.exp(0), "part([2, 0]) sums exp(2) + exp(0): what is taken off each score first?"
    assert_matches(lesson.part, array([2, 0]), oracle=state)
    assert_matches(lesson.part, array([2, 0]), array(VALUES[:2]), oracle=state)
    assert_matches(lesson.part, array(SCORES), array(VALUES), oracle=state)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("scores", [[5], [1000, 1001, 999], [-1000, -1001, -999]], ids=str)
def test_scores_may_be_large_or_alone(scores):
    largest = lesson.part(array(scores))[0]
    assert largest == max(scores), f"m of {scores} is one of them, also where all are below 0"
    assert_matches(lesson.part, array(scores), oracle=state)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("scores", [[], [-INF], [-INF, -INF], [2, -INF, 1]], ids=str)
def test_a_hidden_key_counts_as_none(scores):
    values = np.arange(3.0 * len(scores)).reshape(-1, 3)
    l = lesson.part(array(scores))[1]
    assert not np.isnan(l), f"l of part({scores}) is NaN: what is taken off each score, and what is -inf - -inf?"
    assert_matches(lesson.part, array(scores), oracle=state)
    assert_matches(lesson.part, array(scores), values, oracle=state)


@pytest.mark.task(1)
def test_the_results_of_the_lesson_from_its_state():
    m, l, acc = state(SCORES, VALUES)
    assert lesson.logsumexp((m, l)) != np.log(l), "log(l) belongs to the scores less 3, and not to these"
    assert_matches(lesson.logsumexp, (m, l), oracle=always(float(np.log(np.exp(SCORES).sum()))))
    assert_matches(lesson.logsumexp, (m, l, acc), oracle=always(float(np.log(np.exp(SCORES).sum()))))
    assert_matches(lesson.output, (m, l, acc), oracle=always(array(VALUES).T @ np.exp(SCORES) / np.exp(SCORES).sum()))


@pytest.mark.task(1)
@pytest.mark.edge
def test_the_log_sum_exp_of_one_score_is_that_score_and_of_large_ones_it_is_not_infinite():
    assert_matches(lesson.logsumexp, (5.0, 1.0), oracle=always(5.0))
    assert_matches(lesson.logsumexp, (1000.0, 2.0), oracle=always(1000 + float(np.log(2))))


@pytest.mark.task(1)
@pytest.mark.edge
def test_where_no_key_was_seen_the_results_are_minus_infinity_and_zeros():
    assert_matches(lesson.logsumexp, (-INF, 0.0), oracle=always(-INF))
    numbers_that_are_nan = int(np.isnan(lesson.output((-INF, 0.0, np.zeros(3)))).sum())
    assert numbers_that_are_nan == 0, "acc is zeros, and l is 0: what is 0 / 0?"
    assert_matches(lesson.output, (-INF, 0.0, np.zeros(3)), oracle=always(np.zeros(3)))


# Task 2: two parts make one -----------------------------------------------------------------------

@pytest.mark.task(2)
def test_merges_the_halves_of_the_lesson():
    l = lesson.merge(state([2, 0]), state([1, 3]))[1]
    assert round(l, 3) != 2.271, "1.135 + 1.135: but 2 was taken off in one part, 3 in the other"
    assert l <= 2.271, "l is more than 1.135 + 1.135: no factor is above 1"
    l = lesson.merge(state([1, 3]), state([2, 0]))[1]
    assert round(l, 3) != 2.271, "Now 3 was taken off in a, and 2 in b: by which factor does the l of b come in?"
    assert_matches(lesson.merge, state([2, 0]), state([1, 3]), oracle=always(state(SCORES)))
    a, b = state([2, 0], VALUES[:2]), state([1, 3], VALUES[2:])
    acc = lesson.merge((*a[:2], a[2].copy()), b)[2]
    assert round(acc[0], 3) != 3.135, "acc is (1, .135) + (2.135, .135): l was rescaled, and what of acc?"
    assert_matches(lesson.merge, a, b, oracle=always(state(SCORES, VALUES)))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("scores", [[], [2.0], SCORES])
def test_a_state_that_is_merged_with_nothing_stays_what_it_is(scores):
    nothing = (-INF, 0.0)
    m, l = lesson.merge(nothing, nothing)
    assert m == -INF, f"Both m are -inf, and that of both parts is {m:g}: which of the two is it?"
    assert not np.isnan(l), "l of nothing and nothing is NaN: what is taken off each m, and what is -inf - -inf?"
    assert_matches(lesson.merge, state(scores), nothing, oracle=always(state(scores)), exact=True)
    assert_matches(lesson.merge, nothing, state(scores), oracle=always(state(scores)), exact=True)


@pytest.mark.task(2)
@pytest.mark.edge
def test_parts_may_lie_far_apart():
    """The lower part has become so small that it is lost; nothing becomes infinite."""
    low, high = state([-1000], [[1, 2]]), state([1000, 1001], [[5, 6], [7, 8]])
    assert_matches(lesson.merge, low, high, oracle=always(high))
    assert_matches(lesson.merge, high, low, oracle=always(high))


@pytest.mark.task(2)
@pytest.mark.edge
def test_any_two_small_parts_make_the_state_of_both():
    lists = [list(scores) for n in range(3) for scores in product([0.0, 2.0, -INF], repeat=n)]
    for a, b in product(lists, lists):
        if not is_near(lesson.merge(state(a), state(b)), state(a + b)):
            assert_matches(lesson.merge, state(a), state(b), oracle=always(state(a + b)))


@pytest.mark.task(2)
def test_it_does_not_matter_which_two_of_three_are_merged_first():
    merge = lesson.merge
    for a, b, c in product(map(state, ([], [0.0], [2.0], [-INF], [3.0, -1.0])), repeat=3):
        left, right = merge(merge(a, b), c), merge(a, merge(b, c))
        assert is_near(left, right), f"a = {a}, b = {b}, c = {c}: merge(merge(a, b), c) is not merge(a, merge(b, c))"


@pytest.mark.task(2)
def test_any_cut_in_any_order_gives_the_state_of_the_whole(rng):
    """Parts of random lengths, some of them empty or hidden, of which two random ones are merged until one is left."""
    for n, d_v in [(6, 2), (40, 3), (41, 5)]:
        scores, values = 30 * rng.standard_normal(n), rng.standard_normal((n, d_v))
        scores[n // 3 : n // 2] = -INF
        cuts = [0, *sorted(rng.integers(0, n + 1, 7)), n]
        parts = [state(scores[i:j], values[i:j]) for i, j in zip(cuts, cuts[1:])]
        while len(parts) > 1:
            a, b = (parts.pop(int(rng.integers(len(parts)))) for _ in range(2))
            parts.append(lesson.merge(a, b))
        assert is_near(parts[0], state(scores, values)), "The last state is not that of the whole"


@pytest.mark.task(2)
def test_the_walk_of_the_lesson_key_by_key():
    steps = [state(SCORES[:seen], array(VALUES[:seen]).reshape(-1, 2)) for seen in range(5)]
    largest = [m for m, _, _ in lesson.walk(array(SCORES), array(VALUES), 1)]
    assert largest != [-INF, *SCORES], "Each m is that of one key alone: what of the keys that came before?"
    assert_matches(lesson.walk, array(SCORES), array(VALUES), 1, oracle=always(steps))


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n, block", [(0, 2), (1, 2), (2, 2), (3, 2), (7, 3)])
def test_the_last_block_of_a_walk_may_be_shorter(n, block, rng):
    scores, values = matrices(rng, (n,), (n, 4))
    ends = [0, *range(block, n, block), *[n] * (n > 0)]
    steps = [state(scores[:end], values[:end]) for end in ends]
    assert_matches(lesson.walk, scores, values, block, oracle=always(steps))


@pytest.mark.task(2)
@pytest.mark.counters
def test_a_walk_looks_at_each_score_once(rng):
    """16 operations on each score are more than enough; to begin anew after each block would take 32 and more."""
    scores, values = matrices(rng, (64,), (64, 2))
    seen = given.watched(scores)
    lesson.walk(seen, values, 1)
    numbers_computed_from_scores = sum(seen.notes.sizes)
    assert numbers_computed_from_scores <= 16 * 64, "64 keys, one at a time: does each state begin at key 0 again?"


def turns(ttir):
    """What the loops of a kernel do in each turn."""
    loops = re.finditer(r"^( *)[^\n]*\bscf\.(for|while)\b.*?\n\1\}(?! do)", ttir, re.DOTALL | re.MULTILINE)
    return "".join(loop[0] for loop in loops)


# Task 3: one read ---------------------------------------------------------------------------------

@pytest.mark.task(3)
def test_attends_to_the_keys_of_the_lesson_in_two_blocks():
    """Of the first two keys l is 1.135 and acc (1, .135); the others, with 3 taken off, add 1.135 and (2.135, .135)."""
    out, lse = lesson.attend(tensor([SCORES]), tensor([VALUES]), block_n=2)
    assert not (out.isnan().all() and lse.isnan().all()), ALPHA_AT_FIRST
    assert lse[0] != -INF, "The log-sum-exp is -inf, as without a key: what carries m, and what l, into the next turn?"
    l = float(torch.exp(lse[0] - 3))
    acc = (out[0] * l).tolist()
    assert round(float(lse[0]), 2) != 0.44, "log(l) belongs to the scores less 3, and not to these"
    assert round(l, 2) != 2.27, ALPHA_IS_1
    assert round(l, 2) != 1.14, "l is that of the last two keys alone"
    assert round(acc[0], 2) != 1.37, "As if a key's numbers lay n apart: by what are key and col multiplied?"
    assert round(acc[0], 2) != 3.14, "acc is (1, .135) + (2.135, .135): by which factor does the first one shrink?"
    assert_matches(lesson.attend, tensor([SCORES]), tensor([VALUES]), block_n=4, oracle=attended)
    assert_matches(lesson.attend, tensor([SCORES]), tensor([VALUES]), block_n=2, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_places_beyond_the_row_are_no_keys():
    _, lse = lesson.attend(tensor([SCORES[:3]]), tensor([VALUES[:3]]), block_n=4)
    place_beyond_is_a_key = round(float(torch.exp(lse - 2)), 2) == 1.64
    assert not place_beyond_is_a_key, "l is 1.503 + exp(0 - 2): the place beyond 3 keys counts as a score of 0"
    assert_matches(lesson.attend, tensor([SCORES[:3]]), tensor([VALUES[:3]]), block_n=4, oracle=attended)
    out, _ = lesson.attend(tensor([FAR_BELOW_0]), tensor([VALUES[:3]]), block_n=4)
    assert out.any(), A_0_IN_M


@pytest.mark.task(3)
@pytest.mark.parametrize("scores", ROWS, ids=str)
def test_the_largest_score_may_come_first_or_last_and_lie_anywhere(scores, rng):
    assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
    values, = rows_of(rng, (1, len(scores), 3))
    numbers_that_are_nan = int(lesson.attend(tensor([scores]), values, block_n=2)[0].isnan().sum())
    assert numbers_that_are_nan == 0, "alpha is exp(m - m_new): is m_new never below m?"
    assert lesson.attend(tensor([scores]), values, block_n=2)[0].any(), zeros_of(scores)
    assert_matches(lesson.attend, tensor([scores]), values, block_n=2, oracle=attended)


@pytest.mark.task(3)
def test_each_row_has_scores_and_values_of_its_own(rng):
    assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
    values_r_in_row_r = tensor([[[r, r]] * 2 for r in range(3)])
    outputs = lesson.attend(tensor([[0.0] * 2] * 3), values_r_in_row_r, block_n=2)[0].tolist()
    assert outputs == [[0, 0], [1, 1], [2, 2]], "All values of row r are r. A row has n * d_v: where does row 1 begin?"
    scores_r_in_row_r = tensor([[r] * 3 for r in range(3)])
    largest = lesson.attend(scores_r_in_row_r, tensor([[[1]] * 3] * 3), block_n=2)[1].sub(np.log(3)).round(decimals=3)
    assert largest.tolist() == [0, 1, 2], "All scores of row r are r, log(3) less than lse: where does row 1 begin?"
    scores, values = rows_of(rng, (3, 21), (3, 21, 5))
    assert_matches(lesson.attend, scores, values, block_n=8, oracle=attended, tolerance=accumulated("float32", 21))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n, d_v", [*((2, n, 3) for n in awkward_lengths(8)), (0, 5, 3), (1, 5, 1), (5, 11, 17)])
def test_there_may_be_any_number_of_rows_of_keys_and_of_columns(rows, n, d_v, rng):
    scores, values = rows_of(rng, (rows, n), (rows, n, d_v))
    if n == 0:
        assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
        numbers_that_are_nan = int(lesson.attend(scores, values, block_n=8)[0].isnan().sum())
        assert numbers_that_are_nan == 0, "No row has a key, and l = 0: what is acc divided by then?"
    assert_matches(lesson.attend, scores - 5, values, block_n=8, oracle=attended, tolerance=accumulated("float32", n))


@pytest.mark.task(3)
@pytest.mark.edge
def test_the_first_block_may_be_hidden():
    assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
    scores = tensor([[-INF, -INF, 1, 3]])
    numbers_that_are_nan = int(lesson.attend(scores, tensor([VALUES]), block_n=2)[0].isnan().sum())
    assert numbers_that_are_nan == 0, "After the first block m is still -inf: what is -inf - -inf?"
    assert_matches(lesson.attend, scores, tensor([VALUES]), block_n=2, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_row_that_is_hidden_gets_zeros_and_minus_infinity():
    assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
    scores = tensor([[2, 0, 1, 3], [-INF] * 4, [2, -INF, -INF, -INF]])
    output_of_row_1 = lesson.attend(scores, tensor([VALUES] * 3), block_n=2)[0][1].tolist()
    assert output_of_row_1 == [0, 0], "Row 1 has no key to see, and l = 0: what is acc divided by then?"
    assert_matches(lesson.attend, scores, tensor([VALUES] * 3), block_n=2, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_a_score_that_is_nan_or_infinite_spoils_its_own_row(strange):
    assert_one_block_is_right(lesson.attend, tensor([VALUES]), block_n=4)
    scores = tensor([[2, 0, 1, 3], [2, strange, 1, 3], [0, 1, 2, strange]])
    rows_that_hide_it = int((~lesson.attend(scores, tensor([VALUES] * 3), block_n=2)[0][1:].isnan()).any(1).sum())
    assert rows_that_hide_it == 0, f"{NAN_COMPARED} Which way does a row whose l is NaN take?"
    assert_matches(lesson.attend, scores, tensor([VALUES] * 3), block_n=2, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_a_nan_among_the_values_spoils_its_own_column():
    values = tensor([[[1, 0], [0, NAN], [1, 1], [2, 0]]])
    assert_matches(lesson.attend, tensor([SCORES]), values, block_n=2, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.parametrize("of_scores, of_values", [
    (torch.float16, torch.float32), (torch.float32, torch.float16), (torch.bfloat16, torch.bfloat16)])
def test_scores_and_values_have_dtypes_of_their_own(of_scores, of_values, rng):
    (scores,), (values,) = rows_of(rng, (2, 13), dtype=of_scores), rows_of(rng, (2, 13, 5), dtype=of_values)
    out, lse = lesson.attend(scores, values, block_n=4)
    wanted_out, wanted_lse = attended(scores.double(), values.double())
    largest_error = 2.0**-6 if of_values == torch.bfloat16 else 2.0**-9 if of_values == torch.float16 else 1e-5
    assert (out.dtype, lse.dtype) == (of_values, torch.float32)
    error_of_output, error_of_lse = float((out - wanted_out).abs().max()), float((lse - wanted_lse).abs().max())
    assert error_of_output <= largest_error
    assert error_of_lse <= 1e-5


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_sums_are_float32_where_values_are_float16():
    """1000 equal scores and values of 100: acc is 100,000 before it is divided, and float16 ends at 65,504."""
    scores, values = tensor([[0.0] * 1000], torch.float16), torch.full((1, 1000, 1), 100.0, device=device).half()
    mean_of_1000_times_100 = float(lesson.attend(scores, values, block_n=64)[0])
    assert mean_of_1000_times_100 == 100, "Which dtype do acc and l have?"


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_score_and_each_value_is_read_once(rng):
    rows, n, d_v = 3, 37, 5
    counters = count(lesson.attend, *rows_of(rng, (rows, n), (rows, n, d_v)), block_n=8)
    loaded, least = counters.bytes_loaded, 4 * (rows * n + rows * n * d_v)
    assert counters.bytes_loaded <= least, (
        f"Scores and values have {least:,} bytes, {loaded:,} were loaded. m, l and acc are kept: what is read again?")
    assert counters.bytes_stored == 4 * (rows * d_v + rows)
    assert counters.library_operations == []


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_keys_of_a_block_are_loaded_together(rng):
    """64 scores fill 8 sectors of 32 bytes, and so do 64 values of one column; the two results lie in a sector each."""
    counters = count(lesson.attend, *rows_of(rng, (1, 64), (1, 64, 1)), block_n=64)
    assert counters.sectors == 8 + 8 + 1 + 1


@pytest.mark.task(3)
@pytest.mark.counters
def test_only_what_is_loaded_or_stored_is_converted(rng):
    """A number that is loaded counts twice: itself, and what `other` puts in its place if there is none."""
    rows, n, d_v = 3, 32, 4
    counters = count(lesson.attend, *rows_of(rng, (rows, n), (rows, n, d_v), dtype=torch.float16), block_n=8)
    assert counters.library_operations == [], COPIED
    numbers_loaded, numbers_stored = rows * n * (1 + d_v), rows * d_v
    assert counters.conversions <= numbers_loaded + numbers_stored
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_compiler_takes_attend_and_keeps_it_in_registers():
    scores, values = torch.zeros((2, 256)).half(), torch.zeros((2, 256, 64)).half()
    assert compiled(lesson.attend, scores, values, chip="h100").kernels["attend_kernel"].spills == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_nothing_is_divided_before_the_last_key_was_seen():
    scores, values = torch.zeros((2, 256)).half(), torch.zeros((2, 256, 64)).half()
    text = compiled(lesson.attend, scores, values, chip="h100").kernels["attend_kernel"].text("ttir")
    divisions_in_each_turn = turns(text).count("arith.divf")
    assert divisions_in_each_turn == 0, "l and acc are sums, mended by the same factor. When is acc / l wanted?"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_a_turn_has_one_exponential_for_each_key_and_one_for_alpha():
    scores, values = torch.zeros((2, 256)).half(), torch.zeros((2, 256, 64)).half()
    text = compiled(lesson.attend, scores, values, chip="h100").kernels["attend_kernel"].text("ttir")
    shapes = re.findall(r"math\.exp2? [^\n]*?: (?:tensor<([\dx]+)x)?f32", turns(text))
    exponentials = sum(prod(map(int, shape.split("x"))) if shape else 1 for shape in shapes)
    assert exponentials <= lesson.BLOCK_N + 2, (
        f"{exponentials:,} exponentials in a turn of {lesson.BLOCK_N} keys: one a key, and one for alpha, are enough. "
        "Is m one number for all of a block, and p one for a key?")


@pytest.mark.task(3)
@pytest.mark.gpu
def test_attends_to_a_hundred_thousand_keys_on_a_gpu(rng):
    scores, values = rows_of(rng, (3, 100_003), (3, 100_003, 64))
    assert_matches(lesson.attend, scores, values, oracle=attended, tolerance=accumulated("float32", 100_003))


# Task 4: two reads --------------------------------------------------------------------------------

@pytest.mark.task(4)
@pytest.mark.parametrize("block", [4, 2])
def test_the_weights_of_the_lesson_in_one_block_and_in_two(block):
    out = lesson.softmax(tensor([SCORES]), block=block, out=tensor([[7.0] * 4]))
    assert not out.isnan().all(), ALPHA_AT_FIRST
    sum_is_of_scores_as_they_are = round(float(out.sum()), 2) == 20.09
    assert round(float(out.sum()), 3) != 0.684, ALPHA_IS_1
    assert not sum_is_of_scores_as_they_are, "The weights add up to exp(3): which m does the second read take off?"
    assert_matches(lesson.softmax, tensor([SCORES]), block=block, oracle=weights)


@pytest.mark.task(4)
@pytest.mark.parametrize("scores", ROWS, ids=str)
def test_the_largest_of_a_row_may_come_first_or_last_and_lie_anywhere(scores):
    assert_one_block_is_right(lesson.softmax, block=4)
    out = lesson.softmax(tensor([scores]), block=2)
    assert out.any(), zeros_of(scores)
    assert not out.isnan().any(), "alpha is exp(m - m_new): is m_new never below m?"
    assert_matches(lesson.softmax, tensor([scores]), block=2, oracle=weights)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("rows, n", [*((3, n) for n in awkward_lengths(16)), (0, 5)])
def test_there_may_be_any_number_of_rows_of_any_width(rows, n, rng):
    sum_of_weights = round(float(lesson.softmax(tensor([SCORES[:3]]), block=4).sum()), 3)
    assert sum_of_weights != 0.917, "l is 1.503 + exp(0 - 2): the place beyond 3 scores counts as a score of 0"
    assert lesson.softmax(tensor([FAR_BELOW_0]), block=4).any(), A_0_IN_M
    x, = rows_of(rng, (rows, n))
    assert_matches(lesson.softmax, x - 5, block=16, oracle=weights, tolerance=accumulated("float32", n))


@pytest.mark.task(4)
@pytest.mark.edge
def test_rows_may_lie_apart_in_x_and_in_out(rng):
    """Between the rows of x there is NaN, and between those of out what was there before."""
    wide, = rows_of(rng, (3, 40))
    wide[:, 21:] = NAN
    into = torch.full((3, 30), 7.0, device=device)
    out = lesson.softmax(wide[:, :21], block=8, out=into[:, :21])
    all_weights_are_right = torch.allclose(out, torch.softmax(wide[:, :21], -1))
    assert all_weights_are_right, "Is a row found by its row stride, in x and in out?"
    assert into[:, 21:].unique().tolist() == [7], "What lies between the rows of out was overwritten"
    counters = count(lesson.softmax, wide[:, :21], block=8, out=into[:, :21])
    assert counters.library_operations == [], "The kernel takes the strides of x and of out: what is copied?"


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_row_of_minus_infinity_alone_becomes_zeros():
    assert_one_block_is_right(lesson.softmax, block=4)
    x = tensor([[-INF, -INF, -INF], [-INF, -INF, 1], [2, -INF, -INF]])
    numbers_that_are_nan = int(lesson.softmax(x, block=2).isnan().sum())
    assert numbers_that_are_nan == 0, "m is -inf after a block that is all -inf: what is -inf - -inf?"
    assert_matches(lesson.softmax, x, block=2, oracle=weights)


@pytest.mark.task(4)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_nan_or_infinite_spoils_its_own_row(strange):
    assert_one_block_is_right(lesson.softmax, block=4)
    x = tensor([[2, 0, 1], [strange, 0, 1], [0, 1, strange]])
    rows_that_hide_it = int((~lesson.softmax(x, block=2)[1:].isnan()).any(1).sum())
    assert rows_that_hide_it == 0, f"{NAN_COMPARED} Which way does a row whose l is NaN take?"
    assert_matches(lesson.softmax, x, block=2, oracle=weights)


@pytest.mark.task(4)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rows_of_16_bits_are_summed_in_32(dtype, rng):
    x, = rows_of(rng, (3, 100), dtype=dtype)
    assert_matches(lesson.softmax, x, block=16, oracle=weights, tolerance=accumulated(dtype, 100))


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_weights_of_large_scores_have_all_digits_of_float32(rng):
    """About 1000 the numbers of float32 lie 6e-5 apart; a log-sum-exp that is one of them is not exact enough."""
    x, = rows_of(rng, (16, 24))
    parts_of_the_weight = lesson.softmax(x + 1000, block=16) / torch.softmax((x + 1000).double(), -1)
    error, spread = (parts_of_the_weight.mean(-1) - 1).abs(), parts_of_the_weight.std(-1)
    rows_off_by_one_factor = int(((4e-6 < error) & (error < 1e-3) & (spread < 1e-6)).sum())
    assert rows_off_by_one_factor == 0, "Which number near 1000 was rounded before it was taken off?"
    assert_matches(lesson.softmax, x + 1000, block=16, oracle=weights, tolerance=accumulated("float32", 24))


@pytest.mark.task(4)
@pytest.mark.counters
def test_a_row_is_read_twice_and_written_once(rng):
    rows, n = 3, 37
    counters = count(lesson.softmax, *rows_of(rng, (rows, n)), block=8)
    reads, writes = counters.bytes_loaded / (4 * rows * n), counters.bytes_stored / (4 * rows * n)
    assert counters.bytes_loaded <= 2 * 4 * rows * n, f"Each score is read {reads:.3g} times; two are enough."
    assert counters.bytes_stored <= 4 * rows * n, f"Each weight is written {writes:.3g} times; once is enough."
    assert counters.library_operations == []


@pytest.mark.task(4)
@pytest.mark.counters
def test_the_scores_of_a_block_are_loaded_and_stored_together(rng):
    """64 scores fill 8 sectors of 32 bytes in each read, and so do their weights."""
    counters = count(lesson.softmax, *rows_of(rng, (1, 64)), block=64)
    assert counters.sectors == 8 + 8 + 8


@pytest.mark.task(4)
@pytest.mark.counters
def test_scores_of_16_bits_are_converted_when_they_are_read(rng):
    rows, n = 3, 64
    counters = count(lesson.softmax, *rows_of(rng, (rows, n), dtype=torch.float16), block=16)
    assert counters.library_operations == [], COPIED
    numbers_loaded, numbers_stored = 2 * rows * n, rows * n
    assert counters.conversions <= numbers_loaded + numbers_stored
    assert counters.float64 == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_compiler_finds_wide_loads_two_exponentials_a_score_and_no_spills():
    kernel = compiled(lesson.softmax, torch.zeros((2, 131072)).half(), chip="h100").kernels["softmax_kernel"]
    scores_of_a_thread = lesson.BLOCK // (32 * kernel.num_warps)
    exponentials = kernel.instructions.get("ex2.approx.f32", 0)
    assert exponentials <= 2 * scores_of_a_thread + 2, "Two a score are enough. Is m one number for all of a block?"
    bytes_of_a_load = min([load.width for load in kernel.loads], default=0)
    assert bytes_of_a_load == 16, "A start that counts up is a multiple of BLOCK to the compiler. Does yours?"
    assert kernel.spills == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_the_first_read_asks_to_keep_its_scores_and_the_second_does_not():
    kernel = compiled(lesson.softmax, torch.zeros((2, 131072)).half(), chip="h100").kernels["softmax_kernel"]
    loads = re.findall(r"\bld\.global\S*", kernel.text("ptx"))
    assert loads != [], "softmax_kernel loads nothing yet"
    first_policy, last_policy = (re.search(r"evict_\w+|$", load)[0] for load in (loads[0], loads[-1]))
    assert first_policy == "evict_last", "Which read comes back to its scores, and asks L2 to keep them until then?"
    assert last_policy == "evict_first", "After which read is a score not wanted any more, and may leave L2 soon?"


@pytest.mark.task(4)
@pytest.mark.gpu
def test_the_widest_rows_on_a_gpu(rng):
    tolerance = accumulated("float32", 131_072)
    assert_matches(lesson.softmax, *rows_of(rng, (3, 131_072)), oracle=weights, tolerance=tolerance)


@pytest.mark.task(4)
@pytest.mark.hopper
@pytest.mark.speed
def test_comes_close_to_a_copy_of_the_widest_rows(rng):
    x, = rows_of(rng, (2048, 131_072), dtype=torch.float16)
    assert speed_ratio(lesson.softmax, torch.clone, x) >= 0.68
    # 0.88 on an H100, 0.73 on an H200; and without the two policies 0.73 and 0.65
