"""Shared memory between barriers: what nothing orders is refused, and correct kernels run without a word."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import fault_of, floats, needs_compiler, zeros

pytestmark = needs_compiler

RACES = r"""
extern "C" __global__ void read_after_write(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    out[i] = tile[(i + 32) % 64]; // second
}

extern "C" __global__ void write_after_read(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    float value = tile[(i + 32) % 64]; // first
    tile[i] = value; // second
    __syncthreads();
    out[i] = tile[i];
}

extern "C" __global__ void write_after_write(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    tile[63 - i] = 0; // second
    __syncthreads();
    out[i] = tile[i];
}

extern "C" __global__ void within_a_warp(const float* x, float* out) {
    __shared__ float tile[32];
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    out[i] = tile[31 - i]; // second
}

extern "C" __global__ void partly_in_step(const float* x, float* out) {
    __shared__ float tile[32];
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    __syncwarp(i < 16 ? 0x0000ffff : 0xffff0000);
    out[i] = tile[31 - i]; // second
}

extern "C" __global__ void shuffles_order_nothing(const float* x, float* out) {
    __shared__ float tile[32];
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    float other = __shfl_xor_sync(0xffffffff, x[i], 1);
    out[i] = tile[31 - i] + other; // second
}

extern "C" __global__ void loop(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    float sum = 0;
    for (int turn = 0; turn < 4; turn++) {
        tile[i] = x[i]; // second
        __syncthreads();
        sum += tile[(i + 32) % 64]; // first
    }
    out[i] = sum;
}

extern "C" __global__ void atomic_and_plain(const float* x, float* out) {
    __shared__ float total;
    int i = threadIdx.x;
    if (i == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[i]); // first
    out[i] = total; // second
}

extern "C" __global__ void dynamic_bytes(const float* x, float* out) {
    extern __shared__ unsigned char bytes[];
    float* tile = reinterpret_cast<float*>(bytes);
    int i = threadIdx.x;
    tile[i] = x[i]; // first
    out[i] = tile[i ^ 32]; // second
}

extern "C" __global__ void in_a_function(const float* x, float* out);
__device__ float taken(const float* tile, int i) {
    return tile[63 - i]; // second
}
extern "C" __global__ void in_a_function(const float* x, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x]; // first
    out[threadIdx.x] = taken(tile, threadIdx.x);
}
"""

CORRECT = r"""
extern "C" __global__ void rotate(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    for (int turn = 0; turn < 3; turn++) {
        tile[i] = x[i];
        __syncthreads();
        out[i] = tile[(i + 32) % 64];
        __syncthreads();
    }
}

extern "C" __global__ void double_buffer(const float* x, float* out) {
    __shared__ float tile[2][64];
    int i = threadIdx.x;
    for (int turn = 0; turn < 4; turn++) {
        tile[turn % 2][i] = x[i];
        __syncthreads();
        out[i] = tile[turn % 2][(i + 32) % 64];
    }
}

extern "C" __global__ void in_step(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    for (int turn = 0; turn < 5; turn++) {
        tile[i] = x[i];
        __syncwarp();
        out[i] = tile[i ^ 31];
        __syncwarp();
    }
    __syncthreads();
    out[i] = tile[(i + 32) % 64];
}

extern "C" __global__ void halves_in_step(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x, lane = i % 32;
    tile[i] = x[i];
    __syncwarp(lane < 16 ? 0x0000ffff : 0xffff0000);
    out[i] = tile[i ^ 15];
    __syncthreads();
    out[i] = tile[(i + 32) % 64];
}

extern "C" __global__ void chain_in_step(const float* x, float* out) {
    __shared__ float value;
    int i = threadIdx.x;
    if (i == 0) value = 5;
    if (i < 2) __syncwarp(0x3);
    if (i > 0 && i < 3) __syncwarp(0x6);
    if (i == 2) out[0] = value;
}

extern "C" __global__ void own_elements(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = x[i];
    tile[i] += 1;
    out[i] = tile[i] - 1;
}

extern "C" __global__ void one_writes_all_read(const float* x, float* out) {
    __shared__ float first;
    if (threadIdx.x == 0) first = x[0];
    __syncthreads();
    out[threadIdx.x] = first + x[threadIdx.x];
}

extern "C" __global__ void counted(const float* x, float* out) {
    __shared__ int counts[4];
    int i = threadIdx.x;
    if (i < 4) counts[i] = 0;
    __syncthreads();
    atomicAdd(&counts[i % 4], 1);
    __syncthreads();
    out[i] = counts[i % 4];
}

extern "C" __global__ void neighbouring_bytes(const float* x, float* out) {
    __shared__ unsigned char bytes[64];
    extern __shared__ unsigned char more[];
    int i = threadIdx.x;
    bytes[i] = i;
    more[63 - i] = i;
    __syncthreads();
    out[i] = bytes[63 - i] + more[63 - i];
}

extern "C" __global__ void tree(const float* x, float* out) {
    __shared__ float part[64];
    int i = threadIdx.x;
    part[i] = x[i];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (i < half) part[i] += part[i + half];
        __syncthreads();
    }
    out[i] = part[0];
}

extern "C" __global__ void returns(const float* x, float* out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    if (i >= 48) return;
    tile[i] = x[i];
    __syncthreads();
    out[i] = tile[47 - i];
    __syncthreads();
    tile[i] = 0;
}

extern "C" __global__ void leaves_a_loop(const float* x, float* out) {
    for (int turn = 0; turn < 64; turn++) {
        __syncthreads();
        out[threadIdx.x] = turn;
        if (turn == threadIdx.x / 32) return;
    }
}

struct Value { float x; char tag; };
extern "C" __global__ void padding(const float* x, float* out) {
    __shared__ Value values[64];
    int i = threadIdx.x;
    values[i].x = x[i];
    values[i].tag = 1;
    __syncthreads();
    Value mine = values[63 - i];
    out[i] = mine.x + mine.tag;
}
"""


def test_every_race_is_told_from_its_later_half():
    names = {
        "read_after_write": "read-after-write",
        "write_after_read": "write-after-read",
        "write_after_write": "write-after-write",
        "within_a_warp": "read-after-write",
        "partly_in_step": "read-after-write",
        "shuffles_order_nothing": "read-after-write",
        "loop": "write-after-read",
        "atomic_and_plain": "read-after-write",
        "dynamic_bytes": "read-after-write",
        "in_a_function": "read-after-write",
    }
    module = cp.RawModule(code=RACES)
    for name, kind in names.items():
        block = 32 if name in ("within_a_warp", "partly_in_step", "shuffles_order_nothing") else 64
        fault = fault_of(module.get_function(name), (2,), (block,), (floats(64), zeros(64)), shared_mem=256)
        assert fault.kind == "race" and f"A {kind} race" in fault.text, name
        assert fault.source.endswith("// second"), fault.text
        lines = open(__file__, encoding="utf-8").read().splitlines()
        earlier = int(fault.text.split("in line ")[1].split(".")[0])
        assert lines[earlier - 1].endswith("// first"), fault.text
        assert ("nor a __syncwarp lies" in fault.text) == (block == 32 or name == "atomic_and_plain"), fault.text


def test_a_race_names_both_threads():
    kernel = cp.RawModule(code=RACES).get_function("read_after_write")
    fault = fault_of(kernel, (1,), (64,), (floats(64), zeros(64)))
    assert fault.array == "tile" and fault.operation == "load"
    reader, writer = fault.thread[0], fault.index
    assert abs(reader - writer) == 32 and f"which thread {writer} of block 0 wrote" in fault.text


NAMES = [
    "rotate",
    "double_buffer",
    "in_step",
    "halves_in_step",
    "chain_in_step",
    "own_elements",
    "one_writes_all_read",
    "counted",
    "neighbouring_bytes",
    "tree",
    "returns",
    "leaves_a_loop",
    "padding",
]


@pytest.mark.parametrize("name", NAMES)
def test_correct_kernels_are_not_suspected(name):
    x, out = np.arange(64, dtype=np.float32) + 3, zeros(3 * 64)
    block = 3 if name == "chain_in_step" else 64
    code = CORRECT.replace("float* out) {", "float* out) { out += 64 * blockIdx.x;")
    cp.RawModule(code=code).get_function(name)((3,), (block,), (cp.asarray(x), out), shared_mem=64)
    expected = {
        "rotate": np.roll(x, -32),
        "double_buffer": np.roll(x, -32),
        "in_step": np.roll(x, -32),
        "halves_in_step": np.roll(x, -32),
        "chain_in_step": [5, *[0] * 63],
        "own_elements": x,
        "one_writes_all_read": x + 3,
        "counted": [16] * 64,
        "neighbouring_bytes": [63 - i + i for i in range(64)],
        "tree": [x.sum()] * 64,
        "returns": [*x[47::-1], *[0] * 16],
        "leaves_a_loop": [i // 32 for i in range(64)],
        "padding": x[::-1] + 1,
    }
    assert out.get().tolist() == 3 * list(expected[name])
