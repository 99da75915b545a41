"""The lesson again, as checks: which tiles, the forward for all heads and lengths, the gradients, the memory."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, speed_ratio
from tools.check.inputs import matrices
from tools.check.tolerances import SLACK, Tolerance, accumulated, unit
from tools.gpu import device
from week3.day7 import flash_attention as lesson

INF, NAN = float("inf"), float("nan")
HALF, BRAIN = torch.float16, torch.bfloat16
PRODUCTS = "matmul", "mm", "bmm", "einsum", "tensordot", "addmm", "baddbmm"  # of PyTorch
ROUNDED_INPUTS = "tf32 round trip", "float16 round trip", "bfloat16 round trip"  # where few digits are right digits
TILE_M, TILE_N = SMALL = 32, 16  # queries and keys of a tile, as in the lesson's picture


# Inputs -------------------------------------------------------------------------------------------

def tensors(rng, *shapes, dtype=HALF):
    return [torch.from_numpy(each).to(device, dtype) for each in matrices(rng, *shapes)]


def q_k_v(rng, dtype=HALF, *, d=64, heads=1, kv_heads=1, n_q=40, n_k=40, batches=1):
    return tensors(rng, (batches, heads, n_q, d), *[(batches, kv_heads, n_k, d)] * 2, dtype=dtype)


def wide(rows, d=64, dtype=HALF):
    """(1, 1, n, d): these rows, and zeros in the other columns."""
    rows = torch.tensor(rows, device=device)
    return torch.nn.functional.pad(rows, (0, d - rows.shape[-1]))[None, None].to(dtype)


def of_the_week(d):
    """The week's query, its four keys and their values."""
    keys = [[2.0, 1, 5, 0], [-2.0, 1, 3, 0], [1.0, 0, 0, 1], [1.0, 2, 1, 1]]
    return wide([[1.0, 2, 0, 1]], d), wide(keys, d), wide([[1.0, 0], [0, 1], [1, 1], [2, 0]], d)


def with_scores(scores, queries=1):
    """q, k and v: with scale=1 the scores of each query are these. Values: column 0 is 1 for the first 16 keys,
    column 1 for the next 16, and so on, so out shows how much weight each tile of keys has."""
    tile = torch.arange(len(scores)) // 16
    values = torch.nn.functional.one_hot(tile, 16).float().tolist()
    return wide([[1.0]] * queries), wide([[score] for score in scores]), wide(values)


# Oracles and how near -----------------------------------------------------------------------------

def hidden_keys(n_q, n_k, causal):
    return torch.ones(n_q, n_k, dtype=torch.bool, device=device).triu(1) & causal


def scores_and_values(q, k, v, causal, scale):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    return (scale * q @ k.mT).masked_fill(hidden_keys(q.shape[2], k.shape[2], causal), -INF), v


def attention(q, k, v, causal=False, scale=None, tile_m=0, tile_n=0):
    scores, v = scores_and_values(q, k, v, causal, q.shape[-1] ** -0.5 if scale is None else scale)
    return scores.softmax(-1).masked_fill((scores == -INF).all(-1, keepdim=True), 0.0) @ v


def log_sum_exp(q, k, v, causal, scale, tile_m=0, tile_n=0):
    return scores_and_values(q, k, v, causal, scale)[0].logsumexp(-1)


def out_of_attention_forward(q, k, v, causal, scale, tile_m=TILE_M, tile_n=TILE_N):
    return lesson.attention_forward(q, k, v, causal, scale, tiles=(tile_m, tile_n))[0]


def lse_of_attention_forward(q, k, v, causal, scale, tile_m=TILE_M, tile_n=TILE_N):
    return lesson.attention_forward(q, k, v, causal, scale, tiles=(tile_m, tile_n))[1]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def rounded(dtype):
    """Weights are rounded before they are multiplied, and so is the result: up to 2 units here."""
    name = name_of(dtype)
    return Tolerance(SLACK * 3 * unit(name), f"{name} weights and results", name).blind_to("bfloat16 round trip")


def exponents(dtype=torch.float32):
    """An error of a score, relative to it, is one of the weight times the score; scores are up to 20 here."""
    name = name_of(dtype)
    return Tolerance(SLACK * 64 * unit(name), f"{name} scores up to 20 in exp", name)


def from_rounded_out(dtype):
    """delta is made of out, which is rounded: where dp - delta cancels, its error weighs more. dv knows no delta."""
    name = name_of(dtype)
    loose = Tolerance(SLACK * 16 * unit(name), f"delta of a {name} out", name).blind_to("bfloat16 round trip")
    return {"q": loose, "k": loose, "v": Tolerance(SLACK * 1.5 * unit(name), f"one rounding to {name}", name)}


def assert_attends(q, k, v, causal, scale):
    assert_matches(out_of_attention_forward, q, k, v, causal, scale, TILE_M, TILE_N, oracle=attention,
                   tolerance=rounded(q.dtype))


def assert_finds_lse(q, k, v, causal, scale):
    assert_matches(lse_of_attention_forward, q, k, v, causal, scale, TILE_M, TILE_N, oracle=log_sum_exp,
                   tolerance=exponents().blind_to("tf32 round trip"))


# Task 1: which keys -------------------------------------------------------------------------------

def by_hand(row, n_k, tile_m, tile_n, causal):
    """Ask each query about each key."""
    sees = np.array([[not causal or key <= query for key in range(n_k)] for query in range(row, row + tile_m)])
    return int(sees.all(0).sum()) // tile_n * tile_n, int(sees.any(0).sum())


def assert_whole_and_end(row, n_k, causal):
    """What keys_of finds for 32 queries and tiles of 16 keys."""
    __tracebackhide__ = True
    whole, end = lesson.keys_of(row, n_k, 32, 16, causal)
    all_see, some_see = by_hand(row, n_k, 32, 16, causal)
    queries = f"queries {row} to {row + 31}"
    assert end <= n_k, f"end is {end}, but there are {n_k} keys"
    assert end <= some_see, f"end is {end}, but {queries} see no key from {some_see} on"
    assert whole % 16 == 0, f"whole is {whole}, inside a tile of keys: they begin at 0, 16, 32, ..."
    assert whole <= all_see, f"whole is {whole}, as if query {row} saw keys 0 to {whole - 1}. What do all 32 see?"
    assert whole >= all_see, f"whole is {whole}, but {queries} all see the tiles of keys 0 to {all_see - 1}"
    assert_matches(lesson.keys_of, row, n_k, 32, 16, causal, oracle=by_hand)


@pytest.mark.task(1)
@pytest.mark.parametrize("row", [0, 32])
def test_both_tiles_of_queries_of_the_lesson(row):
    assert_whole_and_end(row, 40, causal=True)


@pytest.mark.task(1)
@pytest.mark.parametrize("n_k", [48, 40, 1])
def test_without_a_causal_mask_every_query_sees_every_key(n_k):
    assert_whole_and_end(0, n_k, causal=False)


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("row, n_k", [(0, 1), (32, 15), (64, 40), (32, 33), (64, 65), (0, 100), (14, 90), (31, 90)])
def test_queries_may_begin_anywhere_and_keys_may_end_before_them(row, n_k):
    assert_whole_and_end(row, n_k, causal=True)


# Task 2: the forward ------------------------------------------------------------------------------

def rounded_out(q, k, v, causal, scale, columns):
    """The first columns of out of the first query, to two places."""
    out = out_of_attention_forward(q, k, v, causal, scale)[0, 0, 0, :columns]
    return [round(number, 2) for number in out.tolist()]


@pytest.mark.task(2)
@pytest.mark.parametrize("d", [64, 128])
def test_the_query_and_the_four_keys_of_the_week(d):
    """Scores 2 0 1 3, out (1.61, .12, 0, ...)."""
    out = rounded_out(*of_the_week(d), causal=False, scale=0.5, columns=2)
    out_has_nan = any(number != number for number in out)
    assert not out_has_nan, f"out is {out}. A first tile: alpha is exp2 of which difference, and is it above 0?"
    assert out != [1.48, 0.19], f"out is {out}, as if s were multiplied by the kernel's scale twice"
    assert out != [1.76, 0.05], f"out is {out}, as if exp stood where exp2 belongs: log2(e) is in the scale already"
    assert out != [1.16, 0.09], f"out is {out}, as if the 12 places beyond the last key had scores of 0, and weights"
    assert out != [2.5, 0.19], f"out is {out}, the sum of p * v. By what is acc divided, and what is l_i then?"
    assert out != [0.02, 0.0], f"out is {out}, as if l_i were the sum of p of all 32 queries. Along which axis is it?"
    assert out == [1.61, 0.12]
    assert_attends(*of_the_week(d), causal=False, scale=0.5)


@pytest.mark.task(2)
def test_the_log_sum_exp_of_the_scores_of_the_week():
    """At the end m_i is 4.328 and l_i 1.553, so log2(l_i) is .635 and log(l_i) .440."""
    lse = round(lse_of_attention_forward(*of_the_week(64), causal=False, scale=0.5).item(), 3)
    assert lse != 3.441, f"lse is {lse}, as if l_i had added rounded weights. Does it add p before .to(...) or after?"
    assert lse != 3.439, f"lse is {lse}, as if rounded to 16 bits. Which dtype has it?"
    assert lse != 3.0, f"lse is {lse}, the maximum of the scores alone. Where does l_i come in?"
    assert lse != 4.963, f"lse is {lse}: 4.328 + .635, right in powers of 2. What makes both powers of e?"
    assert lse != 4.276, f"lse is {lse}, as if p were exp2((s - m_new) * scale). Which of both is scaled already?"
    asked = "In powers of what is each, and lse?"
    assert lse != 4.768, f"lse is {lse}: 4.328 + .440, m_i and log(l_i). {asked}"
    assert lse != 3.635, f"lse is {lse}: 3.000 + .635, m_i * LN_2 and log2(l_i). {asked}"
    assert lse != 3.305, f"lse is {lse}: (4.328 + .440) * LN_2, m_i and log(l_i). {asked}"
    assert lse == 3.440
    assert_finds_lse(*of_the_week(64), causal=False, scale=0.5)


@pytest.mark.task(2)
@pytest.mark.parametrize("scores", [(0.0, 0.0, 0.0), (0.0, 2.0, 1.0), (3.0, 1.0, 2.0)])
def test_three_tiles_of_keys_with_one_score_each(scores):
    """Column 0 of out is the weight of the first tile, column 1 of the second, column 2 of the third."""
    tiles = with_scores([score for score in scores for _ in range(16)])
    weights = rounded_out(*tiles, causal=False, scale=1.0, columns=3)
    assert weights != [1.0, 1.0, 1.0], f"weights of the tiles: {weights}. What of l_i is kept when a tile comes?"
    assert weights != [0.67, 0.67, 0.24], f"weights of the tiles: {weights}. By what does acc shrink after the first?"
    assert weights != [0.06, 0.42, 0.16], f"weights of the tiles: {weights}. By what does l_i shrink after the first?"
    scaled_twice = f"weights of the tiles: {weights}, as if alpha were exp2(1.44 * (m_i - m_new)).\n"
    assert weights != [0.04, 0.7, 0.26], scaled_twice + "Is log2(e) in m_i and m_new already?"
    added_twice = f"weights of the tiles: {weights}, as if acc were added twice in each.\n"
    assert weights != [1.33, 0.67, 0.33], added_twice + "What does tl.dot do with its third argument?"
    assert_attends(*tiles, causal=False, scale=1.0)
    assert_finds_lse(*tiles, causal=False, scale=1.0)


@pytest.mark.task(2)
def test_the_only_key_of_a_tile_has_the_weight_1():
    """s = 100, scale = 1/2: with log2(e) in it, s * scale is 72."""
    only = with_scores([100.0])
    out = rounded_out(*only, causal=False, scale=0.5, columns=1)
    assert out != [0.0], "out is 0, as if p were exp2(72 - 100): s * scale is 72, s is 100. Of which is the maximum?"
    assert_attends(*only, causal=False, scale=0.5)


@pytest.mark.task(2)
def test_a_place_beyond_the_last_key_has_no_weight():
    """18 keys with negative scores. The other places of the second tile would have score 0."""
    tiles = with_scores(16 * [-3.0] + [-5.0, -4.0])
    weights = rounded_out(*tiles, causal=False, scale=1.0, columns=2)
    seen = f"weights of the tiles: {weights}, as if places 2 to 15 of the second were seen.\n"
    assert weights != [0.05, 0.0], seen + "Which key stands in its first place?"
    assert_attends(*tiles, causal=False, scale=1.0)
    assert_finds_lse(*tiles, causal=False, scale=1.0)


@pytest.mark.task(2)
@pytest.mark.parametrize("d", [64, 128])
def test_query_i_sees_keys_0_to_i(d, rng):
    """Queries 0 to 15 see no key of the second tile."""
    q, k, v = q_k_v(rng, d=d)
    out_has_nan = bool(out_of_attention_forward(q, k, v, True, 0.1).isnan().any())
    hidden = "out has NaN: all scores of a second tile are -inf for query 0. Of which two numbers is m_new the larger?"
    assert not out_has_nan, hidden
    assert_attends(q, k, v, causal=True, scale=0.1)


@pytest.mark.task(2)
def test_queries_past_the_last_key_see_no_place_beyond_it():
    """One key with score 0, and queries 0, 1 and 2: all weight is its own."""
    one_key = with_scores([0.0], queries=3)
    weights = [round(number, 2) for number in out_of_attention_forward(*one_key, True, 1.0)[0, 0, :, 0].tolist()]
    words = "As if queries 1 and 2 saw places 1 and 2, where no key is. Which two things hold of a key that is seen?"
    assert weights != [1.0, 0.5, 0.33], words
    assert_attends(*one_key, causal=True, scale=1.0)


@pytest.mark.task(2)
def test_a_hidden_key_does_not_move_the_maximum():
    """Key 1 has score 200, and query 0 does not see it. exp(0 - 200) is 0 in float32."""
    hidden = with_scores([0.0, 200.0], queries=2)
    weight_of_key_0 = rounded_out(*hidden, causal=True, scale=1.0, columns=1)
    assert weight_of_key_0 != [0.0], "Query 0 sees key 0 alone, and gives it no weight: is key 1 in its maximum?"
    assert_attends(*hidden, causal=True, scale=1.0)


def key_heads_used(heads, kv_heads, batches):
    """10 * batch + key head, by which the values of each query head are found."""
    q, k = (torch.zeros(batches, h, 1, 64, dtype=HALF, device=device) for h in (heads, kv_heads))
    numbers = 10.0 * torch.arange(batches, device=device)[:, None] + torch.arange(kv_heads, device=device)
    v = numbers[:, :, None, None].expand(k.shape).to(HALF)
    return lesson.attention_forward(q, k, v, False, 1.0, tiles=SMALL)[0][:, :, 0, 0].int().tolist()


@pytest.mark.task(2)
def test_query_heads_one_after_the_other_share_a_key_head():
    key_heads = key_heads_used(heads=6, kv_heads=2, batches=1)
    assert key_heads == [[0, 0, 0, 1, 1, 1]]
    ten_times_batch_plus_key_head = key_heads_used(heads=2, kv_heads=2, batches=2)
    assert ten_times_batch_plus_key_head == [[0, 1], [10, 11]]


SHAPES = [  # dtype, d, batches, heads, kv_heads, n_q, n_k, causal
    (BRAIN, 64, 1, 1, 1, 1, 1, True), (HALF, 64, 1, 1, 1, 1, 33, False), (BRAIN, 128, 1, 1, 1, 33, 16, True),
    (HALF, 64, 1, 3, 1, 65, 31, True), (BRAIN, 64, 1, 1, 1, 50, 70, False), (HALF, 128, 2, 2, 1, 31, 50, True),
]


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("dtype, d, batches, heads, kv_heads, n_q, n_k, causal", SHAPES)
def test_any_heads_and_lengths(dtype, d, batches, heads, kv_heads, n_q, n_k, causal, rng):
    q, k, v = q_k_v(rng, dtype, d=d, heads=heads, kv_heads=kv_heads, n_q=n_q, n_k=n_k, batches=batches)
    assert_attends(q, k, v, causal=causal, scale=0.1)


@pytest.mark.task(2)
@pytest.mark.edge
def test_without_keys_out_is_zero_and_without_queries_empty(rng):
    """With five keys first. Without keys lse is -inf."""
    for n_q, n_k in [(17, 5), (3, 0), (0, 3)]:
        q, k, v = q_k_v(rng, heads=2, n_q=n_q, n_k=n_k, batches=2)
        assert_attends(q, k, v, causal=True, scale=0.1)
        assert_finds_lse(q, k, v, causal=True, scale=0.1)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("last, asked", [(1.0, "-inf - -inf is NaN: where does it stand?"),
                                         (-INF, "0 / 0 is NaN: what does l_i end with?")], ids=["1", "-inf"])
def test_16_scores_of_minus_infinity_and_then_one_more(last, asked):
    """The first tile has no weight. Without any score above -inf out is 0 and lse -inf."""
    scores = with_scores(16 * [-INF] + [last])
    out = rounded_out(*scores, causal=False, scale=1.0, columns=2)
    out_has_nan = any(number != number for number in out)
    assert not out_has_nan, f"out is {out}. {asked}"
    is_lowest = -INF < lse_of_attention_forward(*scores, causal=False, scale=1.0).item() < -1e38
    assert not is_lowest, "lse is LOWEST * LN_2, as if l_i were 1. What is log2(0)?"
    assert_attends(*scores, causal=False, scale=1.0)
    assert_finds_lse(*scores, causal=False, scale=1.0)


@pytest.mark.task(2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("score", [NAN, INF])
def test_nan_and_infinity_in_a_key_reach_the_queries_that_see_it(score):
    """Key 20 of 40. A score of infinity is the maximum, and infinity - infinity is NaN."""
    assert_attends(*with_scores(20 * [1.0] + [score] + 19 * [1.0], queries=40), causal=True, scale=1.0)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_in_a_query_stays_with_it(rng):
    q, k, v = q_k_v(rng)
    q[0, 0, 7, 3] = NAN
    assert_attends(q, k, v, causal=False, scale=0.1)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_nan_in_a_value_reaches_the_queries_that_see_it_and_no_tile_that_does_not(rng):
    """Key 33. Queries 0 to 31 never load its tile; query 32 does, and its weight 0 times NaN may be NaN."""
    q, k, v = q_k_v(rng)
    v[0, 0, 33, 5] = NAN
    is_nan = out_of_attention_forward(q, k, v, True, 0.1)[0, 0, :, 5].isnan().tolist()
    assert not is_nan[0], "Queries 0 to 31 have the NaN of value 33, which none of them sees: where does the loop end?"
    queries_with_nan = [query for query in range(40) if is_nan[query] and query != 32]
    assert queries_with_nan == [33, 34, 35, 36, 37, 38, 39]


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_large_scores_and_tiny_values():
    """Scores 59968 and 60000; the least that float16 holds, 2**-24, as a value."""
    assert_attends(*with_scores([60000.0, 59968.0]), causal=False, scale=1.0)
    q, k, v = with_scores([1.0])
    assert_matches(out_of_attention_forward, q, k, v * 2.0 ** -24, False, 1.0, oracle=attention, exact=True)


@pytest.mark.task(2)
@pytest.mark.tolerance
def test_sums_of_values_and_of_weights_are_kept_in_float32():
    """The first value is 2048, 400 others .05: a tile of them adds 0.8, and float16 numbers near 2048 are 2 apart."""
    q, k, v = wide([[0.0]]), wide([[0.0]] * 401), wide([[2048.0]] + [[0.05]] * 400)
    assert_attends(q, k, v, causal=False, scale=1.0)


# Task 2: what it costs ----------------------------------------------------------------------------

def counted(rng, n_q, n_k, causal=True):
    return count(lesson.attention_forward, *q_k_v(rng, n_q=n_q, n_k=n_k), causal, 0.1, tiles=SMALL)


@pytest.mark.task(2)
@pytest.mark.counters
def test_your_kernel_does_all_of_the_work(rng):
    counters = counted(rng, 40, 40)
    kernels = [launch.kernel for launch in counters.launches]
    assert counters.library_operations == []
    assert kernels == ["forward_kernel"]


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("n_q, n_k, causal", [(40, 40, True), (40, 40, False), (70, 33, True)])
def test_multiplies_no_tile_that_no_query_sees(n_q, n_k, causal, rng):
    """A tile: 2 * 32 * 16 * 64 operations for its scores, and as many to multiply it with the values."""
    ends = [by_hand(row, n_k, *SMALL, causal)[1] for row in range(0, n_q, 32)]
    tiles_seen = sum(-(-end // 16) for end in ends)
    tiles_multiplied = counted(rng, n_q, n_k, causal).flops / (4 * 32 * 16 * 64)
    assert tiles_multiplied <= tiles_seen


@pytest.mark.task(2)
@pytest.mark.counters
def test_each_program_loads_its_queries_once_and_the_keys_and_values_it_sees_once(rng):
    """Of 64 keys the programs see 32 and 64. A row has 64 elements of 2 bytes."""
    counters = counted(rng, 64, 64)
    loads_of_q, loads_of_k_and_v = 64 * 64 * 2, 2 * (32 + 64) * 64 * 2
    assert counters.bytes_loaded <= loads_of_q + loads_of_k_and_v
    assert counters.bytes_stored <= 64 * 64 * 2 + 64 * 4


@pytest.mark.task(2)
@pytest.mark.counters
def test_converts_each_weight_once_and_the_result_once(rng):
    """32 x 16 weights in each of 2 + 4 tiles, to float16, and 64 x 64 results."""
    counters = counted(rng, 64, 64)
    conversions_of_weights_and_results, of_values = 6 * 32 * 16 + 64 * 64, 6 * 16 * 64
    widened = "v is made float32, 16 x 64 values in each of 6 tiles. Which of p and v should take on the other's dtype?"
    assert counters.conversions != of_values + 64 * 64, widened
    assert counters.conversions <= conversions_of_weights_and_results
    assert counters.float64 == 0


def compiled_kernel(rng, d):
    q, k, v = q_k_v(rng, BRAIN, d=d, heads=2, n_q=300, n_k=300)
    return compiled(lesson.attention_forward, q, k, v, True, 0.1, chip="h100").kernels["forward_kernel"]


@pytest.mark.task(2)
@pytest.mark.compiled
@pytest.mark.parametrize("d", [64, 128])
def test_the_copy_engine_feeds_the_tensor_cores_and_nothing_spills(d, rng):
    kernel = compiled_kernel(rng, d)
    products = [name for name in kernel.instructions if name.startswith("wgmma.mma_async")]
    boxes = sum(times for name, times in kernel.instructions.items() if name.startswith("cp.async.bulk.tensor"))
    loads_by_threads = [name for name in kernel.instructions if name.startswith("ld.global")]
    assert products != []
    assert boxes >= 4  # q, k, v and out
    assert loads_by_threads == []
    assert kernel.spills == 0


def loops(text):
    """The lines of each loop of a kernel, as Triton's compiler writes it: "scf.for" begins one, "}" as deep ends it."""
    lines = text.splitlines()
    for first, line in enumerate(lines):
        if "scf.for" in line:
            depth = len(line) - len(line.lstrip())
            last = next(i for i in range(first + 1, len(lines)) if lines[i].startswith(" " * depth + "}"))
            yield lines[first:last]


@pytest.mark.task(2)
@pytest.mark.compiled
def test_at_64_columns_whole_tiles_have_a_loop_without_a_mask(rng):
    """A mask is a comparison of whole numbers in it: arith.cmpi."""
    text = compiled_kernel(rng, 64).text("ttir")
    loops_without_a_mask = [loop for loop in loops(text) if not any("arith.cmpi" in line for line in loop)]
    assert len(loops_without_a_mask) >= 1, "Every loop of the kernel compares places: which of them need not?"


def by_cudnn(q, k, v, causal, scale):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] > k.shape[1])


@pytest.mark.task(2)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("dtype, d, batches, heads, kv_heads, n, causal, wanted", [
    (HALF, 128, 4, 32, 32, 4096, False, 0.6), (BRAIN, 128, 4, 32, 32, 4096, True, 0.6),
    (BRAIN, 128, 2, 16, 16, 16384, True, 0.6), (BRAIN, 128, 4, 32, 32, 4000, True, 0.6),
    (BRAIN, 128, 4, 32, 8, 4096, True, 0.6), (HALF, 64, 4, 32, 32, 4096, False, 0.75),
    (BRAIN, 64, 4, 32, 32, 4096, True, 0.75)])
def test_comes_within_sight_of_cudnn(dtype, d, batches, heads, kv_heads, n, causal, wanted):
    q, k, v = (torch.randn(batches, h, n, d, device=device, dtype=dtype) for h in (heads, kv_heads, kv_heads))
    assert speed_ratio(lesson.attention_forward, by_cudnn, q, k, v, causal, d ** -0.5) >= wanted


# Task 3: the gradients of a block -----------------------------------------------------------------

def of_a_block(rng, rows, keys, causal, *before):
    """What block_gradients gets, where all keys are in the block."""
    q, k, v, d_out = tensors(rng, *((*before, n, 8) for n in (rows, keys, keys, rows)), dtype=torch.float32)
    hidden, scale = hidden_keys(rows, keys, causal), 0.1
    scores = (scale * q @ k.mT).masked_fill(hidden, -INF)
    delta = (scores.softmax(-1) @ v * d_out).sum(-1, keepdim=True)
    return q, k, v, d_out, scores.logsumexp(-1, keepdim=True), delta, hidden, scale


def of_the_week_with_gradients():
    q, k, v = (x[0, 0, :, :4].float() for x in of_the_week(64))
    scores = 0.5 * q @ k.T
    d_out, delta = torch.tensor([[1.0, 0, 0, 0]], device=device), (scores.softmax(-1) @ v)[:, :1]
    return q, k, v, d_out, scores.logsumexp(-1, keepdim=True), delta, hidden_keys(1, 4, False), 0.5


def by_autograd(q, k, v, d_out, lse, delta, hidden, scale):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    out = (scale * q @ k.mT).masked_fill(hidden, -INF).softmax(-1) @ v
    return torch.autograd.grad((out * d_out).sum(), (q, k, v))


@pytest.mark.task(3)
def test_two_of_the_four_keys_keep_the_weights_that_they_have_among_all():
    """dv of keys 0 and 1, for d_out = (1, 0): their weights .24 and .03."""
    q, k, v, d_out, lse, delta, hidden, scale = of_the_week_with_gradients()
    _, _, dv = lesson.block_gradients(q, k[:2], v[:2], d_out, lse, delta, hidden[:, :2], scale)
    weights = [round(weight, 2) for weight in dv[:, 0].tolist()]
    assert weights != [0.88, 0.12], f"{weights}: together 1, as if there were no other keys. Whose sum is in lse?"
    assert weights != [-0.07, -0.03], f"{weights}: numbers of dk, where dv was wanted. Which of the results is which?"
    assert weights == [0.24, 0.03]


@pytest.mark.task(3)
def test_two_of_the_four_keys_find_delta_as_it_is_for_all():
    """ds of keys 0 and 1, from their dk: the query's first number is 1, and scale .5."""
    q, k, v, d_out, lse, delta, hidden, scale = of_the_week_with_gradients()
    _, dk, _ = lesson.block_gradients(q, k[:2], v[:2], d_out, lse, delta, hidden[:, :2], scale)
    ds = [round(number / 0.5, 3) for number in dk[:, 0].tolist()]
    assert ds != [0.181, -0.008], f"ds is {ds}, as if delta were a sum over these two keys: it is one over all four"
    assert ds == [-0.145, -0.052]


@pytest.mark.task(3)
def test_gradients_of_the_query_and_the_four_keys_of_the_week():
    """d_out = (1, 0), delta = 1.612. Results: dq, dk, dv."""
    assert_matches(lesson.block_gradients, *of_the_week_with_gradients(), oracle=by_autograd, tolerance=exponents())


@pytest.mark.task(3)
def test_a_hidden_key_has_no_weight_whatever_its_score():
    """The query sees key 0 with the score log(2), so lse is that. Hidden key 1 has the score log(4). dv is p."""
    q, v = torch.tensor([[1.0, 0]], device=device), torch.zeros(2, 2, device=device)
    k = torch.tensor([[2.0, 1], [4.0, 1]], device=device).log()
    lse, delta = k[:1, :1], torch.zeros(1, 1, device=device)
    dv = lesson.block_gradients(q, k, v, q, lse, delta, torch.tensor([[False, True]], device=device), 1.0)[2]
    p = round(dv[1, 0].item(), 2)
    asked = "Of which number is exp 0?"
    assert p != 1.0, f"The hidden key has the weight exp(0) = 1:\n0 was filled in for score - lse. {asked}"
    assert p != 0.5, f"The hidden key has the weight exp(0 - lse) = 0.5:\n0 was filled in for its score. {asked}"
    assert p != 2.0, "The hidden key has the weight exp(score - lse) = 2.0.\nWhere does `hidden` come in?"
    assert p == 0.0


@pytest.mark.task(3)
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_of_any_block_of_any_heads(causal, rng):
    """Causal: a hidden key has no weight and no gradient."""
    assert_matches(lesson.block_gradients, *of_a_block(rng, 5, 7, causal, 2, 3), oracle=by_autograd,
                   tolerance=exponents())


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_a_hidden_key_with_a_score_of_200_has_no_weight():
    """exp(200 - lse) is infinite in float32, and infinity times 0 is NaN."""
    q, k, v = (x[0, 0].float() for x in with_scores([0.0, 200.0], queries=2))
    scores = torch.tensor([[0.0, -INF], [0.0, 200.0]], device=device)
    delta = (scores.softmax(-1) @ v).sum(-1, keepdim=True)
    block = q, k, v, torch.ones_like(q), scores.logsumexp(-1, keepdim=True), delta, hidden_keys(2, 2, True), 1.0
    dq_has_nan = bool(lesson.block_gradients(*block)[0].isnan().any())
    assert not dq_has_nan, "dq has NaN. A hidden key's exp(200 - 0) is infinite: what is infinity times 0?"
    assert_matches(lesson.block_gradients, *block, oracle=by_autograd, tolerance=exponents().blind_to(*ROUNDED_INPUTS))


@pytest.mark.task(3)
@pytest.mark.counters
def test_a_block_takes_five_products_and_one_exp_of_its_scores(rng):
    """Scores, dp, dq, dk and dv."""
    operations = count(lesson.block_gradients, *of_a_block(rng, 5, 7, False)).library_operations
    products = sum(name.rpartition(".")[2] in PRODUCTS for name in operations)
    exponentials = sum(name.rpartition(".")[2].rstrip("_") in ("exp", "exp2", "softmax") for name in operations)
    assert products <= 5, f"{products} products, wanted 5: scores, dp, dq, dk, dv. Which is computed twice?"
    assert exponentials <= 1, f"exp is computed {exponentials} times for each pair. For what is p needed, beside dv?"


# Task 4: all blocks -------------------------------------------------------------------------------

def of_all_blocks(rng, *, heads=1, kv_heads=1, n_q=40, n_k=40, causal=True, batches=1):
    q, k, v = q_k_v(rng, torch.float32, d=8, heads=heads, kv_heads=kv_heads, n_q=n_q, n_k=n_k, batches=batches)
    d_out, = tensors(rng, q.shape, dtype=torch.float32)
    return q, k, v, attention(q, k, v, causal, 0.1), log_sum_exp(q, k, v, causal, 0.1), d_out, causal, 0.1


def all_by_autograd(q, k, v, o, lse, d_out, causal, scale, rows=0):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    return torch.autograd.grad((attention(q, k, v, causal, scale) * d_out).sum(), (q, k, v))


@pytest.mark.task(4)
def test_each_query_has_one_lse_and_one_delta_for_both_keys():
    """q and v are 0, the keys (1, 0) and (0, 1): p is exp(-lse), dp is 0, and dq is ds, -p * delta. Query 0 has p 1/2
    and delta 2, query 1 has p 1/4 and delta 8."""
    zeros, ones, o, keys = (torch.tensor(rows, device=device)[None, None] for rows in (
        [[0.0, 0], [0, 0]], [[1.0, 1], [1, 1]], [[1.0, 1], [4, 4]], [[1.0, 0], [0, 1]]))
    lse = torch.tensor([[[2.0, 4]]], device=device).log()
    dq, _, _ = lesson.attention_backward(zeros, keys, zeros, o, lse, ones, False, 1.0)
    ds = [[round(number, 2) for number in row] for row in dq[0, 0].tolist()]
    asked = "Beside (rows, keys), what shape has one number for each query?"
    assert ds != [[-1.0, -4.0], [-0.5, -2.0]], f"As if key 1 had the delta of query 1. {asked}"
    assert ds != [[-1.0, -0.5], [-4.0, -2.0]], f"As if key 1 had the lse of query 1. {asked}"
    assert ds != [[-1.0, -2.0], [-1.0, -2.0]], f"As if key 1 had the lse and the delta of query 1. {asked}"
    assert ds != [[-0.5, -0.5], [-1.0, -1.0]], "delta is 1 and 4, wanted 2 and 8: the mean of out * d_out, or the sum?"
    of_both = "As if both queries had the delta 10. Along which axis is out * d_out added up?"
    assert ds != [[-5.0, -5.0], [-2.5, -2.5]], of_both
    assert ds == [[-1.0, -1.0], [-2.0, -2.0]]


@pytest.mark.task(4)
@pytest.mark.parametrize("rows", [40, 16])
def test_gradients_of_forty_queries_in_one_block_and_in_three(rows, rng):
    assert_matches(lesson.attention_backward, *of_all_blocks(rng), rows=rows, oracle=all_by_autograd,
                   tolerance=exponents())


def dv_of_one_key(d_out):
    """dv for one query with this d_out in each head, and one key in each key head: all weights are 1."""
    d_out = torch.tensor(d_out, device=device).reshape(1, -1, 1, 1)
    ones, lse = torch.ones_like(d_out), torch.ones(d_out.shape[:3], device=device)
    found = lesson.attention_backward(ones, ones[:, :2], ones[:, :2], ones, lse, d_out, False, 1.0)
    return [round(number, 2) for number in found[2].flatten().tolist()]


@pytest.mark.task(4)
def test_dv_of_a_key_head_is_the_sum_of_d_out_of_three_heads_one_after_the_other():
    dv_of_both_key_heads = dv_of_one_key(d_out=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert dv_of_both_key_heads != [21.0, 42.0], "[21.0, 42.0]: heads 0, 2, 4 for key head 0. Which of them use it?"
    assert dv_of_both_key_heads != [1.0, 8.0], "[1.0, 8.0]: of the first head of three. Which others use its key head?"
    assert dv_of_both_key_heads != [4.0, 32.0], "[4.0, 32.0]: of the last head of three. Which others use its key head?"
    assert dv_of_both_key_heads != [2.33, 18.67], "[2.33, 18.67]: means over three heads. Does each add a third?"
    assert dv_of_both_key_heads == [7.0, 56.0]


@pytest.mark.task(4)
@pytest.mark.parametrize("heads, kv_heads", [(2, 1), (6, 2), (2, 2)])
def test_gradients_of_a_key_head_are_sums_over_its_query_heads(heads, kv_heads, rng):
    arguments = of_all_blocks(rng, heads=heads, kv_heads=kv_heads, n_q=5, n_k=5, causal=False)
    assert_matches(lesson.attention_backward, *arguments, oracle=all_by_autograd, tolerance=exponents())


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k", [(5, 20), (37, 9), (3, 0), (0, 3)])
def test_gradients_of_any_lengths(n_q, n_k, rng):
    arguments = of_all_blocks(rng, heads=4, kv_heads=2, n_q=n_q, n_k=n_k, batches=2)
    assert_matches(lesson.attention_backward, *arguments, rows=16, oracle=all_by_autograd,
                   tolerance=exponents().blind_to(*ROUNDED_INPUTS))


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_single_key_passes_nothing_back_to_itself_and_to_its_query():
    """Its weight is 1 whatever q and k are. The numbers are whole, so that d_out . v - delta is exactly 0."""
    q, k, v, d_out = (torch.tensor(row, device=device).reshape(1, 1, 1, 2)
                      for row in ([1.0, 2], [3.0, 1], [2.0, 5], [1.0, 4]))
    found = lesson.attention_backward(q, k, v, v, (q * k).sum(-1), d_out, True, 1.0)
    dq, dk, dv = ([round(number, 4) for number in each.flatten().tolist()] for each in found)
    assert (dq, dk, dv) == ([0, 0], [0, 0], [1, 4])


@pytest.mark.task(1, 2, 4)
@pytest.mark.parametrize("dtype", [HALF, BRAIN])
def test_flash_attention_has_gradients(dtype, rng):
    q, k, v = q_k_v(rng, dtype, heads=2, n_q=9, n_k=12, batches=2)
    d_out, = tensors(rng, q.shape, dtype=dtype)
    assert_matches(lesson.flash_attention, q, k, v, True, oracle=attention, tolerance=rounded(dtype))
    assert_matches(gradients(lesson.flash_attention), q, k, v, True, 0.05, d_out=d_out, oracle=gradients(attention),
                   tolerance=from_rounded_out(dtype))


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_gradients_in_16_bits_are_added_up_in_float32():
    """300 queries, a block each, and one key: its weight is 1, and each query adds 1 to dv."""
    q = torch.ones(1, 1, 300, 8, dtype=BRAIN, device=device)
    k, lse = q[:, :, :1], torch.full((1, 1, 300), 8.0, device=device)
    dv = lesson.attention_backward(q, k, k, q, lse, q, False, 1.0, rows=1)[2][0, 0, 0, 0].item()
    assert dv != 256.0, "dv is 256.0, where 1 no longer adds anything in bfloat16. Of which dtype is the sum?"
    assert dv == 300.0


@pytest.mark.task(4)
@pytest.mark.edge
def test_its_arguments_and_d_out_may_be_stored_in_any_way(rng):
    q, k, v = q_k_v(rng, torch.float32, d=8, heads=2, n_q=5, n_k=7)
    d_out, = tensors(rng, q.shape, dtype=torch.float32)
    assert_matches(gradients(lesson.flash_attention), q, k, v, True, 0.1, d_out=d_out, oracle=gradients(attention),
                   tolerance=exponents(), layouts="any")


@pytest.mark.task(4)
def test_its_backward_is_the_derivative_of_its_forward(rng):
    """In float64, against differences of the function itself."""
    gradcheck(lesson.flash_attention, *q_k_v(rng, torch.float64, d=8, heads=4, kv_heads=2, n_q=7, n_k=9), True)
    gradcheck(lesson.flash_attention, *q_k_v(rng, torch.float64, d=3, heads=2, n_q=3, n_k=4), False, 0.7, full=True)


@pytest.mark.task(4)
@pytest.mark.gpu
def test_it_has_the_same_gradients_under_torch_compile(rng):
    """In float32, where no kernel is launched: the compiler alone takes longer than all other tests of the day."""
    q, k, v = q_k_v(rng, torch.float32, d=8, heads=2, n_q=5, n_k=7)
    d_out, = tensors(rng, q.shape, dtype=torch.float32)
    assert_matches(gradients(compiled_by_torch(lesson.flash_attention)), q, k, v, True, 0.1, d_out=d_out,
                   oracle=gradients(attention), tolerance=exponents())


@pytest.mark.task(1, 2, 4)
@pytest.mark.counters
def test_the_backward_runs_no_forward_again(rng):
    q, k, v = q_k_v(rng, n_q=5, n_k=7)
    counters = count(gradients(lesson.flash_attention), q, k, v, d_out=torch.ones_like(q))
    kernels = [launch.kernel for launch in counters.launches]
    assert kernels == ["forward_kernel"]


def peak_of_training(rng, n):
    """Bytes at the peak of forward and backward for n queries and keys."""
    q, k, v = q_k_v(rng, n_q=n, n_k=n)
    return memory(gradients(lesson.flash_attention), q, k, v, True, d_out=torch.ones_like(q)).peak


@pytest.mark.task(4)
@pytest.mark.counters
def test_what_is_of_all_queries_is_computed_once_and_not_for_each_block(rng):
    """64 queries and one key: nearly all tensors are of queries, and 16 blocks of 4 make few more bytes than one."""
    arguments = of_all_blocks(rng, n_q=64, n_k=1, causal=False)
    at_once = memory(lesson.attention_backward, *arguments, rows=64).made
    in_blocks = memory(lesson.attention_backward, *arguments, rows=4)
    times = round(in_blocks.made / at_once, 1)
    words = f"16 blocks make {times} times the bytes of one block of 64 queries. What is computed anew in each?"
    assert in_blocks.made <= 2 * at_once, words


@pytest.mark.task(1, 2, 4)
@pytest.mark.counters
def test_twice_the_length_needs_twice_the_memory(rng):
    growth = round(peak_of_training(rng, 256) / peak_of_training(rng, 128), 2)
    all_at_once = "All scores would be four times as many: of how many queries is a block?"
    assert growth <= 2.1, f"The peak grows {growth} times. {all_at_once}"


@pytest.mark.task(1, 2, 4)
@pytest.mark.gpu
@pytest.mark.parametrize("n", [1024, 2048, 4096])
def test_twice_the_length_needs_twice_the_memory_of_a_gpu(n, rng):
    growth = peak_of_training(rng, 2 * n) / peak_of_training(rng, n)
    assert growth <= 2.1


@pytest.mark.task(1, 2, 4)
def test_a_transformer_learns_with_it_as_with_all_scores_in_memory():
    """20 steps of toy_block's training: the largest difference of two losses."""
    yours, eager = lesson.loss_curve(20), lesson.loss_curve(20, eager=True)
    largest_difference = max(abs(a - b) for a, b in zip(yours, eager))
    assert largest_difference < 0.005


@pytest.mark.task(1, 2, 4)
@pytest.mark.counters
@pytest.mark.parametrize("batches, heads, n_q", [(1, 1, 40), (2, 3, 17)])
def test_predicts_what_waits_for_the_backward(batches, heads, n_q, rng):
    """Beside the arguments and the result."""
    predicted = lesson.saved_bytes(batches, heads, n_q)
    of_all = "lse has one number for each query: in how many heads, of how many batches?"
    assert batches == 1 or predicted != 4 * heads * n_q, f"{predicted} bytes, of one batch alone. {of_all}"
    assert heads == 1 or predicted != 4 * batches * n_q, f"{predicted} bytes, of one head alone. {of_all}"
    of_a_query = predicted / (batches * heads * n_q)
    assert of_a_query != 8, f"{predicted} bytes: two numbers for each query. Is delta there before d_out is?"
    assert of_a_query != 2, f"{predicted} bytes: 2 for each query. Which dtype has lse?"
    assert of_a_query != 1, f"{predicted} bytes: 1 for each query. How many has a number of float32?"
    q, k, v = q_k_v(rng, heads=heads, n_q=n_q, n_k=20, batches=batches)
    measured = memory(gradients(lesson.flash_attention), q, k, v, True, d_out=torch.ones_like(q)).saved
    assert predicted == measured
