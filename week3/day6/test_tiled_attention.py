"""The lesson again, as checks: one tile more, all tiles in PyTorch, all in a kernel, tiles skipped, bytes counted."""

import itertools
import re
from collections import Counter

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count, memory, speed_ratio
from tools.check.inputs import matrices
from tools.check.terms import terms
from tools.check.tolerances import Tolerance, accumulated, unit
from tools.gpu import device
from week3.day6 import tiled_attention as lesson

INF, NAN = float("inf"), float("nan")
FLOAT32 = 4  # bytes
LOWEST = float(np.finfo(np.float32).min)
OF_SCORES = Tolerance(4 * 2 * 32 * unit("float32"), "exp of float32 scores up to 32, rounded twice", "float32", 64)


def tensor(values):
    return torch.tensor(values, dtype=torch.float32, device=device)


def numbers(rng, *shapes):
    return [torch.from_numpy(array).to(device, torch.float32) for array in matrices(rng, *shapes)]


def head(rng, n_q, n_k, d):
    """q, k and v of one head."""
    return numbers(rng, (n_q, d), (n_k, d), (n_k, d))


def story(d=4, d_v=2):
    """The query, the keys and the values of the lesson, with zeros up to d and d_v columns: scores stay the same."""
    q = tensor([[1, 2, 0, 1]])
    k = tensor([[2, 1, 5, 0], [-2, 1, 3, 0], [1, 0, 0, 1], [1, 2, 1, 1]])
    v = tensor([[1, 0], [0, 1], [1, 1], [2, 0]])
    pad = torch.nn.functional.pad
    return pad(q, (0, d - 4)), pad(k, (0, d - 4)), pad(v, (0, d_v - 2))


def no_key(n_q, d_v):
    """The state of queries that have met no key."""
    return tensor([[LOWEST]] * n_q), tensor([[0]] * n_q), torch.zeros(n_q, d_v, device=device)


def state_of(scores, v):
    """(m, l, acc) of all keys at once."""
    m = scores.amax(-1, keepdim=True).clamp(min=LOWEST)
    powers = torch.exp(scores - m)
    return m, powers.sum(-1, keepdim=True), powers @ v


def attended(q, k, v, *, causal=False, scale=None, **tiles):
    """Attention with all of its scores in memory."""
    scores = torch.einsum("id,jd->ij", q, k) * (q.shape[1]**-0.5 if scale is None else scale)
    if causal:
        scores = torch.where(torch.ones(scores.shape, dtype=torch.bool, device=q.device).tril(), scores, -INF)
    empty = (scores == -INF).all(-1, keepdim=True)
    return torch.einsum("ij,je->ie", torch.softmax(scores, -1).masked_fill(empty, 0.0), v)


def nans(x):
    return int(x.isnan().sum())


def assert_none_of(value, mistakes):
    """The value is none that a known mistake gives; mistakes: value -> what to say."""
    if value in mistakes:
        raise AssertionError(mistakes[value])


def always(value):
    """An oracle for one call, whose right answer is known."""
    return lambda *args, **kwargs: value


def keys_seen(n_q, n_k, tile_m, causal):
    """For each tile of queries, how many keys at least one of them sees."""
    tiles = [range(first, min(first + tile_m, n_q)) for first in range(0, n_q, tile_m)]
    return [sum(any(not causal or key <= query for query in tile) for key in range(n_k)) for tile in tiles]


# Task 1: one tile more ----------------------------------------------------------------------------

@pytest.mark.task(1)
def test_after_the_first_tile_of_the_lesson_m_is_2_and_l_1_135():
    scores, v = tensor([[2, 0]]), story()[2][:2]
    l = round(lesson.add_tile(*no_key(1, 2), scores, v)[1].item(), 3)
    assert_none_of(l, {1: "l is 1, as of weights that are divided already: p is exp(score - m), and l its sum"})
    assert_matches(lesson.add_tile, *no_key(1, 2), scores, v, oracle=always(state_of(scores, v)))


@pytest.mark.task(1)
def test_after_the_second_tile_of_the_lesson_m_is_3_and_l_1_553():
    v = story()[2]
    before = state_of(tensor([[2, 0]]), v[:2])
    m, l, first_of_acc = (round(x[0, 0].item(), 3) for x in lesson.add_tile(*before, tensor([[1, 3]]), v[2:]))
    assert_none_of(m, {2: "m is 2 as before, and a score of 3 came: of which two numbers is m_new the larger?"})
    assert_none_of(l, {2.271: "l is 1.135 + 1.135, as if m were still 2: what makes it shrink?",
                       4.221: "l of the first tile grew by exp(1): alpha is exp of which difference?",
                       1.135: "l is that of the second tile: what is left of the first?"})
    assert_none_of(first_of_acc, {3.135: "acc is (1, .135) + (2.135, .135): which factor makes it shrink with l?",
                                  2.135: "acc is that of the second tile: what is left of the first?"})
    assert_matches(lesson.add_tile, *before, tensor([[1, 3]]), v[2:],
                   oracle=always(state_of(tensor([[2, 0, 1, 3]]), v)))


@pytest.mark.task(1)
def test_smaller_scores_leave_m_as_it_is():
    scores, v = tensor([[1, 3, -1, 1]]), story()[2]
    before = state_of(scores[:, :2], v[:2])
    m = lesson.add_tile(*before, scores[:, 2:], v[2:])[0].item()
    assert m == 3, "m was 3, and scores of -1 and 1 came: it is the largest of all tiles"
    assert_matches(lesson.add_tile, *before, scores[:, 2:], v[2:], oracle=always(state_of(scores, v)))


@pytest.mark.task(1)
def test_m_and_l_are_columns_with_one_number_for_each_query():
    scores, v = tensor([[2, 0], [3, 3]]), story()[2][:2]
    m, l, _ = lesson.add_tile(*no_key(2, 2), scores, v)
    of_m, of_l = tuple(m.shape), tuple(l.shape)
    assert of_m == (2, 1), f"m_new is {of_m}, wanted (2, 1): what does a row of maxima make with the column m?"
    assert_none_of(m[0].item(), {
        3: "m of query 0 is 3, and its scores are 2 and 0: along which axis did the maximum find a 3?"})
    assert of_l == (2, 1), f"l is {of_l}, wanted (2, 1): what does a row of sums make with the column l?"
    of_query_0 = round(l[0].item(), 3)
    in_words = f"l of query 0 is {of_query_0}, and its weights are 1 and .135: along which axis were they added up?"
    assert_none_of(of_query_0, {3.135: in_words, 2: in_words})
    assert_matches(lesson.add_tile, *no_key(2, 2), scores, v, oracle=always(state_of(scores, v)))


@pytest.mark.task(1)
def test_each_query_has_a_maximum_of_its_own():
    """With the maximum of all queries, exp(-1000 - 1002) is 0: query 1 would get nothing."""
    scores, v = tensor([[1000, 1001, 1002, 1000], [-1000, -1001, -999, -1000]]), story()[2]
    before = state_of(scores[:, :3], v[:3])
    l_of_query_1 = lesson.add_tile(*before, scores[:, 3:], v[3:])[1][1].item()
    assert l_of_query_1 > 1, "query 1 has scores near -1000: which maximum is subtracted there?"
    assert_matches(lesson.add_tile, *before, scores[:, 3:], v[3:], oracle=always(state_of(scores, v)))


@pytest.mark.task(1)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_tiles_may_come_in_any_order(order, rng):
    scores, v = numbers(rng, (5, 7), (7, 3))
    tiles = [slice(0, 1), slice(1, 5), slice(5, 7)]
    one, two, last = (tiles[i] for i in order)
    both = [*range(7)[one], *range(7)[two]]
    before = state_of(scores[:, both], v[both])
    assert_matches(lesson.add_tile, *before, scores[:, last], v[last], oracle=always(state_of(scores, v)),
                   tolerance=accumulated("float32", 7))


@pytest.mark.task(1)
@pytest.mark.edge
def test_scores_of_minus_infinity_change_nothing():
    """Before any key, and after two of them; query 1 sees one key of the tile."""
    hidden, v = tensor([[-INF, -INF], [-INF, 3]]), story()[2]
    m, l, acc = lesson.add_tile(*no_key(2, 2), hidden, v[:2])
    nans_of_l = nans(l)
    assert nans_of_l == 0, "where all scores are -inf, some -inf less another is NaN: with which m did it begin?"
    assert l[0].item() == 0, "two hidden keys have the weight 0 each, and before there was none"
    assert_matches(lesson.add_tile, *no_key(2, 2), hidden, v[:2], oracle=always(state_of(hidden, v[:2])))
    before = state_of(tensor([[2, 0], [1, 2]]), v[:2])
    assert_matches(lesson.add_tile, *before, hidden, v[2:],
                   oracle=always(state_of(tensor([[2, 0, -INF, -INF], [1, 2, -INF, 3]]), v)))


@pytest.mark.task(1)
@pytest.mark.nonfinite
@pytest.mark.parametrize("strange", [NAN, INF])
def test_what_is_not_finite_spoils_l_and_acc_of_its_own_query(strange):
    def sums(*args):
        return lesson.add_tile(*args)[1:]

    v = story()[2]
    scores = tensor([[1, 3], [0, strange], [2, 1]])
    want = tensor([[1 + np.exp(-2)], [NAN], [1 + np.exp(-1)]])
    acc = tensor([[2 + np.exp(-2), np.exp(-2)], [NAN, NAN], [1 + 2 * np.exp(-1), 1]])
    assert_matches(sums, *no_key(3, 2), scores, v[2:], oracle=always((want, acc)))


@pytest.mark.task(1)
@pytest.mark.counters
def test_two_exponentials_are_enough():
    v = story()[2]
    called = count(lesson.add_tile, *state_of(tensor([[2, 0]]), v[:2]), tensor([[1, 3]]), v[2:]).library_operations
    exponentials = sum("exp" in name or "softmax" in name for name in called)
    assert exponentials <= 2, f"alpha is one, p is one; these were called: {', '.join(called)}"


# Task 2: all tiles, in PyTorch --------------------------------------------------------------------

@pytest.mark.task(2)
@pytest.mark.parametrize("tile_n", [2, 1, 3, 4, 100])
def test_tiles_of_any_width_give_the_result_of_the_lesson(tile_n):
    out = round(lesson.attention_by_tiles(*story(), tile_n=tile_n)[0, 0].item(), 3)
    assert_none_of(out, {2.503: "2.503 came, and this is acc: what is l for?",
                         1.584: "acc of the first tile was divided by l before the second came: when is l whole?",
                         1.02: "acc was divided by l after each tile, and once more at the end: when is l whole?"})
    assert_matches(lesson.attention_by_tiles, *story(), tile_n=tile_n, oracle=attended)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(3, 1), (3, 3), (3, 4), (3, 5), (1, 11), (0, 5), (3, 0)])
def test_any_number_of_queries_and_keys(n_q, n_k, rng):
    q, k, v = numbers(rng, (n_q, 8), (n_k, 8), (n_k, 5))
    assert_matches(lesson.attention_by_tiles, q, k, v, tile_n=4, oracle=attended, tolerance=OF_SCORES)


@pytest.mark.task(2)
def test_a_scale_takes_the_place_of_the_usual_one(rng):
    q, k, v = numbers(rng, (3, 9), (5, 9), (5, 4))
    assert_matches(lesson.attention_by_tiles, q, k, v, scale=0.1, tile_n=2, oracle=attended, tolerance=OF_SCORES)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_query_whose_scores_are_all_minus_infinity_gets_zeros():
    q, k, v = tensor([[1, 0], [1, 1]]), tensor([[-INF, 0]] * 4), story()[2]
    out = lesson.attention_by_tiles(q, k, v, scale=1.0, tile_n=2).tolist()
    assert out == [[0, 0], [0, 0]], "scores of -inf alone: l is 0 at the end, and 0 / 0 is NaN"


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_in_a_query_a_key_or_a_value_goes_where_it_should(rng):
    for place in range(3):
        q, k, v = numbers(rng, (3, 8), (7, 8), (7, 5))
        (q, k, v)[place][1, 2] = NAN
        assert_matches(lesson.attention_by_tiles, q, k, v, tile_n=4, oracle=attended, tolerance=OF_SCORES)


def line_that_grew(small, large):
    """The line whose tensors take more at the peak of `large` than at that of `small`: its bytes, and its text."""
    of_small, of_large = Counter(), Counter()
    for used, bytes_of in (small, of_small), (large, of_large):
        for made in used.at_peak:
            bytes_of[made.line, made.source] += made.bytes
    line, source = max(of_large, key=lambda place: of_large[place] - of_small[place])
    return f"line {line} made {of_small[line, source]:,} and {of_large[line, source]:,} of them:\n    {source}"


@pytest.mark.task(2)
@pytest.mark.counters
def test_twice_as_many_keys_take_no_byte_more(rng):
    small, large = (memory(lesson.attention_by_tiles, *head(rng, 32, n_k, 16), tile_n=16) for n_k in (64, 128))
    if large.peak > small.peak:
        raise AssertionError(f"{small.peak:,} bytes with 64 keys, {large.peak:,} with 128;\n"
                             f"{line_that_grew(small, large)}\nWhich part of it does one tile of keys need?")


@pytest.mark.task(2)
@pytest.mark.counters
def test_queries_are_scaled_and_results_divided_once_not_for_each_tile(rng):
    two, four = (count(lesson.attention_by_tiles, *head(rng, 3, n_k, 8), tile_n=4) for n_k in (8, 16))
    divisions = sum("div" in name for name in four.library_operations)
    products_of_two_tiles, products_of_four_tiles = (
        sum("mul" in name for name in counters.library_operations) for counters in (two, four))
    assert four.library_float64 == []
    assert divisions <= 1, "divide acc by l when all keys are through"
    products_of_a_tile = (products_of_four_tiles - products_of_two_tiles) / 2
    assert products_of_a_tile <= 4, "two matrix products, alpha * l, alpha * acc: what else is multiplied in each tile?"


# Task 3: all of it in a kernel --------------------------------------------------------------------

def assert_no_tf32(q, k, v, **how):
    """The result is not off by as much as factors of 11 binary digits make it; it may be off by more."""
    exact = attended(q.double(), k.double(), v.double(), **how)
    error = float(torch.linalg.norm(lesson.attention(q, k, v, **how) - exact) / torch.linalg.norm(exact))
    if 1e-5 < error < 5e-3:
        raise AssertionError(f"The result has a relative error of {error:.0e}, as with factors of 11 binary digits.\n"
                             "Float32 has 24, and there are two products: how does each tl.dot round?")


@pytest.mark.task(3)
@pytest.mark.parametrize("factor", [1, 100])
def test_the_kernel_gives_the_result_of_the_lesson(factor):
    """d is 16 and tiles are 16 x 16: the least that tl.dot takes. 12 of the 16 keys do not exist."""
    q, k, v = story(16, 16)
    sizes = {"scale": 0.5, "tile_m": 16, "tile_n": 16}
    out = torch.full_like(q, 7)  # 7 stays where nothing is stored
    out = round(lesson.attention(q * factor, k * factor, v, out=out, **sizes)[0, 0].item(), 3)
    four_times_each = q, k.repeat(4, 1), v.repeat(4, 1)  # 16 keys, all of which exist, with the same result
    if np.isnan(out) and nans(lesson.attention(*four_times_each, **sizes)):
        raise AssertionError("NaN came, and no score is infinite. Before the first tile m is LOWEST, and l and acc are "
                             "0: what is alpha then, and what alpha * l?")
    assert_none_of(out, {
        0: "0 came, of 4 keys in tiles of 16: how many turns does the loop over keys take, and what is acc after each?",
        0.041: "acc is 2.503 and l 1.553; 0.041 came, as if l were 61.553, with the weights of 15 queries that do not "
               "exist: along which axis are weights added up?",
        0.711: "0.711 came, as if keys 1 to 3 and their values were 0. There are 4 keys and 1 query: how many rows "
               "does the mask of the loads of k and v let in?"})
    assert_no_tf32(q * factor, k * factor, v, **sizes)
    assert_matches(lesson.attention, q * factor, k * factor, v, **sizes, oracle=attended)


@pytest.mark.task(3)
def test_a_second_tile_of_keys_raises_the_maximum():
    """Scores are 0 for the first 16 keys and 1 for the others, values 1 and 3."""
    q, k = torch.ones(3, 16, device=device), torch.zeros(32, 16, device=device)
    v = torch.ones(32, 16, device=device)
    k[16:, 0], v[16:] = 1, 3
    out = round(lesson.attention(q, k, v, scale=1.0, tile_m=16, tile_n=16)[0, 0].item(), 3)
    in_words = f"{out} came, wanted 2.462. Before the second tile m = 0, l = 16, acc = 16; now m = 1:"
    assert_none_of(out, {2: f"{in_words} by which factor do both shrink?",
                         2.924: f"{in_words} l shrinks, what of acc?",
                         1.684: f"{in_words} acc shrinks, what of l?",
                         3.368: f"{in_words} what of this l is kept?",
                         3: f"{in_words} nothing of both is left. Which m does the second tile begin with?"})
    assert_matches(lesson.attention, q, k, v, scale=1.0, tile_m=16, tile_n=16, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_each_query_of_the_kernel_has_a_maximum_of_its_own_and_of_all_tiles():
    """Query 0 has scores of 300, the others of 100; in a second tile all have scores of 0. All values are 2."""
    q, k, v = (torch.zeros(rows, 16, device=device) for rows in (16, 32, 32))
    q[:, 0], q[0, 0], k[:16, 0], v[:] = 1, 3, 100, 2
    out = lesson.attention(q, k, v, scale=1.0, tile_m=16, tile_n=16)
    nans_of_out, of_query_1 = nans(out), out[1, 0].item()
    assert nans_of_out == 0, ("Scores of 300 and 100 in the first tile, of 0 in the second: exp(300 - 0) is inf. Of "
                              "which tiles is m the largest score?")
    assert of_query_1 > 1, ("All values are 2, and query 1 got 0: its scores are 100, those of query 0 300. Which "
                            "maximum is subtracted from the scores of query 1?")


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_the_kernel_keeps_the_precision_of_float32(rng):
    q, k, v = head(rng, 16, 100, 32)
    assert_no_tf32(q, k, v)
    assert_matches(lesson.attention, q, k, v, oracle=attended, tolerance=OF_SCORES)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k, d, tile_m, tile_n", [
    (16, 16, 32, 16, 16), (32, 64, 64, 16, 32), (64, 32, 32, 32, 16), (64, 128, 16, 64, 64), (5, 1, 16, 16, 32),
    (5, 31, 16, 16, 32), (5, 33, 16, 16, 32), (5, 67, 16, 16, 32), (1, 20, 16, 16, 32), (15, 20, 16, 16, 32),
    (17, 20, 16, 16, 32), (37, 20, 16, 16, 32), (0, 20, 16, 16, 32)])
def test_any_number_of_queries_and_of_keys(n_q, n_k, d, tile_m, tile_n, rng):
    assert_matches(lesson.attention, *head(rng, n_q, n_k, d), tile_m=tile_m, tile_n=tile_n, oracle=attended,
                   tolerance=OF_SCORES)


@pytest.mark.task(3)
@pytest.mark.edge
def test_without_a_key_the_result_is_0(rng):
    nans_of_out = nans(lesson.attention(*head(rng, 3, 0, 16)))
    assert nans_of_out == 0, "no key: acc is 0 and l is 0, and 0 / 0 is NaN"
    assert_matches(lesson.attention, *head(rng, 3, 0, 16), oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_all_scores_of_a_query_may_be_far_below_0():
    """16 keys fill a tile of 16: none is beyond the last."""
    q, k, v = torch.ones(2, 16, device=device), torch.zeros(16, 16, device=device), torch.ones(16, 16, device=device)
    k[:, 0] = -200
    out = lesson.attention(q, k, v, scale=1.0, tile_m=16, tile_n=16)[0, 0].item()
    assert out != 0, ("All scores are -200, all values 1, and 0 came: exp(-200 - 0) is 0. No key is beyond the last "
                      "here: with which number does m begin?")
    assert_matches(lesson.attention, q, k, v, scale=1.0, tile_m=16, tile_n=16, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_keys_beyond_the_last_have_no_weight_where_all_scores_are_far_below_0():
    """A score of a key that does not exist is 0; those of the three that do are about -200."""
    q, k, v = torch.ones(2, 16, device=device), torch.zeros(3, 16, device=device), torch.ones(3, 16, device=device) * 2
    k[:, 0] = tensor([-200, -201, -202])
    out = lesson.attention(q, k, v, scale=1.0, tile_m=16, tile_n=16)[0, 0].item()
    assert out > 1, "all values are 2, the result is near 0: which 0 got into m, and is not a score of these keys?"
    assert_matches(lesson.attention, q, k, v, scale=1.0, tile_m=16, tile_n=16, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.edge
def test_a_whole_tile_of_scores_of_minus_infinity_changes_nothing(rng):
    q, k, v = torch.ones(3, 16, device=device), *numbers(rng, (40, 16), (40, 16))
    k[:16, 0] = -INF
    nans_of_out = nans(lesson.attention(q, k, v, scale=1.0, tile_m=16, tile_n=16))
    assert nans_of_out == 0, "the first 16 scores are -inf: with which m does a query begin?"
    k = k.round()  # with whole numbers, the products are exact
    assert_matches(lesson.attention, q, k, v, scale=1.0, tile_m=16, tile_n=16, oracle=attended, tolerance=OF_SCORES)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_spoils_the_row_of_its_query_the_column_of_its_value_or_all_if_in_a_key(rng):
    for place in range(3):
        q, k, v = head(rng, 3, 20, 16)
        (q, k, v)[place][1, 2] = NAN
        assert_matches(lesson.attention, q, k, v, tile_m=16, tile_n=16, oracle=attended, tolerance=OF_SCORES)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_an_infinite_score_makes_its_query_nan():
    q, k, v = story(16, 16)
    q = torch.cat([q, torch.zeros_like(q)])
    q[:, 0] = tensor([1, -1])
    k[2, 0] = INF
    assert_matches(lesson.attention, q, k, v, scale=1.0, tile_m=16, tile_n=16, oracle=attended)


@pytest.mark.task(3)
@pytest.mark.counters
def test_one_launch_does_it_all_a_program_for_each_tile_of_queries(rng):
    counters = count(lesson.attention, *head(rng, 48, 40, 16), tile_m=16, tile_n=32)
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["attention_kernel"]
    programs, grid = counters.programs, counters.launches[0].grid
    assert programs == 3, (f"48 queries, 40 keys, tile_m is 16, tile_n 32. The grid was {grid}, and {programs} "
                           "programs ran: how many tiles of queries are there?")
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_queries_are_loaded_once_keys_and_values_once_for_each_tile_of_queries(rng):
    n_q, n_k, d = 40, 100, 32  # 3 tiles of queries
    counters = count(lesson.attention, *head(rng, n_q, n_k, d), tile_m=16)
    of_queries, of_keys_and_values = FLOAT32 * n_q * d, 3 * 2 * FLOAT32 * n_k * d
    assert counters.bytes_loaded <= of_queries + of_keys_and_values


@pytest.mark.task(3)
@pytest.mark.counters
def test_nothing_but_the_result_is_stored_and_that_once(rng):
    stored_for_50, stored_for_100 = (count(lesson.attention, *head(rng, 40, n_k, 32), tile_n=32).bytes_stored
                                     for n_k in (50, 100))
    assert stored_for_50 == FLOAT32 * 40 * 32
    assert stored_for_100 == stored_for_50


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_tile_of_keys_is_multiplied_twice_with_q_and_with_p(rng):
    d, tile_m, tile_n = 32, 16, 64
    counters = count(lesson.attention, *head(rng, 40, 128, d), tile_m=tile_m, tile_n=tile_n)
    tiles_multiplied = counters.flops // (2 * 2 * tile_m * tile_n * d)
    assert tiles_multiplied <= 3 * 2


@pytest.mark.task(3)
@pytest.mark.counters
def test_only_the_result_is_allocated(rng):
    used = memory(lesson.attention, *head(rng, 64, 128, 64))
    result = FLOAT32 * 64 * 64
    assert used.peak <= result


@pytest.mark.task(3)
@pytest.mark.compiled
def test_tensor_cores_multiply_and_no_register_is_spilled(rng):
    kernel = compiled(lesson.attention, *head(rng, 64, 128, 64), chip="h100").kernels["attention_kernel"]
    on_tensor_cores = sum(times for name, times in kernel.instructions.items() if "mma" in name)
    assert kernel.spills == 0, f"{kernel.spills} bytes spilled: how many warps share the numbers of a program?"
    assert on_tensor_cores > 0, "no instruction of a tensor core: which input_precision does tl.dot get?"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_loop_over_keys_neither_scales_nor_divides(rng):
    """Each turn is one tile of keys; q is scaled before, and acc is divided after all of them."""
    text = compiled(lesson.attention, *head(rng, 64, 128, 64), chip="h100").kernels["attention_kernel"].text("ttir")
    loops = re.finditer(r"^( *)[^\n]*\bscf\.(for|while)\b.*?\n\1\}(?! do)", text, re.DOTALL | re.MULTILINE)
    turns = "".join(loop[0] for loop in loops)
    scale = re.search(r"(%\w+): f32", text)[1]  # the kernel's one number in float32
    divisions, uses_of_scale = turns.count("divf"), len(re.findall(rf"{scale}\b", turns))
    assert divisions == 0, ("The loop over keys divides, in each turn. l and acc are sums, which shrink by the same "
                            "factor. After which tile is acc / l the result?")
    assert uses_of_scale == 0, ("The loop over keys multiplies by scale, in each turn. Which factor of the scores is "
                                "the same in all turns, and is scaled once?")


@pytest.mark.task(3)
@pytest.mark.gpu
@pytest.mark.speed
def test_beats_eager_on_a_head_of_512(rng):
    """On an H100 a kernel of this kind was 1.2 times as fast: one launch in place of four, no scores in memory."""
    def eager(q, k, v):
        return torch.softmax(q @ k.T * q.shape[1]**-0.5, 1) @ v

    assert speed_ratio(lesson.attention, eager, *head(rng, 512, 512, 64)) >= 1.05


# Task 4: what is hidden as a whole ----------------------------------------------------------------

@pytest.mark.task(4)
def test_three_tiles_of_16_queries_need_16_32_and_48_keys():
    causal, not_causal = (lesson.key_ends(48, 48, 16, causal) for causal in (True, False))
    assert causal == [16, 32, 48], "The last queries of the three tiles are 15, 31 and 47: how many keys does each see?"
    assert not_causal == [48, 48, 48], "Not causal: which keys does a query see then?"


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_last_tile_of_8_queries_needs_no_key_after_the_last_of_them():
    ends = lesson.key_ends(40, 100, 16, True)
    assert ends[-1:] != [48], f"{ends}: the last tile has queries 32 to 39. Which is the last key that they see?"
    assert_matches(lesson.key_ends, 40, 100, 16, True, oracle=keys_seen)


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k, tile_m", [(40, 20, 16), (40, 100, 16), (5, 3, 4), (1, 1, 16), (0, 3, 16),
                                               (3, 0, 2)])
@pytest.mark.parametrize("causal", [True, False])
def test_no_tile_needs_a_key_that_does_not_exist_or_that_none_of_its_queries_sees(n_q, n_k, tile_m, causal):
    assert_matches(lesson.key_ends, n_q, n_k, tile_m, causal, oracle=keys_seen)


@pytest.mark.task(4)
def test_causal_query_i_shares_its_weight_among_keys_0_to_i():
    """All 32 scores are 0, and weights of keys that are seen equal. The value of key 0 is 1, those of others 0."""
    v = torch.zeros(32, 16, device=device)
    v[0] = 1
    weights_of_key_0 = lesson.attention(v * 0, v * 0, v, causal=True, tile_m=16, tile_n=16)[:, 0].tolist()
    of_query_0, of_query_15, of_query_16 = (round(weights_of_key_0[query], 4) for query in (0, 15, 16))
    shorter_tiles_of_keys = lesson.attention(v * 0, v * 0, v, causal=True, tile_m=32, tile_n=16)[:, 0].tolist()
    assert_none_of(of_query_0, {
        0: "Query 0 got zeros. It sees key 0, its own place: which comparison of key and row lets it in?",
        round(1 / 32, 4): "Query 0 gives each of 32 keys the same weight, 1 / 32. Which keys does it see?",
        round(1 / 16, 4): "Query 0 gives each of 16 keys the same weight, 1 / 16, and sees key 0 alone. Which "
                          "comparison of key and row hides the other 15?"})
    assert_none_of(of_query_15, {
        1: "Query 15 gives key 0 all its weight, and sees 16 keys: which query ends its loop?",
        round(1 / 15, 4): "Query 15 gives each of 15 keys a weight of 1 / 15, and sees 16: where does its loop end?"})
    assert_none_of(of_query_16, {
        1: "Query 16 gives key 0 all its weight, and sees 17 keys: where is its row counted from?",
        round(1 / 2, 4): "Query 16 gives key 0 half of its weight, and sees 17 keys, not one of each tile: where are "
                         "its row and its keys counted from?",
        round(1 / 32, 4): "Query 16 gives each of 32 keys a weight of 1 / 32, and sees 17. The second tile begins with "
                          "key 16: where are its keys counted from?"})
    of_query_31 = round(shorter_tiles_of_keys[31], 4)
    assert_none_of(of_query_31, {
        round(1 / 16, 4): "32 queries in a tile, 16 keys: query 31 gives each of 16 keys a weight of 1 / 16, and sees "
                          "32. The size of which tile ends its loop?"})
    assert of_query_0 == 1, f"query 0 gives key 0 the weight {of_query_0}: it sees no other key"
    q, k, v = story(16, 16)
    q = q.repeat(3, 1)
    assert_matches(lesson.attention, q, k, v, causal=True, scale=0.5, tile_m=16, tile_n=16, oracle=attended)


@pytest.mark.task(4)
@pytest.mark.edge
def test_causal_a_query_after_the_last_key_sees_all_keys_and_no_other():
    """All scores are 0, all values 1: the result is how much of its weight a query gives to keys that exist."""
    q, k = torch.zeros(40, 16, device=device), torch.zeros(20, 16, device=device)
    of_query_30 = round(lesson.attention(q, k, k + 1, causal=True, tile_m=16, tile_n=32)[30, 0].item(), 4)
    assert_none_of(of_query_30, {
        round(20 / 31, 4): "20 keys, causal: query 30 gives each of them a weight of 1 / 31. Which of the keys 0 to 30 "
                           "exist?"})
    assert of_query_30 == 1, f"all values are 1, and query 30 got {of_query_30}: which keys share its weight?"


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k, tile_m, tile_n", [
    (48, 48, 16, 16), (48, 48, 16, 32), (64, 64, 32, 16), (1, 1, 16, 32), (17, 17, 16, 32), (37, 37, 16, 32),
    (40, 20, 16, 32), (20, 70, 16, 32), (3, 0, 16, 32)])
def test_causal_of_any_lengths(n_q, n_k, tile_m, tile_n, rng):
    assert_matches(lesson.attention, *head(rng, n_q, n_k, 16), causal=True, tile_m=tile_m, tile_n=tile_n,
                   oracle=attended, tolerance=OF_SCORES)


def of_all_and_of_causal(rng, n_q, n_k, tile_m, tile_n):
    """The counters of all keys and of causal ones, with d = 16."""
    return [count(lesson.attention, *head(rng, n_q, n_k, 16), causal=causal, tile_m=tile_m, tile_n=tile_n)
            for causal in (False, True)]


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("n, tile_m, tile_n, tiles, hidden", [
    (48, 16, 16, 9, 3), (64, 32, 16, 8, 2), (64, 16, 32, 8, 2), (40, 16, 16, 9, 3)])
def test_causal_multiplies_no_tile_that_is_hidden_as_a_whole(n, tile_m, tile_n, tiles, hidden, rng):
    of_all, of_causal = of_all_and_of_causal(rng, n, n, tile_m, tile_n)
    tiles_spared = (of_all.flops - of_causal.flops) // (2 * 2 * tile_m * tile_n * 16)
    assert tiles_spared >= hidden, (
        f"{hidden} of {tiles} tiles hold no score that is seen, {tiles_spared} are spared: where does a loop end?")


@pytest.mark.task(4)
@pytest.mark.counters
@pytest.mark.parametrize("n_q, n_k, hidden", [(48, 64, 2 * (48 + 32 + 16)), (40, 100, 2 * (84 + 68 + 60))])
def test_causal_loads_no_key_that_no_query_of_the_tile_sees(n_q, n_k, hidden, rng):
    """Three programs, each with one tile of keys. Hidden: rows of k and v after 15, after 31, after the last query."""
    of_all, of_causal = of_all_and_of_causal(rng, n_q, n_k, tile_m=16, tile_n=128)
    rows_spared = (of_all.bytes_loaded - of_causal.bytes_loaded) // (FLOAT32 * 16)
    after_the_last_query = 2 * (-n_q % 16)  # rows of k and v up to where a whole last tile would end
    all_but_those_are_spared = 0 < after_the_last_query == hidden - rows_spared
    assert not all_but_those_are_spared, (
        f"{n_q} queries in tiles of 16, {n_k} keys: the last tile has queries 32 to {n_q - 1}, and loads k and v up to "
        "key 47. Which number ends its loop, and the mask of its loads?")
    assert rows_spared >= hidden, (
        f"{n_q} queries in tiles of 16, {n_k} keys: {hidden} rows of k and v are of keys that no query of their "
        f"program sees, and {rows_spared} are spared. Where do the loop and the mask of its loads end?")


@pytest.mark.task(4)
@pytest.mark.nonfinite
def test_nan_in_a_hidden_key_or_in_the_values_of_a_skipped_tile_reaches_nobody(rng):
    """Key 20 is hidden from queries 0 to 19. Values 32 to 47 are those of a tile that queries 0 to 31 skip."""
    def first_20(q, k, v, **how):
        return lesson.attention(q, k, v, causal=True, **how)[:20]

    q, k, v = head(rng, 48, 48, 16)
    k[20] = NAN
    assert_matches(first_20, q, k, v, tile_m=16, tile_n=16, tolerance=OF_SCORES,
                   oracle=lambda q, k, v, **how: attended(q, k, v, causal=True)[:20])
    k[20], v[32:] = 0.5, NAN
    nans_of_first_32 = nans(lesson.attention(q, k, v, causal=True, tile_m=16, tile_n=16)[:32])
    assert nans_of_first_32 == 0, "a NaN of values 32 to 47 reached queries 0 to 31: which program multiplied it?"


# Task 5: predicted, and counted -------------------------------------------------------------------

@pytest.mark.task(5)
def test_a_tile_of_64_keys_is_multiplied_if_one_of_its_keys_is_seen():
    tiles = lesson.tiles_multiplied(80, 80, 16, 64, True)
    in_words = f"80 queries in 5 tiles, 80 keys in 2, causal: got {tiles}, wanted 6."
    assert_none_of(tiles, {
        2: f"{in_words}\nThe first 16 queries see 16 keys of 64: how many tiles are multiplied for them?",
        5: f"{in_words}\nIt is half of the 10 pairs: how many tiles of queries need keys 0 to 63?",
        10: f"{in_words}\nThese are all pairs: in which of them is no score seen?",
        15: f"{in_words}\nAs if 16 keys were a tile: how many of them are in a tile of keys?"})
    assert_matches(lesson.tiles_multiplied, 80, 80, 16, 64, True, oracle=always(6))


@pytest.mark.task(5)
@pytest.mark.parametrize("n_q, n_k, tile_m, tile_n, causal, tiles", [
    (48, 48, 16, 16, True, 6), (48, 48, 16, 16, False, 9), (64, 64, 16, 32, True, 6), (33, 50, 16, 32, False, 6),
    (0, 5, 16, 16, True, 0), (5, 0, 16, 16, False, 0)])
def test_six_tiles_of_nine_are_left(n_q, n_k, tile_m, tile_n, causal, tiles):
    assert_matches(lesson.tiles_multiplied, n_q, n_k, tile_m, tile_n, causal, oracle=always(tiles))


@pytest.mark.task(5)
def test_each_program_loads_all_keys_and_values_of_the_lesson():
    in_tiles_of_16, in_tiles_of_64 = (lesson.predict_traffic(512, 512, 64, tile_m, False) for tile_m in (16, 64))
    if in_tiles_of_16 == in_tiles_of_64:
        raise AssertionError(f"512 queries: 32 programs with TILE_M = 16, 8 with 64, and {in_tiles_of_16:,} bytes with "
                             "both. How many programs load key 0?")
    a_tensor = FLOAT32 * 512 * 64  # bytes of each of q, k, v and out
    in_words = f"512 queries and keys, d = 64, tile_m = 64: got {in_tiles_of_64:,}, wanted {18 * a_tensor:,}."
    assert_none_of(in_tiles_of_64, {
        17 * a_tensor: f"{in_words}\nq once, k and v by 8 programs: what else do the programs move?",
        10 * a_tensor: f"{in_words}\nq and out once, and one tensor 8 times: what does each tile of keys need?"})
    assert_matches(lesson.predict_traffic, 512, 512, 64, 64, False,
                   oracle=always(terms(q=a_tensor, k=8 * a_tensor, v=8 * a_tensor, out=a_tensor)))


@pytest.mark.task(5)
def test_causal_programs_load_less():
    bytes_causal, bytes_of_all = (lesson.predict_traffic(48, 48, 16, 16, causal) for causal in (True, False))
    of_whole_tiles = FLOAT32 * 16 * 2 * (48 + 3 * lesson.TILE_N)
    assert bytes_causal != of_whole_tiles, (
        f"as if each program loaded {lesson.TILE_N} keys, a whole tile: how many does the mask of a load let in?")
    of_half_the_keys = FLOAT32 * 16 * 2 * (48 + 3 * 48 // 2)
    assert bytes_causal != of_half_the_keys, (
        "as if half of the keys were loaded, 72 of 3 x 48: how many does each of the three tiles of queries load?")
    assert bytes_causal < bytes_of_all, (
        f"{bytes_causal:,} bytes causal, {bytes_of_all:,} if not: the first 16 queries load 16 keys of 48. How many of "
        "them do you count?")


@pytest.mark.task(5)
@pytest.mark.parametrize("n_q, n_k, d, tile_m, causal", [
    (16, 16, 32, 16, False), (512, 512, 64, 16, False), (40, 100, 16, 32, False), (48, 48, 16, 16, True),
    (40, 20, 16, 16, True)])
def test_predicts_the_bytes_of_queries_keys_values_and_results(n_q, n_k, d, tile_m, causal):
    def traffic(n_q, n_k, d, tile_m, causal):
        keys = sum(keys_seen(n_q, n_k, tile_m, causal))
        return terms(q=FLOAT32 * d * n_q, k=FLOAT32 * d * keys, v=FLOAT32 * d * keys, out=FLOAT32 * d * n_q)

    assert_matches(lesson.predict_traffic, n_q, n_k, d, tile_m, causal, oracle=traffic)


@pytest.mark.task(5)
@pytest.mark.counters
@pytest.mark.parametrize("causal", [False, True])
def test_what_was_predicted_is_counted(causal, rng):
    n_q, n_k, d, tile_m, tile_n = 70, 50, 16, 32, 16
    counters = count(lesson.attention, *head(rng, n_q, n_k, d), causal=causal, tile_m=tile_m, tile_n=tile_n)
    tiles_counted = counters.flops // (2 * 2 * tile_m * tile_n * d)
    assert lesson.tiles_multiplied(n_q, n_k, tile_m, tile_n, causal) == tiles_counted
    assert lesson.predict_traffic(n_q, n_k, d, tile_m, causal) == counters.bytes
