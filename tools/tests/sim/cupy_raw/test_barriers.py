"""Barriers that are objects, and pipelines built on them: what they put in order, and who never arrives."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

BLOCK = """
struct Block {
    __device__ unsigned thread_rank() const { return threadIdx.x; }
    __device__ unsigned size() const { return blockDim.x; }
    __device__ void sync() const { __syncthreads(); }
};
"""

BARRIERS = r"""
#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void turned(const float* x, float* out, int expected, int waits) {
    __shared__ Barrier barrier;
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i == 0) init(&barrier, expected);
    __syncthreads();
    for (int turn = 0; turn < 3; turn++) {
        tile[i] = x[i] + turn; // store
        Barrier::arrival_token token = barrier.arrive();
        float own = x[i];
        if (waits) barrier.wait(cuda::std::move(token)); // wait
        out[64 * turn + i] = tile[63 - i] - own; // read
        if (waits) barrier.arrive_and_wait();
    }
}

extern "C" __global__ void producer(const float* x, float* out, int tiles, bool free) {
    __shared__ Barrier full, empty;
    __shared__ float tile[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) init(&full, blockDim.x), init(&empty, blockDim.x);
    __syncthreads();
    for (int t = 0; t < tiles; t++) {
        if (threadIdx.x < 32) {
            if (t > 0) empty.arrive_and_wait();
            tile[lane] = x[32 * t + lane]; // store
            full.arrive();
        } else {
            full.arrive_and_wait();
            if (!free) out[32 * t + lane] = tile[31 - lane]; // read
            if (t + 1 < tiles) empty.arrive();
            if (free) out[32 * t + lane] = tile[31 - lane]; // read
        }
    }
}

extern "C" __global__ void drops(float* out) {
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    if (threadIdx.x >= 32) {
        barrier.arrive_and_drop();
        return;
    }
    for (int turn = 0; turn < 3; turn++) barrier.arrive_and_wait();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void misused(float* out, int what) {
    __shared__ Barrier barrier;
    if (threadIdx.x == 0 && what != 0) init(&barrier, what == 1 ? 1 : 64);
    if (what != 2) __syncthreads();
    barrier.arrive(what == 1 ? 2 : 1); // here
}

extern "C" __global__ void copied(const float* x, float* out, bool wait) {
    __shared__ Barrier barrier;
    __shared__ float4 tile[32];
    Block block;
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(block, reinterpret_cast<float*>(tile), x, cuda::aligned_size_t<16>(512), barrier); // copy
    Barrier::arrival_token token = barrier.arrive();
    if (wait) barrier.wait(static_cast<Barrier::arrival_token&&>(token));
    out[threadIdx.x] = tile[31 - threadIdx.x].x; // read
}
"""

PIPELINES = r"""
#include <cuda/pipeline>

extern "C" __global__ void own(const float* x, float* out, int tiles) {
    __shared__ float tile[2][32];
    int i = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    for (int t = 0, ahead = 0; t < tiles; t++) {
        for (; ahead < tiles && ahead < t + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[ahead % 2][i], &x[32 * ahead + i], sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[32 * t + i] = 2 * tile[t % 2][i];
        pipe.consumer_release();
    }
}

extern "C" __global__ void together(const float* x, float* out, int tiles, bool waits) {
    __shared__ __align__(16) float tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    Block block;
    int i = threadIdx.x;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int t = 0, ahead = 0; t < tiles; t++) {
        for (; ahead < tiles && ahead < t + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % 2], x + 64 * ahead, 256, pipe);
            pipe.producer_commit();
        }
        if (waits) pipe.consumer_wait();
        out[64 * t + i] = tile[t % 2][63 - i]; // read
        pipe.consumer_release();
    }
}

extern "C" __global__ void parted(const float* x, float* out, int tiles, bool leaves) {
    __shared__ float tile[2][32];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    Block block;
    bool gives = threadIdx.x < 32;
    int lane = threadIdx.x % 32;
    cuda::pipeline_role role = gives ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    for (int t = 0; t < tiles; t++) {
        if (gives) {
            pipe.producer_acquire(); // acquire
            tile[t % 2][lane] = x[32 * t + lane] + 1;
            pipe.producer_commit();
        } else {
            if (leaves && t == 1) return;
            pipe.consumer_wait();
            out[32 * t + lane] = tile[t % 2][31 - lane];
            pipe.consumer_release();
        }
    }
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=BLOCK + BARRIERS)


@pytest.fixture(scope="module")
def pipelines():
    return cp.RawModule(code=BLOCK + PIPELINES)


def words(fault) -> str:
    return " ".join(fault.text.split())


def test_a_barrier_orders_what_came_before_the_arrivals(module):
    out = zeros(192)
    module.get_function("turned")((1,), (64,), (floats(64), out, 64, 1))
    want = np.arange(64)[::-1] + np.arange(3)[:, None] - np.arange(64)
    assert (out.get().reshape(3, 64) == want).all()


def test_reading_without_the_wait_is_a_race(module):
    fault = fault_of(module.get_function("turned"), (1,), (64,), (floats(64), zeros(192), 64, 0))
    assert fault.kind == "race" and fault.array == "tile"


def test_a_phase_that_nobody_ends_is_named(module):
    fault = fault_of(module.get_function("turned"), (1,), (64,), (floats(64), zeros(192), 65, 1))
    assert fault.kind == "divergent_barrier" and fault.source.endswith("// wait")
    assert "waits in barrier.wait for a phase that nobody ends: 1 of 65 arrivals are missing." in words(fault)


def test_a_warp_that_produces_and_one_that_consumes(module):
    out = zeros(128)
    module.get_function("producer")((1,), (64,), (floats(128), out, 4, False))
    assert (out.get().reshape(4, 32) == np.arange(128).reshape(4, 32)[:, ::-1]).all()


def test_a_buffer_given_back_too_early_is_a_race(module):
    fault = fault_of(module.get_function("producer"), (1,), (64,), (floats(128), zeros(128), 4, True))
    assert fault.kind == "race" and fault.array == "tile"


def test_threads_that_drop_out_are_waited_for_no_more(module):
    out = zeros(32)
    module.get_function("drops")((1,), (64,), (out,))
    assert out.get().tolist() == [1] * 32


@pytest.mark.parametrize(
    "what, says",
    [
        (0, "uses a barrier that was not initialised in this block"),
        (1, "arrives at a barrier at which all of its phase have arrived"),
        (2, "lies between the two"),
    ],
)
def test_misuse_of_a_barrier_is_named(module, what, says):
    fault = fault_of(module.get_function("misused"), (1,), (64,), (zeros(1), what))
    assert says in words(fault)
    assert fault.source.endswith("// here")


def test_copies_arrive_with_a_phase(module):
    x, out = floats(128), zeros(32)
    counters = counted(module.get_function("copied"), (1,), (32,), (x, out, True))
    assert out.get().tolist() == list(range(124, -1, -4))
    (load,) = per_line(counters, "load")
    assert (load.counts.bytes_loaded, load.counts.requests, load.counts.sectors) == (512, 1, 16)
    fault = fault_of(module.get_function("copied"), (1,), (32,), (x, out, False))
    assert fault.kind == "race" and fault.array == "tile"


def test_a_pipeline_of_one_thread(pipelines):
    out = zeros(128)
    pipelines.get_function("own")((1,), (32,), (floats(128), out, 4))
    assert (out.get() == 2 * np.arange(128)).all()


def test_a_pipeline_of_a_block(pipelines):
    out = zeros(320)
    pipelines.get_function("together")((1,), (64,), (floats(320), out, 5, True))
    assert (out.get().reshape(5, 64) == np.arange(320).reshape(5, 64)[:, ::-1]).all()
    fault = fault_of(pipelines.get_function("together"), (1,), (64,), (floats(320), out, 5, False))
    assert fault.kind == "race" and fault.array == "tile"


def test_a_pipeline_of_producers_and_consumers(pipelines):
    out = zeros(128)
    pipelines.get_function("parted")((1,), (64,), (floats(128), out, 4, False))
    assert (out.get().reshape(4, 32) == np.arange(128).reshape(4, 32)[:, ::-1] + 1).all()
    fault = fault_of(pipelines.get_function("parted"), (1,), (64,), (floats(128), out, 4, True))
    assert fault.source.endswith("// acquire") and "32 of 32 arrivals are missing" in words(fault)
