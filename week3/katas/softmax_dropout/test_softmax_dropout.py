"""The kata again, as checks: one mask for all who draw it, a sum of all weights, gradients, attention in tiles."""

import re
from math import prod

import numpy as np
import pytest
import torch

from tools.check import (
    assert_matches, compiled, compiled_by_torch, count, gradcheck, gradients, memory, saved_tensors, speed_ratio)
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import device
from week3.katas.softmax_dropout import softmax_dropout as lesson

NAN, INF = float("nan"), float("inf")
FLOAT32 = 4  # bytes
SEED = 7     # that of the lesson's picture
WEIGHTS = [0.23688, 0.03206, 0.08714, 0.64391]
ROWS_OVERFLOW = "Row 2**20 of 8192 keys begins at 2**33: which product needs 64 bits?"


def tensor(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, device=device)


def numbers(rng, *shapes, dtype=torch.float32):
    return [torch.from_numpy(array).to(device, dtype) for array in matrices(rng, *shapes)]


def story():
    return tensor([[2, 0, 1, 3]])


def apart(x, by=3):
    """The same rows further apart in memory, and NaN between them."""
    wide = torch.full((x.shape[0], x.shape[1] + by), NAN, dtype=x.dtype, device=x.device)
    wide[:, :x.shape[1]] = x
    return wide[:, :x.shape[1]]


def philox(seed, offset):
    """Four words of 32 bits for each offset, by the seven rounds of Salmon et al. (2011)."""
    offset = np.asarray(offset, np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = offset & low, offset >> half, 0 * offset, 0 * offset
    for i in range(7):
        first, second = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        key = [np.uint64((k + i * step) % 2**32) for k, step in ((seed, 0x9E3779B9), (seed >> 32, 0xBB67AE85))]
        a, b, c, d = (second >> half) ^ b ^ key[0], second & low, (first >> half) ^ d ^ key[1], first & low
    return np.stack([a, b, c, d], -1)


def not_below(offsets, p, seed):
    """(rows, 8 * groups) bool for offsets (rows, groups): draws are halves of words, the lower one first."""
    words = philox(seed, offsets)
    draws = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)], -1)
    return draws.reshape(len(offsets), 8 * offsets.shape[1]).astype(np.int64) >= p * 65536


def not_dropped(rows, n, p, seed, offsets_of_a_row=None):
    """(rows, n) bool."""
    groups = -(-n // 8)
    first = np.arange(rows)[:, None] * (groups if offsets_of_a_row is None else offsets_of_a_row)
    return not_below(first + np.arange(groups), p, seed)[:, :n]


def dropped_softmax(scores, p, seed):
    """By its definition; a row of -inf alone has zeros."""
    exps = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).min))
    sums = exps.sum(-1, keepdim=True)
    keep = not_dropped(scores[..., 0].numel(), scores.shape[-1], p, seed).reshape(scores.shape)
    weights = exps / torch.where(sums == 0, 1.0, sums)
    return torch.where(torch.from_numpy(keep).to(scores.device), weights / (1 - p if p < 1 else 1), 0.0)


def with_lse(scores, p, seed):
    return dropped_softmax(scores, p, seed), torch.logsumexp(scores, -1, keepdim=True)


def gradient_of_scores(d_y, scores, lse, p, seed):
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        return torch.autograd.grad(dropped_softmax(leaf, p, seed), leaf, d_y)[0]


def dropped_attention(q, k, v, p, seed, **tiles):
    return dropped_softmax(q @ k.T / q.shape[1]**0.5, p, seed) @ v


def if_it_is(value, reasons):
    """The reason that goes with this value, None without one."""
    return next((f"As if {reason}" for known, reason in reasons.items() if abs(value - known) < 1e-4), None)


def as_if(found, reasons):
    """The reason for just these numbers, of reasons and what each of them would make; None without one."""
    return next((f"As if {why}" for why, wrong in reasons.items() if np.allclose(found, wrong, atol=2e-5)), None)


def products_of_variables(kernel):
    """The types of the integers that the kernel multiplies by one another, without those that it knows beforehand."""
    text = kernel.text("ttir")
    known = set(re.findall(r"(%\w+) = arith\.constant", text))
    found = re.findall(r"arith\.muli (%\w+), (%\w+) : (?:tensor<[\dx]+x)?(i\d+)", text)
    return [kind for *factors, kind in found if not known & set(factors)]


def kernel_of(function, name, *args):
    return compiled(function, *args, 0.25, SEED, chip="h100").kernels[name]


def assert_block_fits(kernel, n):
    block, longest = int(kernel.constants["BLOCK"]), max(8, 2 ** (n - 1).bit_length())
    assert block <= longest, f"A row has {n:,} keys, and a program draws for {block:,}: what does block_for say?"


def assert_compiles_well(kernel, most_offsets, overflows):
    """Each of Philox's seven rounds has two products of 32 bits by 32, for each offset.

    overflows: what a product of two variables in 32 bits would do.
    """
    blocks = re.findall(r"tt\.mulhiui .*: tensor<([\dx]+)xi32>", kernel.text("ttir"))
    calls = -(-len(blocks) // 14)
    offsets_of_a_call = max((prod(map(int, block.split("x"))) for block in blocks), default=0)
    reasons = {8: "As if each key had an offset of its own: one offset has the draws of eight keys.",
               2: "Two offsets for eight keys: how often is kept called?"}
    offsets_asked, spills = calls * offsets_of_a_call, kernel.spills
    products_in_32_bits = products_of_variables(kernel).count("i32")
    assert offsets_asked > 0, "The kernel draws nothing."
    assert offsets_asked <= most_offsets, reasons.get(offsets_asked / most_offsets)
    assert spills == 0
    assert products_in_32_bits == 0, overflows


# Task 1: the mask ---------------------------------------------------------------------------------

@pytest.mark.task(1)
def test_of_the_picture_key_2_is_dropped():
    kept_keys = lesson.kept_places(rows=1, n=4, p=0.25, seed=7).tolist()
    assert kept_keys == [[True, True, False, True]]


@pytest.mark.task(1)
def test_a_tile_of_two_rows_has_the_draws_of_both():
    """20 keys a row, so that row 1 begins with offset 3."""
    first_row, second_row = lesson.kept_places(rows=2, n=20, p=0.25, seed=7, tile_m=2, tile_n=32).tolist()
    reasons = {0: "each row began at offset 0. How many offsets has row 0 used up?",
               2: "a row had n // 8 = 2 offsets: its last four keys need one too.",
               20: "a row had n = 20 offsets: how many keys share one?",
               24: "a row had 24 offsets: how many keys share one?"}
    why = as_if([first_row, second_row], {reasons[each]: not_dropped(2, 20, 0.25, 7, each) for each in reasons})
    assert [first_row, second_row] == not_dropped(2, 20, 0.25, 7).tolist(), why


@pytest.mark.task(1)
@pytest.mark.parametrize("tile_m, tile_n", [(1, 64), (1, 8), (4, 16), (2, 32)])
def test_the_mask_is_the_same_for_tiles_of_any_size(tile_m, tile_n):
    """5 rows of 72 keys, nine offsets each."""
    found = lesson.kept_places(5, 72, 0.5, 7, tile_m=tile_m, tile_n=tile_n).cpu().numpy()
    row, start, inside = 9 * np.arange(5)[:, None], np.arange(9) * 8 // tile_n * tile_n, np.arange(9) % (tile_n // 8)
    why = as_if(found, {
        f"each {tile_n} keys of a row had the same draws: where does `start` come in?": not_below(row + inside, 0.5, 7),
        f"{tile_n} offsets lay between two tiles: `start` counts keys.": not_below(row + start + inside, 0.5, 7)})
    places_that_differ = np.argwhere(found != not_dropped(5, 72, 0.5, 7)).tolist()
    assert places_that_differ == [], why


@pytest.mark.task(1)
@pytest.mark.parametrize("n", [1, 7, 8, 9, 17, 37])
def test_rows_of_any_length_have_the_mask_of_their_offsets(n):
    mask = lesson.kept_places(3, n, 0.375, 2**40 + 5, tile_m=2, tile_n=16).tolist()
    why = as_if(mask, {f"a row had {n // 8 + 1} offsets: {n} keys fill those of {n // 8} to the last draw.":
                       not_dropped(3, n, 0.375, 2**40 + 5, n // 8 + 1)})
    assert mask == not_dropped(3, n, 0.375, 2**40 + 5).tolist(), why


@pytest.mark.task(1)
@pytest.mark.edge
def test_a_draw_that_is_just_the_threshold_is_kept():
    """The draw of key 2 is 11183: at p = 11183 / 65536 it is not below the threshold."""
    key_2_is_kept = [lesson.kept_places(1, 4, p / 65536, 7)[0, 2].item() for p in (11183, 11184)]
    why = ("As if the threshold itself were dropped: the draw is 11183 and so is the threshold. What is dropped?"
           if key_2_is_kept == [False, False] else None)
    assert key_2_is_kept == [True, False], why


# Task 2: forward ----------------------------------------------------------------------------------

@pytest.mark.task(1, 2)
def test_the_row_of_the_lesson_has_the_results_of_the_picture():
    y, lse = lesson.softmax_dropout_forward(story(), 0.25, SEED)
    reasons = {WEIGHTS[0]: "it were not scaled.", 0.42112: "it were scaled twice.",
               0.25950: "l were the sum of the weights that are kept: it is that of all.",
               0.34599: "l were the sum of the weights that are kept: it is that of all.",
               0.33426: "the dropped score were 0, and had a weight. Weights are dropped, not scores."}
    assert y[0, 0].item() == pytest.approx(0.31584, abs=2e-5), if_it_is(y[0, 0].item(), reasons)
    why = ("As if key 2 were kept: its draw is 11183. With which threshold does kept compare?"
           if y[0, 2].item() == pytest.approx(0.11618, abs=2e-5) else None)
    assert y[0].tolist() == pytest.approx([0.31584, 0.04274, 0, 0.85855], abs=2e-5), why
    assert lse.item() == pytest.approx(3.44019, abs=2e-5), if_it_is(
        lse.item(), {3.34902: "lse were that of the scores that are kept.", 0.44019: "m were forgotten."})


@pytest.mark.task(1, 2)
@pytest.mark.parametrize("rows, n", [(5, 15), (5, 16), (3, 37), (0, 5), (1, 1), (3, 1)])
def test_rows_of_any_length_drop_what_the_seed_says(rows, n, rng):
    assert_matches(lesson.softmax_dropout_forward, *numbers(rng, (rows, n)), 0.25, 11, oracle=with_lse)


@pytest.mark.task(1, 2)
def test_rows_may_lie_apart_in_memory(rng):
    scores, = numbers(rng, (5, 37))
    y, _ = lesson.softmax_dropout_forward(apart(scores), 0.25, SEED)
    assert not y.isnan().any().item(), "NaN lies between the rows of scores: how far apart are they?"
    assert_matches(lesson.softmax_dropout_forward, apart(scores), 0.25, SEED, oracle=with_lse)


@pytest.mark.task(1, 2)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_results_of_16_bits_are_rounded_once(dtype, rng):
    scores, = numbers(rng, (5, 20), dtype=getattr(torch, dtype))
    y, lse = lesson.softmax_dropout_forward(scores, 0.25, SEED)
    wanted = dropped_softmax(scores.double(), 0.25, SEED)
    largest_relative_error = float(((y.double() - wanted).abs() / torch.where(wanted == 0, 1.0, wanted)).max())
    half_a_step = 2.0**-11 if dtype == "float16" else 2.0**-8
    assert (y.dtype, lse.dtype) == (scores.dtype, torch.float32)
    assert largest_relative_error <= 1.01 * half_a_step


@pytest.mark.task(1, 2)
@pytest.mark.tolerance
def test_float64_is_computed_in_float64(rng):
    """With p = .5, since a kernel gets scale as a float32: 2 is exact."""
    assert_matches(lesson.softmax_dropout_forward, *numbers(rng, (3, 37), dtype=torch.float64), 0.5, SEED,
                   oracle=with_lse, tolerance=accumulated("float64", 37))


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_scores_of_1000_do_not_overflow():
    y, lse = lesson.softmax_dropout_forward(story() + 1000, 0.25, SEED)
    assert lse.item() == pytest.approx(1003.44019, abs=1e-3)
    assert y[0].tolist() == pytest.approx([0.31584, 0.04274, 0, 0.85855], abs=2e-5)


@pytest.mark.task(1, 2)
@pytest.mark.edge
def test_p_0_keeps_all_and_p_1_nothing(rng):
    scores, = numbers(rng, (2, 9))
    sums = {p: lesson.softmax_dropout_forward(scores, p, SEED)[0].sum(1).tolist() for p in (0.0, 1.0)}
    assert sums == {0.0: pytest.approx([1, 1]), 1.0: [0, 0]}


@pytest.mark.task(1, 2)
@pytest.mark.nonfinite
def test_a_hidden_row_has_zeros_and_the_lse_of_nothing():
    y, lse = lesson.softmax_dropout_forward(tensor([[-INF] * 9, [0] + [-INF] * 8]), 0.0, SEED)
    assert not lse[0].isnan().item(), "-inf - -inf is NaN: what is subtracted where all scores are -inf?"
    assert not y[0].isnan().any().item(), "All weights of row 0 are 0, and so is l: 0 / 0 is NaN. What divides them?"
    assert lse[0].item() == -INF, "log(0) is -inf, log(1) is 0: l is 1 where weights are divided, and nowhere else."
    assert (y[0].tolist(), lse[0].item()) == ([0.0] * 9, -INF)
    assert (y[1].tolist(), lse[1].item()) == ([1.0] + [0.0] * 8, 0.0)


@pytest.mark.task(1, 2)
@pytest.mark.nonfinite
@pytest.mark.parametrize("score", [NAN, INF])
def test_a_score_that_is_no_number_spoils_what_its_row_keeps(score):
    """Key 2 is dropped, and 0 whatever it was."""
    y, _ = lesson.softmax_dropout_forward(tensor([[0, score, 0, 0], [0, 0, 0, 0]]), 0.25, SEED)
    is_nan = y.isnan().tolist()
    why = "0 times NaN is NaN: choose with tl.where." if is_nan[0] == [True] * 4 else None
    assert is_nan[0] == [True, True, False, True], why
    assert is_nan[1] == [False] * 4


def why_beside(counters, dtype, bytes_loaded, bytes_stored):
    """Why PyTorch worked beside a kernel that needs to move so many bytes; None where nothing tells."""
    if dtype == "float16" and counters.bytes_stored > bytes_stored:
        return "The kernel stored float32, and a second pass rounded that: tl.store rounds by itself."
    if dtype == "float16" and counters.bytes_loaded > bytes_loaded:
        return "A pass of its own made float32 of 16 bits: what does wide do to the numbers that were loaded?"
    if {"torch.Tensor.contiguous", "torch.Tensor.clone"} & set(counters.library_operations):
        return "Rows that lie apart were copied: what does a kernel get, to find each of them where it is?"
    return None


@pytest.mark.task(1, 2)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_kernel_loads_scores_once_and_stores_y_and_lse(dtype, rng):
    rows, n = 5, 40
    scores, = numbers(rng, (rows, n), dtype=getattr(torch, dtype))
    counters = count(lesson.softmax_dropout_forward, apart(scores), 0.25, SEED)
    bytes_of_scores, bytes_of_lse = scores.itemsize * rows * n, FLOAT32 * rows
    why = why_beside(counters, dtype, bytes_of_scores, bytes_of_scores + bytes_of_lse)
    assert counters.library_operations == [], why
    assert counters.float64 == 0
    assert dtype == "float16" or counters.conversions == 0
    assert [launch.kernel for launch in counters.launches] == ["forward_kernel"]
    assert counters.bytes_loaded <= bytes_of_scores
    why = "The kernel stored float32: which dtype have its results?" if dtype == "float16" else None
    assert counters.bytes_stored <= bytes_of_scores + bytes_of_lse, why


@pytest.mark.task(1, 2)
@pytest.mark.compiled
def test_the_forward_asks_philox_once_for_eight_keys():
    for n in (20, 4096):
        kernel = kernel_of(lesson.softmax_dropout_forward, "forward_kernel",
                           torch.zeros(2, n, dtype=torch.float16, device=device))
        assert_block_fits(kernel, n)
    assert_compiles_well(kernel, most_offsets=4096 // 8, overflows=ROWS_OVERFLOW)


@pytest.mark.task(1, 2)
@pytest.mark.hopper
@pytest.mark.speed
def test_is_faster_than_the_steps_one_by_one():
    scores = torch.randn(8192, 4096, device=device).half()

    def eager(scores, p, seed):
        return torch.dropout(torch.softmax(scores, 1), p, True)

    assert speed_ratio(lesson.softmax_dropout_forward, eager, scores, 0.1, SEED) >= 1.2


# Task 3: backward ---------------------------------------------------------------------------------

def assert_goes_back(d_y, scores, p=0.25, seed=SEED, tolerance=None):
    lse = torch.logsumexp(scores, -1, keepdim=True).to(torch.promote_types(scores.dtype, torch.float32))
    assert_matches(lesson.softmax_dropout_backward, d_y, scores, lse, p, seed, oracle=gradient_of_scores,
                   tolerance=tolerance or accumulated("float32", scores.shape[1]))


@pytest.mark.task(1, 3)
def test_the_row_of_the_lesson_has_the_gradients_of_the_picture():
    d_scores = lesson.softmax_dropout_backward(tensor([[1, 2, 3, 4]]), story(), tensor([[3.44019]]), 0.25, SEED)[0]
    first, dropped = d_scores[0].item(), d_scores[2].item()
    reasons = {-0.67530: "nothing were dropped on the way back.", -0.50648: "there were no dropout on the way back.",
               -0.44455: "d_y were not scaled.", -0.79031: "d_y were scaled twice.",
               0.31584: "delta were not subtracted.",
               -0.42752: "delta were the sum of weight * d_y, not of weight * d_weight."}
    assert first == pytest.approx(-0.59273, abs=1e-4), if_it_is(first, reasons)
    why = "As if a dropped key had no gradient. Its score is in l." if dropped == 0 else None
    assert dropped == pytest.approx(-0.33425, abs=1e-4), why
    assert d_scores.tolist() == pytest.approx([-0.59273, -0.03747, -0.33425, 0.96445], abs=1e-4)


@pytest.mark.task(1, 3)
def test_the_weights_come_from_the_lse_that_is_given():
    """With an lse that is log(2) too large each weight is half of what it was, with log(4) a quarter."""
    lse, d_y = tensor([[3.44019 + np.log(2)], [3.44019 + np.log(4)]]), tensor([[1, 2, 3, 4]] * 2)
    found = lesson.softmax_dropout_backward(d_y, story().repeat(2, 1), lse, 0.25, SEED).tolist()
    d_weights = not_dropped(2, 4, 0.25, SEED) * [1, 2, 3, 4] / 0.75

    def with_shares(*shares):
        weights = np.array(WEIGHTS) * np.array(shares)[:, None]
        return weights * (d_weights - (weights * d_weights).sum(1, keepdims=True))

    why = as_if(found, {"maximum and sum were computed again: lse has both.": with_shares(1, 1),
                        "row 1 had the lse of row 0: where does its own lie?": with_shares(1 / 2, 1 / 2)})
    assert found == [pytest.approx(row, abs=1e-4) for row in with_shares(1 / 2, 1 / 4).tolist()], why


@pytest.mark.task(1, 3)
def test_each_row_goes_back_through_the_mask_of_its_own():
    """d_y is 1 where a place was kept, and large where it was not: that may not come through."""
    scores, kept = torch.zeros(3, 20, device=device), torch.from_numpy(not_dropped(3, 20, 0.25, SEED)).to(device)
    d_y = torch.where(kept, 0.0, 1000.0)
    d_scores = lesson.softmax_dropout_backward(d_y, scores, tensor([[np.log(20)]] * 3), 0.25, SEED)
    rows_that_let_through_what_was_dropped = [i for i in range(3) if d_scores[i].abs().max().item() > 0]
    assert rows_that_let_through_what_was_dropped == [], "Does each row ask with its own seed and offsets?"


@pytest.mark.task(1, 3)
@pytest.mark.parametrize("rows, n", [(5, 15), (5, 16), (3, 37), (0, 5), (1, 1), (3, 1)])
def test_rows_of_any_length_go_back(rows, n, rng):
    assert_goes_back(*numbers(rng, (rows, n), (rows, n)))


@pytest.mark.task(1, 3)
def test_rows_of_d_y_and_of_scores_lie_apart_in_their_own_ways(rng):
    d_y, scores = numbers(rng, (5, 37), (5, 37))
    lse = torch.logsumexp(scores, -1, keepdim=True)
    d_scores = lesson.softmax_dropout_backward(apart(d_y, 2), apart(scores, 5), lse, 0.25, SEED)
    assert not d_scores.isnan().any().item(), "NaN lies between the rows: which stride is that of d_y, which of scores?"
    assert_goes_back(apart(d_y, 2), apart(scores, 5))


@pytest.mark.task(1, 3)
@pytest.mark.nonfinite
def test_a_hidden_row_has_a_gradient_of_zeros():
    scores, lse = tensor([[-INF] * 3, [0, -INF, -INF]]), tensor([[-INF], [0.0]])
    d_scores = lesson.softmax_dropout_backward(tensor([[1, 2, 3]] * 2), scores, lse, 0.0, SEED)
    assert not d_scores[0].isnan().any().item(), "-inf - -inf is NaN: what is subtracted where lse is -inf?"
    assert d_scores.tolist() == [[0.0] * 3] * 2


@pytest.mark.task(1, 3)
@pytest.mark.counters
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_backward_loads_scores_and_d_y_once(dtype, rng):
    rows, n = 5, 40
    d_y, scores = numbers(rng, (rows, n), (rows, n), dtype=getattr(torch, dtype))
    lse = torch.logsumexp(scores.float(), -1, keepdim=True)
    counters = count(lesson.softmax_dropout_backward, apart(d_y, 2), apart(scores), lse, 0.25, SEED)
    bytes_of_scores, bytes_of_lse = scores.itemsize * rows * n, FLOAT32 * rows
    why = why_beside(counters, dtype, 2 * bytes_of_scores + bytes_of_lse, bytes_of_scores)
    assert counters.library_operations == [], why
    assert counters.float64 == 0
    assert [launch.kernel for launch in counters.launches] == ["backward_kernel"]
    assert counters.bytes_loaded <= 2 * bytes_of_scores + bytes_of_lse
    why = "The kernel stored float32: which dtype have its results?" if dtype == "float16" else None
    assert counters.bytes_stored <= bytes_of_scores, why


@pytest.mark.task(1, 3)
@pytest.mark.compiled
def test_the_backward_asks_philox_once_for_eight_keys():
    lse = torch.zeros(2, 1, device=device)
    for n in (20, 4096):
        d_y, scores = (torch.zeros(2, n, dtype=torch.float16, device=device) for _ in range(2))
        kernel = kernel_of(lesson.softmax_dropout_backward, "backward_kernel", d_y, scores, lse)
        assert_block_fits(kernel, n)
    assert_compiles_well(kernel, most_offsets=4096 // 8, overflows=ROWS_OVERFLOW)


@pytest.mark.task(1, 2, 3)
@pytest.mark.parametrize("shape", [(40,), (2, 3, 5), (2, 0, 5)])
def test_scores_have_any_shape_and_any_layout_in_both_ways(shape, rng):
    scores, d_out = numbers(rng, shape, shape)
    assert_matches(lesson.softmax_dropout, scores, 0.25, SEED, oracle=dropped_softmax, layouts="any")
    assert_matches(gradients(lesson.softmax_dropout), scores, 0.25, SEED, d_out=d_out,
                   oracle=gradients(dropped_softmax), tolerance=accumulated("float32", 40), layouts="any")


@pytest.mark.task(1, 2, 3)
def test_the_gradient_is_how_the_result_changes(rng):
    """In float64, by differences of the function itself: its seed is fixed, and so is its mask, and scale is 2."""
    gradcheck(lesson.softmax_dropout, *numbers(rng, (2, 3, 5), dtype=torch.float64), 0.5, SEED)


@pytest.mark.task(1, 2, 3)
def test_gradients_are_the_same_under_torch_compile(rng):
    scores, d_out = numbers(rng, (3, 4, 5), (3, 4, 5))
    function = compiled_by_torch(lesson.softmax_dropout)
    assert_matches(gradients(function), scores.mT.contiguous().mT, 0.25, SEED, d_out=d_out,
                   oracle=gradients(dropped_softmax), tolerance=accumulated("float32", 5))


@pytest.mark.task(1, 2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("stored", ["by rows", "by columns"])
def test_beside_the_scores_one_number_a_row_waits_for_the_way_back(stored, rng):
    scores, d_out = numbers(rng, (8, 16), (8, 16))
    scores = scores if stored == "by rows" else scores.mT.contiguous().mT
    used = memory(gradients(lesson.softmax_dropout), scores, 0.25, SEED, d_out=d_out)
    lse = FLOAT32 * 8
    assert used.saved <= lse, "Weights, mask and rows can be made again: what of a row must be saved?"
    y, saved = lesson.softmax_dropout(scores, 0.25, SEED), saved_tensors(lesson.softmax_dropout)(scores, 0.25, SEED)
    assert not any(torch.equal(each.flatten(), y.flatten()) for each in saved), "y waits: what does the backward read?"


@pytest.mark.task(1, 2, 3)
@pytest.mark.counters
@pytest.mark.parametrize("lies_apart", ["scores", "d_y"])
def test_each_way_is_one_kernel_and_rows_that_lie_apart_are_not_copied(lies_apart, rng):
    scores, d_out = numbers(rng, (8, 16), (8, 16))
    scores, d_out = (apart(scores), d_out) if lies_apart == "scores" else (scores, apart(d_out))
    counters = count(gradients(lesson.softmax_dropout), scores, 0.25, SEED, d_out=d_out)
    launched, beside = [launch.kernel for launch in counters.launches], counters.library_operations
    why = ("The way back ran forward_kernel once more, and nobody reads that y: which number a row was not saved?"
           if launched == ["forward_kernel", "forward_kernel", "backward_kernel"] else None)
    assert launched == ["forward_kernel", "backward_kernel"], why
    reasons = {"contiguous": f"A copy of {lies_apart}, though a row's numbers lie side by side: when is it needed?",
               "logsumexp": "PyTorch computed lse once more: which kernel has made it, and what became of that?"}
    why = next((reason for name, reason in reasons.items() if any(name in each for each in beside)), None)
    assert beside == [], why


# Task 4: attention --------------------------------------------------------------------------------

@pytest.mark.task(1, 4)
def test_each_tile_has_a_mask_of_its_own_and_l_is_the_sum_of_all_weights():
    """All scores are 0, so each weight is 1 / 32, and the values of key c are c: a result tells which keys are kept."""
    q, k, v = (torch.zeros(32, 16, device=device) for _ in range(3))
    v[:, 0] = torch.arange(32, device=device)
    results = lesson.attention(q, k, v, 0.5, SEED, tile_m=16, tile_n=16)[:, 0].tolist()
    mask = not_dropped(32, 32, 0.5, SEED)

    def doubled(mask):
        return (mask * np.arange(32)).sum(1) / 16

    why = as_if(results, {
        "nothing were dropped.": doubled(np.ones((32, 32))) / 2,
        "what is kept were not divided by 1 - p.": doubled(mask) / 2,
        "what is kept were divided by 1 - p twice.": doubled(mask) * 2,
        "l had only the weights that are kept: it is the sum of all.": doubled(mask) / mask.mean(1),
        "dropped scores were -inf before the softmax, and nothing scaled.": doubled(mask) / 2 / mask.mean(1),
        "each tile of keys had the mask of the first: where does `start` come in?": doubled(np.tile(mask[:, :16], 2)),
        "every 16 queries had the mask of the first 16: which row does kept get?": doubled(np.tile(mask[:16].T, 2).T),
        "the 16 queries of a program had one mask: which rows does kept get?": doubled(mask[[0] * 16 + [16] * 16]),
        "a row had the 16 keys of a tile: kept asks how many there are in all.":
            doubled(not_below(2 * np.arange(32)[:, None] + np.arange(4), 0.5, SEED))})
    assert results == pytest.approx(doubled(mask).tolist(), rel=1e-5), why


@pytest.mark.task(1, 4)
@pytest.mark.parametrize("tile_m, tile_n", [(16, 16), (32, 16), (16, 64)])
def test_tiles_of_any_size_give_the_same(tile_m, tile_n, rng):
    q, k, v = numbers(rng, (37, 32), (50, 32), (50, 32))
    assert_matches(lesson.attention, q, k, v, 0.25, SEED, oracle=dropped_attention, tile_m=tile_m, tile_n=tile_n,
                   tolerance=accumulated("float32", 50))


@pytest.mark.task(1, 4)
@pytest.mark.parametrize("n_q, n_k", [(0, 5), (1, 1), (17, 3), (3, 33)])
def test_there_may_be_any_number_of_queries_and_keys(n_q, n_k, rng):
    q, k, v = numbers(rng, (n_q, 16), (n_k, 16), (n_k, 16))
    assert_matches(lesson.attention, q, k, v, 0.25, SEED, oracle=dropped_attention, tile_n=16,
                   tolerance=accumulated("float32", 33))


@pytest.mark.task(1, 4)
@pytest.mark.edge
def test_places_behind_the_last_key_have_no_weight():
    """20 keys in two tiles of 16, whose scores are 0 and whose values are 1; nothing is dropped."""
    q, k, v = torch.zeros(16, 16, device=device), torch.zeros(20, 16, device=device), torch.ones(20, 16, device=device)
    result = lesson.attention(q, k, v, 0.0, SEED, tile_n=16)[0, 0].item()
    why = "20 / 32: as if the 12 places behind the last key had a score of 0. It is -inf." if result == 0.625 else None
    assert result == pytest.approx(1, rel=1e-5), why


@pytest.mark.task(1, 4)
@pytest.mark.edge
def test_without_a_key_the_results_are_zeros():
    q, none = torch.ones(3, 16, device=device), torch.zeros(0, 16, device=device)
    assert lesson.attention(q, none, none, 0.25, SEED).tolist() == [[0.0] * 16] * 3


@pytest.mark.task(1, 4)
@pytest.mark.edge
def test_scores_that_grow_from_tile_to_tile_rescale_what_came_before():
    """Scores 0, 25, 50, ... for keys 0, 1, 2, ...; all values are 1, nothing is dropped: so is each result."""
    q, k = torch.zeros(16, 16, device=device), torch.zeros(48, 16, device=device)
    q[:, 0], k[:, 0] = 100, torch.arange(48, device=device)
    result = lesson.attention(q, k, torch.ones(48, 16, device=device), 0.0, SEED, tile_n=16)[0, 0].item()
    reasons = {1 / 3: "l had 1 from each of three tiles: what becomes of it when m grows?",
               3: "acc had 1 from each of three tiles: what becomes of it when m grows?"}
    assert result == pytest.approx(1, rel=1e-5), if_it_is(result, reasons)


@pytest.mark.task(1, 4)
@pytest.mark.counters
def test_attention_writes_nothing_but_its_result(rng):
    """40 queries are three tiles, each of which reads all keys and values."""
    q, k, v = numbers(rng, (40, 16), (50, 16), (50, 16))
    counters = count(lesson.attention, q, k, v, 0.25, SEED)
    bytes_of_q, bytes_of_k_and_v = FLOAT32 * 40 * 16, FLOAT32 * 2 * 50 * 16
    stored_beside_the_result = counters.bytes_stored - bytes_of_q
    assert [launch.kernel for launch in counters.launches] == ["attention_kernel"]
    assert counters.bytes_loaded <= bytes_of_q + 3 * bytes_of_k_and_v
    assert stored_beside_the_result == 0
    assert counters.float64 == 0


@pytest.mark.task(1, 4)
@pytest.mark.compiled
def test_attention_draws_for_eight_keys_at_once_and_multiplies_by_scale_at_the_end():
    """A tile has 16 x 32 weights, acc has 16 x 64 numbers."""
    q, k, v = (torch.zeros(64, 64, device=device) for _ in range(3))
    kernel = kernel_of(lesson.attention, "attention_kernel", q, k, v)
    assert_compiles_well(
        kernel, most_offsets=16 * 32 // 8,
        overflows="kept multiplies row by the offsets of a row. Row 2**22 of 8192 keys begins at offset 2**32: that is "
                  "0 in 32 bits, and gives it the mask of row 0. In how many bits does kept want row?")
    products_of_each_weight = len(re.findall(r"arith\.mulf .*: tensor<16x32xf32>", kernel.text("ttir")))
    assert products_of_each_weight == 0, "scale is the same for all keys: multiply acc by it, after the last tile."
