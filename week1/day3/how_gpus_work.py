"""Week 1, day 3: how GPUs work

Challenge
    Write your first CUDA kernel: out = a * x + y, called saxpy, by any number of threads at once. They all run
    the same lines and differ only in who they are. Then say what a GPU makes of them: which threads go
    together, what they ask of memory, where some of them wait, and how well a launch fits the machine.

        a block of 16 x 4 threads: 2 warps            thread (x=3, y=2) has number 3 + 16 * 2 = 35
            y=0    0   1   2   3  ...  15
            y=1   16  17  18  19  ...  31    warp 0
            y=2   32  33  34  35  ...  47
            y=3   48  49  50  51  ...  63    warp 1     35 = 1 * 32 + 3, so it is lane 3 of warp 1

Explore
    python -c "from tools.gpu import cuda; d = cuda.get_current_device(); print(d.name, d.MULTIPROCESSOR_COUNT)"
    Each of these multiprocessors holds 1024 to 2048 threads at a time. How many has your CPU?
    marimo run week1/day3/explore_warps.py         Which blocks fill their warps?
    marimo run week1/day3/explore_divergence.py    Which branches split no warp?
    marimo run week1/day3/explore_occupancy.py     Which grids fill their last wave?

Concept
    Grid: kernel[blocks, threads](...) starts that many blocks of that many threads. In the kernel, cuda.grid(1)
    is my number among all threads of the launch, and cuda.gridsize(1) is how many there are.
    Grid-stride loop: I take element grid(1), then every gridsize(1)-th after it. So any grid serves any n.
    Warps: the threads of a block run in groups of 32, the *lanes* of a warp: one instruction at a time, for all
    lanes that have come to it. A load or store is one *request* of a warp. Memory serves it in sectors of
    32 bytes: four, when 32 lanes ask for float32 that lie side by side, and up to 32 when they do not.
    Divergence: when an if sends lanes of one warp both ways, the warp goes one way and then the other, and
    each time the rest of its lanes idle. Since Volta every thread has a program counter of its own: which way
    goes first, and when the lanes meet again, nobody promises. To pass values on they need a barrier (day 7).
    Multiprocessors (SMs): a block stays on one SM, which holds several at a time and switches between their
    warps: while one waits for memory, others run. Blocks that find no room wait for the next *wave*.
    Peaks: a lane for float32 multiplies and adds once in a clock: two flops. Device memory sends two bits in a
    clock on each wire of its bus.
    Arguments: day 2's CuPy arrays are used where they lie. A Python float arrives as what it is, float64.

Code it
    Task 1  warp_and_lane, launch_config: which thread is where, how many are needed   (three lines)
    Task 2  saxpy_kernel, saxpy: a grid-stride loop, and its launch in float32          (four lines)
    Task 3  predict_requests: what its warps ask of memory, before you look              (one line)
    Task 4  convert_kernel, convert: right, but lanes idle; repair it                  (three lines)
    Task 5  describe_device, wave_efficiency: what a GPU could do, how well it fits    (twelve lines)

Verify
    pytest week1/day3                  then: ./course quiz week1/day3
    Reflect: saxpy does two flops for 12 bytes. How much of its tflops does your GPU's memory allow it?

Simulated without a GPU: results, bounds, races, requests, sectors and lanes are exact; the device is an H100.
Time is not simulated, nor are caches.
"""

import math

import numpy as np

from tools.gpu import cuda, cupy

WARP = 32    # lanes
SECTOR = 32  # bytes
BLOCK = 256  # threads
MOST_BLOCKS = 4096  # of a grid-stride loop: several for each SM of any GPU
PER_DECIBEL = np.float32(math.log(10) / 20)  # an amplitude is exp(PER_DECIBEL * decibels)


# Task 1
def warp_and_lane(thread: tuple[int, int, int], block_shape: tuple[int, int, int]) -> tuple[int, int]:
    """The warp of its block that a thread is in, and its lane of that warp.

    thread: its x, y and z in the block. block_shape: how many threads along x, y and z; x counts fastest.
    """
    raise NotImplementedError("week1/day3 task 1: warp_and_lane")


def launch_config(n: int, block: int) -> tuple[int, int]:
    """(blocks, threads of a block) with a thread for each of n elements: as few blocks as will do, but at least one.

    block: threads of a block. An empty grid cannot be launched.
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
    blocks: how many, of `block` threads each; any number will do. If not given as launch_config says, but at most
    MOST_BLOCKS: to begin the loop costs a division, so a thread had better have several elements.
    """
    out = cupy.empty_like(x) if out is None else out
    blocks = min(launch_config(x.size, block)[0], MOST_BLOCKS) if blocks is None else blocks
    raise NotImplementedError("week1/day3 task 2: saxpy")


# Task 3
def predict_requests(n: int) -> tuple[int, int]:
    """(requests, sectors) of saxpy for n elements, whatever the grid; a block is a number of whole warps."""
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
    """Row 0 from amplitudes to decibels, row 1 from decibels to amplitudes, by convert_kernel.

    levels: (2, n) float32, contiguous, on the GPU. out: likewise, allocated if not given.
    """
    out = cupy.empty_like(levels) if out is None else out
    convert_kernel[launch_config(levels.size, BLOCK)](levels, out)
    return out


# Task 5
def ask_device() -> dict[str, int]:
    """Facts about the current GPU by the driver's names, clocks in kHz; and LANES for float32 of one SM."""
    device = cuda.get_current_device()
    names = ("MULTIPROCESSOR_COUNT", "MAX_THREADS_PER_MULTIPROCESSOR", "L2_CACHE_SIZE", "CLOCK_RATE",
             "GLOBAL_MEMORY_BUS_WIDTH", "MEMORY_CLOCK_RATE")
    lanes = 64 if device.compute_capability in ((7, 0), (7, 2), (7, 5), (8, 0)) else 128
    return {name: getattr(device, name) for name in names} | {"LANES": lanes}


def describe_device(facts: dict[str, int] | None = None) -> dict[str, float]:
    """What a GPU is made of, and the most it can do. facts: as ask_device gives them, which is asked if there are none.

    "sms", "threads" that they hold at a time, "lanes" for float32 in all, "l2_mib" (of 2**20 bytes), and the
    peaks: "tflops" of float32, "gb_per_s" of device memory.
    """
    facts = ask_device() if facts is None else facts
    raise NotImplementedError("week1/day3 task 5: describe_device")


def wave_efficiency(blocks: int, sms: int, per_sm: int) -> float:
    """Of the places for blocks in all waves of a launch, the share that is taken; blocks take equally long.

    blocks: of the grid, at least 1. per_sm: how many blocks an SM holds at a time.
    """
    raise NotImplementedError("week1/day3 task 5: wave_efficiency")
