"""Functions by which lanes and threads work together, each against what plain Python makes of 32 values."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import needs_compiler, zeros

pytestmark = needs_compiler

ALL = 0xFFFFFFFF
SHUFFLES = "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"
FOLDS = {"add": sum, "min": min, "max": max}

CODE = r"""
template <typename T> __device__ T shuffled(int which, unsigned mask, T value, int argument, int width) {
    switch (which) {
        case 0: return __shfl_sync(mask, value, argument, width);
        case 1: return __shfl_up_sync(mask, value, argument, width);
        case 2: return __shfl_down_sync(mask, value, argument, width);
        default: return __shfl_xor_sync(mask, value, argument, width);
    }
}

template <typename T> __global__ void shuffle(const T* x, T* out, int which, int argument, int width) {
    out[threadIdx.x] = shuffled(which, 0xffffffff, x[threadIdx.x], argument, width);
}

extern "C" __global__ void shuffle_halves(const int* x, int* out) {
    int lane = threadIdx.x;
    if (lane < 16)
        out[lane] = __shfl_down_sync(0x0000ffff, x[lane], 1, 16);
    else
        out[lane] = __shfl_up_sync(0xffff0000, x[lane], 1, 16);
}

extern "C" __global__ void votes(const int* x, unsigned* out) {
    int lane = threadIdx.x, value = x[lane];
    out[lane] = __ballot_sync(0xffffffff, value > 3);
    out[32 + lane] = __any_sync(0xffffffff, value > 3);
    out[64 + lane] = __all_sync(0xffffffff, value > 3);
    int all = 7;
    out[96 + lane] = __match_any_sync(0xffffffff, value);
    out[128 + lane] = __match_all_sync(0xffffffff, value, &all);
    out[160 + lane] = all;
}

template <typename T> __global__ void reduce(const T* x, T* out) {
    int lane = threadIdx.x;
    out[lane] = __reduce_add_sync(0xffffffff, x[lane]);
    out[32 + lane] = __reduce_min_sync(0xffffffff, x[lane]);
    out[64 + lane] = __reduce_max_sync(0xffffffff, x[lane]);
}

extern "C" __global__ void reduce_bits(const unsigned* x, unsigned* out) {
    int lane = threadIdx.x;
    out[lane] = __reduce_and_sync(0xffffffff, x[lane]);
    out[32 + lane] = __reduce_or_sync(0xffffffff, x[lane]);
    out[64 + lane] = __reduce_xor_sync(0xffffffff, x[lane]);
}

extern "C" __global__ void active(unsigned* out) {
    int lane = threadIdx.x;
    if (lane % 3 == 0)
        out[lane] = __activemask();
    else
        out[lane] = __activemask();
    out[32 + lane] = __activemask();
}

extern "C" __global__ void left_early(const int* x, int* out, int n) {
    int lane = threadIdx.x;
    if (lane >= n) return;
    out[lane] = __shfl_sync(0xffffffff, x[lane], 0);
    out[32 + lane] = __ballot_sync(0xffffffff, 1);
}

extern "C" __global__ void barriers(const int* x, int* out) {
    int i = threadIdx.x;
    out[i] = __syncthreads_count(x[i]);
    out[96 + i] = __syncthreads_and(x[i]);
    out[192 + i] = __syncthreads_or(x[i]);
}

extern "C" __global__ void where(int* out, int n) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    out[i] = 100 * block + thread;
    dim3 size = blockDim;
    out[n + i] = size.x * 100 + size.y * 10 + size.z + warpSize * 1000;
}

extern "C" __global__ void flags(volatile int* turn, int* out) {
    if (threadIdx.x == 0) {
        while (*turn == 0);
        out[0] = 5;
    }
    if (threadIdx.x == 40) {
        __nanosleep(100);
        *turn = 1;
    }
}
"""


@pytest.fixture(scope="module")
def module():
    types = ("int", "unsigned", "long long", "float", "double")
    return cp.RawModule(
        code=CODE, name_expressions=(*(f"shuffle<{each}>" for each in types), "reduce<int>", "reduce<unsigned>")
    )


def source_lane(which: int, lane: int, argument: int, width: int) -> int:
    """Whose value a lane gets: its own group of `width` lanes bounds what it reaches."""
    first = lane // width * width
    if which == 0:
        return first + argument % width
    wanted = (lane - argument, lane + argument, lane ^ argument)[which - 1]
    if which == 1:
        return wanted if wanted >= first else lane
    return wanted if wanted < first + width else lane


@pytest.mark.parametrize("which", range(4), ids=SHUFFLES)
def test_a_shuffle_gives_the_value_of_another_lane(module, which):
    x = np.arange(100, 132)
    for argument, width in ((0, 32), (1, 32), (5, 32), (16, 32), (31, 32), (3, 8), (9, 8), (1, 2), (4, 16), (20, 16)):
        out = zeros(32, np.int32)
        module.get_function("shuffle<int>")((1,), (32,), (cp.asarray(x.astype(np.int32)), out, which, argument, width))
        assert out.get().tolist() == [x[source_lane(which, lane, argument, width)] for lane in range(32)]


@pytest.mark.parametrize(
    "name, dtype", [("unsigned", np.uint32), ("long long", np.int64), ("float", np.float32), ("double", np.float64)]
)
def test_a_shuffle_moves_every_type_whole(module, name, dtype):
    x = (np.arange(32) * 3 + 2**31 + 0.5).astype(dtype)
    out = zeros(32, dtype)
    module.get_function(f"shuffle<{name}>")((1,), (32,), (cp.asarray(x), out, 3, 1, 32))
    assert (out.get() == x.reshape(16, 2)[:, ::-1].ravel()).all()


def test_two_halves_of_a_warp_shuffle_apart(module):
    out = zeros(32, np.int32)
    module.get_function("shuffle_halves")((1,), (32,), (cp.asarray(np.arange(32, dtype=np.int32)), out))
    assert out.get().tolist() == [*range(1, 16), 15, 16, *range(16, 31)]


@pytest.mark.parametrize("x", [range(32), [5] * 32, [0] * 32, [lane % 4 for lane in range(32)]])
def test_votes_and_matches(module, x):
    out = zeros(192, np.uint32)
    module.get_function("votes")((1,), (32,), (cp.asarray(np.array(x, np.int32)), out))
    ballot, some, every, alike, all_alike, all_flag = out.get().reshape(6, 32).tolist()
    assert set(ballot) == {sum(1 << lane for lane in range(32) if x[lane] > 3)}
    assert set(some) == {int(max(x) > 3)} and set(every) == {int(min(x) > 3)}
    assert alike == [sum(1 << lane for lane in range(32) if x[lane] == mine) for mine in x]
    one = len(set(x)) == 1
    assert set(all_alike) == {ALL if one else 0} and set(all_flag) == {int(one)}


@pytest.mark.parametrize("name, dtype", [("int", np.int32), ("unsigned", np.uint32)])
def test_reductions_of_a_warp(module, name, dtype):
    x = (np.arange(32) * 7 % 19 - (9 if dtype == np.int32 else 0)).astype(dtype)
    out = zeros(96, dtype)
    module.get_function(f"reduce<{name}>")((1,), (32,), (cp.asarray(x), out))
    assert [set(row) for row in out.get().reshape(3, 32).tolist()] == [{fold(x.tolist())} for fold in FOLDS.values()]


def test_reductions_of_bits(module):
    x = np.array([0xFF00 | 1 << lane for lane in range(32)], np.uint32)
    out = zeros(96, np.uint32)
    module.get_function("reduce_bits")((1,), (32,), (cp.asarray(x), out))
    one = 0
    for each in x.tolist():
        one ^= each
    assert [set(row) for row in out.get().reshape(3, 32).tolist()] == [{0xFF00}, {ALL}, {one}]


def test_the_active_mask_names_the_lanes_of_the_same_way(module):
    out = zeros(64, np.uint32)
    module.get_function("active")((1,), (32,), (out,))
    thirds = sum(1 << lane for lane in range(0, 32, 3))
    assert out.get()[:32].tolist() == [thirds if lane % 3 == 0 else ALL ^ thirds for lane in range(32)]
    assert set(out.get()[32:].tolist()) == {ALL}


def test_lanes_that_left_early_are_not_waited_for(module):
    out = zeros(64, np.int32)
    module.get_function("left_early")((1,), (32,), (cp.asarray(np.arange(32, dtype=np.int32) + 7), out, 20))
    assert out.get()[:20].tolist() == [7] * 20 and set(out.get()[32:52].tolist()) == {(1 << 20) - 1}


@pytest.mark.parametrize("x", [[1] * 96, [0] * 96, [0] * 95 + [3], [1] * 40 + [0] * 56])
def test_barriers_that_count(module, x):
    out = zeros(3 * 96, np.int32)
    module.get_function("barriers")((1,), (96,), (cp.asarray(np.array(x, np.int32)), out))
    count = sum(map(bool, x))
    assert [set(row) for row in out.get().reshape(3, 96).tolist()] == [{count}, {int(count == 96)}, {int(count > 0)}]


def test_threads_know_their_places(module):
    n = 24 * 24
    out = zeros(2 * n, np.int32)
    module.get_function("where")((2, 3, 4), (4, 3, 2), (out, n))
    assert out.get()[:n].tolist() == [100 * block + thread for block in range(24) for thread in range(24)]
    assert set(out.get()[n:].tolist()) == {32432}


def test_a_thread_may_wait_for_a_flag_of_another_warp(module):
    out = zeros(1, np.int32)
    module.get_function("flags")((1,), (64,), (zeros(1, np.int32), out))
    assert out.get()[0] == 5
