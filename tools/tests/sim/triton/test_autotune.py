"""triton.autotune without a GPU: a few programs of each configuration run, and all of the chosen one."""

import tools.gpu  # noqa: F401  # isort: skip
import warnings

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given
from hypothesis import strategies as st
from triton.runtime.errors import OutOfResources

from tools.compiler import CompileError
from tools.sim import trace
from tools.sim.faults import Fault
from tools.sim.recording import record
from tools.sim.triton import SimulatedTimes
from tools.sim.triton.autotune import few
from tools.sim.triton.programs import order
from tools.sim.triton.stored import distinct

pytestmark = pytest.mark.filterwarnings(f"ignore::{SimulatedTimes.__module__}.SimulatedTimes")


def tuned(*configs: dict, num_warps: tuple[int, ...] = (), **how):
    """triton.autotune with a configuration for each dictionary."""
    warps = num_warps or (4,) * len(configs)
    made = [triton.Config(each, num_warps=number) for each, number in zip(configs, warps, strict=True)]
    return triton.autotune(made, key=how.pop("key", ["n"]), **how)


def blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@triton.jit
def mark(marks_ptr, n, BLOCK: tl.constexpr):
    tl.store(marks_ptr + BLOCK * 100 + tl.program_id(0), 1)


def test_a_few_programs_of_each_configuration_run_and_all_of_the_first():
    marks = torch.zeros(4, 100, dtype=torch.int32)
    kernel = tuned({"BLOCK": 1}, {"BLOCK": 2}, {"BLOCK": 3})(mark)
    kernel[blocks(60)](marks, 60)
    assert marks.sum(1).tolist() == [0, 60, 3, 3]
    assert all(marks[block, last] for block, last in ((1, 59), (2, 29), (3, 19))) and marks[:, 0].tolist() == [
        0,
        1,
        1,
        1,
    ]
    assert kernel.best_config.kwargs == {"BLOCK": 1} and len(kernel.configs_timings) == 3


def test_the_few_are_the_corners_of_the_grid_and_what_the_seed_draws(monkeypatch):
    numbers = order(6 * 5)
    chosen = few(numbers, (6, 5, 1))
    assert {0, 4, 25, 29} < set(chosen) and len(chosen) == 5
    assert chosen == [each for each in numbers if each in chosen]  # in their order
    assert few([], (0, 1, 1)) == [] and few([0], (1, 1, 1)) == [0]
    drawn = set()
    for seed in "0123456789":
        monkeypatch.setenv("COURSE_SEED", seed)
        drawn.update(few(order(1000), (1000, 1, 1)))
    assert len(drawn) > 5


def test_it_is_tuned_once_for_each_key():
    marks = torch.zeros(4, 100, dtype=torch.int32)
    kernel = tuned({"BLOCK": 1}, {"BLOCK": 2})(mark)
    kernel[blocks(50)](marks, 50)
    marks.zero_()
    kernel[blocks(50)](marks, 50)
    assert marks.sum(1).tolist() == [0, 50, 0, 0] and len(kernel.cache) == 1
    kernel[blocks(40)](marks, 40)
    assert marks[2].sum() == 3 and len(kernel.cache) == 2


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)


def test_values_are_restored_after_each_trial():
    x = torch.arange(100.0)
    tuned({"BLOCK": 16}, {"BLOCK": 32}, restore_value=["x_ptr"])(double)[blocks(100)](x, 100)
    assert torch.equal(x, 2 * torch.arange(100.0))


def test_a_kernel_that_changes_its_input_shows_that_it_ran_more_than_once():
    x = torch.ones(100)
    tuned({"BLOCK": 16}, {"BLOCK": 32})(double)[blocks(100)](x, 100)
    assert x[0] == x[99] == 8


def test_hooks_are_called_as_for_a_gpu():
    called = []
    made = [triton.Config({"BLOCK": size}, pre_hook=lambda args: called.append(args["BLOCK"])) for size in (16, 32)]
    x = torch.zeros(100)
    triton.autotune(made, key=["n"], post_hook=lambda args, exception: called.append(exception))(double)[blocks(100)](
        x, 100
    )
    assert called == [16, None, 32, None, 16]


def test_a_kernel_that_a_hook_launches_runs_in_full():
    seen, x = [], torch.zeros(100)

    def fill(args):
        double[(25,)](args["x_ptr"].fill_(1), 100, BLOCK=4)
        seen.append(args["x_ptr"].sum().item())

    made = [triton.Config({"BLOCK": size}, pre_hook=fill) for size in (16, 32)]
    triton.autotune(made, key=["n"])(forgets_the_tail)[lambda meta: (1,)](x, 100)
    assert seen == [200.0] * 3


def test_trials_are_on_no_record_and_heard_by_nobody():
    heard = []

    class Listener:
        def launch(self, kernel, grid, block):
            heard.append(grid)

        def access(self, access):
            pass

    with record() as counters, trace.heard_by(Listener()):
        tuned({"BLOCK": 16}, {"BLOCK": 32}, restore_value=["x_ptr"])(double)[blocks(100)](torch.ones(100), 100)
    assert [launch.grid for launch in counters.launches] == [(7,)] and heard == [(7, 1, 1)]
    assert counters.bytes_stored == 400


@triton.jit
def count(count_ptr, n, BLOCK: tl.constexpr):
    tl.atomic_add(count_ptr, 1)


def test_of_a_kernel_with_atomics_all_programs_of_each_configuration_run():
    total = torch.zeros(1, dtype=torch.int32)
    tuned({"BLOCK": 1}, {"BLOCK": 2})(count)[blocks(20)](total, 20)
    assert total.item() == 20 + 10 + 20


@triton.jit
def in_turn(flags_ptr, out_ptr, n, BLOCK: tl.constexpr):
    number = tl.program_id(0)
    while tl.load(flags_ptr, volatile=True) != number:
        pass
    tl.debug_barrier()
    tl.atomic_xchg(flags_ptr, tl.where(number == tl.num_programs(0) - 1, 0, number + 1))


def test_programs_that_wait_for_one_another_are_all_there():
    flags = torch.zeros(1, dtype=torch.int32)
    tuned({"BLOCK": 4}, {"BLOCK": 8})(in_turn)[blocks(32)](flags, torch.zeros(1), 32)
    assert flags.item() == 0


# A grid that was made for another configuration --------------------------------------------------


@triton.jit
def ones(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 1.0, mask=i < n)


def test_a_grid_from_the_first_configuration_is_a_fault_of_another():
    x = torch.empty(1000)
    with pytest.raises(Fault) as caught:
        tuned({"BLOCK": 128}, {"BLOCK": 256}, {"BLOCK": 64}, num_warps=(4, 4, 2))(ones)[(8,)](x, 1000)
    assert "test_a_grid_from_the_first_configuration_is_a_fault_of_another, line" in caught.value.text
    assert caught.value.text.splitlines()[1:] == [
        "With BLOCK=128, num_warps=4 all of x is stored.",
        "With BLOCK=64, num_warps=2 element 512 is not.",
        "The grid was (8,) with both.",
        "",
        "The autotuner may take either config. From whose sizes is the grid computed?",
    ]
    assert (caught.value.kind, caught.value.array) == ("other_grid", "x")


def test_a_function_that_gives_the_same_grid_to_all_is_as_wrong():
    with pytest.raises(Fault, match="\nWith BLOCK=32 all of x is stored.\nWith BLOCK=16 element 48 is not.\n"):
        tuned({"BLOCK": 16}, {"BLOCK": 32})(ones)[lambda meta: (triton.cdiv(96, 32),)](torch.zeros(96), 96)


@triton.jit
def tile_of_ones(x_ptr, rows, n, row_stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(x_ptr + row * row_stride + col, 1.0, mask=(row < rows) & (col < n))


def test_the_first_element_that_is_left_out_has_its_place_in_the_tensor():
    x = torch.zeros(40, 90)[:, 10:80]
    with pytest.raises(Fault, match=r"\nWith ROWS=16, BLOCK=32 element \[0, 64\] is not.\nThe grid was \(3, 2\) "):
        tuned({"ROWS": 16, "BLOCK": 64}, {"ROWS": 16, "BLOCK": 32})(tile_of_ones)[3, 2](x, 40, 70, 90)


def test_a_grid_that_has_room_for_every_configuration_is_right():
    x = torch.zeros(1000)
    tuned({"BLOCK": 128}, {"BLOCK": 64}, {"BLOCK": 256})(ones)[(16,)](x, 1000)
    assert x.sum() == 1000


@triton.jit
def in_steps(x_ptr, n, BLOCK: tl.constexpr):
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        tl.store(x_ptr + i, 1.0, mask=i < n)


def test_programs_that_share_all_blocks_may_be_as_many_with_each_configuration():
    x = torch.zeros(1000)
    tuned({"BLOCK": 16}, {"BLOCK": 64}, {"BLOCK": 32})(in_steps)[(7,)](x, 1000)
    assert x.sum() == 1000


def test_a_part_that_no_configuration_fills_may_be_left_out_on_purpose():
    x = torch.zeros(1000)
    tuned({"BLOCK": 64}, {"BLOCK": 128})(ones)[(2,)](x, 1000)  # the first two blocks alone
    assert x[:128].all() and not x[256:].any()


@triton.jit
def sums_of_blocks(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(sums_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))


def test_programs_may_have_places_of_their_own():
    sums = torch.zeros(100)
    tuned({"BLOCK": 1}, {"BLOCK": 2}, {"BLOCK": 4})(sums_of_blocks)[blocks(100)](torch.ones(100), sums, 100)
    assert sums.sum() == 100


@triton.jit
def asserts_and_fills(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 32)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 1.0, mask=i < n)


def test_a_configuration_that_is_passed_over_or_pruned_is_not_compared():
    x = torch.zeros(96)
    tuned({"BLOCK": 16}, {"BLOCK": 32})(asserts_and_fills)[(3,)](x, 96)
    assert x.sum() == 96

    def only_the_first(configs, *args, **named):
        return configs[:1]

    how = {"prune_configs_by": {"early_config_prune": only_the_first}}
    tuned({"BLOCK": 32}, {"BLOCK": 16}, **how)(ones)[(3,)](x.zero_(), 96)
    assert x.sum() == 96


def test_what_a_hook_fills_is_none_of_the_kernel_s_stores():
    def fill(args):
        in_steps[(1,)](args["x_ptr"], 96, BLOCK=32)

    made = [triton.Config({"BLOCK": size}, pre_hook=fill) for size in (32, 16)]
    with pytest.raises(Fault, match="\nWith BLOCK=16 element 48 is not.\n"):
        triton.autotune(made, key=["n"])(ones)[(3,)](torch.zeros(96), 96)


@triton.jit
def adds_ones(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(x_ptr + i, 1.0, mask=i < n)


def test_kernels_with_atomics_are_left_alone():
    x = torch.zeros(96)
    tuned({"BLOCK": 32}, {"BLOCK": 16}, reset_to_zero=["x_ptr"])(adds_ones)[(3,)](x, 96)
    assert x.sum() == 96


def test_what_is_to_be_restored_is_so_after_all_programs_ran_too():
    x = torch.arange(1000.0)
    tuned({"BLOCK": 16}, {"BLOCK": 32}, restore_value=["x_ptr"])(double)[(63,)](x, 1000)
    assert torch.equal(x, 2 * torch.arange(1000.0))


# What is wrong with one configuration ------------------------------------------------------------


@triton.jit
def forgets_the_tail(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 1.0)


def test_a_fault_of_one_configuration_names_it():
    kernel = tuned({"BLOCK": 16}, {"BLOCK": 32}, num_warps=(1, 8))(forgets_the_tail)
    with pytest.raises(Fault) as caught:
        kernel[blocks(16 * 11)](torch.zeros(16 * 11), 16 * 11)
    assert caught.value.text.splitlines()[2:] == [
        "First one: element 176.",
        "With BLOCK=32, num_warps=8.",
        "The last block is partly empty. Which of its positions exist?",
    ]
    assert str(caught.value) == caught.value.text


def test_a_fault_after_the_trials_names_the_chosen_one():
    kernel = tuned({"BLOCK": 16}, {"BLOCK": 32})(forgets_the_tail)
    kernel[blocks(64)](torch.zeros(64), 64)
    with pytest.raises(Fault, match="\nWith BLOCK=16.\n"):
        kernel[blocks(64)](torch.zeros(60), 64)


def test_of_a_single_configuration_nothing_is_said():
    with pytest.raises(Fault) as caught:
        tuned({"BLOCK": 16})(forgets_the_tail)[blocks(64)](torch.zeros(60), 64)
    assert "With" not in caught.value.text


@triton.jit
def joins_what_does_not_fit(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i + tl.arange(0, 16))


@triton.jit
def two_types(x_ptr, n, BLOCK: tl.constexpr):
    value = 1
    if n > 2:
        value = BLOCK
    tl.store(x_ptr, value)


def test_other_errors_name_the_configuration_too():
    with pytest.raises(ValueError, match="\nWith BLOCK=32.$"):
        tuned({"BLOCK": 16}, {"BLOCK": 32})(joins_what_does_not_fit)[(1,)](torch.zeros(64), 64)
    with pytest.raises(CompileError, match="\nWith BLOCK=2.5.$"):
        tuned({"BLOCK": 1}, {"BLOCK": 2.5})(two_types)[(1,)](torch.zeros(64), 64)


@triton.jit
def asserts(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 32)
    tl.store(x_ptr, BLOCK)


def test_a_configuration_whose_static_assertion_fails_is_passed_over():
    x, kernel = torch.zeros(1), tuned({"BLOCK": 16}, {"BLOCK": 32}, {"BLOCK": 64})(asserts)
    kernel[(1,)](x, 1)
    assert x.item() == 32 and kernel.best_config.kwargs == {"BLOCK": 32}


@pytest.mark.parametrize("how", [{"warmup": 5, "rep": 10}, {"use_cuda_graph": True}])
def test_old_options_that_ask_for_more_runs_change_nothing(how):
    total = torch.zeros(1, dtype=torch.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = tuned({"BLOCK": 1}, {"BLOCK": 2}, **how)(count)
        kernel[blocks(20)](total, 20)
    assert total.item() == 20 + 10 + 20


@triton.jit
def long_product(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 64)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + i)
    out = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(x_ptr + out, tl.dot(x, tl.trans(x + 1)))


def test_a_configuration_that_a_gpu_has_no_room_for_is_chosen_here_and_its_handle_says_so():
    kernel = tuned({"BLOCK": 512}, {"BLOCK": 16})(long_product)
    handle = kernel[(1,)](torch.zeros(64, 512), 1)
    assert kernel.best_config.kwargs == {"BLOCK": 512} and handle.metadata.shared == 2 * 64 * 512 * 4
    with pytest.raises(OutOfResources, match="Required: 262144, Hardware limit: 232448"):
        handle._init_handles()


@given(numbers=st.lists(st.integers(0, 2000), min_size=1), size=st.sampled_from([1, 2, 4]), odd=st.integers(0, 1))
def test_addresses_are_told_apart_as_numpy_does_it(numbers, size, odd):
    """odd: the last lies between two elements."""
    addresses = 4096 + size * np.array(numbers)
    addresses[-1] += odd
    assert np.array_equal(distinct(addresses, size), np.unique(addresses))
