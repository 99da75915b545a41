"""Week 1, day 5: a naive matmul kernel

Challenge
    Multiply two matrices with the plainest Triton kernel: one program for each result. It is right, and far
    slower than the library. Three sources tell why: a prediction, the simulator's counts, a profiler's report.

            k = 3         n = 2        program   reads                       stores
        a:  1 2 3     b:  7  8            0      row 0 and column 0          out[0, 0] =  58
    m=2     4 5 6         9 10            1      row 0 again, column 1       out[0, 1] =  64
                         11 12            2      row 1, column 0 again       out[1, 0] = 139
                                          3      row 1 and column 1 again    out[1, 1] = 154

Explore
    ./course python -m json.tool week1/day5/report_h200.json
    What the profiler Nsight Compute measured of this kernel on a GPU, for three matrices of 4096 x 4096. Which
    of the figures would you have guessed? A *stall* is a warp that cannot go on; "stalls" says how many warps,
    on average, waited for what: long_scoreboard for data from memory, lg_throttle and mio_throttle for a place
    in the queue of loads, short_scoreboard for shared memory, wait for the instruction before.
    ./course week1/day5/explore_memory.py    Which level answers, and when does it matter?

Concept
    Sum over blocks: a Python loop in the kernel walks along k, BLOCK_K elements at a time. It adds to a block
    of zeros, tl.zeros((BLOCK_K,), dtype=tl.float32), and tl.sum(block) adds up that block at the end.
    other: tl.load(..., mask=p < k, other=0.0) puts 0.0 where the mask is False. A sum needs that.
    One element: x_ptr + i with a plain number i points at one element. tl.load then gives a number and tl.store
    stores one, without a mask.
    Traffic: programs share nothing. Each reads its own row and column, so every element of a is asked for n
    times and every element of b m times: about a quarter of a flop for each byte, at any size.
    Sectors: memory sends 32 bytes at the least. Along a row of a, 8 elements share a sector. Down a column of b
    each element lies in a sector of its own, and 28 of the 32 bytes are not wanted.
    Caches: a cache keeps what was read lately; the nearer to the arithmetic, the faster. An H200, and how many
    clocks a load waits (published for the H100, which has the same multiprocessors):
        memory           size                         used by                    clocks
        registers        256 KiB a multiprocessor     one thread                 none
        L1 and shared    256 KiB a multiprocessor     one multiprocessor         about 40
        L2               60 MiB                       all multiprocessors        about 260
        device memory    141 GB, at 4800 GB/s         all multiprocessors        about 480
    Latency: how long one load waits. A GPU hides it behind other loads, unless each load needs the result of
    the one before. A chain of such loads is a *pointer chase*; with it, latency is measured.

Code it
    Task 1  matmul_kernel and matmul: my row, my column, a sum over blocks of k         (ten lines)
    Task 2  predict_traffic, arithmetic_intensity, times_the_least: before you look    (three lines)
    Task 3  share_of_peak, useful_share, times_read, diagnose: read the report         (eight lines)
    Task 4  chase_kernel, chase, latency_ns: loads that wait for each other            (seven lines)

Verify
    pytest week1/day5                  then: ./course quiz week1/day5
    Reflect: programs 0 and 1 read the same row of a. What would have to change for both to use one load of it?

Simulated without a GPU: results, bounds, bytes and sectors are exact, and the report is a real one.
Caches, latency and time are not simulated: the tests that measure them need a GPU.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

BLOCK_K = 128  # elements of a row of a, and of a column of b, that a program takes in one step
BUSY = 60      # percent of its peak: where no unit reaches that, Nsight Compute looks for latency


# Task 1
@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
                  out_row_stride, out_col_stride, BLOCK_K: tl.constexpr):
    pass  # which element of out is mine; block by block of k: what exists, load, multiply, add; store the sum


def matmul(a: torch.Tensor, b: torch.Tensor, *, block_k: int = BLOCK_K,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by matmul_kernel, one program for each element of the result, counted row by row.

    a: (m, k), b: (k, n), float32 of any strides, on one device; neither is copied. block_k: a power of two.
    out: (m, n) float32 of any strides; allocated row-major if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=a.dtype, device=a.device) if out is None else out
    raise NotImplementedError("week1/day5 task 1: matmul")


# Task 2
def predict_traffic(m: int, n: int, k: int) -> int:
    """Bytes that the programs of matmul load and store, for an (m, k) and a (k, n) matrix of float32."""
    raise NotImplementedError("week1/day5 task 2: predict_traffic")


def arithmetic_intensity(m: int, n: int, k: int) -> float:
    """Flops for each byte of predict_traffic. None of m, n and k is 0."""
    raise NotImplementedError("week1/day5 task 2: arithmetic_intensity")


def times_the_least(m: int, n: int, k: int) -> float:
    """Bytes of predict_traffic over the least possible: a and b read once, the result written once."""
    raise NotImplementedError("week1/day5 task 2: times_the_least")


# Task 3
def share_of_peak(report: dict) -> float:
    """Flops a second that the kernel reached, as a share of report["peak_gflops"], in 1e9 flops a second."""
    raise NotImplementedError("week1/day5 task 3: share_of_peak")


def useful_share(report: dict) -> float:
    """The share of the bytes loaded that programs asked for: two float32 for each product.

    report["load_sectors"]: sectors of 32 bytes that came.
    """
    raise NotImplementedError("week1/day5 task 3: useful_share")


def times_read(report: dict) -> float:
    """How many times device memory sent the bytes of a and b: report["dram_bytes_read"] over their size."""
    raise NotImplementedError("week1/day5 task 3: times_read")


def diagnose(report: dict) -> str:
    """The unit of report["percent_of_peak"] with the highest value, if that is BUSY or more.

    Else the entry of report["stalls"] with the highest value: what warps waited for most.
    """
    raise NotImplementedError("week1/day5 task 3: diagnose")


# Task 4
@triton.jit
def chase_kernel(links_ptr, out_ptr, steps):
    pass  # from element 0, step by step: where does the link lead? then store where that was


def chase(links: torch.Tensor, steps: int, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The element that is reached from element 0 by `steps` steps, each to links[where I am]; by one program.

    links: (n,) int32, contiguous, each 0 <= link < n. out: (1,) int32, allocated if not given.
    """
    out = torch.empty(1, dtype=links.dtype, device=links.device) if out is None else out
    raise NotImplementedError("week1/day5 task 4: chase")


def latency_ns(few: int, few_seconds: float, many: int, many_seconds: float) -> float:
    """Nanoseconds of one step, from chases of `few` and of `many` steps; what a launch costs is in both times."""
    raise NotImplementedError("week1/day5 task 4: latency_ns")
