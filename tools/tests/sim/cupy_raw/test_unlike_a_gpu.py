"""What an H200 did otherwise, kept here so that nobody takes it for the GPU's own way."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.device.errors import CompileException
from tools.tests.sim.cupy_raw.running import counted, needs_compiler, per_line, zeros

pytestmark = needs_compiler

LEAVES = r"""
extern "C" __global__ void leaves_lane_by_lane(float* out) {
    for (int turn = 0; turn < 64; turn++) {
        __syncthreads();
        out[threadIdx.x] = turn;
        if (turn == threadIdx.x) return;
    }
}
"""


def test_lanes_that_leave_a_loop_with_a_barrier_one_by_one_run_here_and_hang_an_h200():
    out = zeros(64)
    cp.RawKernel(LEAVES, "leaves_lane_by_lane")((1,), (64,), (out,))
    assert out.get().tolist() == list(range(64))


@pytest.mark.parametrize("index, loads", [("keys[i]", 2), ("key", 1)])
def test_an_index_that_is_read_from_constant_memory_within_the_brackets_counts_twice(index, loads):
    code = f"""
    extern "C" __global__ void count(const int* keys, int* out) {{
        __shared__ int bins[64];
        int i = threadIdx.x, key = {"keys[i]" if index == "key" else "0"};
        bins[{index}] = i;
        __syncthreads();
        out[i] = bins[31 - i] + 0 * key;
    }}
    """
    keys, out = cp.asarray(np.arange(32, dtype=np.int32)), zeros(32, np.int32)
    counters = counted(cp.RawKernel(code, "count"), (1,), (32,), (keys, out))
    assert sum(line.counts.requests for line in per_line(counters, "load")) == loads
    assert out.get().tolist() == list(range(31, -1, -1))


def test_the_size_of_a_copy_comes_with_the_header_of_barriers_and_with_no_other():
    code = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/memcpy_async.h>
    extern "C" __global__ void f(const float* x) {
        __shared__ __align__(16) float tile[32];
        auto block = cooperative_groups::this_thread_block();
        cooperative_groups::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(128));
    }
    """
    with pytest.raises(CompileException, match="aligned_size_t"):
        cp.RawKernel(code, "f").compile()
    cp.RawKernel("#include <cuda/barrier>\n" + code, "f").compile()
