"""Global memory: what neither a barrier nor a fence puts in order is refused, in the words of the CUDA simulator."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import fault_of, floats, needs_compiler, zeros

pytestmark = needs_compiler

RACES = r"""
extern "C" __global__ void histogram(const int* x, int* out) {
    out[x[blockIdx.x * blockDim.x + threadIdx.x]] += 1;
}

extern "C" __global__ void same_element(const int* x, int* out) {
    if (threadIdx.x == 0) out[0] = x[blockIdx.x];
}

extern "C" __global__ void same_value(const int* x, int* out) {
    out[0] = 1;
}

extern "C" __global__ void neighbour_of_the_block(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
    __syncthreads();
    out[(i + blockDim.x) % (gridDim.x * blockDim.x)] += 1;
}

extern "C" __global__ void read_from_another_block(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
    if (blockIdx.x == 1) out[i] = out[i - blockDim.x];
}

extern "C" __global__ void without_a_barrier(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = blockIdx.x * blockDim.x + (threadIdx.x + 32) % 64;
    out[i] = x[i];
    int value = out[other];
    __syncthreads();
    out[i] = value;
}

extern "C" __global__ void atomic_and_plain(const int* x, int* out) {
    if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;
    atomicAdd(&out[0], x[threadIdx.x]);
}

extern "C" __global__ void read_of_a_sum(const int* x, int* out) {
    atomicAdd(&out[0], 1);
    __syncthreads();
    if (threadIdx.x == 0) out[1 + blockIdx.x] = out[0];
}

__device__ int total;
extern "C" __global__ void variable(const int* x, int* out) {
    if (threadIdx.x == 0) total = total + x[blockIdx.x];
}

extern "C" __global__ void bytes(const int* x, unsigned char* out) {
    out[(blockIdx.x * blockDim.x + threadIdx.x) / 2] = 1;
}
"""
KINDS = {  # kernel: which race, and whose
    "histogram": ("write-after-read", 0),
    "same_element": ("write-after-write", 1),
    "same_value": ("write-after-write", 0),
    "neighbour_of_the_block": ("write-after-read", 1),
    "read_from_another_block": ("read-after-write", 1),
    "without_a_barrier": ("read-after-write", 0),
    "atomic_and_plain": ("write-after-write", 0),
    "read_of_a_sum": ("write-after-read", 1),
    "variable": ("read-after-write", 1),
    "bytes": ("write-after-write", 0),
}


@pytest.fixture(scope="module")
def racing():
    return cp.RawModule(code=RACES)


@pytest.mark.parametrize("name", KINDS)
def test_a_race_is_refused_and_nothing_is_stored(racing, name):
    x, out = cp.asarray(np.arange(128, dtype=np.int32) % 8), zeros(128, np.uint8 if name == "bytes" else np.int32)
    fault = fault_of(racing.get_function(name), (2,), (64,), (x, out))
    kind, block = KINDS[name]
    assert fault.kind == "race" and f"A {kind} race: either may come first." in fault.text
    assert ("a GPU lets equal values pass." in fault.text) == (name in ("same_element", "same_value", "bytes"))
    assert ("Which should not store there?" in fault.text) == (name in ("same_element", "same_value", "bytes"))
    assert fault.block == (block, 0, 0)
    assert not out.get().any()


def test_a_race_of_two_blocks_says_that_they_run_in_any_order(racing):
    fault = fault_of(racing.get_function("same_element"), (2,), (64,), (zeros(128, np.int32), zeros(128, np.int32)))
    assert fault.text.splitlines()[1:4] == [
        "thread 0 of block 1 writes element 0 of out,",
        f"which thread 0 of block 0 wrote in line {fault.line}.",
        "Blocks run in any order; a GPU lets equal values pass.",
    ]


def test_a_race_of_two_warps_misses_a_barrier(racing):
    fault = fault_of(racing.get_function("without_a_barrier"), (1,), (64,), (zeros(64, np.int32), zeros(64, np.int32)))
    assert "No barrier lies between the two." in fault.text


def test_a_race_within_a_warp_misses_a_syncwarp_too(racing):
    fault = fault_of(racing.get_function("histogram"), (1,), (32,), (zeros(32, np.int32), zeros(32, np.int32)))
    assert "Neither a barrier nor a __syncwarp lies between the two." in fault.text


def test_blocks_in_two_dimensions_have_two_numbers():
    code = 'extern "C" __global__ void all(int* out) { if (threadIdx.x == 0) out[blockIdx.x] = blockIdx.y; }'
    fault = fault_of(cp.RawKernel(code, "all"), (2, 2), (32,), (zeros(4, np.int32),))
    assert "thread 0 of block (0, 1) writes element 0 of out," in fault.text
    assert "which thread 0 of block (0, 0) wrote" in fault.text


# Correct kernels ---------------------------------------------------------------------------------

CORRECT = r"""
extern "C" __global__ void counted(const int* x, int* out) {
    atomicAdd(&out[x[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

extern "C" __global__ void in_place(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = out[i] + x[i];
    out[i] *= 2;
}

extern "C" __global__ void strided(const int* x, int* out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 128; i += gridDim.x * blockDim.x) out[i] = x[i];
}

extern "C" __global__ void shifted_behind_a_barrier(const int* x, int* out) {
    int first = blockIdx.x * blockDim.x, i = threadIdx.x;
    out[first + i] = x[first + i];
    __syncthreads();
    int value = out[first + (i + 1) % blockDim.x];
    __syncthreads();
    out[first + i] = value;
}

extern "C" __global__ void shifted_in_step(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
    __syncwarp();
    int value = out[i ^ 1];
    __syncwarp();
    out[i] = value;
}

extern "C" __global__ void the_last_block_adds(const int* x, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        out[1 + blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd(&out[0], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int block = 0; block < gridDim.x; block++) out[9] += out[1 + block];
}

extern "C" __global__ void with_a_lock(const int* x, int* out) {
    bool done = false;
    while (!done)
        if (atomicCAS(&out[0], 0, 1) == 0) {
            out[1] += 1;
            __threadfence();
            atomicExch(&out[0], 0);
            done = true;
        }
}

extern "C" __global__ void all_read_what_one_wrote(const int* x, int* out) {
    int first = blockIdx.x * blockDim.x;
    if (threadIdx.x == 0) out[first] = x[first];
    __syncthreads();
    if (threadIdx.x) out[first + threadIdx.x] = out[first];
}

extern "C" __global__ void read_by_all(int* x, int* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[threadIdx.x];
}

extern "C" __global__ void vectors(int4* x, int4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 32) out[i] = x[31 - i];
}

extern "C" __global__ void own_bytes(const int* x, unsigned char* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__device__ int results[128];
extern "C" __global__ void own_parts_of_a_variable(const int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = x[i];
    out[i] = results[i];
}

extern "C" __global__ void waits_for_a_flag(volatile int* x, int* out) {
    if (threadIdx.x == 0) while (x[blockIdx.x] == 0);
    if (threadIdx.x == 40) x[blockIdx.x] = 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
"""
NAMES = [line.split(" void ")[1].split("(")[0] for line in CORRECT.splitlines() if "__global__" in line]


@pytest.fixture(scope="module")
def correct():
    return cp.RawModule(code=CORRECT)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("blocks", [1, 2])
def test_correct_kernels_are_not_suspected(correct, name, blocks):
    x, out = zeros(128, np.int32), zeros(128, np.uint8 if name == "own_bytes" else np.int32)
    for _ in range(2):  # launches are in order
        correct.get_function(name)((blocks,), (64,), (x, out))


def test_one_launch_after_another_may_write_the_same():
    out = zeros(64)
    code = 'extern "C" __global__ void set(float* out, float value) { out[threadIdx.x] = value; }'
    kernel = cp.RawKernel(code, "set")
    for value in (1, 2, 3):
        kernel((1,), (64,), (out, np.float32(value)))
    assert (out.get() == 3).all()


def test_a_copy_of_many_elements_is_not_suspected():
    x, out = floats(100_000), zeros(100_000)
    cp.RawKernel(
        """extern "C" __global__ void copy(float* x, float* out, int n) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = x[i];
    }""",
        "copy",
    )((1,), (256,), (x, out, 100_000))
    assert (out.get() == x.get()).all()
