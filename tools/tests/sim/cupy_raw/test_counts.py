"""What CUDA C++ kernels do to memory, counted as a GPU's profiler counts it. The figures are worked out by hand."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, floats, needs_compiler, per_line, zeros

pytestmark = needs_compiler

CODE = r"""
extern "C" __global__ void copy(const float* x, float* out, int stride, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i * stride + offset];
    out[i] = value;
}

extern "C" __global__ void copy_vectors(const float4* x, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
}

template <int PADDING> __global__ void transpose(const float* x, float* out, int n) {
    __shared__ float tile[32][32 + PADDING];
    tile[threadIdx.y][threadIdx.x] = x[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    float value = tile[threadIdx.x][threadIdx.y];
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = value;
}

extern "C" __global__ void some(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = x[i];
}

extern "C" __global__ void alternate(const float* x, float* out) {
    int lane = threadIdx.x;
    for (int turn = 0; turn < 8; turn++)
        if ((lane + turn) % 2)
            out[lane] = x[lane];
}

extern "C" __global__ void ragged(const float* x, float* out) {
    int lane = threadIdx.x;
    float sum = 0;
    for (int turn = 0; turn <= lane; turn++)
        sum += x[turn * 32 + lane];
    out[lane] = sum;
}

__device__ float twice(const float* x, int i) {
    return 2 * x[i];
}

extern "C" __global__ void either(const float* x, float* out) {
    int lane = threadIdx.x;
    float value;
    if (lane % 2)
        value = twice(x, lane);
    else
        value = twice(x, lane) + 1;
    out[lane] = value;
}

extern "C" __global__ void long_loop(const float* x, float* out, int turns) {
    int lane = threadIdx.x;
    float sum = 0;
    for (int turn = 0; turn < turns; turn++)
        if ((lane ^ turn) & 1)
            sum += x[lane];
    out[lane] = sum;
}

extern "C" __global__ void histogram(const int* x, unsigned* counts) {
    atomicAdd(&counts[x[threadIdx.x]], 1u);
}

struct Pair { int key; float value; };

extern "C" __global__ void copy_pairs(const Pair* x, Pair* out) {
    out[threadIdx.x] = x[threadIdx.x];
}

extern "C" __global__ void copy_values(const Pair* x, float* out) {
    float value = x[threadIdx.x].value;
    out[threadIdx.x] = value;
}

__constant__ float weights[32];
__device__ float scratch[64];

extern "C" __global__ void weigh(const float* x) {
    float value = x[threadIdx.x] * weights[threadIdx.x];
    scratch[threadIdx.x] = value;
}

extern "C" __global__ void locals(float* out) {
    float mine[4];
    for (int i = 0; i < 4; i++) mine[i] = i;
    out[threadIdx.x] = mine[threadIdx.x % 4];
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE, name_expressions=("transpose<0>", "transpose<1>"))


@pytest.mark.parametrize("stride, offset, sectors", [(1, 0, 4), (1, 1, 5), (2, 0, 8), (8, 0, 32), (32, 0, 32)])
def test_strides_and_offsets_cost_sectors(module, stride, offset, sectors):
    counters = counted(module.get_function("copy"), (2,), (64,), (floats(4128), zeros(128), stride, offset))
    (load,) = per_line(counters, "load")
    (store,) = per_line(counters, "store")
    assert (load.counts.requests, load.counts.sectors, load.counts.bytes_loaded) == (4, 4 * sectors, 512)
    assert (store.counts.requests, store.counts.sectors, store.counts.bytes_stored) == (4, 4 * 4, 512)
    assert counters.programs == 2


def test_the_lines_of_a_launch_are_those_of_the_source(module):
    counters = counted(module.get_function("copy"), (1,), (32,), (floats(32), zeros(32), 1, 0))
    load, store = counters.launches[0].lines
    assert (load.source, load.kind) == ("float value = x[i * stride + offset];", "load")
    assert (store.source, store.kind) == ("out[i] = value;", "store")
    assert load.file == store.file == "tools/tests/sim/cupy_raw/test_counts.py"
    own = CODE.splitlines().index("    float value = x[i * stride + offset];")
    this_file = open(__file__, encoding="utf-8").read().splitlines()
    assert this_file[load.line - 1].strip() == load.source and store.line == load.line + 1
    assert load.line == this_file.index('CODE = r"""') + 1 + own


def test_a_vector_of_16_bytes_is_one_request_of_16_sectors(module):
    x, out = floats(256), zeros(256)
    counters = counted(module.get_function("copy_vectors"), (1,), (64,), (x, out))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.sectors, load.counts.lines) == (2, 2 * 16, 2 * 4)
    assert (out.get() == np.arange(256)).all()


@pytest.mark.parametrize("padding, wavefronts", [(0, 32), (1, 1)])
def test_a_transpose_has_conflicts_unless_its_tile_is_padded(module, padding, wavefronts):
    x, out = floats(64 * 64), zeros(64 * 64)
    counters = counted(module.get_function(f"transpose<{padding}>"), (2, 2), (32, 32), (x, out, 64))
    assert (out.get().reshape(64, 64) == np.arange(64 * 64).reshape(64, 64).T).all()
    load, store = per_line(counters, "shared load")[0].counts, per_line(counters, "shared store")[0].counts
    assert (load.shared_requests, load.wavefronts) == (4 * 32, 4 * 32 * wavefronts)
    assert (store.wavefronts, store.conflicts, store.bytes_shared) == (4 * 32, 0, 4 * 4096)
    assert load.conflicts == 4 * 32 * (wavefronts - 1)
    assert counters.sectors == 2 * 4 * 32 * 4


def test_lanes_that_left_take_no_part(module):
    counters = counted(module.get_function("some"), (2,), (64,), (floats(70), zeros(70), 70))
    assert (counters.bytes_loaded, counters.requests, counters.sectors) == (280, 6, 2 * 9)
    assert counters.divergent_branches == 1


def test_lanes_that_take_turns_are_requests_of_their_own(module):
    counters = counted(module.get_function("alternate"), (1,), (32,), (floats(32), zeros(32)))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.accesses, load.counts.sectors) == (8, 128, 32)
    assert counters.divergent_branches == 8


def test_a_lane_whose_loop_is_over_waits_for_the_others(module):
    x = np.arange(32 * 32, dtype=np.float32)
    out = zeros(32)
    counters = counted(module.get_function("ragged"), (1,), (32,), (cp.asarray(x), out))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.accesses) == (32, 32 * 33 // 2)
    assert (out.get() == [x.reshape(32, 32)[: lane + 1, lane].sum() for lane in range(32)]).all()


def test_a_function_called_on_both_ways_of_a_branch_runs_twice(module):
    counters = counted(module.get_function("either"), (1,), (32,), (floats(32), zeros(32)))
    (load,) = per_line(counters, "load")
    (store,) = per_line(counters, "store")
    assert (load.counts.requests, load.counts.accesses, store.counts.requests) == (2, 32, 1)


def test_lanes_stay_in_step_over_many_turns(module):
    turns = 5000  # more than a thread makes before others have theirs
    counters = counted(module.get_function("long_loop"), (1,), (32,), (floats(32), zeros(32), turns))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.accesses) == (turns, 16 * turns)
    assert counters.divergent_branches == turns


def test_atomics_count_their_bytes_and_requests(module):
    counts = zeros(4, np.uint32)
    x = cp.asarray(np.arange(64, dtype=np.int32) % 4)
    counters = counted(module.get_function("histogram"), (1,), (64,), (x, counts))
    assert (counts.get() == 16).all()
    (atomic,) = per_line(counters, "atomic")
    assert (atomic.counts.bytes_atomic, atomic.counts.requests) == (256, 2)


def test_structures_are_moved_in_pieces_of_their_alignment(module):
    x = np.zeros(32, [("key", np.int32), ("value", np.float32)])
    pairs = cp.asarray(x.view(np.int64))
    counters = counted(module.get_function("copy_pairs"), (1,), (32,), (pairs, zeros(32, np.int64)))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.sectors, load.counts.bytes_loaded) == (2, 2 * 8, 256)
    counters = counted(module.get_function("copy_values"), (1,), (32,), (pairs, zeros(32)))
    (load,) = per_line(counters, "load")
    assert (load.counts.requests, load.counts.sectors, load.counts.bytes_loaded) == (1, 8, 128)


def test_variables_of_the_module_are_global_memory_and_constants_are_none(module):
    counters = counted(module.get_function("weigh"), (1,), (32,), (floats(32),))
    assert [(line.kind, line.counts.sectors) for line in counters.launches[0].lines] == [("load", 4), ("store", 4)]


def test_arrays_of_a_thread_are_not_counted(module):
    counters = counted(module.get_function("locals"), (1,), (32,), (zeros(32),))
    assert [line.kind for line in counters.launches[0].lines] == ["store", "arithmetic"]
    assert (counters.bytes, counters.conversions) == (128, 4 * 32)  # mine[i] = i


def test_what_no_recording_sees_is_run_all_the_same(module):
    out = zeros(32)
    module.get_function("copy")((1,), (32,), (floats(32), out, 1, 0))
    assert (out.get() == np.arange(32)).all()


def test_a_view_counts_from_where_it_begins(module):
    counters = counted(module.get_function("copy"), (1,), (32,), (floats(64)[1:], zeros(32), 1, 0))
    (load,) = per_line(counters, "load")
    assert load.counts.sectors == 5


def test_lanes_and_warps_are_counted(module):
    counters = counted(module.get_function("copy"), (2,), (48,), (floats(96), zeros(96), 1, 0))
    assert counters.active_lanes == 24  # a warp of 32 lanes and one of 16
    assert counters.launches[0].kernel == "copy" and counters.launches[0].grid == (2,)
    assert counters.launches[0].block == (48,)
