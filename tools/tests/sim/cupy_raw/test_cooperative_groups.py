"""Cooperative groups: what they compute, that they wait as a GPU does, and what is refused."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.device.errors import CompileException, CUDADriverError
from tools.tests.sim.cupy_raw.running import counted, fault_of, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void sums_of_tiles(const float* x, float* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto quarter = cg::tiled_partition<8>(warp);
    float sum = cg::reduce(quarter, x[block.thread_rank()], cg::plus<float>());
    if (quarter.thread_rank() == 0)
        out[warp.meta_group_rank() * quarter.meta_group_size() + quarter.meta_group_rank()] = sum;
}

__device__ int sum_of(cg::thread_group group, int* part, int value) {
    int rank = group.thread_rank();
    for (int half = group.size() / 2; half > 0; half /= 2) {
        part[rank] = value;
        group.sync();
        if (rank < half) value += part[rank + half];
        group.sync();
    }
    return value;
}

extern "C" __global__ void sums_of_any_groups(int* out) {
    __shared__ int part[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition(block, 16);
    int all = sum_of(block, part, threadIdx.x);
    int some = sum_of(tile, part + threadIdx.x / 16 * 16, threadIdx.x);
    if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = some;
    if (threadIdx.x == 0) out[4] = all;
}

extern "C" __global__ void lanes_in_a_branch(int* out) {
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        int rank = group.thread_rank();
        int* mine = out + 12 * rank;
        mine[0] = group.size();
        mine[1] = group.shfl(int(threadIdx.x), 2);
        mine[2] = group.shfl_up(int(threadIdx.x), 1);
        mine[3] = group.shfl_down(int(threadIdx.x), 2);
        mine[4] = group.ballot(rank % 2);
        mine[5] = group.any(rank == 5);
        mine[6] = group.all(rank < 10);
        mine[7] = group.match_any(rank / 4);
        mine[8] = cg::reduce(group, rank, cg::greater<int>());
        mine[9] = cg::reduce(group, 1 << rank, cg::bit_or<int>());
        mine[10] = cg::inclusive_scan(group, rank);
        mine[11] = cg::exclusive_scan(group, rank + 1, cg::plus<int>());
    }
}

extern "C" __global__ void parts(int* out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto odd = cg::binary_partition(warp, threadIdx.x % 2);
    auto alike = cg::labeled_partition(warp, int(threadIdx.x) / 10);
    auto nested = cg::tiled_partition(odd, 4);
    int* mine = out + 8 * threadIdx.x;
    mine[0] = odd.meta_group_rank();
    mine[1] = odd.thread_rank();
    mine[2] = alike.meta_group_rank();
    mine[3] = alike.meta_group_size();
    mine[4] = alike.size();
    mine[5] = nested.meta_group_rank();
    mine[6] = nested.shfl(int(threadIdx.x), 0);
    int all;
    mine[7] = warp.match_all(7, all) == 0xffffffff && all;
}

struct Pair { double value; int at; };
extern "C" __global__ void largest(const double* x, int* out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    Pair mine = {x[threadIdx.x], int(threadIdx.x)};
    auto larger = [](Pair a, Pair b) { return b.value > a.value ? b : a; };
    Pair best = cg::reduce(warp, mine, larger);
    cg::invoke_one(warp, [&] { out[0] = best.at; });
}

extern "C" __global__ void shared_by_tiles(int* out) {
    __shared__ int part[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    part[threadIdx.x] = threadIdx.x;
    cg::sync(tile);
    out[threadIdx.x] = part[threadIdx.x ^ 15];
}

extern "C" __global__ void whole_grid(float* x, float* y) {
    cg::grid_group grid = cg::this_grid();
    unsigned long long i = grid.thread_rank(), n = grid.size();
    __shared__ float before[64];
    before[threadIdx.x] = i;
    for (int turn = 0; turn < 3; turn++) {
        x[i] += 1;
        grid.sync();
        y[i] = x[n - 1 - i] + before[threadIdx.x];
        grid.sync();
    }
}

extern "C" __global__ void in_turns(float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    if (cg::this_grid().is_valid()) cg::this_grid().sync(); // here
    y[i] = x[gridDim.x * blockDim.x - 1 - i]; // read
}

extern "C" __global__ void some_blocks(float* x) {
    if (blockIdx.x < 2) cg::this_grid().sync(); // here
}

extern "C" __global__ void some_threads(float* x) {
    if (threadIdx.x < 40) cg::this_grid().sync(); // here
    x[threadIdx.x] = 1;
}

extern "C" __global__ void some_of_a_block(int* x) {
    if (threadIdx.x < 40) cg::this_thread_block().sync(); // here
    x[threadIdx.x] = 1;
}

extern "C" __global__ void half_of_a_tile(int* x) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x < 16) x[threadIdx.x] = warp.shfl_down(x[threadIdx.x], 1); // here
    x[threadIdx.x] += 1;
}

extern "C" __global__ void half_of_a_reduce(int* x) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x < 16) x[threadIdx.x] = cg::reduce(warp, x[threadIdx.x], cg::plus<int>()); // here
    x[threadIdx.x] += 1;
}

extern "C" __global__ void tiles_are_not_the_block(int* out) {
    __shared__ int part[64];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    part[threadIdx.x] = threadIdx.x;
    warp.sync();
    out[threadIdx.x] = part[63 - threadIdx.x]; // here
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE, enable_cooperative_groups=True)


def ran(module, name, shape, threads=64):
    out = zeros(int(np.prod(shape)), np.int32)
    module.get_function(name)((1,), (threads,), (out,))
    return out.get().reshape(shape)


def test_tiles_of_tiles_reduce_and_know_their_place(module):
    out = zeros(8)
    module.get_function("sums_of_tiles")((1,), (64,), (floats(64), out))
    assert out.get().tolist() == np.arange(64).reshape(8, 8).sum(1).tolist()


def test_a_function_takes_any_group(module):
    assert ran(module, "sums_of_any_groups", 5).tolist() == [120, 376, 632, 888, 2016]


def test_lanes_of_a_branch_are_numbered_by_rank(module):
    got, lanes = ran(module, "lanes_in_a_branch", (11, 12), 32), np.arange(0, 32, 3)
    ranks = np.arange(11)
    assert (got[:, 0] == 11).all() and (got[:, 1] == lanes[2]).all()
    assert got[:, 2].tolist() == [0, *lanes[:-1]] and got[:, 3].tolist() == [*lanes[2:], *lanes[-2:]]
    assert (got[:, 4] == 0b01010101010).all() and (got[:, 5] == 1).all() and (got[:, 6] == 0).all()
    assert got[:, 7].tolist() == [0b1111] * 4 + [0b11110000] * 4 + [0b11100000000] * 3
    assert (got[:, 8] == 10).all() and (got[:, 9] == 2**11 - 1).all()
    assert got[:, 10].tolist() == np.cumsum(ranks).tolist()
    assert got[:, 11].tolist() == [0, *np.cumsum(ranks + 1)[:-1]]


def test_groups_fall_into_parts(module):
    got, lanes = ran(module, "parts", (32, 8), 32), np.arange(32)
    assert (got[:, 0] == lanes % 2).all() and (got[:, 1] == lanes // 2).all()
    assert (got[:, 2] == lanes // 10).all() and (got[:, 3] == 4).all()
    assert got[:, 4].tolist() == [10] * 30 + [2, 2]
    assert (
        (got[:, 5] == lanes // 8).all() and (got[:, 6] == lanes // 8 * 8 + lanes % 2).all() and (got[:, 7] == 1).all()
    )


def test_a_structure_is_reduced_by_a_function_of_ones_own(module):
    x, out = np.sin(np.arange(32.0) * 3), zeros(1, np.int32)
    module.get_function("largest")((1,), (32,), (cp.asarray(x), out))
    assert out.get()[0] == x.argmax()


def test_sums_of_floats_are_rounded_as_a_butterfly_does(module):
    x, out = np.float32(1) / np.arange(1, 65, dtype=np.float32), zeros(8)
    module.get_function("sums_of_tiles")((1,), (64,), (cp.asarray(x), out))
    parts = x.reshape(8, 8)
    for half in (4, 2, 1):
        parts = parts[:, :half] + parts[:, half:]
    assert (out.get() == parts[:, 0]).all()


def test_a_tile_orders_the_shared_memory_of_its_lanes(module):
    assert ran(module, "shared_by_tiles", 64).tolist() == (np.arange(64) ^ 15).tolist()


# The grid ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 5])
def test_the_whole_grid_waits_and_each_block_keeps_its_shared_memory(module, blocks):
    n = 64 * blocks
    x, y = zeros(n), zeros(n)
    counters = counted(module.get_function("whole_grid"), (blocks,), (64,), (x, y))
    assert (x.get() == 3).all() and (y.get() == 3 + np.arange(n)).all()
    assert sum(line.counts.barriers for line in per_line(counters, "barrier")) == blocks * 2 * 6


def test_without_the_barrier_of_the_grid_it_is_a_race():
    module = cp.RawModule(code=CODE)  # in this launch is_valid() is false
    fault = fault_of(module.get_function("in_turns"), (2,), (64,), (zeros(128), zeros(128)))
    assert (
        fault.kind == "race" and "Blocks run in any order." in fault.text and fault.source.endswith("// here") is False
    )


def test_a_barrier_of_the_grid_needs_a_cooperative_launch():
    kernel = cp.RawKernel(CODE.replace("if (cg::this_grid().is_valid()) ", ""), "in_turns")
    fault = fault_of(kernel, (2,), (64,), (zeros(128), zeros(128)))
    assert fault.kind == "not_cooperative" and fault.source.endswith("// here")
    assert "enable_cooperative_groups=True" in fault.text


def test_a_cooperative_grid_must_fit_on_the_gpu(module):
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE(.|\n)*5,000 blocks"):
        module.get_function("whole_grid")((5000,), (64,), (zeros(64), zeros(64)))


@pytest.mark.parametrize(
    "name, kind, says",
    [
        ("some_blocks", "divergent_barrier", "waits here for all blocks by grid.sync, but 2 of them have\nended."),
        ("some_threads", "divergent_barrier", "waits here, but 24 threads of its block never come:"),
        ("some_of_a_block", "divergent_barrier", "waits here, but 24 threads of its block never come:"),
        ("half_of_a_tile", "warp_mask", "The mask of tile.shfl_down is 0xffffffff; lanes 16 to 31 would be waited"),
        ("half_of_a_reduce", "warp_mask", "The mask of reduce is 0xffffffff; lanes 16 to 31 would be waited"),
        ("tiles_are_not_the_block", "race", "No barrier lies between the two."),
    ],
)
def test_what_a_group_must_not_do_is_told_at_its_line(module, name, kind, says):
    array = zeros(64, np.float32 if name in ("some_blocks", "some_threads") else np.int32)
    fault = fault_of(module.get_function(name), (4,) if name == "some_blocks" else (1,), (64,), (array,))
    assert fault.kind == kind and says in fault.text and fault.source.endswith("// here")


@pytest.mark.parametrize(
    "body, says",
    [
        ("cg::tiled_partition<64>(cg::this_thread_block()).sync();", "tiles of more than 32 threads"),
        ("cg::tiled_partition<12>(cg::this_thread_block()).sync();", "the size of a tile is a power of two"),
        ("cg::this_cluster();", "clusters of blocks are not simulated"),
    ],
)
def test_groups_that_are_not_simulated_say_so(body, says):
    head = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    code = head + f'extern "C" __global__ void f() {{ {body} }}'
    with pytest.raises(CompileException, match=f"f.cu, line 3(.|\n)*{says}"):
        cp.RawKernel(code, "f").compile()
