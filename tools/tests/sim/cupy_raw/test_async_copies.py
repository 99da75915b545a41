"""Asynchronous copies to shared memory: in place after the wait, and not before."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.device.errors import CompileException
from tools.tests.sim.cupy_raw.running import counted, fault_of, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

PRIMITIVES = r"""
#include <cuda_pipeline.h>

extern "C" __global__ void staged(const float* x, float* out, int tiles, int waits) {
    __shared__ float tile[2][64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[0][i], &x[i], sizeof(float)); // first
    __pipeline_commit();
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) __pipeline_memcpy_async(&tile[(t + 1) % 2][i], &x[(t + 1) * 64 + i], 4); // next
        __pipeline_commit();
        if (waits > 0) __pipeline_wait_prior(1);
        if (waits > 1) __syncthreads();
        out[t * 64 + i] = tile[t % 2][63 - i]; // read
        if (waits > 2) __syncthreads();
    }
}

extern "C" __global__ void own(const float4* x, float4* out, bool wait) {
    __shared__ float4 tile[32];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &x[i], 16); // copy
    __pipeline_commit();
    if (wait) __pipeline_wait_prior(0);
    out[i] = tile[i]; // read
}

extern "C" __global__ void filled(const float* x, float* out, int n) {
    __shared__ float4 tile[8];
    int i = threadIdx.x, left = n - 4 * i;
    left = left < 0 ? 0 : left > 4 ? 4 : left;
    __pipeline_memcpy_async(&tile[i], x + (left ? 4 * i : 0), 16, 16 - 4 * left); // here
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int j = 0; j < 4; j++) out[4 * i + j] = reinterpret_cast<float*>(tile + i)[j];
}

extern "C" __global__ void wrong(float* x, float* out, int what) {
    __shared__ __align__(16) float tile[64];
    int i = threadIdx.x;
    if (what == 0) __pipeline_memcpy_async(&tile[i], &x[i], 2); // here
    if (what == 1) __pipeline_memcpy_async(&out[i], &x[i], 4); // here
    if (what == 2) __pipeline_memcpy_async(&tile[i], &tile[32 + i], 4); // here
    if (what == 3) __pipeline_memcpy_async(&tile[i + 1], &x[4 * i], 16); // here
    if (what == 4) __pipeline_memcpy_async(&tile[4 * i], &x[i + 1], 8); // here
    if (what == 5) __pipeline_memcpy_async(&tile[i], &x[i + 240], 4); // here
    if (what == 6) __pipeline_memcpy_async(&tile[i], &x[i], 4, 8); // here
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
"""

PTX = r"""
#define CP_ASYNC(to, from, bytes) \
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" \
                 :: "r"(to), "l"(from), "n"(bytes))

extern "C" __global__ void by_hand(const float* x, float* out, bool wait) {
    __shared__ __align__(16) float tile[2][128];
    int i = threadIdx.x;
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[0][4 * i]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n"
                 :: "r"(to), "l"(x + 4 * i)
                 : "memory"); // copy
    asm volatile("cp.async.commit_group;\n" ::);
    CP_ASYNC(to + 512, x + 128 + 4 * i, 16);
    asm volatile("cp.async.commit_group;");
    if (wait) asm volatile("cp.async.wait_group %0;\n" :: "n"(1) : "memory");
    out[i] = tile[0][4 * i]; // read
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[32 + i] = tile[1][i];
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=PRIMITIVES)


def test_a_pipeline_of_two_stages(module):
    x, out = floats(256), zeros(256)
    counters = counted(module.get_function("staged"), (1,), (64,), (x, out, 4, 3))
    assert (out.get().reshape(4, 64) == np.arange(256).reshape(4, 64)[:, ::-1]).all()
    first, later = per_line(counters, "load")
    assert (first.counts.bytes_loaded, later.counts.bytes_loaded) == (256, 768)
    assert (first.counts.requests, first.counts.sectors) == (2, 8)
    assert [line.counts.bytes_shared for line in per_line(counters, "shared store")] == [256, 768]


@pytest.mark.parametrize(
    "waits, says",
    [
        (0, "to which it copies asynchronously since line"),
        (1, "No barrier lies between the two."),
        (2, "to which thread 31 of block 0 copies asynchronously since line"),
    ],
)
def test_what_is_missing_is_named(module, waits, says):
    fault = fault_of(module.get_function("staged"), (1,), (64,), (floats(256), zeros(256), 4, waits))
    assert fault.kind == "race" and says in " ".join(fault.text.split())
    assert fault.source.endswith(("// read", "// next"))


def test_a_thread_waits_for_its_own_copies(module):
    x = np.arange(128, dtype=np.float32)
    out = zeros(128)
    counters = counted(module.get_function("own"), (1,), (32,), (cp.asarray(x), out, True))
    assert (out.get() == x).all()
    assert per_line(counters, "load")[0].counts.sectors == 16
    fault = fault_of(module.get_function("own"), (1,), (32,), (cp.asarray(x), out, False))
    assert fault.kind == "race" and "to which it copies asynchronously since line" in " ".join(fault.text.split())


def test_the_end_is_filled_with_zeros(module):
    out = cp.asarray(np.full(32, -1, np.float32))
    module.get_function("filled")((1,), (8,), (floats(21), out, 21))
    assert out.get().tolist() == [*range(21), *[0] * 11]


@pytest.mark.parametrize(
    "what, says",
    [
        (0, "another number of bytes than 4, 8 or 16"),
        (1, "to an array that is not shared"),
        (2, "from memory that is not global"),
        (3, "writes 16 bytes at a time, but they begin 4 bytes into tile"),
        (4, "loads 8 bytes at a time, but they begin 4 bytes into x"),
        (5, "element 256 of x; it has 256"),
        (6, "more bytes with zeros than it copies"),
    ],
)
def test_misuse_is_named(module, what, says):
    fault = fault_of(module.get_function("wrong"), (1,), (32,), (floats(256), zeros(64), what))
    words = " ".join(fault.text.split()).replace("stores", "writes")
    assert says in words and fault.source.endswith("// here")


def test_ptx_of_asynchronous_copies():
    kernel, out = cp.RawKernel(PTX, "by_hand"), zeros(64)
    counters = counted(kernel, (1,), (32,), (floats(256), out, True))
    assert out.get().tolist() == [*range(0, 128, 4), *range(128, 160)]
    assert counters.bytes_loaded == 1024
    fault = fault_of(kernel, (1,), (32,), (floats(256), out, False))
    assert fault.source.endswith("// read") and fault.kind == "race"


@pytest.mark.parametrize(
    "statement",
    ['asm("bar.warp.sync 0xffffffff;"); // here', 'asm volatile("mov.u32 %0, %%clock;" : "=r"(i)); // here'],
)
def test_other_ptx_is_refused(statement):
    code = f'extern "C" __global__ void f(int* out) {{\n    int i = 0;\n    {statement}\n    out[0] = i;\n}}\n'
    with pytest.raises(CompileException, match="cp.async") as caught:
        cp.RawKernel(code, "f")((1,), (1,), (zeros(1, np.int32),))
    assert "line 3" in str(caught.value)


GROUPS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda/barrier>
namespace cg = cooperative_groups;

extern "C" __global__ void by_group(const float* x, float* out, bool wait) {
    __shared__ __align__(16) float tile[2][128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile[0], x, sizeof(float) * 128);
    cg::memcpy_async(block, tile[1], x + 128, cuda::aligned_size_t<16>(sizeof(float) * 128));
    if (wait) cg::wait_prior<1>(block);
    out[block.thread_rank()] = tile[0][127 - block.thread_rank()]; // read
    cg::wait(block);
    out[64 + block.thread_rank()] = tile[1][127 - block.thread_rank()];
}

extern "C" __global__ void by_tile(const float* x, float* out) {
    __shared__ __align__(16) float part[2][32];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    cg::memcpy_async(tile, part[tile.meta_group_rank()], x + 32 * tile.meta_group_rank(), sizeof(float) * 32);
    cg::wait(tile);
    out[threadIdx.x] = part[tile.meta_group_rank()][31 - tile.thread_rank()];
}

extern "C" __global__ void staged(const float* x, float* out, int tiles) {
    __shared__ __align__(16) float tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int t = 0, ahead = 0; t < tiles; t++) {
        for (; ahead < tiles && ahead < t + 2; ahead++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[ahead % 2], x + 64 * ahead, 256, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[64 * t + block.thread_rank()] = tile[t % 2][63 - block.thread_rank()];
        pipe.consumer_release();
    }
}
"""


@pytest.fixture(scope="module")
def groups():
    return cp.RawModule(code=GROUPS)


def test_a_group_copies_together(groups):
    x, out = floats(256), zeros(128)
    counters = counted(groups.get_function("by_group"), (1,), (64,), (x, out, True))
    assert out.get().tolist() == [*range(127, 63, -1), *range(255, 191, -1)]
    assert counters.bytes_loaded == 1024 and counters.sectors == 32 + 16
    fault = fault_of(groups.get_function("by_group"), (1,), (64,), (x, out, False))
    assert fault.kind == "race" and fault.source.endswith("// read")


def test_a_tile_copies_for_itself(groups):
    out = zeros(64)
    groups.get_function("by_tile")((1,), (64,), (floats(64), out))
    assert out.get().tolist() == [*range(31, -1, -1), *range(63, 31, -1)]


def test_a_pipeline_of_a_cooperative_group(groups):
    out = zeros(192)
    groups.get_function("staged")((1,), (64,), (floats(192), out, 3))
    assert (out.get().reshape(3, 64) == np.arange(192).reshape(3, 64)[:, ::-1]).all()
