"""Threads run one by one, and warps are put together afterwards: as if their lanes had gone in lockstep."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.random_kernels import Kernel
from tools.tests.sim.cupy_raw.running import counted, needs_compiler, per_line, zeros

pytestmark = needs_compiler

NUMBER = 60
KERNELS = [Kernel(f"kernel{number}", number) for number in range(NUMBER)]
CODE = "\n".join("\n".join(kernel.lines) for kernel in KERNELS)
STARTS = np.cumsum([0, *(len(kernel.lines) for kernel in KERNELS)])


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


@pytest.mark.parametrize("number", range(NUMBER))
def test_a_random_kernel_makes_the_requests_of_a_warp_in_lockstep(module, number):
    kernel, start = KERNELS[number], int(STARTS[number])
    x = zeros(32 * max(1, len(kernel.sites)), np.int32)
    counters = counted(module.get_function(f"kernel{number}"), (1,), (32,), (x,))
    for kind in ("load", "store"):
        found = {line.line - start: [line.counts.requests, line.counts.accesses] for line in per_line(counters, kind)}
        assert found == {site: counts for site, counts in kernel.counts.items() if counts[0]}, "\n".join(kernel.lines)
    assert counters.divergent_branches == kernel.parted
    assert x.get().sum() == sum(accesses for _, accesses in kernel.counts.values())
