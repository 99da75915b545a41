"""Barriers in two branches of a RawKernel: refused, and the message says what a GPU does."""

import pytest

from tools.sim import cupy as cp
from tools.sim.faults import Fault

KERNEL = r"""
extern "C" __global__ void two(float* o, int first) {
    __shared__ float s[64];
    if (threadIdx.x < first) {
        s[threadIdx.x] = 1;
        __syncthreads();
        o[threadIdx.x] = s[63 - threadIdx.x];
    } else {
        s[threadIdx.x] = 2;
        __syncthreads();
        o[threadIdx.x] = s[63 - threadIdx.x];
    }
}
"""


@pytest.mark.parametrize("first, says", [(32, True), (40, False)])
def test_whole_warps_at_two_barriers_are_told_what_a_gpu_does(first, says):
    kernel = cp.RawKernel(KERNEL, "two")
    with pytest.raises(Fault) as caught:
        kernel((1,), (64,), (cp.zeros(64, cp.float32), first))
    lines = caught.value.text.splitlines()
    assert caught.value.kind == "divergent_barrier" and max(map(len, lines)) <= 80 and len(lines) <= 6
    assert ("A GPU may let it pass; CUDA promises nothing." in lines) == says
    assert "They wait in line 17, and two lines are two barriers." in " ".join(lines)
