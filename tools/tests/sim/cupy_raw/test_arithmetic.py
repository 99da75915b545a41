"""Operations in double, conversions and barriers of CUDA C++ kernels are counted, line by line."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy.arithmetic import OPERATIONS, kernel, recorded
from tools.tests.sim.cupy_raw.running import counted, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

SIZE = 40
NAMES = {name: f"f{number}" for number, name in enumerate(OPERATIONS)}
ALL = cp.RawModule(code="\n".join(kernel(each).replace(" f(", f" {NAMES[name]}(") for name, each in OPERATIONS.items()))
MACHINE_CODE = recorded()
CAUTIOUS = {  # float on a GPU, of which one basic block of the host's code does not tell
    "a double squared",
    "a difference squared",
    "a double negated",
    "a branch sets a double",
}


def run(name: str):
    return counted(
        ALL.get_function(NAMES[name]),
        (1,),
        (SIZE,),
        (floats(SIZE), floats(SIZE), cp.arange(SIZE, dtype=np.int32), zeros(SIZE)),
    )


@pytest.mark.parametrize("name", OPERATIONS)
def test_double_is_counted_where_the_machine_code_of_a_gpu_has_any(name):
    counters, wanted = run(name), MACHINE_CODE[name]
    if name not in CAUTIOUS:
        assert (counters.float64 > 0) == (wanted["float64"] > 0)
        assert counters.conversions == SIZE * wanted["conversions"]


@pytest.mark.parametrize("name", sorted(CAUTIOUS))
def test_what_cannot_be_told_counts(name):
    assert MACHINE_CODE[name] == {"float64": 0, "conversions": 0}
    assert run(name).conversions > 0


LINES = r"""
__device__ double halved(double x) { return x / 2; }

extern "C" __global__ void several(const float* x, float* out, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int turn = 0; turn < turns; turn++)
        sum += x[i] * 0.1;
    out[i] = sum;
    out[i] += halved(x[i]);
}

extern "C" __global__ void all_in_float(const float* x, float* out) {
    int i = threadIdx.x;
    out[i] = 2.0f * x[i] + expf(x[i]) / 3;
}

extern "C" __global__ void in_double(const double* x, double* out) {
    int i = threadIdx.x;
    out[i] = x[i] + fmax(x[i], 1.0);
}

extern "C" __global__ void tiles(float* out, int turns, int inside) {
    __shared__ float tile[256];
    tile[threadIdx.x] = 1;
    __syncthreads();
    for (int turn = 0; turn < turns; turn++)
        if (inside)
            __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[255 - threadIdx.x];
}
"""
MODULE = cp.RawModule(code=LINES)


def test_each_line_counts_the_lanes_that_ran_it():
    counters = counted(MODULE.get_function("several"), (2,), (32,), (floats(64), zeros(64), np.int32(50), np.int32(3)))
    told = {line.source: (line.counts.float64, line.counts.conversions) for line in per_line(counters, "arithmetic")}
    assert told == {
        "sum += x[i] * 0.1;": (2 * 150, 3 * 150),
        "out[i] += halved(x[i]);": (50, 150),
        "__device__ double halved(double x) { return x / 2; }": (50, 0),
    }
    assert counters.float64 == 400


def test_a_kernel_in_float_has_none():
    counters = counted(MODULE.get_function("all_in_float"), (1,), (32,), (floats(32), zeros(32)))
    assert (counters.float64, counters.conversions) == (0, 0)


def test_a_kernel_in_double_converts_nothing():
    counters = counted(MODULE.get_function("in_double"), (1,), (32,), (zeros(32, np.float64), zeros(32, np.float64)))
    assert (counters.float64, counters.conversions) == (64, 0)


@pytest.mark.parametrize("threads, warps", [(256, 8), (200, 7)])
@pytest.mark.parametrize("inside, each", [(0, 1), (1, 11)])
def test_a_barrier_counts_once_for_each_warp_that_comes_to_it(threads, warps, inside, each):
    code = LINES.replace("255 - threadIdx.x", "blockDim.x - 1 - threadIdx.x")
    counters = counted(
        cp.RawKernel(code, "tiles"), (3,), (threads,), (zeros(3 * threads), np.int32(10), np.int32(inside))
    )
    assert counters.barriers == 3 * warps * each
    assert sum(line.counts.barriers for line in per_line(counters, "barrier")) == counters.barriers
