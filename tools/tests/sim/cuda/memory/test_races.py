"""Races: found where nothing puts two threads in order, and only there."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.tests.sim.cuda.memory.running import race_of


@cuda.jit
def neighbour(x, out, waits_between, waits_after):
    part = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    for k in range(2):
        part[t] = x[t] + k
        if waits_between:
            cuda.syncthreads()
        out[t] = part[63 - t]
        if waits_after:
            cuda.syncthreads()


def test_reading_what_another_warp_wrote_needs_a_barrier():
    fault = race_of(neighbour, (1, 64), np.zeros(64), np.zeros(64), False, True)
    assert "reads element 63 of part, which thread 63 of block 0 wrote in line" in " ".join(fault.text.split())
    assert "No barrier lies between the two." in fault.text
    assert "A read-after-write race" in fault.text
    assert fault.source == "out[t] = part[63 - t]"


def test_writing_what_another_warp_may_still_read_needs_a_barrier():
    fault = race_of(neighbour, (1, 64), np.zeros(64), np.zeros(64), True, False)
    assert "A write-after-read race" in fault.text
    assert fault.source == "part[t] = x[t] + k"


def test_with_both_barriers_there_is_no_race():
    out = np.zeros(64)
    neighbour[1, 64](np.arange(64.0), out, True, True)
    assert out.tolist() == [64 - t for t in range(64)]


@cuda.jit
def all_to_one(out):
    part = cuda.shared.array(1, np.int64)
    part[0] = cuda.threadIdx.x
    cuda.syncthreads()
    out[0] = part[0]


def test_two_threads_that_write_one_element_race():
    fault = race_of(all_to_one, (1, 32), np.zeros(1))
    assert "no barrier before or after it helps." in fault.what
    assert fault.question == "A write-after-write race: should both write here, or each to its own place?"


@cuda.jit
def moves_down(out, waits, stays):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = t
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step or (not stays and t + step < 128):
            part[t] += part[t + step]
        if waits:
            cuda.syncthreads()
        step //= 2
    out[t] = part[t]


def test_a_line_that_reads_and_stores_in_one_step_asks_for_no_barrier_around_it():
    fault = race_of(moves_down, (1, 128), np.zeros(128), True, False)
    assert fault.source == "part[t] += part[t + step]"
    assert fault.what.splitlines()[2] == "Both run this line in one step: no barrier before or after it helps."
    assert fault.question == "A write-after-read race: should both work here, or all read beforehand?"
    assert max(map(len, fault.text.splitlines())) <= 80


def test_a_line_that_reads_what_it_stored_a_turn_before_needs_a_barrier():
    fault = race_of(moves_down, (1, 128), np.zeros(128), False, True)
    assert fault.source == "part[t] += part[t + step]"
    assert "No barrier lies between the two." in fault.what
    assert fault.question == "A read-after-write race: either may come first. What puts them in order?"


@cuda.jit
def turns_around(out):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[t] = t
    cuda.syncthreads()
    for k in range(2):
        part[t ^ 32 if k else t + 64] = part[t + 64 if k else t]
    out[t] = part[t]


def test_a_line_that_reads_in_one_turn_and_stores_in_the_next_needs_a_barrier():
    fault = race_of(turns_around, (1, 64), np.zeros(64))
    assert "No barrier lies between the two." in fault.what


@cuda.jit
def within_a_warp(out, waits):
    part = cuda.shared.array(32, np.int64)
    t = cuda.threadIdx.x
    part[t] = t
    if waits:
        cuda.syncwarp()
    out[t] = part[31 - t]


def test_lanes_of_a_warp_need_a_syncwarp():
    assert "Neither a barrier nor a syncwarp lies" in race_of(within_a_warp, (1, 32), np.zeros(32), False).text
    within_a_warp[1, 32](np.zeros(32), True)


@cuda.jit
def row_sums(x, out, masks):
    """A mask for each step of five; where it is 0, nobody waits."""
    part = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    part[t] = x[t]
    for k in range(5):
        step, mask = 16 >> k, masks[k]
        if mask and (mask >> (t % 32)) & 1:
            cuda.syncwarp(mask)
        if t % 32 < step:
            part[t] += part[t + step]
    if t % 32 == 0:
        out[t // 32] = part[t]


@pytest.mark.parametrize(
    "masks", [[0xFFFFFFFF, 0xFFFF, 0xFF, 0xF, 0x3], [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFF, 0xFF, 0xFF], [0xFFFFFFFF] * 5]
)
def test_a_mask_may_name_only_the_lanes_that_give_and_take(masks):
    out = np.zeros(2)
    row_sums[1, 64](np.arange(64.0), out, np.array(masks, np.uint32))
    assert out.tolist() == [496, 1520]


@pytest.mark.parametrize(
    "masks, out, mask",
    [
        ([0xFFFF, 0xFF, 0xF, 0x3, 0x1], 16, "0x0000ffff"),
        ([0xFFFFFFFF, 0xFF, 0xF, 0x3, 0x1], 8, "0x000000ff"),
        ([0xFFFFFFFF, 0xFFFF, 0xFF, 0xF, 0x1], 1, "0x00000001"),
    ],
)
def test_a_mask_orders_nothing_for_lanes_that_it_leaves_out(masks, out, mask):
    fault = race_of(row_sums, (1, 64), np.arange(64.0), np.zeros(2), np.array(masks, np.uint32))
    assert f"Thread {out} of block 0 is not in the mask {mask} of line" in fault.text
    assert f"thread 0 of block 0 reads element {out} of part" in fault.text


@cuda.jit
def one_group_after_the_other(out, masks):
    """Lane 0 stores, lane 3 reads; between, two groups may meet, one after the other."""
    part = cuda.shared.array(1, np.float64)
    t = cuda.threadIdx.x
    if t == 0:
        part[0] = 7
    for k in range(2):
        if (masks[k] >> t) & 1:
            cuda.syncwarp(masks[k])
    if t == 3:
        out[0] = part[0]


def test_what_one_group_saw_its_members_hand_on_to_the_next():
    out = np.zeros(1)
    one_group_after_the_other[1, 32](out, np.array([0b0011, 0b1010], np.uint32))
    assert out[0] == 7


def test_groups_that_meet_the_other_way_round_hand_nothing_on():
    fault = race_of(one_group_after_the_other, (1, 32), np.zeros(1), np.array([0b1010, 0b0011], np.uint32))
    assert "reads element 0 of part" in fault.text


@cuda.jit
def halves(out, across):
    """Each half of a warp with a mask of its own, in one line."""
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = t
    cuda.syncwarp(0xFFFF if t % 32 < 16 else 0xFFFF0000)
    out[t] = part[t ^ (31 if across else 15)]


def test_each_group_of_a_warp_orders_its_own_lanes():
    out = np.zeros(64)
    halves[1, 64](out, False)
    assert out.tolist() == [t ^ 15 for t in range(64)]
    assert "is not in the mask 0x0000ffff of line" in race_of(halves, (1, 64), np.zeros(64), True).text


@cuda.jit
def met_before(out):
    """Lanes 0 and 1 meet, and only then lane 1 stores what lane 0 reads."""
    part = cuda.shared.array(1, np.float64)
    t = cuda.threadIdx.x
    if t < 2:
        cuda.syncwarp(0b11)
    if t == 1:
        part[0] = 7
    if t == 0:
        out[0] = part[0]


def test_what_is_stored_after_a_meeting_is_not_ordered_by_it():
    assert "Neither a barrier nor a syncwarp lies" in race_of(met_before, (1, 32), np.zeros(1)).text


@cuda.jit
def across_warps_with_syncwarp(out):
    part = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    part[t] = t
    cuda.syncwarp()
    out[t] = part[63 - t]


def test_a_syncwarp_orders_nothing_between_warps():
    fault = race_of(across_warps_with_syncwarp, (1, 64), np.zeros(64))
    line = across_warps_with_syncwarp.py_func.__code__.co_firstlineno + 5
    assert f"The syncwarp in line {line} lets only lanes of one warp wait; these are of two." in fault.what
    assert max(map(len, fault.text.splitlines())) <= 80


@cuda.jit
def syncwarps_before_after_and_of_others(out):
    part = cuda.shared.array(96, np.int64)
    t = cuda.threadIdx.x
    cuda.syncwarp()
    part[t] = t
    if t >= 64:
        cuda.syncwarp()
    if t < 64:
        out[t] = part[63 - t]
    cuda.syncwarp()


def test_only_a_syncwarp_of_one_of_the_two_between_them_is_named():
    assert (
        "No barrier lies between the two." in race_of(syncwarps_before_after_and_of_others, (1, 96), np.zeros(64)).text
    )


@cuda.jit
def histogram(x, bins):
    bins[x[cuda.grid(1)]] += 1


def test_a_histogram_without_atomics_races():
    fault = race_of(histogram, (2, 32), np.arange(64) % 5, np.zeros(5, np.int64))
    assert fault.array == "bins"


@cuda.jit
def one_element_for_each_block(out):
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x // 2] = 1


def test_blocks_race_in_global_memory():
    assert "Blocks run in any order." in race_of(one_element_for_each_block, (4, 32), np.zeros(4)).text


def test_blocks_race_also_when_they_do_not_run_together():
    blocks = 5000  # more than run at once
    fault = race_of(one_element_for_each_block, (blocks, 32), np.zeros(blocks))
    assert "Blocks run in any order." in fault.text


@cuda.jit
def each_block_adds(out):
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x // 2] += 1


@cuda.jit
def each_block_stores_its_number(out):
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x // 2] = cuda.blockIdx.x


@pytest.mark.parametrize(
    "kernel, question",
    [
        (each_block_adds, "A write-after-read race: should both blocks change it, or each its own?"),
        (each_block_stores_its_number, "A write-after-write race: should both write here, or each to its own place?"),
    ],
)
def test_of_one_line_of_two_blocks_it_is_asked_whether_both_should(kernel, question):
    fault = race_of(kernel, (4, 32), np.zeros(4))
    assert fault.question == question
    assert fault.what.endswith("Blocks run in any order. A block's barrier lets no other block wait.")


@cuda.jit
def two_lines_share_places(out):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    part[2 * t] = t
    part[t + 1] = -t
    cuda.syncthreads()
    out[t] = part[t]


def test_of_two_lines_that_store_to_one_place_it_is_asked_which_should_stay():
    fault = race_of(two_lines_share_places, (1, 64), np.zeros(64))
    assert fault.question == "A write-after-write race: which should stay, or should each have its place?"


@cuda.jit
def far_blocks(out):
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x % 4000] = 1


def test_a_block_of_another_batch_is_named():
    text = race_of(far_blocks, (8000, 32), np.zeros(4000)).text
    assert "which block" in text and "wrote before" in text


@cuda.jit
def atomics_then_read(out, waits):
    total = cuda.shared.array(1, np.int64)
    t = cuda.threadIdx.x
    if t == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, t)
    if waits:
        cuda.syncthreads()
    out[t] = total[0]


def test_atomics_race_with_plain_reads_but_not_with_each_other():
    race_of(atomics_then_read, (1, 64), np.zeros(64), False)
    out = np.zeros(64)
    atomics_then_read[1, 64](out, True)
    assert (out == 64 * 63 // 2).all()


@cuda.jit
def last_block_sums(x, partial, ticket, out, fences):
    block, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        partial[block] = x[block]
        if fences:
            cuda.threadfence()
        if cuda.atomic.add(ticket, 0, 1) == cuda.gridDim.x - 1:
            total = 0.0
            for k in range(cuda.gridDim.x):
                total += partial[k]
            out[0] = total


@pytest.mark.parametrize("blocks", [10, 3000])
def test_a_fence_hands_results_to_the_last_block(blocks):
    x, out = np.arange(float(blocks)), np.zeros(1)
    last_block_sums[blocks, 32](x, np.zeros(blocks), np.zeros(1, np.int64), out, True)
    assert out[0] == x.sum()
    race_of(last_block_sums, (blocks, 32), x, np.zeros(blocks), np.zeros(1, np.int64), out, False)


def test_the_same_memory_under_two_names_is_one_memory():
    x = cuda.to_device(np.zeros(64))
    race_of(shift, (1, 64), x, x)


@cuda.jit
def shift(x, out):
    t = cuda.threadIdx.x
    out[t] = x[(t + 1) % 64]


@cuda.jit
def all_write_seven(x):
    x[0] = 7


@cuda.jit
def all_write_what_they_read(x, out):
    part = cuda.shared.array(1, np.float64)
    if cuda.threadIdx.x == 0:
        part[0] = x[0]
    cuda.syncthreads()
    out[cuda.blockIdx.x] = part[0]


def test_a_race_of_equal_values_says_that_a_gpu_lets_it_pass():
    for fault in (
        race_of(all_write_seven, (1, 32), np.zeros(1)),
        race_of(all_write_what_they_read, (2, 32), np.zeros(1), np.zeros(2)),
    ):
        assert "a GPU lets it pass until one differs" in fault.text and "write-after-write" in fault.text
        assert max(map(len, fault.text.splitlines())) <= 80
    assert "equal values" not in race_of(all_to_one, (1, 32), np.zeros(1)).text
