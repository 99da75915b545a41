"""A listener hears every access of a kernel, and who asks for what; no count changes for it."""

import numpy as np
import pytest

from tools import gpu
from tools.sim import cuda, cupy, trace
from tools.sim.recording import record, unrecorded

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
triton_is_real = pytest.mark.skipif(gpu.card() is not None, reason="tests the simulator: run it with --sim")


class Heard:
    """All that was told."""

    def __init__(self):
        self.launches, self.accesses = [], []

    def launch(self, kernel, grid, block):
        self.launches.append((kernel, grid, block))

    def access(self, access):
        self.accesses.append(access)

    def of(self, kind: str, name: str) -> set[tuple[int, ...]]:
        """(program, thread or -1, offset in elements from element [0, ..., 0])"""
        found = set()
        for access in self.accesses:
            if (access.kind, access.memory.name) == (kind, name):
                offsets = (access.addresses - access.memory.address) // access.memory.itemsize
                threads = np.full(offsets.size, -1) if access.threads is None else access.threads
                found |= set(zip(access.programs.tolist(), threads.tolist(), offsets.tolist()))
        return found


def heard(run) -> Heard:
    listener = Heard()
    with trace.heard_by(listener):
        run()
    return listener


# CUDA --------------------------------------------------------------------------------------------


@cuda.jit
def shift(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i + 1]


@cuda.jit
def turn(x, out):
    tile = cuda.shared.array((4, 8), np.float32)
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    tile[row, col] = x[row, col]
    cuda.syncthreads()
    out[4 * cuda.blockIdx.x + row, col] = tile[row, 7 - col]


def test_each_thread_of_a_block_is_named_with_its_element():
    told = heard(lambda: shift[3, 4](np.zeros(11, np.float32), np.zeros(10, np.float32)))
    assert told.launches == [("shift", (3, 1, 1), (4, 1, 1))]
    threads = [(i // 4, i % 4, i) for i in range(10)]
    assert told.of("store", "out") == set(threads)
    assert told.of("load", "x") == {(block, thread, i + 1) for block, thread, i in threads}


def test_a_transposed_argument_is_told_with_its_strides():
    x = np.zeros((8, 4), np.float32).T
    told = heard(lambda: turn[1, (8, 4)](x, np.zeros((4, 8), np.float32)))
    memory = next(access.memory for access in told.accesses if access.memory.name == "x")
    assert (memory.shape, memory.strides, memory.space) == ((4, 8), (4, 16), "global")
    assert told.of("load", "x") == {(0, 8 * row + col, row + 4 * col) for row in range(4) for col in range(8)}


def test_a_reversed_argument_is_told_from_its_first_element():
    told = heard(lambda: shift[1, 4](cupy.zeros(5, np.float32)[::-1], np.zeros(4, np.float32)))
    assert told.of("load", "x") == {(0, thread, -thread - 1) for thread in range(4)}


def test_shared_memory_is_told_within_its_block():
    told = heard(lambda: turn[2, (8, 4)](np.zeros((4, 8), np.float32), np.zeros((8, 8), np.float32)))
    wanted = {(block, 8 * row + col, 8 * row + 7 - col) for block in range(2) for row in range(4) for col in range(8)}
    assert told.of("load", "tile") == wanted
    assert {access.memory.space for access in told.accesses if access.memory.name == "tile"} == {"shared"}


def test_the_line_of_the_kernel_is_told():
    told = heard(lambda: shift[1, 4](np.zeros(5, np.float32), np.zeros(4, np.float32)))
    assert {access.spot.line - shift.py_func.__code__.co_firstlineno for access in told.accesses} == {4}


def test_counts_are_the_same_with_a_listener_and_without():
    def counts():
        with record() as counters:
            shift[3, 4](np.zeros(11, np.float32), np.zeros(10, np.float32))
        return str(counters)

    told = []
    heard(lambda: told.append(counts()))
    assert told == [counts()]


def test_what_is_off_the_record_is_not_told():
    def trial():
        with unrecorded():
            shift[1, 4](np.zeros(5, np.float32), np.zeros(4, np.float32))

    told = heard(trial)
    assert (told.launches, told.accesses) == ([], [])


def test_nobody_listens_after_an_error():
    def broken():
        raise ValueError

    with pytest.raises(ValueError):
        heard(broken)
    assert trace.listener is None


# Triton ------------------------------------------------------------------------------------------

triton = pytest.importorskip("triton", reason="Triton is not installed; there are no wheels for this system")
import torch  # noqa: E402
import triton.language as tl  # noqa: E402


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + mine, tl.load(x_ptr + mine, mask=mine < n), mask=mine < n)


@triton.jit
def mark(out_ptr, cols):
    tl.atomic_add(out_ptr + tl.program_id(1) * cols + tl.program_id(0), 1.0)


@triton_is_real
def test_triton_tells_what_the_mask_lets_through():
    x, out = torch.zeros(16)[3:13], torch.zeros(10)
    told = heard(lambda: copy[(3,)](x, out, 10, BLOCK=4))
    assert told.launches == [("copy", (3, 1, 1), None)]
    assert told.of("load", "x") == told.of("store", "out") == {(i // 4, -1, i) for i in range(10)}
    assert next(access.memory.address % 512 for access in told.accesses if access.memory.name == "x") == 12


@triton_is_real
def test_programs_of_a_grid_are_numbered_along_its_first_axis():
    told = heard(lambda: mark[(3, 2)](torch.zeros(6), 3))
    assert told.of("atomic", "out") == {(number, -1, number) for number in range(6)}
