"""Kernels whose programs wait for one another: they run, and end as they would on a GPU."""

import traceback

import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.sim.triton.faults import Fault
from tools.sim.triton.programs import SEED
from tools.sim.triton.turns import launch
from tools.worker import TooSlow
from tools.worker.limit import time_limit

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


def flags(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


def told(kernel, grid, *args, **constants) -> str:
    """The text of its fault."""
    with pytest.raises(Fault) as caught:
        kernel[grid](*args, **constants)
    return caught.value.text


@pytest.fixture(params=["0", "1", "2"], autouse=True)
def seed(request, monkeypatch):
    monkeypatch.setenv(SEED, request.param)


@triton.jit
def scan_by_chain(
    x_ptr,
    out_ptr,
    sums_ptr,
    flags_ptr,
    BLOCK: tl.constexpr,
    SET: tl.constexpr = "release",
    GET: tl.constexpr = "acquire",
):
    pid = tl.program_id(0)
    mine = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags_ptr + pid - 1, 0, sem=GET) == 0:
            pass
        before = tl.load(sums_ptr + pid - 1)
    tl.store(sums_ptr + pid, before + tl.sum(x))
    tl.atomic_xchg(flags_ptr + pid, 1, sem=SET)
    tl.store(out_ptr + mine, before + tl.cumsum(x))


def test_a_scan_whose_programs_wait_for_the_one_before():
    x = torch.arange(48.0)
    out = torch.empty(48)
    scan_by_chain[(6,)](x, out, torch.empty(6), flags(6), BLOCK=8)
    assert torch.equal(out, x.cumsum(0))


@pytest.mark.parametrize(
    "mistake, why", [({"SET": "relaxed"}, "publishes nothing"), ({"GET": "relaxed"}, "takes nothing over")]
)
def test_a_scan_with_a_relaxed_flag(mistake, why):
    assert why in told(
        scan_by_chain, (6,), torch.ones(48), torch.empty(48), torch.empty(6), flags(6), BLOCK=8, **mistake
    )


@triton.jit
def look_back(flags_ptr, parts_ptr, totals_ptr, pid):
    """The sum of all tiles before this one: whole sums where they are known, else parts further back."""
    before = 0.0
    at = pid - 1
    while at >= 0:
        flag = tl.atomic_add(flags_ptr + at, 0, sem="acquire")
        if flag == 2:
            before += tl.load(totals_ptr + at)
            at = -1
        elif flag == 1:
            before += tl.load(parts_ptr + at)
            at -= 1
    return before


@triton.jit
def scan_by_look_back(
    x_ptr, out_ptr, flags_ptr, parts_ptr, totals_ptr, ticket_ptr, BLOCK: tl.constexpr, PLAIN: tl.constexpr = False
):
    pid = tl.atomic_add(ticket_ptr, 1)
    mine = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine)
    part = tl.sum(x)
    tl.store(parts_ptr + pid, part)
    tl.atomic_xchg(flags_ptr + pid, 1, sem="release")
    before = look_back(flags_ptr, parts_ptr, totals_ptr, pid)
    tl.store(totals_ptr + pid, before + part)
    if PLAIN:
        tl.store(flags_ptr + pid, 2)
    else:
        tl.atomic_xchg(flags_ptr + pid, 2, sem="release")
    tl.store(out_ptr + mine, before + tl.cumsum(x))


def test_a_scan_with_decoupled_look_back():
    x, out = torch.arange(64.0), torch.empty(64)
    scan_by_look_back[(8,)](x, out, flags(8), torch.empty(8), torch.empty(8), flags(1), BLOCK=8)
    assert torch.equal(out, x.cumsum(0))


@triton.jit
def wait_for(flags_ptr, at):
    while tl.atomic_add(flags_ptr + at, 0, sem="relaxed") == 0:
        pass


@triton.jit
def wait_for_the_next(flags_ptr, n):
    pid = tl.program_id(0)
    if pid + 1 < n:
        wait_for(flags_ptr, pid + 1)
    tl.atomic_xchg(flags_ptr + pid, 1, sem="relaxed")


def test_a_helper_that_waits_lets_other_programs_go_on():
    assert launch.can_wait(launch.names(wait_for_the_next.rewrite()))  # else it would hang here
    done = flags(5)
    wait_for_the_next[(5,)](done, 5)
    assert done.tolist() == [1] * 5


def test_a_look_back_whose_flag_is_stored_plainly():
    args = torch.ones(64), torch.empty(64), flags(8), torch.empty(8), torch.empty(8), flags(1)
    text = told(scan_by_look_back, (8,), *args, BLOCK=8, PLAIN=True)
    assert "A plain store publishes nothing." in text and " of flags in line " in text


@triton.jit
def sum_under_lock(
    x_ptr,
    out_ptr,
    lock_ptr,
    BLOCK: tl.constexpr,
    SWAP: tl.constexpr,
    TAKE: tl.constexpr = "acquire",
    GIVE: tl.constexpr = "release",
    BARRIER: tl.constexpr = True,
):
    mine = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + mine)
    if SWAP:
        while tl.atomic_cas(lock_ptr, 0, 1, sem=TAKE) == 1:
            pass
    else:
        while tl.atomic_xchg(lock_ptr, 1, sem=TAKE) == 1:
            pass
    tl.store(out_ptr + mine, tl.load(out_ptr + mine) + x)
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem=GIVE)


@pytest.mark.parametrize("swap", [True, False])
def test_sums_under_a_spin_lock(swap):
    x, out = torch.randint(9, (7, 16)).float(), torch.zeros(16)
    sum_under_lock[(7,)](x, out, flags(1), BLOCK=16, SWAP=swap)
    assert torch.equal(out, x.sum(0))


@pytest.mark.parametrize("swap", [True, False])
@pytest.mark.parametrize(
    "mistake, why",
    [
        ({"TAKE": "relaxed"}, 'is "relaxed" and takes nothing over'),
        ({"GIVE": "relaxed"}, 'is "relaxed" and publishes nothing'),
        ({"BARRIER": False}, "waits for one thread of program "),
    ],
)
def test_a_lock_that_is_taken_or_given_back_too_loosely(swap, mistake, why):
    assert why in told(
        sum_under_lock, (7,), torch.ones(7, 16), torch.zeros(16), flags(1), BLOCK=16, SWAP=swap, **mistake
    )


@triton.jit
def split_k_in_turn(
    x_ptr,
    out_ptr,
    turn_ptr,
    SPLITS: tl.constexpr,
    BLOCK: tl.constexpr,
    BARRIER: tl.constexpr = True,
    NEXT: tl.constexpr = 1,
):
    tile, split = tl.program_id(0), tl.program_id(1)
    mine = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + split * BLOCK * tl.num_programs(0) + mine)
    while tl.atomic_add(turn_ptr + tile, 0, sem="acquire") != split:
        pass
    if split > 0:
        x += tl.load(out_ptr + mine)
    tl.store(out_ptr + mine, x)
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_xchg(turn_ptr + tile, (split + NEXT) % SPLITS, sem="release")


def test_split_k_whose_parts_are_added_in_turn():
    x, out, turns = torch.randn(5, 32), torch.empty(32), flags(2)
    split_k_in_turn[(2, 5)](x, out, turns, SPLITS=5, BLOCK=16)
    wanted = x[0].clone()
    for part in x[1:]:
        wanted += part
    assert torch.equal(out, wanted) and turns.tolist() == [0, 0]


def test_split_k_without_a_barrier_or_with_a_turn_that_nobody_has():
    x, out = torch.ones(5, 32), torch.empty(32)
    assert "waits for one thread" in told(split_k_in_turn, (2, 5), x, out, flags(2), SPLITS=5, BLOCK=16, BARRIER=False)
    text = told(split_k_in_turn, (2, 5), x, out, flags(2), SPLITS=5, BLOCK=16, NEXT=0)
    assert " waits for element " in text and " of turn" in text


@triton.jit
def stream_k(
    x_ptr,
    out_ptr,
    partials_ptr,
    flags_ptr,
    TILES: tl.constexpr,
    PER_TILE: tl.constexpr,
    BLOCK: tl.constexpr,
    SET: tl.constexpr = "release",
):
    """TILES sums of PER_TILE rows; each program takes as many rows, wherever tiles begin."""
    pid, programs = tl.program_id(0), tl.num_programs(0)
    rows = TILES * PER_TILE // programs
    row, end = pid * rows, pid * rows + rows
    mine = tl.arange(0, BLOCK)
    while row < end:
        tile = row // PER_TILE
        first = row == tile * PER_TILE
        until = tl.minimum(end, (tile + 1) * PER_TILE)
        acc = tl.zeros((BLOCK,), tl.float32)
        for each in range(row, until):
            acc += tl.load(x_ptr + each * BLOCK + mine)
        if first:
            done, helper = until, pid + 1
            while done < (tile + 1) * PER_TILE:
                while tl.atomic_add(flags_ptr + helper, 0, sem="acquire") == 0:
                    pass
                acc += tl.load(partials_ptr + helper * BLOCK + mine)
                done += rows
                helper += 1
            tl.store(out_ptr + tile * BLOCK + mine, acc)
        else:
            tl.store(partials_ptr + pid * BLOCK + mine, acc)
            tl.debug_barrier()
            tl.atomic_xchg(flags_ptr + pid, 1, sem=SET)
        row = until


def test_stream_k_whose_first_program_of_a_tile_waits_for_the_others_parts():
    x, out = torch.randint(9, (12, 8)).float(), torch.empty(3, 8)
    stream_k[(6,)](x, out, torch.empty(6, 8), flags(6), TILES=3, PER_TILE=4, BLOCK=8)
    assert torch.equal(out, x.view(3, 4, 8).sum(1))


def test_stream_k_whose_parts_are_not_published():
    args = torch.ones(12, 8), torch.empty(3, 8), torch.empty(6, 8), flags(6)
    assert "publishes nothing" in told(stream_k, (6,), *args, TILES=3, PER_TILE=4, BLOCK=8, SET="relaxed")


@triton.jit
def neighbours_twice(
    x_ptr,
    y_ptr,
    z_ptr,
    count_ptr,
    BLOCK: tl.constexpr,
    BARRIER: tl.constexpr = True,
    COME: tl.constexpr = "acq_rel",
    MORE: tl.constexpr = 0,
):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    mine = tl.arange(0, BLOCK)
    there = (pid + 1) % programs * BLOCK + mine
    tl.store(y_ptr + pid * BLOCK + mine, tl.load(x_ptr + there) + 1)
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_add(count_ptr, 1, sem=COME)
    while tl.atomic_add(count_ptr, 0, sem="acquire") < programs + MORE:
        pass
    tl.store(z_ptr + pid * BLOCK + mine, tl.load(y_ptr + there) + 1)


def test_a_barrier_over_the_grid():
    x = torch.arange(40.0).view(5, 8)
    y, z = torch.empty(5, 8), torch.empty(5, 8)
    neighbours_twice[(5,)](x, y, z, flags(1), BLOCK=8)
    assert torch.equal(z, x.roll(-2, 0) + 2)


@pytest.mark.parametrize(
    "mistake, why",
    [
        ({"BARRIER": False}, "waits for one thread of program "),
        ({"COME": "relaxed"}, 'is "relaxed" and publishes nothing'),
        ({"MORE": 1}, " waits for element 0 of count"),
    ],
)
def test_a_barrier_over_the_grid_that_is_none_or_waits_for_one_more(mistake, why):
    x, y, z = (torch.zeros(5, 8) for _ in range(3))
    assert why in told(neighbours_twice, (5,), x, y, z, flags(1), BLOCK=8, **mistake)


@triton.jit
def last_one_folds(x_ptr, parts_ptr, out_ptr, count_ptr, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts_ptr + pid, tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK))))
    if tl.atomic_add(count_ptr, 1, sem="acq_rel") == PROGRAMS - 1:
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS))))
        tl.store(count_ptr, 0)


def test_the_last_program_to_arrive_folds_what_the_others_stored():
    x, parts, out, count = torch.randint(9, (64,)).float(), torch.empty(8), torch.empty(1), flags(1)
    last_one_folds[(8,)](x, parts, out, count, PROGRAMS=8, BLOCK=8)
    assert out.item() == x.sum() and count.item() == 0
    last_one_folds[(8,)](x, parts, parts, count, PROGRAMS=8, BLOCK=8)  # in place
    assert parts[0].item() == x.sum()


@triton.jit
def take_from_queue(x_ptr, out_ptr, who_ptr, queue_ptr, tiles, BLOCK: tl.constexpr):
    tile = tl.atomic_add(queue_ptr, 1)
    while tile < tiles:
        mine = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + mine, tl.load(x_ptr + mine) * 2)
        tl.store(who_ptr + tile, tl.program_id(0))
        tile = tl.atomic_add(queue_ptr, 1, sem="relaxed")


def test_programs_that_take_tiles_from_a_queue_share_them():
    x, out, who = torch.arange(80.0), torch.empty(80), flags(10)
    take_from_queue[(3,)](x, out, who, flags(1), 10, BLOCK=8)
    assert torch.equal(out, x * 2) and len(set(who.tolist())) > 1


def test_a_queue_that_is_no_atomic():
    @triton.jit
    def take_and_add(queue_ptr, out_ptr, tiles):
        tile = tl.load(queue_ptr)
        while tile < tiles:
            tl.store(queue_ptr, tile + 1)
            tl.store(out_ptr + tile, tl.program_id(0))
            tile = tl.load(queue_ptr)

    assert " element 0 of queue" in told(take_and_add, (3,), flags(1), flags(10), 10)


@triton.jit
def wait_for_later(flags_ptr):
    pid = tl.program_id(0)
    if pid < tl.num_programs(0) - 1:
        while tl.load(flags_ptr + pid + 1, volatile=True) == 0:
            pass
    tl.atomic_xchg(flags_ptr + pid, 1)


def test_a_program_may_wait_for_a_later_one_by_a_volatile_load():
    known = flags(40)
    wait_for_later[(40,)](known)
    assert known.tolist() == [1] * 40


@triton.jit
def try_a_while(lock_ptr, tries_ptr, MOST: tl.constexpr):
    tries = 0
    while (tl.atomic_cas(lock_ptr, 0, 1) == 1) & (tries < MOST):
        tries += 1
    tl.store(tries_ptr + tl.program_id(0), tries)


def test_a_program_that_gives_up_after_some_tries_is_in_no_deadlock():
    tries = flags(3)
    try_a_while[(3,)](flags(1), tries, MOST=20)
    assert sorted(tries.tolist()) == [0, 20, 20]


@triton.jit
def count_for_ever(out_ptr):
    done = 0
    while done >= 0:
        done += 1
        tl.atomic_add(out_ptr, 1)


def test_what_a_deadline_raises_leads_to_the_line_of_the_program_that_ran():
    with pytest.raises(TooSlow) as caught, time_limit(0.3):
        count_for_ever[(2,)](flags(1))
    assert "count_for_ever" in [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.tb)]
