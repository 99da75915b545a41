"""The lesson again, as checks: delta, dq by tiles of queries, dk and dv by tiles of keys, what both cost."""

import math

import pytest
import torch

from tools.check import assert_matches, compiled, compiled_by_torch, count, gradients, memory, speed_ratio, terms
from tools.check.inputs import matrices
from tools.check.tolerances import SLACK, Tolerance, accumulated, unit
from tools.gpu import device
from week3.katas.flash_backward import flash_backward as lesson

INF, NAN = float("inf"), float("nan")
HALF, BRAIN = torch.float16, torch.bfloat16
FEW_DIGITS = "tf32 round trip", "float16 round trip", "bfloat16 round trip"  # where inputs have few digits
TILE_M, TILE_N = 32, 16  # queries and keys of a tile


# Inputs -------------------------------------------------------------------------------------------

def tensors(rng, *shapes, dtype=HALF):
    return [torch.from_numpy(each).to(device, dtype) for each in matrices(rng, *shapes)]


def wide(rows, d=64, dtype=HALF):
    """(1, 1, n, d): these rows, and zeros in the other columns."""
    rows = torch.tensor(rows, device=device)
    return torch.nn.functional.pad(rows, (0, d - rows.shape[-1]))[None, None].to(dtype)


def with_lse_and_delta(q, k, v, d_out, causal, scale):
    """What find_dq and find_dk_dv take. lse and delta come from float64."""
    scores = scores_of(q.double(), k.double(), causal, scale)
    weights = scores.softmax(-1).masked_fill((scores == -INF).all(-1, keepdim=True), 0.0)
    delta = (weights @ heads_of(v.double(), q) * d_out.double()).sum(-1)
    return q, k, v, d_out, scores.logsumexp(-1).float(), delta.float(), causal, scale


def of_the_lesson():
    keys = [[2.0, 1, 5, 0], [-2.0, 1, 3, 0], [1.0, 0, 0, 1], [1.0, 2, 1, 1]]
    values = [[1.0, 0], [0, 1], [1, 1], [2, 0]]
    query, d_out = [[1.0, 2, 0, 1]], [[1.0, 0]]
    return with_lse_and_delta(wide(query), wide(keys), wide(values), wide(d_out), False, 0.5)


def drawn(rng, dtype=HALF, *, d=64, heads=1, kv_heads=1, n_q=40, n_k=40, batches=1, causal=False):
    q, d_out = tensors(rng, *[(batches, heads, n_q, d)] * 2, dtype=dtype)
    k, v = tensors(rng, *[(batches, kv_heads, n_k, d)] * 2, dtype=dtype)
    return with_lse_and_delta(q, k, v, d_out, causal, 0.1)


def with_scores(scores, values, queries=1, causal=False):
    """With scale 1 the scores of each query are these, dp of key j is values[j]."""
    ones, k, v = wide([[1.0]] * queries), wide([[score] for score in scores]), wide([[value] for value in values])
    return with_lse_and_delta(ones, k, v, ones, causal, 1.0)


# Oracles and how near -----------------------------------------------------------------------------

def heads_of(x, q):
    return x.repeat_interleave(q.shape[1] // x.shape[1], 1)


def scores_of(q, k, causal, scale):
    hidden = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1) & causal
    return (scale * q @ heads_of(k, q).mT).masked_fill(hidden, -INF)


def attention(q, k, v, causal=False, scale=None):
    return scores_of(q, k, causal, q.shape[-1] ** -0.5 if scale is None else scale).softmax(-1) @ heads_of(v, q)


def by_autograd(q, k, v, d_out, causal, scale):
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    return torch.autograd.grad(attention(q, k, v, causal, scale), (q, k, v), d_out)


def row_sums(o, d_out, tile_m=0):
    return (o * d_out).sum(-1)


def right_dq(q, k, v, d_out, lse, delta, causal, scale):
    return by_autograd(q, k, v, d_out, causal, scale)[0]


def right_dk_dv(q, k, v, d_out, lse, delta, causal, scale):
    return by_autograd(q, k, v, d_out, causal, scale)[1:]


def dq_of_find_dq(q, k, v, d_out, lse, delta, causal, scale):
    return lesson.find_dq(q, k, v, d_out, lse, delta, causal, scale, tiles=(TILE_M, TILE_N))


def dq_beside_column_0(q, k, v, d_out, lse, delta, causal, scale):
    return dq_of_find_dq(q, k, v, d_out, lse, delta, causal, scale)[..., 1:]


def right_beside_column_0(q, k, v, d_out, lse, delta, causal, scale):
    return right_dq(q, k, v, d_out, lse, delta, causal, scale)[..., 1:]


def dk_and_dv(q, k, v, d_out, lse, delta, causal, scale):
    return lesson.find_dk_dv(q, k, v, d_out, lse, delta, causal, scale, tiles=(TILE_M, TILE_N))


def dv_alone(*arguments):
    return dk_and_dv(*arguments)[1]


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


OF_MANY = 10  # with a causal mask ds of the first queries is larger than is typical: up to 7.6 roundings in 300 draws


def rounded(dtype, times=5):
    """p or ds is rounded before it is multiplied, and so is the result; ds is a difference."""
    name = name_of(dtype)
    return Tolerance(SLACK * times * unit(name), f"{name} weights and results", name).blind_to(*FEW_DIGITS)


def from_rounded_out(dtype):
    """delta is made of out, which is rounded: where dp - delta cancels, its error weighs more. dv knows no delta."""
    return {"q": rounded(dtype, 16), "k": rounded(dtype, 16), "v": rounded(dtype)}


def assert_dq(*arguments, times=5):
    __tracebackhide__ = True
    assert_matches(dq_of_find_dq, *arguments, oracle=right_dq, tolerance=rounded(arguments[0].dtype, times))


def assert_dk_and_dv(*arguments, times=5):
    __tracebackhide__ = True
    assert_matches(dk_and_dv, *arguments, oracle=right_dk_dv, tolerance=rounded(arguments[0].dtype, times))


def first_rows(x, columns, digits=3):
    """These columns of the first head, rounded, without minus zeros."""
    return [[round(number, digits) + 0.0 for number in row[:columns]] for row in x[0, 0].tolist()]


def first_column(x, digits=3):
    return [row[0] for row in first_rows(x, 1, digits)]


SHAPES = [  # dtype, d, batches, heads, kv_heads, n_q, n_k, causal
    (HALF, 64, 1, 1, 1, 1, 33, False), (BRAIN, 128, 1, 1, 1, 33, 16, True), (HALF, 64, 2, 4, 2, 31, 37, True)]


# Task 1: delta ------------------------------------------------------------------------------------

@pytest.mark.task(1)
def test_delta_is_the_row_sum_of_out_times_d_out():
    """Rows of out: (1.5, .25) and (2, 3). The tile is square: sums over the wrong axis fit in, and are named."""
    out, d_out = wide([[1.5, 0.25], [2, 3]]), wide([[1.0, 0], [10, 100]])
    delta = lesson.find_delta(out, d_out, tile_m=64).tolist()
    assert delta != [[[21.5, 300.0]]], "These are sums of columns, and each query is a row. Over which axis is the sum?"
    assert delta != [[[1.75, 5.0]]], "These are the row sums of out. By what is it multiplied, place by place?"
    assert delta != [[[1.0, 110.0]]], "These are the row sums of d_out. By what is it multiplied, place by place?"
    assert delta == [[[1.5, 320.0]]]


@pytest.mark.task(1)
def test_products_of_delta_are_float32():
    """300 * 300 is 90000: float16 ends at 65504."""
    out = wide([[300.0, 1.0]])
    delta = lesson.find_delta(out, out, tile_m=16).item()
    assert delta != INF, "delta is inf: 300 * 300 has no place in float16. Which comes first, .to or the product?"
    assert delta == 90001.0


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("dtype, batches, heads, n_q, d", [(HALF, 1, 1, 1, 64), (BRAIN, 2, 3, 33, 128),
                                                           (HALF, 3, 2, 16, 64)])
def test_each_query_of_each_head_has_its_delta(dtype, batches, heads, n_q, d, rng):
    out, d_out = tensors(rng, *[(batches, heads, n_q, d)] * 2, dtype=dtype)
    assert_matches(lesson.find_delta, out, d_out, tile_m=16, oracle=row_sums,
                   tolerance=accumulated("float32", d).blind_to(*FEW_DIGITS))


@pytest.mark.task(1)
@pytest.mark.counters
def test_out_and_d_out_are_loaded_once_and_delta_is_stored_once(rng):
    """40 rows of 64 numbers of 2 bytes, and 40 of 4 bytes."""
    out, d_out = tensors(rng, *[(1, 1, 40, 64)] * 2)
    counters = count(lesson.find_delta, out, d_out, tile_m=16)
    assert counters.bytes_loaded <= 2 * 40 * 64 * 2
    assert counters.bytes_stored == 40 * 4


# Task 2: dq ---------------------------------------------------------------------------------------

# dq, and column 0 of dv: with exp(s - lse) and with exp2(s - lse), where lse has log2(e) in it and s has not
BOTH_POWERS = [[0.0, 0.03, -0.07], [0.0, 0.03, -0.22]], [[0.052, 0.007, 0.019, 0.14], [0.128, 0.032, 0.064, 0.256]]

TOO_MUCH = "{} is 1.44 = log2(e) times what was wanted. What beside the argument of exp2 has this factor?"


@pytest.mark.task(2)
def test_dq_of_the_query_of_the_lesson():
    """scale * ds @ k, with ds = -.145 -.052 -.053 .250."""
    dq = first_rows(dq_of_find_dq(*of_the_lesson()), columns=3, digits=2)[0]
    assert dq != [0.03, 0.16, -0.11], "As if exp stood where exp2 belongs: log2(e) is in s and lse already"
    assert dq not in BOTH_POWERS[0], "As if one of s and lse were for exp and the other for exp2. Which has log2(e)?"
    assert dq != [0.01, 0.22, -0.45], TOO_MUCH.format("dq")
    assert dq != [-0.69, -1.82, -6.02], "As if delta were taken off p * dp: ds = p * (dp - delta)"
    assert_dq(*of_the_lesson())


@pytest.mark.task(2)
def test_dq_is_a_sum_over_all_tiles_of_keys():
    """40 keys in tiles of 16, scores of 0, values 1, 2, 3, ..."""
    assert_dq(*with_scores([0.1 * (at % 7) for at in range(40)], [float(at % 5) for at in range(40)]))


@pytest.mark.task(2)
def test_query_0_sees_key_0_alone_and_query_1_sees_both():
    """Scores 0 1 2, k is the score, dp = 1 2 3. Query 1: p = .269 .731, ds = -.197 .197, dq = .197."""
    dq = first_column(dq_of_find_dq(*with_scores([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], queries=3, causal=True)))
    assert dq != [0.0, 0.0, -0.141], "dq of query 1 is 0, as if it did not see its own key"
    words = f"dq of query 0 is {dq[0]}: keys 1 and 2 add to it. `whole` is 1: is the tile of keys 0 to 15 masked?"
    assert not 32.2 < dq[0] < 32.4, words
    assert dq[0] == 0.0, f"dq of query 0 is {dq[0]}. It sees key 0 alone, whose weight is 1 whatever its score is"
    assert dq == [0.0, 0.197, 0.424]


@pytest.mark.task(2)
@pytest.mark.parametrize("dtype", [HALF, BRAIN])
def test_query_i_sees_keys_0_to_i(dtype, rng):
    assert_dq(*drawn(rng, dtype, causal=True), times=OF_MANY)


def key_heads_used(heads, kv_heads):
    """The key head by whose keys dq of each query head is found: column h of dq is that of key head h."""
    q, d_out = torch.zeros(1, heads, 1, 64, device=device), torch.ones(1, heads, 1, 64, device=device)
    k = torch.zeros(1, kv_heads, 2, 64, device=device)
    for head in range(kv_heads):
        k[0, head, 1, head] = 1
    v = torch.tensor([0.0, 1.0], device=device)[:, None].expand(k.shape)
    arguments = with_lse_and_delta(*(x.to(HALF) for x in (q, k, v, d_out)), False, 1.0)
    return dq_of_find_dq(*arguments)[0, :, 0].argmax(-1).tolist()


@pytest.mark.task(2)
def test_heads_of_queries_one_after_the_other_share_a_key_head():
    key_heads = key_heads_used(heads=6, kv_heads=2)
    assert key_heads != [0, 1, 0, 1, 0, 1], "Heads 0, 2 and 4 use key head 0. GROUP heads in a row do: 0, 1 and 2"
    words = "Heads 1 and 4 use key head 1. Which operation with GROUP = 3 makes 0, 0, 0, 1, 1, 1 of 0 to 5?"
    assert key_heads != [0, 1, 0, 0, 1, 0], words
    assert key_heads == [0, 0, 0, 1, 1, 1]


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("dtype, d, batches, heads, kv_heads, n_q, n_k, causal", SHAPES)
def test_dq_of_any_heads_and_lengths(dtype, d, batches, heads, kv_heads, n_q, n_k, causal, rng):
    arguments = drawn(rng, dtype, d=d, heads=heads, kv_heads=kv_heads, n_q=n_q, n_k=n_k, batches=batches, causal=causal)
    assert_dq(*arguments, times=OF_MANY)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("causal", [False, True])
def test_places_past_the_last_key_add_nothing_to_dq(causal, rng):
    """18 keys, with scores of -20 for query 19 and of 0 for the others. The other places of the second tile have s = 0,
    and keys of 0: for query 19 p is exp(0 - -17), and ds infinite in float16."""
    assert_dq(*of_the_lesson())  # of a kernel that stores nothing there is no more to say
    q, k, v, d_out, *_ = drawn(rng, n_q=20, n_k=18)
    q[:], k[..., 0] = 0, -20
    q[:, :, 19, 0] = 1
    arguments = with_lse_and_delta(q, k, v, d_out, causal, 1.0)
    queries_with_nan = [query for query, row in enumerate(dq_of_find_dq(*arguments)[0, 0]) if row.isnan().any()]
    words = "Query 19: past the last key p is exp(17), ds infinite, times a key of 0 NaN. What should p be there?"
    assert queries_with_nan != [19], words
    assert_matches(dq_beside_column_0, *arguments, oracle=right_beside_column_0, tolerance=rounded(HALF))


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_a_hidden_key_with_a_score_of_200_adds_nothing_to_dq():
    """Query 0 does not see key 1: exp(200 - 0) is infinite in float32. Query 1 gives it all weight."""
    assert_dq(*of_the_lesson())
    dq = first_column(dq_of_find_dq(*with_scores([0.0, 200.0], [1.0, 2.0], queries=2, causal=True)))
    words = "Key 1 is hidden from query 0, and exp(200) infinite: what is infinity times 0?"
    assert str(dq) != "[nan, 0.0]", words
    assert dq == [0.0, 0.0]


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_a_query_whose_scores_are_all_minus_infinity_has_dq_0():
    """Queries (inf, 0, ...) and (1, 0, ...), keys (-1, 0, ...), (-2, 0, ...), (-3, 0, ...)."""
    q, k, v = wide([[INF], [1.0]]), wide([[-1.0], [-2.0], [-3.0]]), wide([[1.0], [2.0], [4.0]])
    dq = first_column(dq_of_find_dq(*with_lse_and_delta(q, k, v, wide([[1.0]] * 2), False, 1.0)), digits=2)
    assert dq == [0.0, -0.57]


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_what_is_not_finite_in_a_query_stays_in_its_row_of_dq(rng):
    q, k, v, d_out, _, _, causal, scale = drawn(rng)
    q[0, 0, 7, 3], q[0, 0, 9, 3] = NAN, INF
    dq = dq_of_find_dq(*with_lse_and_delta(q, k, v, d_out, causal, scale))
    queries_with_nan = [query for query in range(40) if dq[0, 0, query].isnan().any()]
    assert queries_with_nan == [7, 9]


def counted(function, rng, n_q, n_k, causal=True, heads=1, kv_heads=1):
    return count(function, *drawn(rng, n_q=n_q, n_k=n_k, causal=causal, heads=heads, kv_heads=kv_heads),
                 tiles=(TILE_M, TILE_N))


def tiles_seen(n_q, n_k, causal):
    """Pairs of a tile of queries and a tile of keys, of which some place sees some key."""
    pairs = [(row, col) for row in range(0, n_q, TILE_M) for col in range(0, n_k, TILE_N)]
    return sum(col <= row + TILE_M - 1 or not causal for row, col in pairs)


LENGTHS = [(33, 33, True), (20, 33, False), (20, 40, True)]


def assert_tiles_seen_take(products_of_a_tile, function, rng, n_q, n_k, causal, asked):
    """These products for each tile in which a query sees a key, and no more. asked: where all tiles were multiplied."""
    __tracebackhide__ = True
    each, of_one = len(products_of_a_tile), 2 * TILE_M * TILE_N * 64  # multiplications and additions
    products = math.ceil(counted(function, rng, n_q, n_k, causal).flops / of_one)
    tiles, seen = tiles_seen(n_q, n_k, False), tiles_seen(n_q, n_k, causal)
    lengths = f"{n_q} queries, {n_k} keys: in {seen} of {tiles} tiles (32 x 16) a query sees a key."
    if seen < tiles:
        assert products != each * tiles, f"{lengths} {products} products are {each} for each of {tiles}. {asked}"
    one_more = f"{lengths} {products} products are {each + 1} for each of these {seen}, not {each}"
    assert products != (each + 1) * seen, f"{one_more} ({', '.join(products_of_a_tile)}). Which is computed twice?"
    assert products <= each * seen, f"{lengths} Each takes {each}: {', '.join(products_of_a_tile)}"


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("n_q, n_k, causal", LENGTHS)
def test_queries_kernel_multiplies_three_times_for_each_tile_that_it_sees(n_q, n_k, causal, rng):
    asked = "Where does the loop over keys end?"
    assert_tiles_seen_take(["s", "dp", "ds @ k"], lesson.find_dq, rng, n_q, n_k, causal, asked)


@pytest.mark.task(2)
@pytest.mark.counters
def test_queries_kernel_loads_each_tile_once_and_stores_dq_once(rng):
    """64 queries, 64 keys, causal: the two programs see 32 and 64 keys. A row has 64 numbers of 2 bytes."""
    counters, row = counted(lesson.find_dq, rng, 64, 64), 64 * 2
    loads_of_q_and_d_out, loads_of_k_and_v, loads_of_lse_and_delta = 2 * 64 * row, 2 * (32 + 64) * row, 2 * 64 * 4
    words = f"Once each: q and d_out {loads_of_q_and_d_out} bytes, k and v {loads_of_k_and_v}"
    assert counters.bytes_loaded <= loads_of_q_and_d_out + loads_of_k_and_v + loads_of_lse_and_delta, words
    in_each_turn = "dq is stored once for each tile of keys. After how many of them is the sum complete?"
    assert counters.bytes_stored != 6 * TILE_M * row, in_each_turn
    assert counters.bytes_stored <= 64 * row, "Each row of dq is stored once. Which are stored again?"
    assert counters.bytes_atomic == 0


FLOAT32 = "As if {} became float32 ({} conversions): tensor cores multiply 16 bits faster. What should be rounded?"


@pytest.mark.task(2)
@pytest.mark.counters
def test_queries_kernel_converts_ds_and_the_result_and_nothing_else(rng):
    """32 x 16 numbers of ds in each of 2 + 4 tiles, and 64 x 64 results, each once."""
    counters, ds, k, results = counted(lesson.find_dq, rng, 64, 64), 6 * 32 * 16, 6 * 16 * 64, 64 * 64
    assert counters.conversions >= results
    assert counters.conversions != k + results, FLOAT32.format("k", k)
    words = f"ds should take {ds} conversions, the result {results}. What else changes its dtype?"
    assert counters.conversions <= ds + results, words
    assert counters.float64 == 0


def evidence(function, kernel, rng, d):
    """Names of instructions, and bytes that find no register, of a thread."""
    arguments = drawn(rng, BRAIN, d=d, heads=2, kv_heads=1, n_q=100, n_k=100, causal=True)
    found = compiled(function, *arguments, chip="h100").kernels[kernel]
    return list(found.instructions), found.spills


def on_tensor_cores(instructions):
    return [name for name in instructions if name.startswith("wgmma.mma_async")]


def turned_in_shared_memory(instructions):
    return [name for name in instructions if name.startswith("ldmatrix") and ".trans" in name]


@pytest.mark.task(2)
@pytest.mark.compiled
def test_queries_kernel_runs_on_tensor_cores_and_spills_nothing(rng):
    instructions, spills = evidence(lesson.find_dq, "queries_kernel", rng, 64)
    assert on_tensor_cores(instructions) != []
    assert spills == 0, f"At d = 64, in bfloat16, {spills} bytes a thread find none of its 255 registers"


# Task 3: dk and dv --------------------------------------------------------------------------------

@pytest.mark.task(3)
def test_dv_of_the_keys_of_the_lesson_are_their_weights():
    """d_out = (1, 0): column 0 of dv is p = .237 .032 .087 .644."""
    try:
        weights = first_column(dv_alone(*of_the_lesson()))
    except ValueError as refused:  # its own words, the line and the shapes are shown; the question comes on top
        words = "In s.T a row is a key, a column a query: 16 x 32. What in the line below has a row for each query?"
        if "incompatible dimensions at index 0: 16 and 32" in str(refused):
            refused.args = (f"{refused}. {words}",)
        raise
    assert weights != [-0.145, -0.052, -0.053, 0.25], "Column 0 of dv is ds. Of what is dv made, p or ds?"
    assert weights != [0.125, 0.007, 0.03, 0.53], "As if exp stood where exp2 belongs: log2(e) is in s and lse already"
    words = "As if one of s and lse were for exp and the other for exp2. Which has log2(e)?"
    assert weights not in BOTH_POWERS[1], words
    words = "Half of each weight, and scale is 1/2. Which of dk and dv has it as a factor?"
    assert weights != [0.118, 0.016, 0.044, 0.322], words
    assert weights != [0.0] * 4, "dv is 0, as if no query were there. There is one: which rows has the loop then?"
    assert weights == [0.237, 0.032, 0.087, 0.644]


@pytest.mark.task(3)
def test_dk_of_the_keys_of_the_lesson():
    """scale * ds for each key, times q = (1, 2, 0, 1)."""
    dk = first_column(dk_and_dv(*of_the_lesson())[0], digits=2)
    assert dk != [-0.1, -0.04, -0.04, 0.18], TOO_MUCH.format("dk")
    assert dk != [-0.69, -0.81, -0.76, -0.16], "As if delta were taken off p * dp: ds = p * (dp - delta)"
    assert_dk_and_dv(*of_the_lesson())


@pytest.mark.task(3)
def test_key_1_is_seen_by_query_1_alone_and_key_0_by_both():
    """Scores 0 and 1, d_out = 1. Query 0: p = 1. Query 1: p = .269 .731."""
    dv = first_column(dv_alone(*with_scores([0.0, 1.0], [1.0, 2.0], queries=2, causal=True)), digits=2)
    assert dv[1] != 3.45, "dv of key 1 is 3.45: query 0 adds exp(1 - 0) to it, and does not see it"
    assert dv != [0.27, 0.0], "dv is .27 and 0, as if no query saw its own key"
    assert dv == [1.27, 0.73]


@pytest.mark.task(3)
def test_key_63_is_seen_by_query_63_alone_where_tiles_have_16_queries_and_64_keys():
    """Scores of 0, d_out = 1: query i gives 1 / (i + 1) to each key that it sees. 64 queries in tiles of 16."""
    arguments = with_scores([0.0] * 64, [1.0] * 64, queries=64, causal=True)
    of_key_63 = round(lesson.find_dk_dv(*arguments, tiles=(16, 64))[1][0, 0, 63, 0].item(), 2)
    words = "As if queries 16 to 63 saw key 63: in which tiles of 16 queries has a tile of 64 keys hidden places?"
    assert of_key_63 != 1.36, words
    assert of_key_63 == 0.02


@pytest.mark.task(3)
def test_queries_16_to_31_see_key_16_where_tiles_have_32_queries_and_16_keys():
    """Scores of 0, d_out = 1: query i gives 1 / (i + 1) to a key that it sees. 1/17 + ... 1/32 = .68; from 1: 4.06."""
    dv = first_column(dv_alone(*with_scores([0.0] * 32, [1.0] * 32, queries=32, causal=True)), digits=2)
    of_keys_0_and_16 = dv[0], dv[16]
    words = "As if no query saw key 16. Query 16 is in the tile of queries 0 to 31: where does the loop begin?"
    assert of_keys_0_and_16 != (4.06, 0.0), words
    assert of_keys_0_and_16 == (4.06, 0.68)


@pytest.mark.task(3)
def test_key_j_gets_its_gradients_from_queries_j_and_later(rng):
    assert_dk_and_dv(*drawn(rng, causal=True), times=OF_MANY)


def sums_for_one_key(d_out):
    """Column 0 of dv for one query in each head, with this d_out, and one key in each of two key heads: all p are 1."""
    heads = len(d_out)
    d_out = wide([[each] for each in d_out])[0].reshape(1, heads, 1, 64)
    ones = torch.zeros_like(d_out)
    dv = dv_alone(*with_lse_and_delta(ones, ones[:, :2], ones[:, :2], d_out, False, 1.0))
    return dv[0, :, 0, 0].tolist()


@pytest.mark.task(3)
def test_dv_of_a_key_head_is_a_sum_over_three_heads_one_after_the_other():
    dv_of_both_key_heads = sums_for_one_key(d_out=[1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert dv_of_both_key_heads != [21.0, 42.0], "[21.0, 42.0]: heads 0, 2 and 4 for key head 0. Which use it?"
    assert dv_of_both_key_heads != [1.0, 8.0], "[1.0, 8.0]: of heads 0 and 3 alone. Who shares their keys?"
    assert dv_of_both_key_heads == [7.0, 56.0]


@pytest.mark.task(3)
def test_each_head_of_each_batch_has_its_own_lse():
    """Scores of 0, d_out = 1, lse = -log(w), so p = w: 1 and 2 for the heads of batch 0, 4 and 8 for batch 1."""
    q, k = torch.ones(2, 2, 1, 64, device=device, dtype=HALF), torch.zeros(2, 1, 1, 64, device=device, dtype=HALF)
    lse = -torch.tensor([[[1.0], [2.0]], [[4.0], [8.0]]], device=device).log()
    dv_of_both_batches = dv_alone(q, k, k, q, lse, torch.zeros_like(lse), False, 1.0)[:, 0, 0, 0].tolist()
    words = "dv of batch 1 is 2 + 4, as if it began with head 1 of batch 0. How many heads of queries has a batch?"
    assert dv_of_both_batches != [3.0, 6.0], words
    words = "dv of batch 1 is 1 + 2, as if it had the lse of batch 0. Which of its arguments tells of_rows the batch?"
    assert dv_of_both_batches != [3.0, 3.0], words
    assert dv_of_both_batches == [3.0, 12.0]


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("dtype, d, batches, heads, kv_heads, n_q, n_k, causal", SHAPES)
def test_dk_and_dv_of_any_heads_and_lengths(dtype, d, batches, heads, kv_heads, n_q, n_k, causal, rng):
    """A key that no query sees has gradients of 0."""
    arguments = drawn(rng, dtype, d=d, heads=heads, kv_heads=kv_heads, n_q=n_q, n_k=n_k, batches=batches, causal=causal)
    assert_dk_and_dv(*arguments, times=OF_MANY)


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_a_query_does_not_see_a_later_key_with_a_score_of_200():
    """exp(200 - 0) is infinite in float32. Each key has all the weight of its own query."""
    dv = first_column(dv_alone(*with_scores([0.0, 200.0], [1.0, 2.0], queries=2, causal=True)))
    words = "Key 1 is hidden from query 0, and exp(200) infinite: what is infinity times 0?"
    assert str(dv) != "[1.0, nan]", words
    assert dv == [1.0, 1.0]


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_a_query_whose_scores_are_all_minus_infinity_adds_nothing_to_dk_and_dv():
    """32 queries (1, 0, ...), keys (-inf, 0, ...)."""
    arguments = with_scores([-INF] * 3, [1.0, 2.0, 4.0], queries=32)
    dk, dv = dk_and_dv(*arguments)
    assert first_column(dv) == [0.0, 0.0, 0.0]
    assert first_column(dk) == [0.0, 0.0, 0.0]


@pytest.mark.task(3)
@pytest.mark.nonfinite
def test_nan_in_a_query_reaches_dv_of_all_keys_that_it_sees(rng):
    """Query 20 of 40. Keys 21 to 31 are in a tile with keys that it sees, and may get it too."""
    q, k, v, d_out, _, _, causal, scale = drawn(rng, causal=True)
    q[0, 0, 20, 3] = NAN
    dv = dv_alone(*with_lse_and_delta(q, k, v, d_out, causal, scale))
    keys_with_nan = [key for key in range(40) if dv[0, 0, key].isnan().any() and key not in range(21, 32)]
    assert keys_with_nan == list(range(21))


@pytest.mark.task(3)
@pytest.mark.tolerance
def test_sums_over_queries_are_kept_in_float32():
    """One key: p is 1 and ds is d_out. d_out is 2048 for the first query, .02 for 319 others: a tile of them adds .64,
    and float16 numbers near 2048 are 2 apart."""
    d_out, ones, key = wide([[2048.0]] + [[0.02]] * 319), wide([[1.0]] * 320), wide([[0.0]])
    zeros = torch.zeros(1, 1, 320, device=device)  # lse and delta
    gradients_of_key = dk_and_dv(ones, key, wide([[1.0]]), d_out, zeros, zeros, False, 1.0)
    dk, dv = (x[0, 0, 0, 0].item() for x in gradients_of_key)
    assert dv != 2048.0, "dv is 2048, where .64 more adds nothing in float16. Of which dtype is the sum?"
    assert dk != 2048.0, "dk is 2048, where .64 more adds nothing in float16. Of which dtype is the sum?"
    assert (dk, dv) == (2054.0, 2054.0)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("n_q, n_k, causal", LENGTHS)
def test_keys_kernel_multiplies_four_times_for_each_tile_that_sees_it(n_q, n_k, causal, rng):
    asked = "Where does the loop over queries begin?"
    assert_tiles_seen_take(["s", "dp", "for dv", "for dk"], lesson.find_dk_dv, rng, n_q, n_k, causal, asked)


@pytest.mark.task(3)
@pytest.mark.counters
def test_keys_kernel_loads_each_tile_once_and_stores_dk_and_dv_once(rng):
    """64 queries of each of 2 heads, 64 keys, causal: the four programs are seen by 64, 64, 32 and 32 queries."""
    counters, row = counted(lesson.find_dk_dv, rng, 64, 64, heads=2), 64 * 2
    queries = 2 * (64 + 64 + 32 + 32)
    loads_of_k_and_v, loads_of_q_and_d_out, loads_of_lse_and_delta = 2 * 64 * row, 2 * queries * row, 2 * queries * 4
    words = f"Once each: k and v {loads_of_k_and_v} bytes, q and d_out {loads_of_q_and_d_out}"
    assert counters.bytes_loaded <= loads_of_k_and_v + loads_of_q_and_d_out + loads_of_lse_and_delta, words
    results = 2 * 64 * row
    after_each_head = "dk and dv are stored once for each head of queries. Of how many heads is each a sum?"
    assert counters.bytes_stored != 2 * results, after_each_head
    words = "dk and dv are stored before the loops are over. When are the sums complete?"
    assert counters.bytes_stored <= results, words
    assert counters.bytes_atomic == 0


@pytest.mark.task(3)
@pytest.mark.counters
def test_keys_kernel_converts_p_and_ds_and_the_results_and_nothing_else(rng):
    """32 x 16 numbers of each in 6 tiles, and 2 * 64 x 64 results, each once."""
    counters, p_and_ds, results = counted(lesson.find_dk_dv, rng, 64, 64), 2 * 6 * 32 * 16, 2 * 64 * 64
    q = 6 * 32 * 64  # d_out has as many
    assert counters.conversions >= results
    assert counters.conversions != q + q + results, FLOAT32.format("q and d_out", q + q)
    assert counters.conversions != q + p_and_ds // 2 + results, FLOAT32.format("q or d_out", q)
    words = f"p and ds should take {p_and_ds} conversions, the results {results}. What else changes its dtype?"
    assert counters.conversions <= p_and_ds + results, words
    assert counters.float64 == 0


@pytest.mark.task(3)
@pytest.mark.compiled
def test_p_and_ds_go_from_product_to_product_without_being_turned(rng):
    instructions, spills = evidence(lesson.find_dk_dv, "keys_kernel", rng, 64)
    words = "p or ds is turned in shared memory. Which product gives s.T as it stands?"
    turned = turned_in_shared_memory(instructions)
    assert not turned, words
    assert spills == 0, f"At d = 64, in bfloat16, {spills} bytes a thread find none of its 255 registers"


@pytest.mark.task(3)
@pytest.mark.compiled
def test_keys_kernel_runs_on_tensor_cores_and_has_registers_for_its_tiles(rng):
    """At d = 128 all 255 are in use, what finds none depends on the order of p, dp, dv and dk: at most 28 bytes with
    Triton 3.7, at most 336 with 3.6. A product in float32 leaves 860 or more, where q or ds is the float32 one."""
    instructions, spills = evidence(lesson.find_dk_dv, "keys_kernel", rng, 128)
    assert on_tensor_cores(instructions) != []
    words = f"At d = 128, in bfloat16, {spills} bytes a thread find none of its 255 registers: which tiles are float32?"
    assert spills < 384, words


# All of it ----------------------------------------------------------------------------------------

@pytest.mark.task(1, 2, 3)
def test_flash_attention_has_the_gradients_of_attention(rng):
    q, k, v, d_out, *_ = drawn(rng, BRAIN, heads=2, n_q=70, n_k=65)
    assert_matches(gradients(lesson.flash_attention), q, k, v, True, 0.05, d_out=d_out, oracle=gradients(attention),
                   tolerance=from_rounded_out(BRAIN))


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_arguments_and_d_out_may_be_stored_in_any_way(rng):
    q, k, v, d_out, *_ = drawn(rng, n_q=5, n_k=7)
    assert_matches(gradients(lesson.flash_attention), q, k, v, True, d_out=d_out, oracle=gradients(attention),
                   tolerance=from_rounded_out(HALF), layouts="any")


@pytest.mark.task(1, 2, 3)
@pytest.mark.edge
def test_without_queries_or_keys_gradients_are_zeros_or_empty(rng):
    """With one key first: its weight is 1, so dv is the sum of d_out, and dq and dk are 0."""
    for n_q, n_k in [(3, 1), (0, 3), (3, 0)]:
        q, k, v, d_out, lse, *_ = drawn(rng, n_q=n_q, n_k=n_k)
        o = v.expand(q.shape) if n_k == 1 else torch.zeros_like(q)
        dq, dk, dv = (x.float() for x in lesson.attention_backward(q, k, v, o, lse, d_out, False, 0.1))
        largest = max(x.abs().max().item() for x in (dq, dk) if x.numel())
        assert largest < 0.05
        assert torch.allclose(dv, d_out.float().sum(2, keepdim=True).expand(dv.shape), rtol=0.01, atol=0.01)


@pytest.mark.task(1, 2, 3)
@pytest.mark.gpu
def test_gradients_are_the_same_under_torch_compile(rng):
    q, k, v, d_out, *_ = drawn(rng, heads=2, n_q=70, n_k=65)
    assert_matches(gradients(compiled_by_torch(lesson.flash_attention)), q, k, v, True, d_out=d_out,
                   oracle=gradients(attention), tolerance=from_rounded_out(HALF))


@pytest.mark.task(1, 2, 3)
@pytest.mark.gpu
@pytest.mark.parametrize("d", [64, 128])
def test_gradients_have_the_same_bits_every_time(d, rng):
    q, k, v, d_out, lse, _, causal, scale = drawn(rng, BRAIN, d=d, heads=8, kv_heads=2, n_q=1000, n_k=1000, causal=True)
    out = lesson.attention_forward(q, k, v, causal, scale)[0]
    first = lesson.attention_backward(q, k, v, out, lse, d_out, causal, scale)
    for _ in range(20):
        again = lesson.attention_backward(q, k, v, out, lse, d_out, causal, scale)
        assert all(torch.equal(one, other) for one, other in zip(first, again))


def backward_of_cudnn(q, k, v, causal, scale):
    """cuDNN's backward alone: its forward has been run. Key heads that are shared are repeated before."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    leaves = [x.detach().requires_grad_() for x in (q, heads_of(k, q), heads_of(v, q))]
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        out = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal, scale=scale)
    return lambda q, k, v, o, lse, d_out, causal, scale: torch.autograd.grad(out, leaves, d_out, retain_graph=True)


@pytest.mark.task(1, 2, 3)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("dtype, d, heads, kv_heads, n, causal", [
    (BRAIN, 128, 32, 32, 4096, False), (BRAIN, 128, 32, 32, 4096, True), (BRAIN, 128, 32, 8, 4096, True),
    (BRAIN, 128, 32, 32, 4000, True), (HALF, 64, 32, 32, 4096, False), (BRAIN, 64, 32, 32, 4096, True)])
def test_backward_comes_within_sight_of_cudnn(dtype, d, heads, kv_heads, n, causal):
    q, d_out = (torch.randn(4, heads, n, d, device=device, dtype=dtype) for _ in range(2))
    k, v = (torch.randn(4, kv_heads, n, d, device=device, dtype=dtype) for _ in range(2))
    each = [lesson.attention_forward(*(x[b:b + 1] for x in (q, k, v)), causal, d ** -0.5) for b in range(4)]
    out, lse = (torch.cat(parts) for parts in zip(*each))
    rival = backward_of_cudnn(q, k, v, causal, d ** -0.5)
    assert speed_ratio(lesson.attention_backward, rival, q, k, v, out, lse, d_out, causal, d ** -0.5) >= 0.6


# Task 4: the price --------------------------------------------------------------------------------

def work(batches, heads, n_q, n_k, d):
    one = batches * heads * 2 * n_q * n_k * d
    return terms(s_twice=2 * one, dp_twice=2 * one, dq=one, dk=one, dv=one)


def bytes_at_peak(batches, heads, kv_heads, n_q, n_k, d):
    queries, keys = batches * heads * n_q, batches * kv_heads * n_k
    return terms(dq=2 * queries * d, dk=2 * keys * d, dv=2 * keys * d, delta=4 * queries)


@pytest.mark.task(4)
@pytest.mark.parametrize("batches, heads, n_q, n_k, d", [(1, 1, 64, 64, 64), (2, 3, 128, 64, 128)])
def test_predicts_the_products_of_both_kernels(batches, heads, n_q, n_k, d):
    of_one, flops = batches * heads * 2 * n_q * n_k * d, lesson.predict_flops(batches, heads, n_q, n_k, d)
    assert flops != 5 * of_one, f"{flops} are 5 products of {of_one} each. Which of them stand in both kernels?"
    assert_matches(lesson.predict_flops, batches, heads, n_q, n_k, d, oracle=work)


@pytest.mark.task(4)
@pytest.mark.parametrize("batches, heads, kv_heads, n_q, n_k, d", [(1, 1, 1, 64, 64, 64), (2, 6, 3, 100, 50, 128)])
def test_predicts_three_gradients_and_delta(batches, heads, kv_heads, n_q, n_k, d):
    assert_matches(lesson.predict_peak, batches, heads, kv_heads, n_q, n_k, d, oracle=bytes_at_peak)


def of_a_backward(rng, heads, kv_heads, n_q, n_k):
    q, k, v, d_out, lse, _, causal, scale = drawn(rng, heads=heads, kv_heads=kv_heads, n_q=n_q, n_k=n_k)
    return q, k, v, torch.zeros_like(q), lse, d_out, causal, scale


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_predicted_work_is_done(rng):
    predicted = lesson.predict_flops(batches=1, heads=2, n_q=128, n_k=64, d=64)
    measured = count(lesson.attention_backward, *of_a_backward(rng, 2, 1, 128, 64)).flops
    assert predicted == measured


@pytest.mark.task(1, 2, 3, 4)
@pytest.mark.counters
def test_predicted_memory_is_allocated_and_no_scores(rng):
    predicted = lesson.predict_peak(batches=1, heads=2, kv_heads=1, n_q=128, n_k=64, d=64)
    measured = memory(lesson.attention_backward, *of_a_backward(rng, 2, 1, 128, 64)).peak
    assert predicted == measured
