"""What a compiled kernel needs, as Numba's own compiler says it for the simulated chip."""

import numpy as np
import pytest

from tools.compiler import CompileError
from tools.gpu import cuda
from tools.models.chips import chip
from tools.models.occupancy import occupancy

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed, which compiles")
pytest.importorskip("cuda.bindings.nvjitlink", reason="NVIDIA's compiler is not installed")


@cuda.jit
def through_memory(x, n):
    part = cuda.shared.array(32, cuda.float32)
    own = cuda.local.array(64, cuda.float32)
    for i in range(n):
        own[i % 64] = x[i]
    part[cuda.threadIdx.x] = own[n % 64]
    cuda.syncthreads()
    x[cuda.threadIdx.x] = part[31 - cuda.threadIdx.x]


@pytest.fixture(scope="module")
def launched():
    through_memory[1, 32](np.ones(64, np.float32), 64)
    return through_memory


def test_registers_shared_and_local_memory_are_those_of_each_signature(launched):
    (types,) = launched.signatures
    assert launched.get_shared_mem_per_block() == {types: 32 * 4}
    assert launched.get_local_mem_per_thread(types) == 64 * 4
    assert 8 <= launched.get_regs_per_thread(types) <= 64
    assert launched.overloads[types].regs_per_thread == launched.get_regs_per_thread()[types]
    assert launched.get_max_threads_per_block(types) == 1024


def test_a_specialized_kernel_has_one_figure(launched):
    special = launched.specialize(np.ones(64, np.float32), 64)
    assert special.get_regs_per_thread() == launched.get_regs_per_thread(special.signatures[0])


def test_blocks_that_fit_are_those_of_the_occupancy_of_its_registers(launched):
    (kernel,) = launched.overloads.values()
    registers = kernel.regs_per_thread
    for threads, dynamic in ((64, 0), (256, 0), (64, 48_000)):
        wanted = occupancy(chip("h100").limits, threads // 32, registers, 128 + dynamic).blocks
        function = kernel._codelibrary.get_cufunc()
        assert cuda.current_context().get_active_blocks_per_multiprocessor(function, threads, dynamic) == wanted
        assert kernel.max_cooperative_grid_blocks((threads, 1), dynamic) == wanted * 132


def test_a_kernel_that_does_not_compile_says_why():
    @cuda.jit
    def adds_a_record(x):
        cuda.atomic.add(x, 0, 1.5)

    adds_a_record._results[(cuda.types.complex64[:],)] = None
    with pytest.raises(CompileError, match="does not compile for h100"):
        adds_a_record.get_regs_per_thread((cuda.types.complex64[:],))
