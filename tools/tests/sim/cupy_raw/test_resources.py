"""Needs of a kernel, as NVIDIA's compiler tells them for the simulated chip, and how many blocks fit."""

import pytest

from tools.gpu import cupy as cp
from tools.models.chips import chip
from tools.models.occupancy import occupancy
from tools.sim.cupy.device.errors import CUDADriverError
from tools.tests.sim.cupy_raw.running import needs_compiler

pytestmark = [
    needs_compiler,
    pytest.mark.skipif("sim" not in cp.__name__, reason="a GPU's own CuPy is asked elsewhere"),
]
pytest.importorskip("cuda.bindings.nvrtc", reason="NVRTC, which compiles, is not installed")

CODE = r"""
extern "C" __global__ void __launch_bounds__(256) through_memory(const float* x, float* out, int n) {
    __shared__ float part[256];
    float own[64];
    for (int i = 0; i < n; i++) own[i % 64] = x[i];
    part[threadIdx.x] = own[n % 64];
    __syncthreads();
    out[threadIdx.x] = part[255 - threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def kernel():
    return cp.RawKernel(CODE, "through_memory")


def test_registers_shared_and_local_memory_are_those_of_the_compiler(kernel):
    assert kernel.shared_size_bytes == 256 * 4 and kernel.local_size_bytes == 64 * 4
    assert 8 <= kernel.num_regs <= 64
    assert kernel.max_threads_per_block == 256
    assert kernel.binary_version == kernel.ptx_version == 90


def test_the_drivers_occupancy_is_that_of_its_registers(kernel):
    driver, limits = cp.cuda.driver, chip("h100").limits
    for threads, dynamic in ((64, 0), (256, 0), (100, 48_000)):
        wanted = occupancy(limits, -(-threads // 32), kernel.num_regs, 1024 + dynamic).blocks
        assert driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, threads, dynamic) == wanted


def test_the_best_block_is_one_with_which_most_threads_are_resident(kernel):
    driver = cp.cuda.driver
    grid, block = driver.occupancyMaxPotentialBlockSize(kernel.kernel.ptr, 0, 512)
    resident = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, block, 0)
    assert grid == resident * chip("h100").multiprocessors and block <= 512
    for threads in range(32, 513, 32):
        others = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, threads, 0)
        assert threads * others <= block * resident


def test_dynamic_shared_memory_takes_room_from_other_blocks(kernel):
    few = cp.RawKernel(CODE, "through_memory")
    few.max_dynamic_shared_size_bytes = 200 * 1024
    assert few.max_dynamic_shared_size_bytes == 200 * 1024
    ask = cp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    assert ask(few.kernel.ptr, 256, 200 * 1024) == 1
    assert ask(few.kernel.ptr, 256, 300 * 1024) == 0
    with pytest.raises(CUDADriverError, match="A block can have 0 to"):
        few.max_dynamic_shared_size_bytes = 300 * 1024


def test_what_the_course_cannot_tell_says_so(kernel):
    for name in ("const_size_bytes", "cache_mode_ca", "attributes"):
        with pytest.raises(AttributeError, match="known to NVIDIA's compiler only"):
            getattr(kernel, name)
