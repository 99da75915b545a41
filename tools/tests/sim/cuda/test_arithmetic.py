"""Operations in float64, conversions and barriers are counted as the machine code executes them."""

import numpy as np
import pytest

from tools import gpu
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.tests.sim.cuda.arithmetic import recorded

if gpu.card():
    pytest.skip(
        f"needs the simulator in place of the GPU; found {gpu.card()}; COURSE_SIM=1 simulates it",
        allow_module_level=True,
    )

from tools.gpu import cuda  # noqa: E402
from tools.tests.sim.cuda.arithmetic.kernels import KERNELS, THREADS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")

MACHINE_CODE = recorded()
OTHERWISE = {  # kernels whose conversions cannot be read off the machine code
    "a_maximum_in_a_loop": "its loop has as many turns as there are elements",
    "a_floor_quotient_of_whole_numbers": "the machine divides integers by way of float32",
}


def counted(kernel, threads: int, *arguments, blocks: int = 1) -> Counters:
    with record() as counters:
        kernel[blocks, threads](*arguments)
    return counters


# Beside the machine code -------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_float64_is_counted_where_the_machine_code_has_any_and_nowhere_else(name):
    kernel, arguments = KERNELS[name]
    counters = counted(kernel, THREADS, *arguments)
    assert (counters.float64 > 0) == (MACHINE_CODE[name]["float64"] > 0)
    if name not in OTHERWISE:
        assert counters.conversions == THREADS * MACHINE_CODE[name]["conversions"]


@pytest.mark.parametrize("name", sorted(KERNELS)[::6])
def test_the_record_is_what_the_compiler_makes_of_the_kernels(name):
    pytest.importorskip("numba_cuda", minversion="0.30", reason="numba-cuda 0.30, which compiles, is not installed")
    from tools.tests.sim.cuda.arithmetic.machine_code import figures

    assert figures(*KERNELS[name]) == MACHINE_CODE[name]


def test_every_kernel_has_a_record_and_every_exception_a_kernel():
    assert set(MACHINE_CODE) == set(KERNELS) > set(OTHERWISE)


# Whose they are ----------------------------------------------------------------------------------


@cuda.jit
def every_third(x, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        out[i] = x[i] * 0.1
    else:
        out[i] = x[i]


def test_only_active_lanes_count():
    counters = counted(every_third, 40, np.ones(80, np.float32), np.ones(80, np.float32), blocks=2)
    assert (counters.float64, counters.conversions) == (27, 54)


def test_a_line_knows_what_it_does_in_float64():
    (line,) = [
        line for line in counted(every_third, 4, *np.ones((2, 4), np.float32)).launches[0].lines if line.counts.float64
    ]
    assert (line.kind, line.source) == ("arithmetic", "out[i] = x[i] * 0.1")
    assert "x[i] * 0.1" in str(counted(every_third, 4, *np.ones((2, 4), np.float32)))


@cuda.jit
def rounded_on_another_line(x, out):
    i = cuda.grid(1)
    y = x[i] * 2.0
    z = y + x[i]
    out[i] = z


def test_an_operation_is_counted_at_its_own_line_though_it_is_known_later():
    lines = counted(rounded_on_another_line, 1, *np.ones((2, 1), np.float32)).launches[0].lines
    told = {line.source: (line.counts.float64, line.counts.conversions) for line in lines if line.kind == "arithmetic"}
    assert told == {"y = x[i] * 2.0": (1, 1), "z = y + x[i]": (1, 1), "out[i] = z": (0, 1)}


@cuda.jit
def in_float32(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * np.float32(2) + x[i]


def test_a_kernel_in_float32_has_no_lines_of_arithmetic():
    assert "arithmetic" not in {
        line.kind for line in counted(in_float32, 8, *np.ones((2, 8), np.float32)).launches[0].lines
    }


@cuda.jit
def many_that_are_never_rounded(x, out):
    i = cuda.grid(1)
    for k in range(100):
        y = x[i] * 2.0
        if y == 3.0:
            out[i] = 1


def test_what_is_compared_is_not_rounded():
    """Each product is used as a float64, by a comparison that float32 would not do."""
    assert counted(many_that_are_never_rounded, 2, *np.ones((2, 2), np.float32)).float64 == 2 * 2 * 100


def test_a_watched_thread_does_not_count_twice():
    x = np.ones((2, 8), np.float32)
    alone = counted(every_third, 8, *x)
    with cuda.debug(thread=3):
        watched = counted(every_third, 8, *x)
    assert (watched.float64, watched.conversions) == (alone.float64, alone.conversions) == (3, 6)


# Barriers ----------------------------------------------------------------------------------------


@cuda.jit
def barriers_around_a_loop(x, turns):
    cuda.syncthreads()
    for _ in range(turns):
        x[cuda.grid(1)] += 1
    cuda.syncthreads()


@cuda.jit
def barriers_inside_a_loop(x, turns):
    for _ in range(turns):
        cuda.syncthreads()
        x[cuda.grid(1)] += 1
        cuda.syncthreads()


@pytest.mark.parametrize("kernel, each", [(barriers_around_a_loop, 2), (barriers_inside_a_loop, 64)])
@pytest.mark.parametrize("threads, warps", [(1, 1), (32, 1), (33, 2), (256, 8)])
def test_a_barrier_counts_once_for_each_warp_that_comes_to_it(kernel, each, threads, warps):
    counters = counted(kernel, threads, np.zeros(3 * threads, np.float32), 32, blocks=3)
    assert counters.barriers == 3 * warps * each
    assert {line.kind: line.source for line in counters.launches[0].lines}["barrier"] == "cuda.syncthreads()"


@cuda.jit
def all_kinds_of_barriers(x):
    i = cuda.grid(1)
    if i >= 64:
        return
    cuda.syncthreads()
    x[i] = cuda.syncthreads_count(i) + cuda.syncthreads_and(i) + cuda.syncthreads_or(i)
    cuda.syncwarp()
    cuda.threadfence()


def test_barriers_that_vote_count_and_fences_and_warps_that_have_left_do_not():
    assert counted(all_kinds_of_barriers, 128, np.zeros(64)).barriers == 2 * 4
