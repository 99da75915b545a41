"""Week 1, day 3: how GPUs work

Challenge
    Saxpy is out = a * x + y for vectors x and y. Write it as your first CUDA kernel: a function that thousands
    of threads run at the same time, each for elements of its own. Then work out what the GPU does with those
    threads: which of them run together, what they ask of memory, when some idle, how well they fill the GPU.

        a block of 16 x 4 threads is 2 warps         thread (x=3, y=2) has number 3 + 16 * 2 = 35
            y=0    0   1   2   3  ...  15
            y=1   16  17  18  19  ...  31    warp 0
            y=2   32  33  34  35  ...  47
            y=3   48  49  50  51  ...  63    warp 1     35 = 1 * 32 + 3, so it is lane 3 of warp 1

Explore
    ./course python -c "from tools.gpu import cuda; d=cuda.get_current_device(); print(d.name, d.MULTIPROCESSOR_COUNT)"
    A GPU has this many multiprocessors, each for 1024 to 2048 threads at a time. How many threads has your CPU?
    ./course week1/day3/explore_warps.py         Which blocks fill their warps?
    ./course week1/day3/explore_divergence.py    Which branches divide no warp?
    ./course week1/day3/explore_occupancy.py     Which grids fill their last wave?

Concept
    Launch: kernel[blocks, threads](...) starts a grid: that many blocks with that many threads each. In the
    kernel, cuda.grid(1) is the number of a thread in the grid, and cuda.gridsize(1) how many threads there are.
    Two axes: kernel[(blocks_x, blocks_y), threads](...) starts blocks in two directions; with `threads` a single
    number, all threads of a block lie along x. x, y = cuda.grid(2) are then a thread's two numbers, x first.
    Grid-stride loop: a thread takes element cuda.grid(1), then every cuda.gridsize(1)-th one after it. So any
    grid serves a vector of any length.
    Warps: a warp is 32 threads of a block that run together; a *lane* is the place of a thread in its warp. One
    instruction serves all lanes that have come to it. A load or store of a warp is one *request*, and memory
    answers in *sectors* of 32 bytes: 4 of them if the lanes ask for 32 neighbouring float32, up to 32 if not.
    Divergence: where an `if` sends some lanes of a warp one way and some the other, the warp runs both ways, one
    after the other, and the lanes that are not concerned idle. To compute both in every lane, and choose, is no
    cheaper. Different warps may go different ways for free.
    Multiprocessors: a block runs on one multiprocessor (SM), which holds several blocks and switches between
    their warps while others wait for memory. Blocks that find no place run afterwards, in the next *wave*.
    Peaks: a lane does a multiplication and an addition in each clock: two flops. Memory sends two bits in each
    clock over each wire of its bus, whose width is the number of wires (GLOBAL_MEMORY_BUS_WIDTH).
    Types: a Python float that is passed to a kernel is float64 there; np.float32(a) keeps it float32.

Code it
    Task 1  warp_and_lane, launch_config: which thread is where, how many are needed   (three lines)
    Task 2  saxpy_kernel, saxpy: a grid-stride loop, and its launch in float32          (four lines)
    Task 3  predict_requests: what its warps ask of memory, before you look              (one line)
    Task 4  convert_kernel, convert: given, right, and half of the lanes idle; repair  (three lines)
    Task 5  describe_device, wave_efficiency: what a GPU can do, how well it is filled (twelve lines)

Verify
    pytest week1/day3                  then: ./course quiz week1/day3
    Reflect: saxpy does two flops for 12 bytes. How much of its tflops does your GPU's memory allow it?

Simulated without a GPU: results, bounds, requests, sectors and lanes are exact; the device is an H100.
Time is not simulated, nor are caches, the fast memories that keep what was used lately.
"""

import math

import numpy as np

from tools.gpu import cuda, cupy

WARP = 32    # lanes
SECTOR = 32  # bytes
BLOCK = 256  # threads
MOST_BLOCKS = 4096  # several for each SM of any GPU; more would begin more loops, and to begin one costs a division
PER_DECIBEL = np.float32(math.log(10) / 20)  # an amplitude is exp(PER_DECIBEL * decibels)


# Task 1
def warp_and_lane(thread: tuple[int, int, int], block_shape: tuple[int, int, int]) -> tuple[int, int]:
    """(warp, lane) of a thread: the number of its warp in the block, and its place in that warp.

    thread: its x, y and z in the block. block_shape: threads along x, y and z. x counts fastest, then y.
    """
    raise NotImplementedError("week1/day3 task 1: warp_and_lane")


def launch_config(n: int, block: int) -> tuple[int, int]:
    """(blocks, threads of a block) of the smallest launch that has a thread for each of n elements.

    block: threads of a block. An empty grid cannot be launched, so there is at least one block.
    """
    raise NotImplementedError("week1/day3 task 1: launch_config")


# Task 2
@cuda.jit
def saxpy_kernel(a, x, y, out):
    pass  # which elements are mine; for each of them load, compute, store


def saxpy(a: float, x: cupy.ndarray, y: cupy.ndarray, *, blocks: int | None = None, block: int = BLOCK,
          out: cupy.ndarray | None = None) -> cupy.ndarray:
    """a * x + y by saxpy_kernel, computed in float32.

    x, y: (n,) float32 on the GPU. out: likewise, allocated if not given.
    blocks: of the grid, any number from 1; if not given, that of launch_config, but at most MOST_BLOCKS.
    block: threads of a block.
    """
    out = cupy.empty_like(x) if out is None else out
    blocks = min(launch_config(x.size, block)[0], MOST_BLOCKS) if blocks is None else blocks
    raise NotImplementedError("week1/day3 task 2: saxpy")


# Task 3
def predict_requests(n: int) -> tuple[int, int]:
    """(requests, sectors) of saxpy for n elements, loads and store together.

    They are the same for any grid whose blocks are whole warps.
    """
    raise NotImplementedError("week1/day3 task 3: predict_requests")


# Task 4
@cuda.jit(device=True)  # a function for kernels to call
def to_decibels(amplitude):
    return np.float32(20) * math.log10(amplitude)


@cuda.jit(device=True)
def to_amplitude(decibels):
    return math.exp(PER_DECIBEL * decibels)


@cuda.jit
def convert_kernel(levels, out):
    i = cuda.grid(1)
    row, col = i % 2, i // 2
    if col < out.shape[1]:
        if row == 0:
            out[row, col] = to_decibels(levels[row, col])
        else:
            out[row, col] = to_amplitude(levels[row, col])


def convert(levels: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """levels by convert_kernel: row 0 from amplitudes to decibels, row 1 from decibels to amplitudes.

    levels: (2, n) float32, contiguous, on the GPU. out: likewise, allocated if not given.
    """
    out = cupy.empty_like(levels) if out is None else out
    convert_kernel[launch_config(levels.size, BLOCK)](levels, out)
    return out


# Task 5
def ask_device() -> dict[str, int]:
    """Facts about the current GPU by the driver's names, clocks in kHz; and LANES, those of one SM for float32."""
    device = cuda.get_current_device()
    names = ("MULTIPROCESSOR_COUNT", "MAX_THREADS_PER_MULTIPROCESSOR", "L2_CACHE_SIZE", "CLOCK_RATE",
             "GLOBAL_MEMORY_BUS_WIDTH", "MEMORY_CLOCK_RATE")
    lanes = 64 if device.compute_capability in ((7, 0), (7, 2), (7, 5), (8, 0)) else 128
    return {name: getattr(device, name) for name in names} | {"LANES": lanes}


def describe_device(facts: dict[str, int] | None = None) -> dict[str, float]:
    """The parts and the peaks of a GPU, by name.

    facts: those of a GPU, as ask_device returns them; if not given, those of the current one.
    "sms"; "threads", as many as all SMs hold at a time; "lanes" of all SMs, for float32; "l2_mib", the L2 cache in
    2**20 bytes; "tflops", the peak of float32 in 1e12 flops a second; "gb_per_s", that of memory in 1e9 bytes a second.
    """
    facts = ask_device() if facts is None else facts
    raise NotImplementedError("week1/day3 task 5: describe_device")


def wave_efficiency(blocks: int, sms: int, per_sm: int) -> float:
    """The share of the places for blocks that a launch takes, over all of its waves. All blocks take equally long.

    blocks: of the grid, at least 1. sms: of the GPU. per_sm: blocks that an SM holds at a time.
    """
    raise NotImplementedError("week1/day3 task 5: wave_efficiency")
