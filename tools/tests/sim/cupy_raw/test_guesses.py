"""Loops around atomicCAS whose first read is plain: the swap checks it, so it is no race with other swaps."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.raw.guesses import guess
from tools.sim.cupy.raw.source import TOKEN
from tools.sim.faults import Fault
from tools.sim.recording import record
from tools.tests.sim.cupy_raw.running import zeros

LARGEST = """
__device__ void larger(int* place, int value) {
    int old = READ, assumed;
    do {
        assumed = old;
        if (assumed >= value) break;
        old = atomicCAS(PLACE, assumed, value);
    } while (old != assumed);
}
extern "C" __global__ void largest(const int* x, int* out) { larger(out, x[blockIdx.x * blockDim.x + threadIdx.x]); }
extern "C" __global__ void largest_of_a_block(const int* x, int* out) {
    __shared__ int best;
    if (threadIdx.x == 0) best = -1;
    __syncthreads();
    larger(&best, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = best;
}
extern "C" __global__ void stores_too(const int* x, int* out) {
    if (threadIdx.x == 40) out[0] = 1;
    larger(out, x[threadIdx.x]);
}
"""


def kernel(name, read="*place", place="place"):
    return cp.RawModule(code=LARGEST.replace("READ", read).replace("PLACE", place)).get_function(name)


@pytest.mark.parametrize("name, blocks", [("largest", 2), ("largest_of_a_block", 1)])
@pytest.mark.parametrize("read, place", [("*place", "place"), ("place[0]", "&place[0]"), ("place[0]", "place")])
def test_a_guess_is_no_race_with_other_swaps(name, blocks, read, place):
    x, out = np.random.default_rng(0).permutation(128).astype(np.int32)[: 64 * blocks], zeros(1, np.int32)
    kernel(name, read, place)((blocks,), (64,), (cp.asarray(x), out))
    assert out.get()[0] == x.max()


def test_a_guess_counts_as_the_load_that_it_is():
    out = zeros(1, np.int32)
    with record() as counters:
        kernel("largest")((1,), (32,), (cp.asarray(np.zeros(32, np.int32)), out))
    assert counters.bytes_loaded == 2 * 4 * 32 and counters.bytes_atomic == 0


def test_a_guess_is_a_race_with_a_plain_store():
    with pytest.raises(Fault, match="race"):
        kernel("stores_too")((1,), (64,), (cp.asarray(np.arange(64, dtype=np.int32)), zeros(1, np.int32)))


def test_a_read_that_no_swap_checks_is_a_race():
    with pytest.raises(Fault, match="A write-after-read race"):
        kernel("largest", "place[0] + 0")((1,), (64,), (cp.asarray(np.arange(64, dtype=np.int32)), zeros(1, np.int32)))


@pytest.mark.parametrize(
    "code, found",
    [
        ("old = *p; old = atomicCAS(p, old, 1);", "*p"),
        ("old = bins[x[i]], was; atomicCAS(&bins[x[i]], old, 1);", "bins[x[i]]"),
        ("old = a[i]; atomicCAS(a + i, old, 1);", "a[i]"),
        ("old = *(a + i); atomicCAS(a + i, old, 1);", "*(a+i)"),
        ("old = *(unsigned*)p; atomicCAS((unsigned*)p, old, 1);", "*(unsigned*)p"),
        ("old == *p; atomicCAS(p, old, 1);", ""),
        ("old = *q; atomicCAS(p, old, 1);", ""),
        ("old = *p; } __device__ void f(int* p) { atomicCAS(p, 0, 1);", ""),
    ],
)
def test_the_read_is_found_by_the_place_that_the_swap_names(code, found):
    words = [match[0] for match in TOKEN.finditer(code) if match.lastgroup != "space"]
    place = guess(words, words.index("atomicCAS"))
    assert "".join(words[place[0] : place[1] + 1] if place else []) == found
