"""The lesson again, as checks: cycles, a schedule that overlaps, two rings, a consumer with two products at once."""

import re

import pytest
import torch

from tools.check import assert_matches, compiled
from tools.check.inputs import matrices
from tools.check.tolerances import SLACK, Tolerance, unit
from tools.gpu import device
from week3.katas.gluon_attention import gluon_attention as lesson
from week3.katas.gluon_attention.run_gluon_attention import alone

LIMIT = 227 * 1024  # bytes of shared memory of a block
IN_EXPONENTS = Tolerance(SLACK * 64 * unit("float64"), "float64 scores up to 20 in exp", "float64")


# Task 1: what it takes ----------------------------------------------------------------------------

def cycles_of_product(rows, cols, depth):
    return rows * cols * depth // 2048


def cycles_of_exponentials(rows, keys):
    return rows * keys // 16


@pytest.mark.task(1)
def test_a_multiply_add_counts_once():
    cycles = lesson.product_cycles(64, 128, 128)
    why = (f"product_cycles(64, 128, 128) is {cycles}, wanted: 512. 64 * 128 sums have 128 multiply-adds each, and "
           "2048 of them are done in a cycle: one multiplication with its addition is one.")
    assert cycles == 512, why


@pytest.mark.task(1)
@pytest.mark.parametrize("shape", [(64, 128, 128), (64, 128, 64), (64, 256, 128), (32, 64, 16)])
def test_a_product_takes_a_cycle_for_2048_multiply_adds(shape):
    assert_matches(lesson.product_cycles, *shape, oracle=cycles_of_product)


@pytest.mark.task(1)
@pytest.mark.parametrize("shape", [(64, 128), (64, 64), (32, 16)])
def test_a_softmax_takes_a_cycle_for_16_exponentials(shape):
    cycles = lesson.softmax_cycles(*shape)
    why = f"softmax_cycles{shape} is {cycles}, 2048 scores in a cycle. How many exponentials is that, in which unit?"
    assert cycles != shape[0] * shape[1] // 2048, why
    assert_matches(lesson.softmax_cycles, *shape, oracle=cycles_of_exponentials)


@pytest.mark.task(1)
@pytest.mark.parametrize("consumers, keys, d, wanted", [
    (1, 128, 128, 1024), (2, 128, 128, 2048), (3, 128, 64, 1536), (2, 64, 256, 2048)])
def test_the_tensor_cores_do_two_products_for_each_consumer(consumers, keys, d, wanted):
    cycles = lesson.least_cycles(consumers, keys, d)
    why = (f"least_cycles({consumers}, {keys}, {d}) is {cycles}, wanted: {wanted}. The tensor cores do S and V of each "
           "consumer, one after the other.")
    assert cycles == wanted, why


@pytest.mark.task(1)
@pytest.mark.parametrize("consumers, keys, d, wanted", [(1, 128, 32, 512), (2, 64, 16, 512), (3, 128, 32, 1536)])
def test_short_products_leave_the_exponentials_as_the_bound(consumers, keys, d, wanted):
    cycles = lesson.least_cycles(consumers, keys, d)
    why = (f"least_cycles({consumers}, {keys}, {d}) is {cycles}, wanted: {wanted}. Both units work at the same time, "
           "and all consumers share the exponentials too: which one is busy longer?")
    assert cycles == wanted, why


# Task 2: the schedule -----------------------------------------------------------------------------

def predicted(steps, consumers=1, product=512, softmax=512):
    return lesson.predicted_cycles(steps, consumers, product, softmax)


@pytest.mark.task(2)
def test_one_tile_is_a_product_a_softmax_and_a_product():
    cycles = predicted(1)
    assert cycles == 1536, f"One tile of keys takes {cycles} cycles, wanted: 3 * 512. Nothing can overlap."


@pytest.mark.task(2)
@pytest.mark.counters
@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_no_more_than_one_tile_of_scores_is_held(steps):
    tiles_of_scores = lesson.scores_at_once(steps)
    why = (f"Over {steps} tiles a consumer holds {tiles_of_scores} tiles of scores at once, wanted: 1. Each takes 64 "
           "registers of each thread. Which softmax comes before S2 begins?")
    assert tiles_of_scores == 1, why


@pytest.mark.task(2)
@pytest.mark.parametrize("steps, wanted", [(2, 2560), (3, 3584), (8, 8704)])
def test_the_softmax_runs_beside_the_product_with_the_values_before(steps, wanted):
    cycles = predicted(steps)
    why = (f"{steps} tiles of keys take {cycles} cycles, wanted: {wanted}, as in the lesson's picture, "
           f"{wanted // 512} columns. Which product runs while p1 is computed? See it: "
           "./course python -m week3.katas.gluon_attention.timeline 1 consume")
    assert cycles <= wanted, why


@pytest.mark.task(2)
@pytest.mark.parametrize("steps", [2, 3, 8])
def test_values_are_begun_before_the_scores_are_waited_for(steps):
    """Else the tensor cores stand still between S and V, until the consumer has noticed that S is there."""
    behind = lesson.products_behind_others(steps)
    why = (f"Over {steps} tiles {behind} products are begun while another one is in flight, wanted: {steps - 1} or "
           "more, V0 behind S1 and so on. Which comes first, V0 or the wait for S1?")
    assert behind >= steps - 1, why


@pytest.mark.task(2)
@pytest.mark.parametrize("product, softmax, wanted", [(256, 512, 3328), (512, 256, 4352), (512, 1024, 6656)])
def test_a_step_is_as_long_as_the_scores_and_the_longer_of_the_two_beside_each_other(product, softmax, wanted):
    """Four tiles of keys."""
    cycles = predicted(4, 1, product, softmax)
    why = (f"Four tiles with products of {product} and softmaxes of {softmax} cycles take {cycles}, wanted: {wanted}: "
           f"{2 * product + softmax} for the first, then three of {product} + {max(product, softmax)}.")
    assert cycles <= wanted, why


@pytest.mark.task(2)
@pytest.mark.counters
def test_two_consumers_keep_the_tensor_cores_busy_from_the_first_product_to_the_last():
    cycles = predicted(16, 2)
    why = f"Two consumers with 16 tiles each take {cycles} cycles, wanted: their 64 products of 512, 32768."
    assert cycles <= 32768, why


# Task 3: the producer -----------------------------------------------------------------------------
# In the model a consumer has 2 queries of a tile of 4.

def boxes_by_hand(q_shape, kv_shape, keys, stages, causal=False, program=0, programs=1):
    """Of one program, tiles in their order: the keys of each one from the last box to the first."""
    (batches, heads, n_q, _), (_, kv_heads, n_k, _) = q_shape, kv_shape
    boxes = []
    for batch in range(batches):
        for head in range(heads):
            ends = [min(n_k, row + 4) if causal else n_k for row in range(0, n_q, 4)]
            for end in sorted(ends, reverse=True):
                for start in reversed(range(0, end, keys)):
                    boxes.append(((batch, head * kv_heads // heads, start),) * 2)
    return boxes


@pytest.mark.task(3)
def test_one_tile_of_keys_and_one_of_values_are_asked_for():
    assert_matches(lesson.asked_boxes, (1, 1, 4, 3), (1, 1, 4, 3), 4, 2, oracle=boxes_by_hand)


def rows_of_keys(*, n_q, n_k, keys, stages=4):
    """Where the boxes of k begin, of one head."""
    return [k[2] for k, _ in lesson.asked_boxes((1, 1, n_q, 3), (1, 1, n_k, 3), keys, stages)]


@pytest.mark.task(3)
def test_tiles_of_keys_come_last_to_first():
    rows = rows_of_keys(n_q=4, n_k=15, keys=5)
    why = f"15 keys in boxes of 5: the boxes of k begin at the rows {rows}, wanted: [10, 5, 0], last to first."
    assert rows == [10, 5, 0], why


@pytest.mark.task(3)
def test_values_come_with_their_keys():
    assert_matches(lesson.asked_boxes, (1, 1, 4, 3), (1, 1, 15, 3), 5, 4, oracle=boxes_by_hand)


@pytest.mark.task(3)
def test_keys_are_asked_for_before_a_slot_of_values_is_waited_for():
    """Three tiles in two slots. Consumers give the first values back when the keys of the third tile are there."""
    assert_matches(lesson.asked_boxes, (1, 1, 4, 3), (1, 1, 12, 3), 4, 2, oracle=boxes_by_hand)


@pytest.mark.task(3)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_more_tiles_than_slots_wait_for_empty_ones(stages):
    assert_matches(lesson.asked_boxes, (1, 1, 4, 3), (1, 1, 28, 3), 4, stages, oracle=boxes_by_hand)


@pytest.mark.task(3)
def test_the_rings_go_on_from_one_tile_of_queries_to_the_next():
    """Three tiles of keys each, in two slots: the second tile of queries begins in slot 1."""
    assert_matches(lesson.asked_boxes, (1, 1, 12, 3), (1, 1, 12, 3), 4, 2, oracle=boxes_by_hand)


@pytest.mark.task(3)
def test_heads_of_queries_share_a_head_of_keys():
    assert_matches(lesson.asked_boxes, (2, 3, 4, 3), (2, 1, 8, 3), 4, 2, oracle=boxes_by_hand)
    assert_matches(lesson.asked_boxes, (1, 4, 4, 3), (1, 2, 8, 3), 4, 2, oracle=boxes_by_hand)


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n_q, n_k, keys, causal", [
    (4, 1, 4, False), (1, 7, 3, False), (9, 11, 4, True), (6, 3, 2, True)])
def test_lengths_are_multiples_of_nothing(n_q, n_k, keys, causal):
    assert_matches(lesson.asked_boxes, (1, 1, n_q, 3), (1, 1, n_k, 3), keys, 2, causal, oracle=boxes_by_hand)


@pytest.mark.task(3)
@pytest.mark.counters
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_copies_are_on_their_way_into_all_slots_at_once(stages):
    boxes = lesson.asked_at_once((1, 1, 4, 3), (1, 1, 24, 3), 4, stages)
    why = (f"With {stages} stages at most {boxes} boxes of k and v were on their way at once, wanted: {2 * stages}. "
           "What else does the producer wait for?")
    assert boxes == 2 * stages, why


@pytest.mark.task(3)
@pytest.mark.counters
def test_the_next_tiles_keys_are_asked_for_before_this_one_is_done():
    """Four tiles of queries of one tile of keys each, in three slots."""
    boxes = lesson.asked_at_once((1, 1, 16, 3), (1, 1, 4, 3), 4, 3)
    why = f"At most {boxes} boxes of k and v were on their way at once, wanted: 4 at least, of two tiles of queries."
    assert boxes >= 4, why


def q_k_v(rng, d, dtype=torch.bfloat16, n=512):
    shapes = (1, 4, n, d), (1, 2, n, d), (1, 2, n, d)
    return [torch.from_numpy(each).to(device, dtype) for each in matrices(rng, *shapes)]


def times(kernel, start):
    return sum(number for name, number in kernel.instructions.items() if name.startswith(start))


@pytest.mark.task(3)
@pytest.mark.compiled
def test_the_producer_becomes_copies_and_arrivals_with_bytes(rng):
    """A box of 128 columns of 16 bits is copied in two parts."""
    kernel = compiled(lesson.producer_alone, *q_k_v(rng, 128), False, chip="h100").kernels["producer_kernel"]
    arrivals, copies = times(kernel, "mbarrier.arrive.expect_tx"), times(kernel, "cp.async.bulk.tensor.4d.shared")
    why = f"{arrivals} arrivals that expect bytes stand in the code, wanted: 4, two for queries, one for k, one for v."
    assert arrivals == 4, why
    assert copies == 8, f"{copies} copies stand in the code, wanted: 8, of four boxes."


# Task 4: the consumers ----------------------------------------------------------------------------

def attention(q, k, v, causal, scale, keys=4, stages=2, programs=1):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = scale * q @ k.mT
    s = s.masked_fill(torch.ones(s.shape[2:], dtype=torch.bool).triu(1) & causal, -torch.inf)
    return s.softmax(-1) @ v, s.logsumexp(-1)


def doubles(rng, q_shape, kv_shape):
    return [torch.from_numpy(each).double() for each in matrices(rng, q_shape, kv_shape, kv_shape)]


def same(rng, q_shape, kv_shape, *, causal=False, **sizes):
    """Simulated with tiles of 4 queries and, if not said, 4 keys, 2 stages, 1 program."""
    q, k, v = doubles(rng, q_shape, kv_shape)
    assert_matches(lesson.simulate, q, k, v, causal, 1.5, oracle=attention, tolerance=IN_EXPONENTS, **sizes)


@pytest.mark.task(3, 4)
def test_the_keys_of_the_week_in_one_tile_and_in_two():
    """Out is (1.612, .119, 0, 0), the log-sum-exp 3.440."""
    q = torch.tensor([[[[1.0, 2, 0, 1]]]]).double()
    k = torch.tensor([[[[2.0, 1, 5, 0], [-2, 1, 3, 0], [1, 0, 0, 1], [1, 2, 1, 1]]]]).double()
    v = torch.tensor([[[[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [2, 0, 0, 0]]]]).double()
    assert_matches(lesson.simulate, q, k, v, False, 0.5, keys=4, oracle=attention, tolerance=IN_EXPONENTS)
    assert_matches(lesson.simulate, q, k, v, False, 0.5, keys=2, oracle=attention, tolerance=IN_EXPONENTS)


@pytest.mark.task(3, 4)
def test_sums_shrink_when_a_later_tile_has_a_larger_score():
    """The week's keys in the other order: the tile that comes first has the scores 2 and 0, the next one 3 and 1."""
    q = torch.tensor([[[[1.0, 2, 0, 1]]]]).double()
    k = torch.tensor([[[[1.0, 2, 1, 1], [1, 0, 0, 1], [-2, 1, 3, 0], [2, 1, 5, 0]]]]).double()
    v = torch.tensor([[[[2.0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]]]).double()
    out, _ = lesson.simulate(q, k, v, False, 0.5, keys=2)
    first, second = (round(float(each), 3) for each in out[0, 0, 0, :2])
    why = (f"out is ({first}, {second}), wanted: (1.612, .119). The row maximum grows from 2 to 3: alpha is exp(2 - 3) "
           "= .368. Which sums are multiplied by it, and after which wait?")
    assert (first, second) == (1.612, 0.119), why


@pytest.mark.task(3, 4)
def test_queries_see_their_own_key_and_those_before():
    """Equal scores, values 0 to 3: the mean of what is seen. A tile has 4 queries, and 2 keys."""
    zeros = torch.zeros(1, 1, 4, 2).double()
    values = torch.arange(4.0).double()[:, None].expand(1, 1, 4, 2).contiguous()
    out, _ = lesson.simulate(zeros, zeros, values, True, 1.0, keys=2)
    means = [round(float(each), 3) for each in out[0, 0, :, 0]]
    why = (f"Means of the keys that queries 0 to 3 see: {means}, wanted: 0, 0.5, 1, 1.5. row, col and MASK say which "
           "scores softmax_of hides.")
    assert means == [0, 0.5, 1, 1.5], why


@pytest.mark.task(3, 4)
def test_three_tiles_of_keys_in_three_slots(rng):
    same(rng, (1, 1, 4, 3), (1, 1, 12, 3), stages=3)


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_slots_are_used_again_after_both_consumers_gave_them_back(stages, rng):
    same(rng, (1, 1, 4, 3), (1, 1, 28, 3), stages=stages)


@pytest.mark.task(3, 4)
def test_a_second_tile_of_queries_goes_on_in_the_rings(rng):
    same(rng, (1, 1, 8, 3), (1, 1, 12, 3))


@pytest.mark.task(3, 4)
@pytest.mark.parametrize("keys", [4, 3, 2])
def test_a_causal_mask_hides_what_comes_later(keys, rng):
    """With fewer keys than queries in a tile, more tiles of keys than the first need a mask."""
    same(rng, (1, 1, 10, 3), (1, 1, 10, 3), causal=True, keys=keys)


@pytest.mark.task(3, 4)
@pytest.mark.edge
@pytest.mark.parametrize("q_shape, kv_shape, causal, programs", [
    ((1, 1, 1, 2), (1, 1, 1, 2), False, 1), ((1, 2, 5, 3), (1, 1, 11, 3), False, 2),
    ((2, 4, 3, 2), (2, 2, 9, 2), True, 3), ((1, 1, 9, 5), (1, 1, 6, 5), True, 2)])
def test_heads_lengths_and_programs_of_any_number(q_shape, kv_shape, causal, programs, rng):
    same(rng, q_shape, kv_shape, causal=causal, programs=programs)


@pytest.mark.task(3, 4)
@pytest.mark.counters
def test_each_softmax_but_the_first_runs_beside_a_product(rng):
    """Five tiles of keys for each consumer. The first tile of keys has no product of values to run beside."""
    seen = lesson.overlap(*doubles(rng, (1, 1, 4, 3), (1, 1, 20, 3)))
    beside, alone_, at_once, values_alone = (seen[name] for name in (
        "softmaxes over a product", "softmaxes over none", "products that were waited for", "values begun alone"))
    why = (f"Products that ended before warpgroup_mma returned: {at_once}, wanted: 2, the last of each consumer. "
           "Which argument lets one begin and return?")
    assert at_once == 2, why
    why = (f"Softmaxes of both consumers that ran beside a product: {beside}, without one: {alone_}; wanted: 8 and 2. "
           "Which product is in flight when softmax_of is called?")
    assert (beside, alone_) == (8, 2), why
    why = (f"Products with values that were begun while none was in flight: {values_alone}, wanted: 0. Which comes "
           "first, V or the wait for S?")
    assert values_alone == 0, why


@pytest.mark.task(3, 4)
@pytest.mark.counters
def test_slots_are_given_back_as_soon_as_their_product_has_ended(rng):
    seen = lesson.overlap(*doubles(rng, (1, 1, 8, 3), (1, 1, 20, 3)))
    kept_keys, kept_values = seen["slots of k kept in a softmax"], seen["slots of v kept too long"]
    why = f"Slots of k that a consumer kept while it computed a softmax: {kept_keys}, wanted: none. When is k used?"
    assert kept_keys == 0, why
    why = (f"Slots of v that a consumer kept while it began the next product: {kept_values}, wanted: none. Which wait "
           "says that v is used?")
    assert kept_values == 0, why


@pytest.mark.task(3, 4)
@pytest.mark.counters
@pytest.mark.parametrize("causal", [False, True])
def test_no_tile_is_masked_whose_keys_are_all_seen(causal, rng):
    """Tiles of 4 queries and 4 keys: only the first tile of keys, which is the last one, has hidden ones."""
    masks = lesson.overlap(*doubles(rng, (1, 1, 8, 3), (1, 1, 8, 3)), causal)["masks behind the first"]
    why = (f"causal={causal}: softmax_of was asked {masks} times to mask a tile behind the first, wanted: 0. "
           "Pass CAUSAL and MASK on.")
    assert masks == 0, why


def of_attention(rng, d, causal=True):
    return compiled(lesson.attention, *q_k_v(rng, d), causal, chip="h100").kernels["attention_kernel"]


def exponentials_between_the_waits(kernel):
    """Of each consumer: those that stand between the wait for scores and the next wait for a product."""
    parts = re.split(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x(\d)", kernel.text("sass"))
    return [text.count("MUFU.EX2") for most, text in zip(parts[1::2], parts[2::2]) if most == "1"]


@pytest.mark.task(3, 4)
@pytest.mark.compiled
@pytest.mark.parametrize("d", [128, 64])
def test_nothing_spills_and_both_products_are_the_tensor_cores(d, rng):
    consumers, stages = {128: (2, 2), 64: (3, 3)}[d]
    kernel = of_attention(rng, d)
    spills, shared, predicted = kernel.spills, kernel.shared_bytes, lesson.shared_bytes(consumers, 128, d, stages)
    products = sum(number for name, number in kernel.sass.items() if name.startswith("HGMMA"))
    wanted = consumers * 2 * (d // 16 + 128 // 16)
    why = (f"{spills} bytes of registers are spilled at d = {d}, wanted: none. Does like stand behind the wait for V, "
           "and has that wait acc alone as deps? ./course compiled week3/katas/gluon_attention shows the lines.")
    assert spills == 0, why
    why = (f"{products} tensor-core instructions stand in the code, wanted: {wanted}: S and V of each of {consumers} "
           "consumers, before the loop or behind it and in it.")
    assert products == wanted, why
    assert predicted <= shared <= LIMIT, f"The compiler takes {shared} bytes, shared_bytes says {predicted}."
    assert shared - predicted < 512, f"The compiler takes {shared} bytes, shared_bytes says {predicted}."


@pytest.mark.task(3, 4)
@pytest.mark.compiled
def test_the_exponentials_stand_between_the_wait_for_scores_and_that_for_values(rng):
    """64 weights of each thread, and two alphas."""
    between = exponentials_between_the_waits(of_attention(rng, 128))
    why = (f"Exponentials between the wait for S and the wait for V, in each consumer: {between}, wanted: 64 or more, "
           "in two consumers. Which wait stands between the softmax and the wait for V, and keeps them there?")
    assert len(between) == 2 and min(between) >= 64, why


@pytest.mark.task(3, 4)
@pytest.mark.hopper
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("d", [64, 128])
def test_a_gpu_gives_the_same_bits_ten_times_and_they_are_right(dtype, d):
    """batches,heads,kv_heads,n_q,n_k: one tile, parts of tiles, a single key, many tiles for a program."""
    shapes = [(1, 1, 1, 64, 128), (1, 2, 1, 40, 40), (1, 1, 1, 300, 1), (2, 6, 2, 1000, 777), (2, 16, 4, 4000, 4000)]
    for causal in (False, True):
        seen = alone(lesson.__file__, dtype, d, causal, *shapes)
        assert isinstance(seen, dict), f"attention in {dtype}, d = {d}, causal={causal}: {seen}"
        wrong = {shape: figures for shape, figures in seen.items() if any(figures.values())}
        assert wrong == {}, (f"attention in {dtype}, d = {d}, causal={causal}: rows of out and lse beyond the bound, "
                             f"and calls that differ, by batches,heads,kv_heads,n_q,n_k: {wrong}")


@pytest.mark.task(3, 4)
@pytest.mark.hopper
@pytest.mark.speed
@pytest.mark.parametrize("d, causal, n, wanted", [
    (128, False, 4096, 0.84), (128, True, 4096, 0.95), (128, False, 16384, 0.9), (128, True, 16384, 0.95),
    (64, False, 4096, 0.9), (64, True, 4096, 0.8)])
def test_attention_keeps_up_with_cudnn(d, causal, n, wanted):
    """Kernels like this one had .95, 1.14, 1.01, 1.09, 1.06 and .93 on an H100: these are at most nine tenths of it."""
    batches, heads = (4, 32) if n == 4096 else (2, 16)
    seen = alone(lesson.__file__, "bfloat16", d, causal, (batches, heads, heads, n, n), timed=True)
    assert isinstance(seen, dict), f"attention of {n} x {n}, d = {d}, causal={causal}: {seen}"
    ratio, = (figures["low"] for figures in seen.values())
    assert ratio >= wanted, f"{ratio:.2f} of cuDNN's speed at the least, wanted: {wanted}."
