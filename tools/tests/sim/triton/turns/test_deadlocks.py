"""Kernels whose programs wait for ever: no hang, but who waits for whom."""

import re
import signal
import threading

import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.sim.triton.faults import Fault
from tools.sim.triton.programs import SEED
from tools.sim.triton.turns import launch

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


def flags(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


@pytest.fixture(autouse=True)
def one_seed(monkeypatch):
    monkeypatch.setenv(SEED, "0")  # whether two locks meet is a matter of the order


def deadlock_of(kernel, grid, *args, **constants) -> Fault:
    with pytest.raises(Fault) as caught:
        kernel[grid](*args, **constants)
    assert threading.active_count() == 1
    return caught.value


@triton.jit
def add_under_lock(out_ptr, lock_ptr, UNLOCK: tl.constexpr, AGAIN: tl.constexpr):
    while tl.atomic_xchg(lock_ptr, 1, sem="acquire") == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + 1)
    if AGAIN:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
    if UNLOCK:
        tl.atomic_xchg(lock_ptr, 0, sem="release")


def test_a_lock_that_is_never_given_back():
    fault = deadlock_of(add_under_lock, (3,), torch.zeros(1), flags(1), UNLOCK=False, AGAIN=False)
    what, why, _, question = fault.text.splitlines()[1:]
    assert fault.kind == "deadlock" and fault.source.startswith("while tl.atomic_xchg")
    assert " waits for element 0 of lock. Program " in what and what.endswith(" changed it last,")
    assert why == f"in line {fault.line}, and has ended. All 2 programs that are left wait, of 3."
    assert question == "What has to change it once more, on every way through the kernel?"


def test_a_lock_that_is_taken_twice():
    fault = deadlock_of(add_under_lock, (1,), torch.zeros(1), flags(1), UNLOCK=True, AGAIN=True)
    what, why, _, question = fault.text.splitlines()[1:]
    assert what == f"program 0 waits for element 0 of lock, which it changed itself in line {fault.line - 4}."
    assert question == "Does it take what it holds already, or was that never given back?"


@triton.jit
def take_two(locks_ptr, out_ptr):
    pid = tl.program_id(0)
    first, second = pid % 2, 1 - pid % 2
    while tl.atomic_cas(locks_ptr + first, 0, 1) == 1:
        pass
    while tl.atomic_cas(locks_ptr + second, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + 1)
    tl.atomic_xchg(locks_ptr + second, 0)
    tl.atomic_xchg(locks_ptr + first, 0)


def test_two_locks_that_are_taken_in_different_orders():
    fault = deadlock_of(take_two, (8,), flags(2), torch.zeros(1))
    what, why, _, question = fault.text.splitlines()[1:]
    assert re.fullmatch(r"No program can go on: program \d waits for program \d(, which waits for program \d)+\.", what)
    assert re.fullmatch(r"It waits for element \d of locks, which program \d changed last, in line \d+\.", why)
    assert question == "Do all programs take what they hold in the same order?"


@triton.jit
def wait_for_neighbour(flags_ptr, LAST_TOO: tl.constexpr):
    pid = tl.program_id(0)
    if pid < tl.num_programs(0) - 1 or LAST_TOO:
        while tl.load(flags_ptr + pid + 1, volatile=True) == 0:
            pass
    tl.atomic_xchg(flags_ptr + pid, 1)


def test_a_flag_that_nobody_sets():
    fault = deadlock_of(wait_for_neighbour, (5,), flags(6), LAST_TOO=True)
    what, why, _, question = fault.text.splitlines()[1:]
    assert what == "program 0 waits for element 1 of flags, which no program has changed."
    assert why == "All 5 programs that are left wait, of 5."
    assert question == "Which program should change it, and does that program come to that line?"


def test_programs_that_wait_for_more_than_fit_on_a_gpu(monkeypatch):
    monkeypatch.setattr(launch, "room", lambda warps: 4)
    known = flags(4)
    wait_for_neighbour[(4,)](known, LAST_TOO=False)
    fault = deadlock_of(wait_for_neighbour, (9,), flags(9), LAST_TOO=False)
    assert fault.kind == "residency"
    assert fault.text.splitlines()[2] == "The other 2 start only when one of these ends."


def test_as_many_programs_fit_as_their_warps_let():
    assert (launch.room(4), launch.room(8), launch.room(1)) == (132 * 16, 132 * 8, 132 * 32)


@triton.jit
def count_rounds(flag_ptr, out_ptr):
    rounds = 0
    while tl.atomic_add(flag_ptr, 0) == 0:
        rounds += 1
    tl.store(out_ptr, rounds)


def test_a_loop_that_counts_its_rounds_is_given_many():
    fault = deadlock_of(count_rounds, (1,), flags(1), flags(1))
    assert fault.text.splitlines()[2] == "No program is left that could change it, after 1,000 rounds in vain."


@triton.jit
def never_ends(x_ptr):
    n = tl.load(x_ptr)
    while n > 0:
        n += 0


def test_a_loop_that_changes_nothing_and_looks_at_nothing():
    fault = deadlock_of(never_ends, (2,), torch.ones(1))
    assert "goes round this loop for ever: nothing that it depends on changes." in fault.text


def test_another_fault_ends_the_programs_that_wait():
    @triton.jit
    def wait_and_leave(x_ptr, flags_ptr):
        if tl.program_id(0) < 3:
            while tl.atomic_add(flags_ptr, 0) == 0:
                pass
        tl.load(x_ptr + 5)

    fault = deadlock_of(wait_and_leave, (4,), torch.zeros(1), flags(1))
    assert fault.kind == "out_of_bounds" and fault.program == (3,)


@triton.jit
def count_far(out_ptr):
    n = tl.load(out_ptr)
    while n < 1000000000:
        n += 1


def test_a_time_limit_ends_programs_in_flight():
    def ring(*_) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            count_far[(2,)](flags(1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert threading.active_count() == 1


def test_no_more_threads_than_the_machine_gives_is_said_plainly(monkeypatch):
    start, left = threading.Thread.start, [3]

    def start_some(thread) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_some)
    with pytest.raises(RuntimeError, match="this machine gives 3"):
        wait_for_neighbour[(9,)](flags(9), LAST_TOO=False)


def test_what_a_kernel_raises_keeps_its_type_and_its_line():
    @triton.jit
    def beyond_the_end(out_ptr):
        while tl.atomic_add(out_ptr, 1) < 3:
            pass
        tl.store(out_ptr + tl.arange(8, 16), 0)

    with pytest.raises(Fault) as caught:
        beyond_the_end[(2,)](flags(8))
    trace, lines = caught.value.__traceback__, []
    while trace:
        lines.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "beyond_the_end" in lines


@triton.jit
def search_for_ever(ends_ptr, out_ptr):
    low, high = 0, 4
    while high > low:
        middle = (low + high) // 2
        if tl.load(ends_ptr + middle) <= 5:
            low = middle
        else:
            high = middle
    tl.store(out_ptr + tl.program_id(0), low)
    tl.atomic_add(out_ptr + 2, 1)


def test_a_loop_of_plain_loads_waits_for_nobody():
    with pytest.raises(Fault) as caught:
        search_for_ever[(2,)](torch.arange(0, 10, 2), torch.zeros(3, dtype=torch.int64))
    assert "goes round this loop for ever: nothing that it depends on changes.\nIt reads element" in caught.value.text
    assert "waits" not in caught.value.text
