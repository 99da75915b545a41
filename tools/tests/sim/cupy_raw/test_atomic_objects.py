"""cuda::atomic and cuda::atomic_ref: what they compute, what their memory orders put in order, and what they do not."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cuda/atomic>

extern "C" __global__ void updates(int* x, unsigned long long* old) {
    cuda::atomic_ref<int> sum(x[0]), least(x[1]), most(x[2]), bits(x[3]), last(x[4]), steps(x[5]), swapped(x[6]);
    int i = threadIdx.x;
    sum.fetch_add(i, cuda::memory_order_relaxed); // add
    least.fetch_min(-i);
    most.fetch_max(i);
    bits |= 1 << (i % 8);
    last.exchange(7);
    steps++;
    int expected = swapped.load(cuda::std::memory_order_relaxed);
    while (!swapped.compare_exchange_weak(expected, expected + 2)) {}
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> wide(old[0]);
    wide += 1ull << 33;
}

__device__ cuda::atomic<float, cuda::thread_scope_device> total;

extern "C" __global__ void in_float(const float* x, float* out) {
    total.fetch_add(x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = total.load();
}

template <int STORE, int LOAD, bool FENCED>
__global__ void passed_on(const float* x, float* out) {
    __shared__ float value;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    if (threadIdx.x == 0) ready.store(0);
    __syncthreads();
    if (threadIdx.x == 32) {
        value = x[0]; // store
        if (FENCED) cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
        ready.store(1, cuda::memory_order(STORE));
    }
    if (threadIdx.x == 0) {
        while (ready.load(cuda::memory_order(LOAD)) == 0) {}
        if (FENCED) cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
        out[0] = value; // read
    }
}

template <cuda::thread_scope SCOPE>
__global__ void of_all_blocks(int* x) {
    cuda::atomic_ref<int, SCOPE>(x[0]).fetch_add(1, cuda::memory_order_relaxed); // here
}

template <int ORDER>
__global__ void last_block(const float* x, float* parts, unsigned* tickets, float* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = x[blockIdx.x]; // part
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(tickets[0]);
        is_last = ticket.fetch_add(1, cuda::memory_order(ORDER)) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += parts[i]; // sum
        out[0] = sum;
    }
}

extern "C" __global__ void locked(int* count, int turns) {
    __shared__ cuda::atomic<bool, cuda::thread_scope_block> lock;
    __shared__ int shared_count;
    if (threadIdx.x == 0) lock.store(false), shared_count = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (int turn = 0; turn < turns; turn++) {
            while (lock.exchange(true, cuda::memory_order_acquire)) {}
            shared_count++;
            lock.store(false, cuda::memory_order_release);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) count[0] = shared_count;
}
"""
RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = 0, 2, 3, 4, 5


def passed_on(store: int, load: int, fenced: bool) -> str:
    return f"passed_on<{store}, {load}, {str(fenced).lower()}>"


PASSED = [
    passed_on(store, load, fenced)
    for store in (RELAXED, RELEASE, SEQ_CST)
    for load in (RELAXED, ACQUIRE, SEQ_CST)
    for fenced in (False, True)
]


@pytest.fixture(scope="module")
def module():
    scopes = [f"of_all_blocks<cuda::thread_scope_{name}>" for name in ("block", "device")]
    return cp.RawModule(
        code=CODE, name_expressions=[*PASSED, *scopes, f"last_block<{RELAXED}>", f"last_block<{ACQ_REL}>"]
    )


def test_updates_of_integers(module):
    x, old = zeros(7, np.int32), zeros(1, np.uint64)
    counters = counted(module.get_function("updates"), (2,), (64,), (x, old))
    assert x.get().tolist() == [2 * 2016, -63, 63, 255, 7, 128, 256] and int(old.get()[0]) == 128 << 33
    add = next(line for line in per_line(counters, "atomic") if line.source.endswith("// add"))
    assert add.counts.bytes_atomic == 4 * 128 and add.counts.requests == 4


def test_a_sum_in_float(module):
    out = zeros(1)
    module.get_function("in_float")((1,), (64,), (floats(64), out))
    assert out.get()[0] == 2016


@pytest.mark.parametrize("store, load", [(RELEASE, ACQUIRE), (SEQ_CST, SEQ_CST)])
def test_what_was_released_is_known_after_the_acquire(module, store, load):
    out = zeros(1)
    module.get_function(passed_on(store, load, False))((1,), (64,), (floats(4) + 5, out))
    assert out.get()[0] == 5


@pytest.mark.parametrize("store, load", [(RELAXED, RELAXED), (RELAXED, ACQUIRE), (RELEASE, RELAXED)])
def test_relaxed_orders_clear_no_race(module, store, load):
    kernel = module.get_function(passed_on(store, load, False))
    fault = fault_of(kernel, (1,), (64,), (floats(4), zeros(1)))
    assert fault.kind == "race" and fault.array == "value" and fault.source.endswith("// read")


@pytest.mark.parametrize("store, load", [(RELAXED, RELAXED), (RELEASE, RELAXED)])
def test_fences_make_relaxed_orders_strong(module, store, load):
    out = zeros(1)
    module.get_function(passed_on(store, load, True))((1,), (64,), (floats(4) + 5, out))
    assert out.get()[0] == 5


def test_atomics_of_a_block_race_with_those_of_others(module):
    x = zeros(1, np.int32)
    module.get_function("of_all_blocks<cuda::thread_scope_device>")((3,), (32,), (x,))
    assert x.get()[0] == 96
    fault = fault_of(module.get_function("of_all_blocks<cuda::thread_scope_block>"), (3,), (32,), (x,))
    assert fault.kind == "race" and "Blocks run in any order; a GPU lets equal values pass." in fault.text
    module.get_function("of_all_blocks<cuda::thread_scope_block>")((1,), (32,), (zeros(1, np.int32),))


def test_the_last_block_knows_what_others_released(module):
    def arguments() -> tuple:
        return floats(8), zeros(8), zeros(1, np.uint32), zeros(1)

    given = arguments()
    module.get_function(f"last_block<{ACQ_REL}>")((8,), (64,), given)
    assert given[-1].get()[0] == 28
    fault = fault_of(module.get_function(f"last_block<{RELAXED}>"), (8,), (64,), arguments())
    assert fault.kind == "race" and fault.array == "parts" and fault.source.endswith("// sum")


def test_a_lock_of_acquire_and_release(module):
    count = zeros(1, np.int32)
    module.get_function("locked")((1,), (128,), (count, 5))
    assert count.get()[0] == 20
