"""Blocks and threads that wait for each other: they take turns, and who waits for ever is named."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
extern "C" __global__ void for_a_later_block(volatile int* flag, int* out) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x) while (flag[blockIdx.x + 1] == 0);
        flag[blockIdx.x] = 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

__device__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {} // take
    __threadfence();
}
__device__ void give(int* lock) {
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void one_after_another(int* lock, int* out) {
    take(lock);
    out[0] += 1;
    for (int i = 0; i < 400; i++) out[1] = i;  // longer than a turn
    give(lock);
}

__device__ unsigned arrived;
__device__ void wait_for_all_blocks() {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1u);
        while (*(volatile unsigned*)&arrived % gridDim.x != 0); // spin
        __threadfence();
    }
    __syncthreads();
}
extern "C" __global__ void barrier_by_hand(int* x, int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    wait_for_all_blocks();
    out[i] = x[gridDim.x * blockDim.x - 1 - i];
}

struct Tile { volatile int state; int sum, total; };
extern "C" __global__ void look_back(const int* x, Tile* tiles, unsigned* ticket, int* out) {
    __shared__ int place, before, values[64];
    if (threadIdx.x == 0) place = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = place * blockDim.x + threadIdx.x;
    values[threadIdx.x] = x[i];
    __syncthreads();
    int sum = 0;
    for (int other = 0; other <= threadIdx.x; other++) sum += values[other];
    if (threadIdx.x == blockDim.x - 1) {
        tiles[place].sum = sum;
        __threadfence();
        tiles[place].state = 1;
        before = 0;
        for (int at = place - 1; at >= 0; at--) {
            int state;
            while ((state = tiles[at].state) == 0) __nanosleep(20);
            __threadfence();
            before += state == 2 ? tiles[at].total : tiles[at].sum;
            if (state == 2) break;
        }
        tiles[place].total = before + sum;
        __threadfence();
        tiles[place].state = 2;
    }
    __syncthreads();
    out[i] = before + sum;
}

extern "C" __global__ void between_warps(const int* x, int* out) {
    __shared__ int data[32];
    __shared__ volatile int full;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        data[lane] = x[lane];
        __syncwarp();
        __threadfence_block();
        if (lane == 0) full = 1;
    } else {
        if (lane == 0) while (full == 0);
        __syncwarp();
        __threadfence_block();
        out[lane] = data[31 - lane];
    }
}

extern "C" __global__ void lane_after_lane(volatile int* turn, int* out) {
    while (*turn != threadIdx.x);
    out[threadIdx.x] = 31 - threadIdx.x;
    *turn = threadIdx.x + 1;
}

extern "C" __global__ void tries(volatile int* flag, int* out) {
    int turn = 0;
    while (*flag == 0 && turn < 30000) turn++;
    out[0] = turn;
}

extern "C" __global__ void many_times_the_largest(int* best, const int* x) {
    for (int i = 0; i < 20000; i++) atomicMax(best, x[i % 8]);
}

// These wait for ever.
extern "C" __global__ void never(volatile int* flag, int* out) {
    if (threadIdx.x == 5) while (flag[0] == 0); // here
    __syncthreads();
    out[0] = 1;
}

extern "C" __global__ void twice(int* lock, int* out) {
    if (threadIdx.x == 0) {
        take(lock);
        take(lock);
    }
}

extern "C" __global__ void each_other(int* locks, int* out) {
    if (threadIdx.x == 0) {
        take(locks + blockIdx.x);
        while (*(volatile int*)(locks + 1 - blockIdx.x) == 0);
        take(locks + 1 - blockIdx.x);
    }
}

extern "C" __global__ void more_than_fit(volatile int* flag, int* out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) while (flag[0] == 0); // here
        if (blockIdx.x == gridDim.x - 1) flag[0] = 1;
        if (blockIdx.x) while (flag[0] == 0);
    }
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


@pytest.fixture(params=["plain", "counted"])
def run(request, module):
    def launch(name, grid, block, args):
        kernel = module.get_function(name)
        (kernel if request.param == "plain" else lambda *given: counted(kernel, *given))(grid, block, args)

    return launch


def test_a_block_waits_for_a_later_one(run):
    out = zeros(4 * 33, np.int32)
    run("for_a_later_block", (4,), (33,), (zeros(4, np.int32), out))
    assert out.get().tolist() == np.repeat(np.arange(4), 33).tolist()


@pytest.mark.parametrize("threads", [1, 40])
def test_a_lock_in_device_functions_lets_one_thread_in(run, threads):
    lock, out = zeros(1, np.int32), zeros(2, np.int32)
    run("one_after_another", (2,), (threads,), (lock, out))
    assert out.get()[0] == 2 * threads and lock.get()[0] == 0


def test_blocks_meet_at_a_barrier_made_of_an_atomic(module):
    for _ in range(2):
        out = zeros(4 * 64, np.int32)
        module.get_function("barrier_by_hand")((4,), (64,), (zeros(4 * 64, np.int32), out))
        assert out.get().tolist() == list(range(255, -1, -1))


def test_a_scan_looks_back_at_the_blocks_before(run):
    x, out = np.arange(320, dtype=np.int32) % 7, zeros(320, np.int32)
    run("look_back", (5,), (64,), (cp.asarray(x), zeros(15, np.int32), zeros(1, np.uint32), out))
    assert (out.get() == np.cumsum(x)).all()


def test_warps_pass_each_other_data_by_a_flag_in_shared_memory(run):
    out = zeros(32, np.int32)
    run("between_warps", (1,), (64,), (cp.asarray(np.arange(32, dtype=np.int32)), out))
    assert out.get().tolist() == list(range(31, -1, -1))


def test_lanes_of_a_warp_wait_for_each_other(run):
    out = zeros(32, np.int32)
    run("lane_after_lane", (1,), (32,), (zeros(1, np.int32), out))
    assert out.get().tolist() == list(range(31, -1, -1))


def test_who_gives_up_after_some_tries_does_not_wait_for_ever(module):
    out = zeros(1, np.int32)
    module.get_function("tries")((1,), (1,), (zeros(1, np.int32), out))
    assert out.get()[0] == 30000


def test_atomics_that_change_nothing_are_no_waiting(module):
    best = zeros(1, np.int32)
    module.get_function("many_times_the_largest")((1,), (32,), (best, cp.asarray(np.arange(8, dtype=np.int32))))
    assert best.get()[0] == 7


# For ever ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, line, who",
    [
        ("never", "// here", "thread 5 of block"),
        ("twice", "// take", "thread 0 of block"),
        ("each_other", "// take", "thread 0 of block"),
    ],
)
def test_a_deadlock_is_named_at_once_with_its_line(module, name, line, who):
    fault = fault_of(module.get_function(name), (2,), (64,), (zeros(2, np.int32), zeros(1, np.int32)))
    assert fault.kind == "deadlock" and fault.source.endswith(line) and who in fault.text
    assert "waits here for ever: nobody changes what it looks at." in fault.text
    assert "All other threads wait, too, or have ended." in fault.text


def test_blocks_that_wait_for_one_that_does_not_fit_beside_them(module):
    kernel = module.get_function("more_than_fit")
    kernel((264,), (1,), (zeros(1, np.int32), zeros(1, np.int32)), shared_mem=40 << 10)
    kernel.max_dynamic_shared_size_bytes = 200 << 10
    fault = fault_of(kernel, (133,), (1,), (zeros(1, np.int32), zeros(1, np.int32)), shared_mem=200 << 10)
    assert fault.kind == "deadlock"
    assert fault.block == (0, 0, 0) and fault.source.endswith("// here")
    assert "A GPU runs 132 of these blocks at a time; block 132 begins when one has ended." in fault.text
