"""The lesson again, as checks: what each tool said, and that the kernel is whole again."""

import ast
import inspect

import numpy as np
import pytest
import torch

from tools.check import assert_matches, compiled, count
from tools.check.inputs import matrices
from tools.check.tolerances import accumulated
from tools.gpu import cupy, device
from week1.katas.debugging import debugging as lesson

INF, NAN = float("inf"), float("nan")
TOOLS = {"breakpoint", "pdb.set_trace", "print", "tl.device_print", "tl.static_print", "cuda.debug"}
pytestmark = pytest.mark.filterwarnings("ignore:Grid size")  # Numba's advice to start more blocks


def rows(rng, n_rows, n_cols):
    return torch.from_numpy(matrices(rng, (n_rows, n_cols))[0]).to(device, torch.float32)


def said(value):
    """An oracle for what a tool said of the sample."""
    return lambda: value


def left_in(*functions):
    """The lines of these functions that stop or print."""
    whole = ast.parse(inspect.getsource(lesson))
    calls = [node for function in whole.body if getattr(function, "name", None) in functions
             for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [f"line {call.lineno}: {ast.unparse(call)}" for call in calls if ast.unparse(call.func) in TOOLS]


# Task 1: the interpreter and pdb ------------------------------------------------------------------

def standardised(x):
    apart = x - x.mean(dim=1, keepdim=True)
    return apart / apart.square().mean(dim=1, keepdim=True).sqrt()


@pytest.mark.task(1)
def test_standardise_neither_stops_nor_prints():
    """A breakpoint has done its work, and a test has nobody who types c."""
    tools_left = left_in("standardise_kernel", "standardise")
    assert tools_left == []


@pytest.mark.task(1)
def test_pdb_showed_numbers_where_there_are_none():
    """Eight places, five of which exist. What does the mask of the load say about the other three, and what not?"""
    assert_matches(lesson.apart_in_pdb, oracle=said([-2.0, -1.0, 0.0, 1.0, 2.0, -7.0, -7.0, -7.0]))


@pytest.mark.task(1)
def test_standardises_a_row_whose_spread_is_2():
    """The squares of 3, 1, 0, -1 and -3 make 20, and 20 / 5 is 4. A place past the end would bring 36 more."""
    x = torch.tensor([[9.0, 7.0, 6.0, 5.0, 3.0]], device=device)
    assert_matches(lesson.standardise, x, oracle=lambda x: x.new_tensor([[1.5, 0.5, 0.0, -0.5, -1.5]]))


@pytest.mark.task(1)
def test_standardises_both_rows_of_the_sample_alike():
    x = torch.arange(10.0, device=device).reshape(2, 5)
    assert_matches(lesson.standardise, x, oracle=standardised, tolerance=accumulated(np.float32, 5))


@pytest.mark.task(1)
@pytest.mark.edge
@pytest.mark.parametrize("n_rows, n_cols", [(1, 2), (3, 8), (2, 9), (5, 67), (1, 1025), (0, 3)])
def test_standardises_rows_that_fill_their_block_and_rows_that_do_not(n_rows, n_cols, rng):
    assert_matches(lesson.standardise, rows(rng, n_rows, n_cols), oracle=standardised,
                   tolerance=accumulated(np.float32, n_cols))


@pytest.mark.task(1)
@pytest.mark.counters
def test_each_row_is_still_read_once_by_one_program(rng):
    counters = count(lesson.standardise, rows(rng, 6, 37))
    assert counters.library_operations == []
    assert counters.programs == 6
    operations_in_float64, row_bytes = counters.float64, 4 * 37
    assert counters.bytes_loaded == 6 * row_bytes
    assert counters.bytes_stored == 6 * row_bytes
    assert operations_in_float64 == 0


# Task 2: print and assert -------------------------------------------------------------------------

def divided(x):
    return x / x.sum(dim=1, keepdim=True)


def refusal(x):
    """What is said when the simulator runs shares."""
    try:
        count(lesson.shares, x.to(device, torch.float16))
    except Exception as refused:
        return str(refused)
    return "nothing was refused"


@pytest.mark.task(2)
def test_the_assertion_failed_where_a_total_left_the_range_of_half_precision():
    """Row 3 has a total of 90000, and the largest float16 is 65504."""
    assert_matches(lesson.failed_program, oracle=said(3))


@pytest.mark.task(2)
def test_shares_neither_stops_nor_prints():
    """An assertion costs a GPU nothing and stays; a print would be in every launch that you ever make."""
    tools_left = left_in("shares_kernel", "shares")
    assert tools_left == []


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_total_of_90000_is_let_through():
    """No float16 holds it, since 65504 is the largest; a float32 does. Only infinity is no total."""
    assert_matches(lesson.shares, torch.tensor([[60000.0, 30000.0]]).to(device, torch.float16), oracle=divided)


@pytest.mark.task(2)
def test_every_row_of_the_sample_has_its_shares():
    weights = torch.tensor([[100.0], [200.0], [50.0], [300.0], [150.0], [210.0]])
    days = torch.arange(1.0, 25.0) * weights
    assert_matches(lesson.shares, days.to(device, torch.float16), oracle=divided)


@pytest.mark.task(2)
@pytest.mark.edge
@pytest.mark.parametrize("n_rows, n_cols", [(1, 1), (3, 8), (2, 9), (1, 1025), (0, 3)])
def test_shares_of_rows_of_any_length(n_rows, n_cols, rng):
    x = torch.from_numpy(rng.uniform(10, 1000, (n_rows, n_cols))).to(device, torch.float16)
    assert_matches(lesson.shares, x, oracle=divided)


@pytest.mark.task(2)
@pytest.mark.edge
def test_a_small_total_is_a_total():
    tiny = 2.0**-24  # the smallest float16 above 0
    x = torch.tensor([[0.25, 0.25, 0.0], [0.0, 2.0**-14, 0.0], [tiny, 0.0, 3 * tiny]])
    assert_matches(lesson.shares, x.to(device, torch.float16), oracle=divided)


@pytest.mark.task(2)
@pytest.mark.nonfinite
def test_an_assertion_names_the_row_that_has_no_total():
    """Row 1 of 3. Only the simulator checks assertions always, so it is asked, on a machine with a GPU too."""
    rows = {"zeros": [0.0, 0.0], "below zero": [-3.0, 1.0], "infinity": [1.0, INF], "nan": [NAN, 1.0]}
    heard = {name: refusal(torch.tensor([[1.0, 2.0], row, [3.0, 4.0]])) for name, row in rows.items()}
    not_from_your_kernel = {name: words for name, words in heard.items()
                            if "program 1 of 3: the assertion is false" not in words}
    assert not_from_your_kernel == {}


@pytest.mark.task(2)
@pytest.mark.counters
def test_your_kernel_does_the_dividing(rng):
    x = torch.from_numpy(rng.uniform(1, 2, (6, 37))).to(device, torch.float16)
    counters = count(lesson.shares, x)
    assert counters.library_operations == []
    operations_in_float64, row_bytes = counters.float64, 2 * 37
    assert counters.bytes_loaded == 6 * row_bytes
    assert counters.bytes_stored == 6 * row_bytes
    assert operations_in_float64 == 0


# Task 3: reports of bounds and races --------------------------------------------------------------

def smoothed(x):
    before = cupy.concatenate([x[:1], x[:-1]])
    return (before + x) / 2


@pytest.mark.task(3)
def test_a_block_keeps_its_64_threads():
    """The reports speak of two blocks of two warps. How many threads there are is no part of the repair."""
    threads_of_a_block = lesson.THREADS
    assert threads_of_a_block == 64


@pytest.mark.task(3)
def test_the_first_report_named_the_first_thread_without_an_element():
    """Of sample 3, which has 100 numbers. A test has others, and its report names another thread."""
    block, thread_of_its_block = lesson.bounds_report()
    assert thread_of_its_block < 64
    element_of_that_thread, elements_of_the_sample = 64 * block + thread_of_its_block, 100
    assert element_of_that_thread >= elements_of_the_sample
    assert_matches(lesson.bounds_report, oracle=said((1, 36)))


@pytest.mark.task(3)
def test_the_second_report_named_two_threads_of_different_warps():
    """Within a warp the threads keep step as long as no condition separates them; across warps nothing does.

    "... to which nothing was stored" is no race: nobody wrote.
    """
    thread_that_reads, thread_that_wrote = lesson.race_report()
    assert thread_that_reads > thread_that_wrote
    warp_that_reads, warp_that_wrote = thread_that_reads // 32, thread_that_wrote // 32
    assert warp_that_reads > warp_that_wrote
    assert_matches(lesson.race_report, oracle=said((32, 31)))


@pytest.mark.task(3)
def test_smooth_neither_stops_nor_prints():
    tools_left = left_in("smooth_kernel", "smooth")
    assert tools_left == []


@pytest.mark.task(3)
def test_smooths_three_numbers():
    x = cupy.asarray([2, 4, 8], np.float32)
    assert_matches(lesson.smooth, x, oracle=lambda x: cupy.asarray([2.0, 3.0, 6.0]))


@pytest.mark.task(3)
@pytest.mark.edge
@pytest.mark.parametrize("n", [1, 63, 65, 100, 131])
def test_smooths_any_length_without_a_report(n, rng):
    assert_matches(lesson.smooth, cupy.asarray(matrices(rng, (n,), dtype=np.float32)[0]), oracle=smoothed)


@pytest.mark.task(3)
@pytest.mark.counters
def test_neighbours_still_pass_through_shared_memory(rng):
    """Each number is loaded by its own thread, and once more by the first thread of the next block at most."""
    counters = count(lesson.smooth, cupy.asarray(matrices(rng, (1000,), dtype=np.float32)[0]))
    assert counters.library_operations == []
    assert [launch.kernel for launch in counters.launches] == ["smooth_kernel"]
    assert counters.programs == 16
    blocks, elements_loaded_again = 16, counters.bytes_loaded // 4 - 1000
    assert elements_loaded_again <= blocks
    assert counters.bytes_stored == 4 * 1000


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_thread_still_computes_its_own_element(rng):
    """The stores of a warp lie side by side, eight elements to a sector. One thread alone touches a sector for each."""
    counters = count(lesson.smooth, cupy.asarray(matrices(rng, (1000,), dtype=np.float32)[0]))
    sectors_of_out = 1000 // 8
    sectors_stored = sum(line.counts.sectors for line in counters.launches[0].lines if line.kind == "store")
    assert sectors_stored <= sectors_of_out


@pytest.mark.task(3)
@pytest.mark.counters
def test_each_warp_waits_once_and_computes_in_float32(rng):
    counters = count(lesson.smooth, cupy.asarray(matrices(rng, (1000,), dtype=np.float32)[0]))
    warps, waits, operations_in_float64 = 2 * 16, counters.barriers, counters.float64
    assert waits == warps
    assert operations_in_float64 == 0


# Task 4: the compiler -----------------------------------------------------------------------------

def root_mean_square(x, block=None):
    return x.square().mean(dim=1).sqrt()


@pytest.mark.task(4)
@pytest.mark.compiled
def test_loudness_compiles_for_a_real_chip(rng):
    kernel = compiled(lesson.loudness, rows(rng, 3, 100), block=32, chip="h100").kernels["loudness_kernel"]
    assert kernel.spills == 0


@pytest.mark.task(4)
@pytest.mark.compiled
def test_a_turn_of_the_loop_takes_a_block(rng):
    kernel = compiled(lesson.loudness, rows(rng, 3, 100), block=32, chip="h100").kernels["loudness_kernel"]
    elements_of_a_turn = int(kernel.constants["BLOCK"])
    assert elements_of_a_turn == 32


@pytest.mark.task(4)
def test_the_compiler_named_two_types():
    names_of_numpy = [name for name in lesson.compiler_report() if name.startswith("float")]
    assert names_of_numpy == []
    assert_matches(lesson.compiler_report, oracle=said(("int32", "fp32")))


@pytest.mark.task(4)
@pytest.mark.tolerance
def test_loudness_keeps_what_lies_behind_the_point():
    """A total of whole numbers would lose all of a quiet row."""
    quiet = torch.full((2, 100), 0.1, device=device)
    assert_matches(lesson.loudness, quiet, block=64, oracle=root_mean_square, tolerance=accumulated(np.float32, 100))


@pytest.mark.task(4)
def test_loudness_neither_stops_nor_prints():
    tools_left = left_in("loudness_kernel", "loudness")
    assert tools_left == []


@pytest.mark.task(4)
@pytest.mark.edge
@pytest.mark.parametrize("n_rows, n", [(2, 100), (1, 1), (3, 31), (2, 32), (4, 33), (1, 67)])
def test_loudness_of_rows_of_any_length(n_rows, n, rng):
    assert_matches(lesson.loudness, rows(rng, n_rows, n), block=32, oracle=root_mean_square,
                   tolerance=accumulated(np.float32, n))


@pytest.mark.task(4)
@pytest.mark.counters
def test_loudness_is_computed_in_float32_by_your_kernel_a_block_at_a_time(rng):
    counters = count(lesson.loudness, rows(rng, 3, 128), block=64)
    operations_in_float64, sectors_of_rows, sectors_of_out = counters.float64, 3 * 128 * 4 // 32, 3
    assert counters.library_operations == []
    times_that_each_row_is_loaded = counters.bytes_loaded / (3 * 128 * 4)
    assert times_that_each_row_is_loaded == 1
    assert counters.sectors == sectors_of_rows + sectors_of_out
    assert operations_in_float64 == 0


@pytest.mark.task(4)
@pytest.mark.edge
def test_a_row_longer_than_any_block_is_taken_a_block_at_a_time(rng):
    """No block has more than 2**20 elements."""
    assert_matches(lesson.loudness, rows(rng, 1, 2**20 + 1), block=4096, oracle=root_mean_square,
                   tolerance=accumulated(np.float32, 2**20 + 1))
