"""What CuPy's kernels do in float64, and what they convert: as the machine code does it."""

import numpy as np
import pytest

from tools.sim import cupy as cp
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.tests.sim.cupy.arithmetic import OPERATIONS, figures, recorded

MACHINE_CODE = recorded()
SIZE = 50


def floats(dtype=np.float32) -> cp.ndarray:
    return cp.asarray(np.linspace(0.5, 3, SIZE).astype(dtype))


def counted(run) -> Counters:
    with record() as counters:
        run()
    return counters


# Kernels in C++ ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_float64_is_counted_where_the_machine_code_has_any_and_nowhere_else(name):
    kernel = cp.ElementwiseKernel("float32 x, float32 z, int32 k", "float32 y", OPERATIONS[name])
    counters = counted(lambda: kernel(floats(), floats(), floats(np.int32)))
    assert (counters.float64 > 0) == (MACHINE_CODE[name]["float64"] > 0)
    assert counters.conversions == SIZE * MACHINE_CODE[name]["conversions"]


@pytest.mark.parametrize("name", sorted(OPERATIONS)[::6])
def test_the_record_is_what_the_compiler_makes_of_the_statements(name):
    pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC, which compiles, is not installed")
    assert figures(OPERATIONS[name]) == MACHINE_CODE[name]


def test_only_threads_that_are_there_count():
    kernel = cp.ElementwiseKernel("float32 x", "float32 y", "y = x; if (x > 2) y = x * 0.1")
    assert counted(lambda: kernel(floats())).float64 == np.count_nonzero(floats().get() > 2)


def test_a_loop_counts_each_turn():
    kernel = cp.ElementwiseKernel("float32 x", "float32 y", "double t = 0; for (int j = 0; j < 8; j++) t += x; y = t")
    counters = counted(lambda: kernel(floats()))
    assert (counters.float64, counters.conversions) == (8 * SIZE, 9 * SIZE)


@pytest.mark.parametrize(
    "kind, map_expr, float64",
    [("float", "x * x", 0), ("double", "x * x", SIZE - 1), ("float", "x * 0.1", SIZE), ("float", "x * 0.5", 0)],
)
def test_a_reduction_counts_what_its_expressions_do(kind, map_expr, float64):
    kernel = cp.ReductionKernel("float32 x", "float32 y", map_expr, "a + b", "y = a", "0", reduce_type=kind)
    assert counted(lambda: kernel(floats())).float64 == float64


# CuPy's own --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run, float64, conversions",
    [
        (lambda: floats() + floats(), 0, 0),
        (lambda: floats() * 0.1, 0, 0),
        (lambda: floats() + floats(np.float64), SIZE, SIZE),
        (lambda: floats(np.float64) ** 2.5, SIZE, 0),
        (lambda: floats(np.complex128) * 2, SIZE, 0),
        (lambda: floats(np.float64) > 1, SIZE, 0),
        (lambda: floats(np.int64) / floats(np.int64), SIZE, 2 * SIZE),
        (lambda: floats().astype(np.float64), 0, SIZE),
        (lambda: floats(np.float64).copy(), 0, 0),
        (lambda: floats(np.int32).astype(np.float32), 0, SIZE),
        (lambda: cp.add(floats(), 1, out=cp.empty(SIZE, np.float64)), 0, SIZE),
        (lambda: floats().sum(), 0, 0),
        (lambda: floats(np.float64).sum(), SIZE - 1, 0),
        (lambda: floats(np.float64).cumsum(), SIZE, 0),
        (lambda: floats(np.int32).mean(), SIZE - 1, SIZE),
    ],
)
def test_functions_of_cupy_count_by_the_types_that_they_compute_in(run, float64, conversions):
    floats()
    counters = counted(run)
    assert (counters.float64, counters.conversions) == (float64, conversions)


def test_a_library_function_that_works_with_float64_is_named():
    counters = counted(lambda: (floats() @ floats(), floats(np.float64) @ floats(np.float64), cp.sort(floats())))
    assert counters.library_operations == ["cupy.matmul", "cupy.matmul", "cupy.sort"]
    assert counters.library_float64 == ["cupy.matmul"]


def test_barriers_are_for_kernels_with_warps():
    with pytest.raises(AttributeError, match="barriers cannot be counted"):
        counted(lambda: floats() + 1).barriers
