"""What the rows of tools/sim/reach claim of a GPU, tried on one: python -m tools.tests.sim.on_a_gpu.claims

Each in a process of its own, since some hang and some leave the GPU's context broken. Needs CuPy and numba-cuda.
"""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.tests.sim.on_a_gpu.claimed import (
    ALIGNED,
    BRANCHES,
    CONVERSIONS,
    CONVERT,
    GRID,
    LEAVE,
    MANY,
    NUMBERS,
    OF_A_BLOCK,
)

SECONDS = 20  # after which a kernel is said to hang


def conversions() -> None:
    """To integers, of what does not fit: the GPU's beside the simulator's."""
    import cupy

    import tools.sim.cupy as simulated

    found = []
    for module in (cupy, simulated):
        x = module.asarray(np.array(NUMBERS))
        out = module.asarray(np.zeros((len(CONVERSIONS), len(NUMBERS)), np.int64))
        module.RawKernel(CONVERT, "convert")((1,), (len(NUMBERS),), (x, out))
        found.append(out.get())
    for text, real, ours in zip(CONVERSIONS, *found):
        for x, there, here in zip(NUMBERS, real, ours):
            if there != here:
                print(f"{text} of {x}: {there} there, {here} here", end="; ")


def _run(code: str, name: str, grid: int, block: int, *arguments: Any, **options: Any) -> np.ndarray:
    import cupy

    arrays = [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    folder = ("-I/usr/local/cuda/include",) if "mma.h" in code else ()
    kernel = cupy.RawKernel(code, name, folder, **options)
    kernel((grid,), (block,), tuple(arrays))
    cupy.cuda.Device().synchronize()
    return [each for each in arrays if isinstance(each, cupy.ndarray)][-1].get()


def _numba() -> Any:
    np.row_stack = getattr(np, "row_stack", np.vstack)  # which numba-cuda 0.30 asks for
    from numba import cuda

    return cuda


def lanes_leave_one_by_one() -> None:
    print(_run(LEAVE, "leave_lane_by_lane", 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32)))


def warps_leave_one_by_one() -> None:
    print(_run(LEAVE, "leave_warp_by_warp", 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32)))


def halves_leave_one_by_one() -> None:
    print(_run(LEAVE, "leave_half_by_half", 1, 64, np.zeros(64, np.float32), np.zeros(64, np.float32)))


def some_leave_before_the_loop() -> None:
    print(_run(LEAVE, "leave_early", 1, 64, np.zeros(64, np.int32), 40))


def barriers_in_two_branches() -> None:
    x = np.arange(64, dtype=np.int32)
    print((_run(BRANCHES, "branches", 1, 64, x, np.zeros(64, np.int32)) == x[::-1]).all())


def atomics_of_a_block() -> None:
    print(_run(OF_A_BLOCK, "of_a_block", 264, 256, np.zeros(1, np.int32))[0], "of", 264 * 256 * 100)


def grid_sync_in_an_ordinary_launch() -> None:
    print(_run(GRID, "grid_sync", 8, 32, np.zeros(8, np.int32)))


def a_block_that_lacks_registers() -> None:
    import cupy

    print("registers", cupy.RawKernel(MANY, "many").num_regs, end=", ")
    print(_run(MANY, "many", 1, 1024, np.ones(96 * 1024, np.float32), np.zeros(1024, np.float32))[:2])


def tensor_cores_at_odd_addresses() -> None:
    for offset, stride in ((0, 16), (8, 16), (4, 16), (2, 16), (0, 24), (0, 20), (0, 18)):
        a = np.random.default_rng(1).integers(-4, 4, 512).astype(np.float16)
        matrix = np.stack([a[offset + stride * row : offset + stride * row + 16] for row in range(16)]).astype("f4")
        try:
            got = _run(ALIGNED, "aligned", 1, 32, a, np.zeros((16, 16), np.float32), np.int32(offset), np.int32(stride))
            print(offset, stride, (got == matrix @ matrix.T).all(), end="; ")
        except Exception as error:
            print(offset, stride, str(error)[:60])
            break


def a_negative_index_in_numba() -> None:
    cuda = _numba()

    def kernel(x: Any, out: Any) -> None:
        i = cuda.grid(1)
        out[i] = x[i - 1]

    out = np.zeros(4)
    cuda.jit(kernel)[1, 4](np.arange(4.0), out)
    print(out)


def an_exception_in_numba() -> None:
    cuda = _numba()

    def kernel(x: Any) -> None:
        if x[0] > 1:
            raise ValueError
        x[0] = 7

    x = np.full(1, 2.0)
    cuda.jit(kernel)[1, 1](x)
    print("not noticed:", x, end="; ")
    try:
        cuda.jit(kernel, debug=True, opt=False)[1, 1](x)
    except ValueError as error:
        print("with debug=True:", type(error).__name__)


def numba_leaves_a_loop_with_a_barrier() -> None:
    cuda = _numba()

    def kernel(out: Any) -> None:
        t = cuda.threadIdx.x
        for turn in range(64):
            cuda.syncthreads()
            out[t] = turn
            if turn == t:
                return

    out = np.zeros(64)
    cuda.jit(kernel)[1, 64](out)
    print(out)


def headers_of_tensor_cores() -> None:
    """Which folders CuPy's compiler looks into, and whether they hold what mma.h includes."""
    import cupy

    print("CUDA path", cupy.cuda.get_cuda_path())
    try:
        cupy.RawKernel("#include <mma.h>\n" + 'extern "C" __global__ void f() {}', "f").compile()
        print("compiles")
    except Exception as error:
        print(str(error)[-300:])


CLAIMS: list[Callable[[], None]] = [
    conversions,
    lanes_leave_one_by_one,
    warps_leave_one_by_one,
    halves_leave_one_by_one,
    some_leave_before_the_loop,
    barriers_in_two_branches,
    atomics_of_a_block,
    grid_sync_in_an_ordinary_launch,
    a_block_that_lacks_registers,
    tensor_cores_at_odd_addresses,
    a_negative_index_in_numba,
    an_exception_in_numba,
    numba_leaves_a_loop_with_a_barrier,
    headers_of_tensor_cores,
]


def _started(claim: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", __spec__.name, claim], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def main() -> None:
    processes = [(claim.__name__, _started(claim.__name__)) for claim in CLAIMS]
    for name, process in processes:
        try:
            said = process.communicate(timeout=SECONDS)[0].strip()
            print(f"{name}: {said[-5000:]}")
        except subprocess.TimeoutExpired:
            process.kill()
            print(f"{name}: hangs for {SECONDS} seconds")


if __name__ == "__main__":
    known = {claim.__name__: claim for claim in CLAIMS}
    known[sys.argv[1]]() if sys.argv[1:] else main()
