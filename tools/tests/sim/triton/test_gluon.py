"""Kernels of Gluon, which are compiled and not run."""

import pytest
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import tools.gpu

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")


@gluon.jit
def fill(x_ptr, LAYOUT: gl.constexpr):
    gl.store(x_ptr + gl.arange(0, 128, layout=LAYOUT), 1.0)


def test_a_gluon_kernel_is_refused_in_a_plain_sentence():
    with pytest.raises(NotImplementedError, match="fill is a Gluon kernel, and those are not simulated"):
        fill[(1,)](torch.zeros(128), gl.BlockedLayout([1], [32], [4], [0]))
