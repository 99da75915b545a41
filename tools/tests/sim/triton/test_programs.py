"""Launches without a GPU: the order of programs, stores that collide, and what is put on record."""

import re
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.sim.faults import Fault as SimulatorFault
from tools.sim.recording import record
from tools.sim.triton.faults import Fault
from tools.sim.triton.programs import SEED, order
from tools.worker import raised_from

pytestmark = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


@triton.jit
def take_numbers(tickets_ptr, out_ptr):
    ticket = tl.atomic_add(tickets_ptr, 1)
    tl.store(out_ptr + tl.program_id(0), ticket)


def order_of_run(monkeypatch, seed: str | None) -> list[int]:
    monkeypatch.delenv(SEED, raising=False)
    if seed is not None:
        monkeypatch.setenv(SEED, seed)
    out = torch.empty(20, dtype=torch.int32)
    take_numbers[(20,)](torch.zeros(1, dtype=torch.int32), out)
    return out.tolist()


# Order -------------------------------------------------------------------------------------------


def test_programs_run_in_an_order_that_the_seed_decides(monkeypatch):
    first, again, other = (order_of_run(monkeypatch, seed) for seed in ("1", "1", "2"))
    assert first == again != other
    assert sorted(first) == sorted(other) == list(range(20)) != first


def test_without_a_seed_the_order_is_always_the_same(monkeypatch):
    assert order_of_run(monkeypatch, None) == order_of_run(monkeypatch, None) != list(range(20))


def test_every_program_of_the_grid_has_its_turn():
    assert sorted(order(1000)) == list(range(1000)) and order(0) == []


@triton.jit
def write_place(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    tl.store(out_ptr + (x * tl.num_programs(1) + y) * tl.num_programs(2) + z, x * 100 + y * 10 + z)


def test_programs_know_their_place_in_three_dimensions():
    out = torch.empty(2, 3, 4, dtype=torch.int32)
    write_place[(2, 3, 4)](out)
    assert out.tolist() == [[[100 * x + 10 * y + z for z in range(4)] for y in range(3)] for x in range(2)]


def test_a_grid_may_be_a_function_of_the_plain_arguments():
    out = torch.empty(3, 1, 1, dtype=torch.int32)
    write_place[lambda meta: [meta["out_ptr"].shape[0]]](out, num_warps=8)
    assert out.flatten().tolist() == [0, 100, 200]


def test_a_grid_of_no_whole_number_is_refused():
    with pytest.raises(TypeError, match=r"whole numbers, and write_place was given \(2\.5,\)"):
        write_place[(5 / 2,)](torch.empty(3, dtype=torch.int32))


def test_a_grid_that_is_a_number_is_refused_with_the_way_to_write_it():
    with pytest.raises(TypeError, match=r"A grid is a tuple, .*: write_place\[\(5,\)\], not write_place\[5\]"):
        write_place[5](torch.empty(5, dtype=torch.int32))


@triton.jit
def do_nothing():
    pass


def launch(grid):
    do_nothing[grid]()


@pytest.mark.parametrize("grid, axis", [((1, 65536), 1), ((2, 1, 70000), 2)])
def test_more_programs_than_a_gpu_takes_along_an_axis_are_refused_in_the_line_of_the_launch(grid, axis):
    with pytest.raises(SimulatorFault) as caught:
        launch(grid)
    assert caught.value.kind == "grid"
    assert caught.value.text.splitlines() == [
        f"launch, line {caught.value.line}:  do_nothing[grid]()",
        f"The grid has {grid[axis]:,} programs along axis {axis}.",
        "A GPU takes at most 65,535 there, and 2,147,483,647 along axis 0.",
        "",
        "Which axis should count what there may be most of?",
    ]


def test_along_axis_0_a_gpu_takes_more_programs_than_anyone_needs():
    launch((65536,))
    with pytest.raises(SimulatorFault, match="A GPU takes at most 2,147,483,647 there.\n\nCould a program do"):
        launch((2**31,))


def test_a_grid_without_programs_may_have_an_axis_of_any_length():
    launch((0, 70000))


def test_a_keyword_in_other_capitals_is_told_with_the_argument_that_is_meant():
    with pytest.raises(TypeError, match="^block is no argument of store_block; BLOCK is.$"):
        store_block[(1,)](torch.empty(16), 16, block=16)


def test_a_block_that_is_added_to_one_place_is_refused():
    @triton.jit
    def add(out_ptr, BLOCK: tl.constexpr):
        tl.atomic_add(out_ptr, tl.arange(0, BLOCK))

    with pytest.raises(Fault) as caught:
        add[(1,)](torch.zeros(1, dtype=torch.int32), BLOCK=4)
    assert caught.value.text.splitlines()[1] == "program 0 of 1 updates one place with 4 values."


# Two programs, one element -----------------------------------------------------------------------


@triton.jit
def store_block(out_ptr, step, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, mine - tl.program_id(0))


def test_two_programs_that_store_to_one_element_are_reported():
    with pytest.raises(Fault) as caught:
        store_block[(2,)](torch.empty(40), 12, BLOCK=16)
    assert caught.value.text.splitlines() == [
        f"store_block, line {caught.value.line}:  tl.store(out_ptr + mine, mine - tl.program_id(0))",
        "programs 0 and 1 both store element 12 of out.",
        "",
        "They run at the same time, so either may come last. Whose element is it?",
    ]
    assert (caught.value.kind, caught.value.array, caught.value.operation) == ("overlap", "out", "store")


@triton.jit
def store_one(out_ptr):
    nothing = 0 * (tl.program_id(0) + tl.program_id(1))
    tl.store(out_ptr + nothing + tl.arange(0, 1), tl.zeros((1,), tl.float32))


def test_the_same_value_from_two_programs_is_reported_too():
    with pytest.raises(Fault, match=r"programs \(\d, \d\) and \(\d, \d\) both store element \[0, 0\] of out") as caught:
        store_one[(2, 2)](torch.empty(1, 1))
    assert caught.value.text.splitlines()[2:4] == [
        "Both store the same value, so a GPU would let it pass. The course does not:",
        "with other data it may be another value, and one of the stores is needless.",
    ]


@triton.jit
def store_a_row(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    row, place = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * n + place, tl.load(x_ptr + row * n + place, mask=place < n), mask=place < n)


def test_programs_of_an_axis_that_the_kernel_never_asks_for_are_too_many():
    with pytest.raises(Fault) as caught:
        store_a_row[(3, 2)](torch.empty(3, 5), torch.ones(3, 5), 5, BLOCK=8)
    _, meet, *rest = caught.value.text.splitlines()
    assert re.fullmatch(r"programs \((\d), 0\) and \(\1, 1\) both store element \[\1, 0\] of out\.", meet)
    assert rest == [
        "They differ along axis 1 alone, and neither has asked for tl.program_id(1):",
        "both do the same work. A GPU would let it pass, the course does not.",
        "",
        "Should they ask for it, or are there too many programs along that axis?",
    ]


def test_one_program_may_store_twice_and_another_launch_starts_anew():
    @triton.jit
    def store_twice(out_ptr):
        tl.store(out_ptr, 1.0)
        tl.store(out_ptr, 2.0)

    out = torch.empty(1)
    store_twice[(1,)](out)
    store_twice[(1,)](out)
    assert out.item() == 2


def test_an_overlap_shows_through_two_views_of_one_storage():
    @triton.jit
    def store_to_two(first_ptr, second_ptr):
        if tl.program_id(0) == 0:
            tl.store(first_ptr + 4, 1.0)
        else:
            tl.store(second_ptr, 1.0)

    storage = torch.empty(8)
    store_to_two[(2,)](storage, torch.empty(8))
    with pytest.raises(Fault, match="programs 0 and 1 both store"):
        store_to_two[(2,)](storage, storage[4:])


def test_programs_that_take_turns_under_a_lock_may_store_to_one_element():
    @triton.jit
    def add_under_lock(lock_ptr, out_ptr):
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        tl.store(out_ptr, tl.load(out_ptr) + 1)
        tl.atomic_xchg(lock_ptr, 0)

    out = torch.zeros(1)
    add_under_lock[(5,)](torch.zeros(1, dtype=torch.int32), out)
    assert out.item() == 5


@triton.jit
def count_up(out_ptr, FIRST: tl.constexpr):
    if tl.program_id(0) == FIRST:
        tl.store(out_ptr, 0)
    tl.atomic_add(out_ptr, 1)


@pytest.mark.parametrize("first", range(4))
def test_a_store_to_what_other_programs_update_is_reported_whoever_comes_first(first):
    with pytest.raises(Fault) as caught:
        count_up[(4,)](torch.zeros(1, dtype=torch.int32), FIRST=first)
    what, why = caught.value.text.splitlines()[1:3]
    assert what.startswith(f"program {first} stores element 0 of out, and program ") and what.endswith(" updates it.")
    assert why == "They run at the same time, so the store may wipe the update out."


def test_stores_and_updates_that_do_not_meet_are_no_overlap():
    @triton.jit
    def last_one_begins_anew(tickets_ptr, out_ptr, n):
        tl.atomic_add(out_ptr, 1)
        if tl.atomic_add(tickets_ptr, 1) == n - 1:
            tl.store(out_ptr + 1, tl.load(out_ptr))
            tl.store(out_ptr, 0)
            tl.store(tickets_ptr, 0)

    out = torch.zeros(2, dtype=torch.int32)
    last_one_begins_anew[(5,)](torch.zeros(1, dtype=torch.int32), out, 5)
    assert out.tolist() == [0, 5]
    count_up[(1,)](out, FIRST=0)  # its own alone
    count_up[(4,)](out, FIRST=9)  # and another launch starts anew
    assert out.tolist() == [5, 5]


# Where it happened -------------------------------------------------------------------------------


@triton.jit
def load_one(x_ptr, place):
    return tl.load(x_ptr + place)


@triton.jit
def load_by_function(x_ptr, out_ptr):
    pid = tl.program_id(0)
    tl.store(out_ptr + pid, load_one(x_ptr, pid) + tl.sum(load_one(x_ptr, tl.arange(0, 2))))


def test_a_fault_keeps_the_lines_of_the_kernel_that_lead_to_it():
    with pytest.raises(Fault) as caught:
        load_by_function[(4,)](torch.zeros(2), torch.zeros(4))
    raised = raised_from(caught.value, [__file__])
    assert (raised.type_name, raised.message) == ("Fault", caught.value.text)
    assert [frame.function for frame in raised.frames[-2:]] == ["load_by_function", "load_one"]
    assert raised.frames[-1].source == caught.value.source == "return tl.load(x_ptr + place)"


def test_another_error_inside_a_kernel_keeps_its_type_and_its_line():
    @triton.jit
    def wrong_shapes(out_ptr):
        tl.store(out_ptr + tl.arange(0, 4), tl.arange(0, 8))

    with pytest.raises(ValueError) as caught:
        wrong_shapes[(1,)](torch.empty(8))
    assert raised_from(caught.value, [__file__]).frames[-1].function == "wrong_shapes"


# Records -----------------------------------------------------------------------------------------


def test_a_recording_tells_each_launch_with_its_lines():
    with record() as counters:
        load_by_function[(2,)](torch.zeros(2), torch.zeros(2))
        store_one[(1,)](torch.zeros(1))
    first, second = counters.launches
    assert (first.kernel, first.grid, first.counts.programs) == ("load_by_function", (2,), 2)
    assert (second.kernel, second.grid, second.counts.bytes_stored) == ("store_one", (1,), 4)
    load, store = first.lines
    assert (load.kind, load.source, load.counts.bytes_loaded) == ("load", "return tl.load(x_ptr + place)", 24)
    assert (store.kind, store.counts.bytes_stored) == ("store", 8)
    assert load.file == "tools/tests/sim/triton/test_programs.py"
    assert Path(__file__).read_text().splitlines()[load.line - 1].strip() == load.source
    assert counters.bytes_loaded + counters.bytes_stored == 36


def test_recordings_may_be_nested_and_end():
    out = torch.zeros(1)
    with record() as outer:
        store_one[(1,)](out)
        with record() as inner:
            store_one[(1,)](out)
    store_one[(1,)](out)
    assert (outer.programs, inner.programs) == (2, 1)


def test_a_kernel_that_never_launches_leaves_no_launch_and_an_empty_grid_no_program():
    with record() as counters:
        pass
    assert counters.launches == ()
    with record() as counters:
        store_one[(0,)](torch.zeros(1))
    assert (len(counters.launches), counters.programs) == (1, 0)


# Library operations ------------------------------------------------------------------------------


def operations(work) -> list[str]:
    x, out = torch.randn(4, 4), torch.empty(4, 4)
    with record() as counters:
        work(x, out)
    return counters.library_operations


@pytest.mark.parametrize(
    "work, names",
    [
        (lambda x, out: x + x, ["torch.add"]),
        (lambda x, out: torch.add(x, x, out=out), ["torch.add"]),
        (lambda x, out: out.add_(x), ["torch.Tensor.add_"]),
        (lambda x, out: out.copy_(x), ["torch.Tensor.copy_"]),
        (lambda x, out: x.T.contiguous(), ["torch.Tensor.contiguous"]),
        (lambda x, out: (x @ x).sum().item(), ["torch.matmul", "torch.sum"]),
        (lambda x, out: torch.nn.functional.softmax(x, 0), ["torch.softmax"]),
        (lambda x, out: torch.einsum("ij,jk->ik", x, x), ["torch.einsum"]),
        (lambda x, out: x.to(torch.float16), ["torch.Tensor.to"]),
        (lambda x, out: out.__setitem__(0, x[1]), ["torch.Tensor.__setitem__"]),
        (lambda x, out: x.numpy() + x.numpy(), ["torch.Tensor.numpy", "torch.Tensor.numpy"]),
        (lambda x, out: torch.allclose(x, x), ["torch.allclose"]),
    ],
)
def test_a_library_function_that_works_on_elements_is_listed(work, names):
    assert operations(work) == names


@pytest.mark.parametrize(
    "work",
    [
        lambda x, out: (torch.empty_like(x), torch.zeros(3), x.new_zeros(2), torch.ones_like(x)),
        lambda x, out: (torch.full((2,), 1.0), out.zero_(), out.fill_(3)),
        lambda x, out: (x.T, x[1:], x[None], x.view(-1), x.reshape(2, 8), x.expand(2, 4, 4), x.view(torch.int32)),
        lambda x, out: (x.numel(), x.stride(), x.shape, x.data_ptr(), x.is_contiguous(), x.contiguous()),
        lambda x, out: store_one[(1,)](out),
        lambda x, out: torch.arange(4),
    ],
)
def test_allocations_views_questions_and_kernels_are_not_listed(work):
    assert operations(work) == []
