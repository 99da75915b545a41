"""Accesses of two programs that nothing puts in order: found, with both lines and what is missing."""

import inspect

import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.sim.triton.faults import Fault
from tools.sim.triton.programs import order
from tools.worker import raised_from

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


def flags(n: int) -> torch.Tensor:
    return torch.zeros(n, dtype=torch.int32)


def fault_of(kernel, grid, *args, **constants) -> list[str]:
    """The lines of its text, without the first."""
    with pytest.raises(Fault) as caught:
        kernel[grid](*args, **constants)
    return caught.value.text.splitlines()[1:]


def line_of(kernel, what: str) -> int:
    """The number of the kernel's line that holds this."""
    source, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(source) if what in line)


# Loads and stores --------------------------------------------------------------------------------


@triton.jit
def smooth_in_place(x_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    mine = pid * BLOCK + tl.arange(0, BLOCK)
    right = tl.load(x_ptr + (pid + 1) % tl.num_programs(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(x_ptr + mine, right + 1)


def test_a_load_of_what_another_program_stores_is_reported_with_both_lines():
    what, why, _, question = fault_of(smooth_in_place, (4,), torch.zeros(64), BLOCK=16)
    load, store = line_of(smooth_in_place, "right = "), line_of(smooth_in_place, "tl.store")
    assert what.endswith(f" in line {store}.") and f" of x in line {load}, and program " in what
    assert why == "They run at the same time, so the load may find either value."
    assert question == "Should the result go to another array, or be stored in another launch?"


def test_a_counter_without_an_atomic_is_asked_after():
    @triton.jit
    def draw(next_ptr, out_ptr):
        turn = tl.load(next_ptr)
        if tl.program_id(0) == 1:
            tl.store(next_ptr, turn + 1)

    *_, question = fault_of(draw, (3,), torch.zeros(1, dtype=torch.int32), torch.zeros(3))
    assert question == "Does each add to it? tl.atomic_add loads, adds and stores in one step."


def test_a_load_before_a_store_to_the_same_element_is_told_as_two_stores():
    @triton.jit
    def add_up(x_ptr, out_ptr):
        before = tl.load(out_ptr)
        tl.store(out_ptr, before + tl.load(x_ptr + tl.program_id(0)))

    what, *_ = fault_of(add_up, (2,), torch.ones(2), torch.zeros(1))
    assert what == "programs 0 and 1 both store element 0 of out."


def test_the_fault_of_a_load_keeps_the_lines_that_lead_to_it():
    with pytest.raises(Fault) as caught:
        store_then_all_load[(3,)](torch.zeros(1), torch.zeros(3))
    assert raised_from(caught.value, [__file__]).frames[-1].function == "store_then_all_load"
    assert raised_from(caught.value, [__file__]).frames[-1].source == caught.value.source


def test_one_program_may_load_what_it_stores():
    x = torch.zeros(16)
    smooth_in_place[(1,)](x, BLOCK=16)
    assert x.tolist() == [1] * 16


@triton.jit
def store_then_all_load(x_ptr, out_ptr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(x_ptr, 7.0)
    tl.store(out_ptr + pid, tl.load(x_ptr))


def test_a_value_that_one_program_prepares_for_all_is_reported_whoever_comes_first():
    what, *_ = fault_of(store_then_all_load, (3,), torch.zeros(1), torch.zeros(3))
    assert " loads element 0 of x in line " in what and "and program 0 stores it in line " in what


def test_a_store_that_leaves_what_another_program_loads_as_it_is_says_so():
    @triton.jit
    def store_what_is_there(x_ptr, out_ptr, LAST: tl.constexpr):
        tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr))
        if tl.program_id(0) == LAST:
            tl.store(x_ptr, 3.0)

    _, why, *_ = fault_of(store_what_is_there, (2,), torch.full((1,), 3.0), torch.empty(2), LAST=order(2)[-1])
    assert why == "Here it keeps its value, so a GPU would let it pass; the course does not."


def test_loads_of_what_nobody_changes_are_never_in_the_way():
    @triton.jit
    def all_load_all(x_ptr, out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))

    out = torch.empty(4)
    all_load_all[(4,)](torch.ones(8), out, BLOCK=8)
    assert out.tolist() == [8] * 4


@triton.jit
def tally(x_ptr, counts_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + x, 1, sem="relaxed")
    tl.store(out_ptr + tl.program_id(0), tl.load(counts_ptr))


def test_a_plain_load_of_what_others_update_is_reported():
    x = torch.zeros(8, dtype=torch.int32)
    what, why, _, question = fault_of(tally, (2,), x, flags(1), flags(2), BLOCK=4)
    assert " loads element 0 of counts in line " in what and " updates it in line " in what
    tally[(1,)](x, flags(1), flags(2), BLOCK=4)


# Chains of atomics -------------------------------------------------------------------------------


@triton.jit
def hand_over(x_ptr, out_ptr, flag_ptr, BLOCK: tl.constexpr, SET: tl.constexpr, GET: tl.constexpr, SCOPE: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x_ptr + mine, mine)
        tl.debug_barrier()
        tl.atomic_xchg(flag_ptr, 1, sem=SET, scope=SCOPE)
    else:
        while tl.atomic_add(flag_ptr, 0, sem=GET) == 0:
            pass
        tl.store(out_ptr + mine, tl.load(x_ptr + mine))


def handed_over(**how):
    how = {"SET": "release", "GET": "acquire", "SCOPE": "gpu"} | how
    out = flags(8)
    hand_over[(2,)](flags(8), out, flags(1), BLOCK=8, **how)
    return out.tolist()


def test_what_a_release_publishes_an_acquire_takes_over():
    assert handed_over() == handed_over(SET=None, GET=None) == handed_over(SCOPE="sys") == list(range(8))


@pytest.mark.parametrize(
    "how, word",
    [({"SET": "relaxed"}, '"relaxed"'), ({"SET": "acquire"}, '"acquire"'), ({"SCOPE": "cta"}, 'of scope "cta"')],
)
def test_an_atomic_that_publishes_nothing_is_named(how, word):
    with pytest.raises(Fault) as caught:
        handed_over(**how)
    here = line_of(hand_over, "atomic_xchg")
    assert caught.value.text.splitlines()[2:] == [
        f"Between them is the atomic of line {here}, which is {word} and publishes nothing.",
        "",
        'Which sem= publishes what came before: "release", or "acq_rel"?',
    ]


@pytest.mark.parametrize("sem", ["relaxed", "release"])
def test_an_atomic_that_takes_nothing_over_is_named(sem):
    with pytest.raises(Fault) as caught:
        handed_over(GET=sem)
    here = line_of(hand_over, "while")
    assert caught.value.text.splitlines()[2:] == [
        f'Between them is the atomic of line {here}, which is "{sem}" and takes nothing over.',
        "",
        'An atomic with sem="acquire" would; tl.atomic_add(pointer, 0, ...) only looks.',
    ]


@triton.jit
def poll(x_ptr, out_ptr, flag_ptr, VOLATILE: tl.constexpr, PLAIN_FLAG: tl.constexpr):
    if tl.program_id(0) == 0:
        tl.store(x_ptr, 5)
        if PLAIN_FLAG:
            tl.store(flag_ptr, 1)
        else:
            tl.atomic_xchg(flag_ptr, 1)
    else:
        while tl.load(flag_ptr, volatile=VOLATILE) == 0:
            pass
        tl.store(out_ptr, tl.load(x_ptr))


def test_a_volatile_load_waits_and_takes_nothing_over():
    what, why, _, question = fault_of(poll, (2,), flags(1), flags(1), flags(1), VOLATILE=True, PLAIN_FLAG=False)
    assert what.startswith("program 1 loads element 0 of x in line ")
    assert why == f"Between them is the volatile load of line {line_of(poll, 'while')}, which takes nothing over."


def test_a_flag_that_is_stored_plainly_is_reported():
    what, why, _, question = fault_of(poll, (2,), flags(1), flags(1), flags(1), VOLATILE=True, PLAIN_FLAG=True)
    assert what.startswith("program 1 looks at element 0 of flag in line ")
    assert (why, question) == ("A plain store publishes nothing.", 'Should it be tl.atomic_xchg(..., sem="release")?')


def test_a_flag_that_is_loaded_plainly_is_reported():
    what, _, _, question = fault_of(poll, (2,), flags(1), flags(1), flags(1), VOLATILE=False, PLAIN_FLAG=False)
    assert "program 1 loads element 0 of flag in line " in what and "program 0 updates it in line " in what
    assert question == 'Look by volatile=True, or in order by tl.atomic_add(pointer, 0, sem="acquire").'


# All threads of a program ------------------------------------------------------------------------


@triton.jit
def publish(x_ptr, out_ptr, flag_ptr, BLOCK: tl.constexpr, BARRIER: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x_ptr + mine, mine)
        if BARRIER:
            tl.debug_barrier()
        tl.atomic_xchg(flag_ptr, 1, sem="release")
    else:
        while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
            pass
        tl.store(out_ptr + mine, tl.load(x_ptr + mine))


def test_a_release_publishes_a_block_only_after_a_barrier():
    out = flags(8)
    publish[(2,)](flags(8), out, flags(1), BLOCK=8, BARRIER=True)
    assert out.tolist() == list(range(8))
    _, why, _, question = fault_of(publish, (2,), flags(8), out, flags(1), BLOCK=8, BARRIER=False)
    here = line_of(publish, "atomic_xchg")
    assert why == f"The release in line {here} waits for one thread of program 0, not for all."
    assert question == "All of its threads meet at tl.debug_barrier(). Is one needed before it?"


def test_one_number_is_stored_by_the_thread_that_releases():
    out = flags(1)
    publish[(2,)](flags(1), out, flags(1), BLOCK=1, BARRIER=False)


@triton.jit
def publish_late(x_ptr, out_ptr, flag_ptr, count_ptr, BLOCK: tl.constexpr, USED: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x_ptr + mine, mine)
        if USED:
            ticket = tl.atomic_add(count_ptr, 1)
            tl.store(out_ptr + ticket, 1)
        else:
            tl.atomic_add(count_ptr, 1)
        tl.atomic_xchg(flag_ptr, 1, sem="release")
    else:
        while tl.atomic_add(flag_ptr, 0, sem="acquire") == 0:
            pass
        tl.store(out_ptr + BLOCK + mine, tl.load(x_ptr + mine))


def test_all_threads_wait_for_an_atomics_result_where_somebody_uses_it():
    out = flags(16)
    publish_late[(2,)](flags(8), out, flags(1), flags(1), BLOCK=8, USED=True)
    assert out[8:].tolist() == list(range(8))
    _, why, *_ = fault_of(publish_late, (2,), flags(8), out, flags(1), flags(1), BLOCK=8, USED=False)
    assert why.endswith("waits for one thread of program 0, not for all.")


def test_a_chain_of_several_programs_is_an_order_too():
    @triton.jit
    def relay(x_ptr, flags_ptr):
        pid = tl.program_id(0)
        if pid > 0:
            while tl.atomic_add(flags_ptr + pid, 0, sem="acquire") == 0:
                pass
        if pid == 0 or pid == 3:
            tl.store(x_ptr, tl.load(x_ptr) + 1)
        tl.atomic_xchg(flags_ptr + pid + 1, 1, sem="release")

    x = torch.zeros(1)
    relay[(4,)](x, flags(5))
    assert x.item() == 2


def test_a_last_program_that_takes_a_relaxed_ticket_may_not_fold():
    @triton.jit
    def fold(parts_ptr, out_ptr, count_ptr, PROGRAMS: tl.constexpr):
        tl.store(parts_ptr + tl.program_id(0), 1.0)
        if tl.atomic_add(count_ptr, 1, sem="relaxed") == PROGRAMS - 1:
            tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, PROGRAMS))))

    what, why, *_ = fault_of(fold, (4,), torch.empty(4), torch.empty(1), flags(1), PROGRAMS=4)
    assert " loads element " in what and why.endswith('which is "relaxed" and publishes nothing.')


def test_a_value_that_is_the_same_by_the_order_here_is_not_called_the_same():
    @triton.jit
    def add_up_zeros(x_ptr, out_ptr):
        tl.store(out_ptr, tl.load(out_ptr) + tl.load(x_ptr + tl.program_id(0)))

    assert fault_of(add_up_zeros, (2,), torch.zeros(2), torch.zeros(1)) == [
        "programs 0 and 1 both store element 0 of out.",
        "",
        "They run at the same time, so either may come last. Whose element is it?",
    ]
