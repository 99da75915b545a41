"""What puts accesses of two blocks, or warps, in order: a fence, then a flag, and somebody who reads it."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, zeros

pytestmark = needs_compiler

RACES = r"""
__device__ volatile int flag;
__device__ int ready;

extern "C" __global__ void a_fence_alone(int* data, int* out) {
    if (blockIdx.x == 0) { data[threadIdx.x] = 1; __threadfence(); }
    else out[threadIdx.x] = data[threadIdx.x];
}

extern "C" __global__ void a_flag_without_a_fence(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { data[0] = 1; flag = 1; }
        else { while (flag == 0); out[0] = data[0]; }
    }
}

extern "C" __global__ void a_fence_behind_the_flag(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { data[0] = 1; atomicExch(&ready, 1); __threadfence(); }
        else { while (atomicAdd(&ready, 0) == 0); out[0] = data[0]; }
    }
}

extern "C" __global__ void others_have_not_come_yet(int* data, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 1;
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&ready, 1); }
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&ready, 0) == 0);
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}

extern "C" __global__ void only_one_has_seen_the_flag(int* data, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 1;
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&ready, 1); }
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&ready, 0) == 0);
        out[threadIdx.x] = data[threadIdx.x];
    }
}

extern "C" __global__ void a_fence_of_the_block(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { data[0] = 1; __threadfence_block(); atomicExch(&ready, 1); }
        else { while (atomicAdd(&ready, 0) == 0); out[0] = data[0]; }
    }
}

extern "C" __global__ void the_same_element_again(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { data[0] = 1; __threadfence(); atomicExch(&ready, 1); data[0] = 2; }
        else { while (atomicAdd(&ready, 0) == 0); out[0] = data[0]; }
    }
}

extern "C" __global__ void stored_when_others_may_still_read(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) { while (atomicAdd(&ready, 0) == 0); data[0] = 1; }
        else { out[0] = data[0]; atomicExch(&ready, 1); }
    }
}

extern "C" __global__ void between_warps(int* data, int* out) {
    __shared__ int part[32];
    __shared__ volatile int full;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    if (threadIdx.x < 32) { part[threadIdx.x] = 1; if (threadIdx.x == 0) full = 1; }
    else { while (full == 0); out[threadIdx.x] = part[threadIdx.x - 32]; }
}
"""
NAMES = [line.split(" void ")[1].split("(")[0] for line in RACES.splitlines() if "__global__" in line]

CORRECT = r"""
__device__ volatile int flag;
__device__ int ready;

extern "C" __global__ void a_fence_then_a_flag(int* data, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) flag = 1;
    } else {
        if (threadIdx.x == 0) while (flag == 0);
        __syncthreads();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}

extern "C" __global__ void one_fences_for_all(int* data, int* out) {
    if (blockIdx.x == 1) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&ready, 1); }
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&ready, 0) == 0);
        __syncthreads();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}

extern "C" __global__ void handed_on_twice(int* data, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 2) { data[0] = 5; __threadfence(); atomicExch(&ready, 1); }
        if (blockIdx.x == 1) { while (atomicAdd(&ready, 0) < 1); __threadfence(); atomicExch(&ready, 2); }
        if (blockIdx.x == 0) { while (atomicAdd(&ready, 0) < 2); __threadfence(); out[0] = data[0]; }
    }
}

__device__ unsigned bins[8];
__device__ unsigned tickets;
extern "C" __global__ void the_last_block_reads_what_all_counted(int* data, int* out) {
    __shared__ bool last;
    atomicAdd(&bins[threadIdx.x % 8], 1u);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void a_ring_of_two(int* data, int* out) {  // block 0 fills, block 1 empties
    __shared__ int turn;
    if (threadIdx.x == 0)
        for (int i = 0; i < 6; i++) {
            if (blockIdx.x == 0) {
                while (i - *(volatile int*)(data + 3) > 1);
                __threadfence();
                data[i % 2] = i * i;
                __threadfence();
                *(volatile int*)(data + 2) = i + 1;
            } else {
                while (*(volatile int*)(data + 2) <= i);
                __threadfence();
                out[i] = data[i % 2];
                __threadfence();
                *(volatile int*)(data + 3) = i + 1;
            }
        }
}
"""
GIVES = {  # kernel: how many blocks, and what they give
    "a_fence_then_a_flag": (2, list(range(63, -1, -1))),
    "one_fences_for_all": (2, list(range(63, -1, -1))),
    "handed_on_twice": (3, [5]),
    "the_last_block_reads_what_all_counted": (3, [24] * 8),
    "a_ring_of_two": (2, [0, 1, 4, 9, 16, 25]),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_nothing_puts_in_order_is_a_race(name):
    module = cp.RawModule(code=RACES)
    flags = ("flag", "ready")
    for variable in flags:
        cp.ndarray(1, np.int32, module.get_global(variable)).fill(0)
    fault = fault_of(module.get_function(name), (2,), (64,), (zeros(64, np.int32), zeros(64, np.int32)))
    assert fault.kind == "race"
    assert ("Blocks run in any order." in fault.text) == (name != "between_warps")


@pytest.mark.parametrize("name", GIVES)
@pytest.mark.parametrize("run", ["plain", "counted"])
def test_a_fence_and_a_flag_put_in_order(name, run):
    module = cp.RawModule(code=CORRECT)
    for variable, count in (("flag", 1), ("ready", 1), ("bins", 8)):
        cp.ndarray(count, np.int32, module.get_global(variable)).fill(0)
    out, kernel = zeros(64, np.int32), module.get_function(name)
    blocks, gives = GIVES[name]
    (kernel if run == "plain" else lambda *given: counted(kernel, *given))((blocks,), (64,), (zeros(64, np.int32), out))
    assert out.get()[: len(gives)].tolist() == gives
