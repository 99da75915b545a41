"""The kernels behind reports_h200.json: what each of them does, and how it was launched.

Diagnose a report before you look its kernel up here. This launches one:

    ./course python -m week2.day1.reported_kernels NAME
"""

import sys
from collections.abc import Callable

import numpy as np

from tools.gpu import cuda, cupy, in_sight_of_profiler

WARP, TILE, BLOCK = 32, 32, 256


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


@cuda.jit
def strided_kernel(x, out, stride):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * stride]


@cuda.jit
def column_kernel(x, out):
    """Neighbouring threads stand one below the other."""
    i = cuda.grid(1)
    row, col = i % x.shape[0], i // x.shape[0]
    if col < x.shape[1]:
        out[row, col] = x[row, col]


@cuda.jit
def turned_kernel(x, out):
    """Each lane of a warp reads a row of the tile: all in one bank."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + lane
    tile[warp, lane] = x[warp, col]
    cuda.syncthreads()
    total = np.float32(0)
    for step in range(256):
        total += tile[lane, (warp + step) % TILE]
    out[warp, col] = total


@cuda.jit
def transpose_kernel(x, out):
    tile = cuda.shared.array((TILE, TILE), np.float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    tile[warp, lane] = x[cuda.blockIdx.y * TILE + warp, cuda.blockIdx.x * TILE + lane]
    cuda.syncthreads()
    out[cuda.blockIdx.x * TILE + warp, cuda.blockIdx.y * TILE + lane] = tile[lane, warp]


@cuda.jit
def roomy_kernel(x, out):
    """Reverses each 64 elements, with far more shared memory than that takes."""
    room = cuda.shared.array(11000, np.float32)
    i, here = cuda.grid(1), cuda.threadIdx.x
    room[here] = x[i]
    cuda.syncthreads()
    out[i] = room[cuda.blockDim.x - 1 - here]


@cuda.jit
def scratch_kernel(x, out):
    """Each neighbour's element, with twice roomy_kernel's threads in the block and half of its shared memory."""
    room = cuda.shared.array(5500, np.float32)
    i, here = cuda.grid(1), cuda.threadIdx.x
    room[here] = np.float32(2) * x[i]
    cuda.syncthreads()
    out[i] = room[here ^ 1]


@cuda.jit
def chase_kernel(links, out, steps):
    """Each warp walks from link to link; its lanes go together."""
    at = cuda.grid(1) // WARP
    for _ in range(steps):
        at = links[at]
    out[cuda.grid(1)] = at


@cuda.jit
def horner_kernel(x, out, terms):
    """Four polynomials for each element, so that no multiply-add waits for the one before."""
    i = cuda.grid(1)
    value = x[i]
    a, b, c, d = value, value, value, value
    for _ in range(terms):
        a = a * value + np.float32(1)
        b = b * value + np.float32(2)
        c = c * value + np.float32(3)
        d = d * value + np.float32(4)
    out[i] = a + b + c + d


@cuda.jit
def serial_kernel(x, out):
    """One thread adds up what the 256 of its block have loaded; the others wait."""
    tile = cuda.shared.array(BLOCK, np.float32)
    i, here = cuda.grid(1), cuda.threadIdx.x
    tile[here] = x[i]
    cuda.syncthreads()
    if here == 0:
        total = np.float32(0)
        for p in range(BLOCK):
            total += tile[p]
        tile[0] = total
    cuda.syncthreads()
    out[i] = tile[0]


@cuda.jit
def mandelbrot_kernel(out, most):
    """Each pixel takes as many steps as it needs; its warp takes as many as its slowest pixel."""
    i = cuda.grid(1)
    row, col = i // out.shape[1], i % out.shape[1]
    real = np.float32(col) * np.float32(3 / 8192) - np.float32(2)
    imag = np.float32(row) * np.float32(2 / 8192) - np.float32(1)
    re, im, steps = np.float32(0), np.float32(0), 0
    while steps < most and re * re + im * im < np.float32(4):
        re, im = re * re - im * im + real, np.float32(2) * re * im + imag
        steps += 1
    out[row, col] = steps


@cuda.jit
def field_kernel(records, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = records[i, 3] + records[i, 4]


@cuda.jit
def again_kernel(x, out, times):
    """Reads one array of some megabytes, a power of two of elements, over and over."""
    i = cuda.grid(1)
    total = np.float32(0)
    for turn in range(times):
        total += x[(i + turn * 4096) & (x.size - 1)]
    out[i] = total


# How each is launched --------------------------------------------------------------------------------

def floats(*shape):
    return cupy.random.random(shape, dtype=np.float32)


def empty(*shape, dtype=np.float32):
    return cupy.empty(shape, dtype)


def ring(length: int):
    """Links that lead through all places in random order."""
    order = np.random.default_rng().permutation(length).astype(np.int32)
    links = np.empty(length, np.int32)
    links[order] = np.roll(order, -1)
    return cupy.asarray(links)


def chase():
    links = ring(2**26)
    return chase_kernel, 132 * 8, BLOCK, (links, empty(132 * 8 * BLOCK, dtype=np.int32), 400)


def horner(blocks: int, threads: int, terms: int):
    return horner_kernel, blocks, threads, (floats(blocks * threads), empty(blocks * threads), terms)


# name -> a kernel, its grid, its block and its arguments
LAUNCHES: dict[str, Callable[[], tuple]] = {
    "copy": lambda: (copy_kernel, 2**27 // BLOCK, BLOCK, (floats(2**27), empty(2**27))),
    "strided": lambda: (strided_kernel, 2**23 // BLOCK, BLOCK, (floats(2**28), empty(2**23), 32)),
    "turned": lambda: (turned_kernel, 2**18 // TILE, (TILE, TILE), (floats(TILE, 2**18), empty(TILE, 2**18))),
    "roomy": lambda: (roomy_kernel, 2**25 // 64, 64, (floats(2**25), empty(2**25))),
    "tail": lambda: horner(2 * 132 + 1, 1024, 4000),
    "chase": chase,
    "horner": lambda: horner(2**18, BLOCK, 100),
    "serial": lambda: (serial_kernel, 2**25 // BLOCK, BLOCK, (floats(2**25), empty(2**25))),
    "mandelbrot": lambda: (mandelbrot_kernel, 8192 * 8192 // BLOCK, BLOCK, (empty(8192, 8192, dtype=np.int32), 200)),
    "again": lambda: (again_kernel, 2**20 // BLOCK, BLOCK, (floats(2**22), empty(2**20), 200)),
    # of other kernels and sizes, for diagnose
    "column": lambda: (column_kernel, 8192 * 6144 // BLOCK, BLOCK, (floats(8192, 6144), empty(8192, 6144))),
    "field": lambda: (field_kernel, 5_000_000 // 192 + 1, 192, (floats(5_000_000, 12), empty(5_000_000))),
    "transpose": lambda: (transpose_kernel, (384, 256), (TILE, TILE), (floats(8192, 12288), empty(12288, 8192))),
    "scratch": lambda: (scratch_kernel, 2**26 // 128, 128, (floats(2**26), empty(2**26))),
    "last_blocks": lambda: horner(132 * 8 + 40, 256, 6000),
    "long_horner": lambda: horner(2**16, 512, 700),
    "one_block": lambda: horner(20, 128, 20000),
}


def launch(name: str) -> None:
    """Launch a kernel of the table twice: the first time compiles it, the second is profiled."""
    kernel, blocks, threads, arguments = LAUNCHES[name]()
    kernel[blocks, threads](*arguments)
    cuda.synchronize()
    with in_sight_of_profiler():
        kernel[blocks, threads](*arguments)
        cuda.synchronize()


if __name__ == "__main__":
    launch(sys.argv[1])
