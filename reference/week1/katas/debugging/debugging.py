"""Week 1, kata: debugging

Challenge
    Four kernels are broken. One computes a wrong number, one overflows, one reads elements that do not exist or
    are not there yet, and one does not compile. Each has a tool that points at the fault. Use the tool, write
    down what it said, then repair the kernel.

        one row of 5, BLOCK = 8       place     0   1   2   3   4 |  5   6   7    past the end: mask
                                      x         5   6   7   8   9 |  0   0   0    other=0.0, so far so good
                                      mean      7
                                      apart    -2  -1   0   1   2 |  ?   ?   ?    ask pdb

Explore
    Each kernel has a sample to run on, here the first of them:
    ./course python -m week1.katas.debugging.debugging 1
    Both rows should go from -1.41 to 1.41. Write down a guess before you open a debugger.

Concept
    Breakpoint: without a GPU a kernel is Python. Write breakpoint() into it, with `if row == 1:` before it, and
    pdb stops there: p shows a value, w the place, n goes on by a line, c to the next stop. In a CUDA kernel say
    which thread you mean: write `with cuda.debug(block=1, thread=5):` above its launch, and indent the launch.
    Print and assertion: a sum has the type of its terms, and the largest float16 is 65504; a larger one is inf.
    tl.device_print("total", total) prints in every program, in no order. tl.device_assert(total > 0, "no total")
    stops where the condition is False, and names the program. Conditions combine with & and brackets;
    float("inf") may be compared with; <, > and == are False for NaN.
    Shared memory: an array that the threads of a block share; it holds nothing defined at first. p tile shows it
    as your thread finds it. x.size is known in kernels too.
    Bounds and race reports: the simulator refuses an index outside an array, and a *race*: two threads use one
    element, at least one of them writes, and nothing puts them in order. The report names line, block and
    thread. cuda.syncthreads() is a barrier, at which each thread waits for all others of its block: what was
    written before it can be read after it. Every thread of the block that has not ended has to come.
    (cuda.syncwarp() is one for a warp alone.) One report is shown at a time: first an index out of bounds; then,
    if only that line was repaired, an element "to which nothing was stored"; last, with both repaired, the race.
    Compiler diagnostic: the simulator runs Python; a GPU runs what a compiler accepts, and there a variable keeps
    one type in a loop: 2 is an int32, 2.0 a float32. tl.float32 is a type too, to which x.to(tl.float32) converts.
    The compiler names line and types: ./course compiled week1/katas/debugging shows that, with or without a GPU.
    Choosing: tl.where(condition, x, y) takes each element from x where the condition is True, else from y.
    On a GPU: compute-sanitizer reports bounds (--tool memcheck) and races (--tool racecheck), cuda-gdb stops a
    thread. Afterwards read in the folder transcripts what they said of these kernels on an H200, with the lines
    of that day; record_transcripts.py records it on your machine. COURSE_SIM=1 brings the simulator's tools to a
    machine with a GPU.

Code it
    Task 1  standardise: wrong where a row does not fill its block. Repair it;       (one line)
            apart_in_pdb: what you saw there
    Task 2  shares: half precision, half right. Assert what its docstring says;     (two lines)
            repair the total, not the assertion. failed_program: which program failed
    Task 3  smooth: two reports, or three. THREADS and the grid are right;      (a few lines)
            bounds_report, race_report: which block and threads
    Task 4  loudness: runs, and does not compile. Repair it;                         (one line)
            compiler_report: the types that it names

Verify
    pytest week1/katas/debugging               then: ./course quiz week1/katas/debugging
    Assertions may stay, since a GPU leaves them out unless TRITON_DEBUG=1; breakpoints, prints and cuda.debug go.
    Your kernels still do all of the work: each row, or number, is read once, and computed in float32.
    Reflect: which of the four would a test with rows of exactly one block and one warp have found?

Simulated without a GPU: pdb, prints, assertions, bounds and races; compiled for real, without being run: task 4.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda, cupy

THREADS = 64  # of a block of smooth


# Task 1
@triton.jit
def standardise_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols, other=0.0)
    mean = tl.sum(x) / n_cols
    apart = tl.where(col < n_cols, x - mean, 0.0)  # what does not exist is not apart from the mean either
    spread = tl.sqrt(tl.sum(apart * apart) / n_cols)
    tl.store(out_ptr + row * n_cols + col, apart / spread, mask=col < n_cols)


def standardise(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """(x - mean) / spread of each row; its spread is the root of the mean of (x - mean)**2.

    x: (n_rows, n_cols) float32, contiguous; in no row are all numbers equal.
    out: (n_rows, n_cols) float32, contiguous, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    n_rows, n_cols = x.shape
    standardise_kernel[(n_rows,)](x, out, n_cols, BLOCK=triton.next_power_of_2(n_cols))
    return out


def apart_in_pdb() -> list[float]:
    """The values of `apart` that pdb shows in program 1 of sample 1 before the repair, at all eight places."""
    return [-2.0, -1.0, 0.0, 1.0, 2.0, -7.0, -7.0, -7.0]


# Task 2
@triton.jit
def shares_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + col, mask=col < n_cols, other=0.0).to(tl.float32)
    total = tl.sum(x)
    tl.device_assert((total > 0) & (total < float("inf")), "a row without a total")
    tl.store(out_ptr + row * n_cols + col, x / total, mask=col < n_cols)


def shares(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x / total of each row. An assertion in the kernel stops at a total that is not above 0, infinite, or NaN.

    x: (n_rows, n_cols) float16, contiguous. The total of a row may be larger than any float16.
    out: (n_rows, n_cols) float16, contiguous, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    n_rows, n_cols = x.shape
    shares_kernel[(n_rows,)](x, out, n_cols, BLOCK=triton.next_power_of_2(n_cols))
    return out


def failed_program() -> int:
    """The number of the program in which such an assertion fails on sample 2, before the repair."""
    return 3


# Task 3
@cuda.jit
def smooth_kernel(x, out):
    tile = cuda.shared.array(THREADS, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()  # for all threads of the block, those without an element too
    if i < x.size:
        if t > 0:
            before = tile[t - 1]
        else:
            before = x[max(i - 1, 0)]
        out[i] = (before + tile[t]) / np.float32(2)


def smooth(x: cupy.ndarray, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """The mean of each number and the one before it; the first stays as it is.

    Numbers reach their neighbours in a block through shared memory, and one barrier is enough.
    x: (n,) float32 on the GPU, not empty. out: (n,) float32, allocated if not given.
    """
    out = cupy.empty_like(x) if out is None else out
    smooth_kernel[(x.size + THREADS - 1) // THREADS, THREADS](x, out)
    return out


def bounds_report() -> tuple[int, int]:
    """(block, thread) that the first report names on sample 3."""
    return 1, 36


def race_report() -> tuple[int, int]:
    """(thread that reads, thread that wrote) of block 0, in the report on sample 3 once the bounds are repaired."""
    return 32, 31


# Task 4
@triton.jit
def loudness_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, n, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + col, mask=col < n, other=0.0)
        total += tl.sum(x * x)
    tl.store(out_ptr + row, tl.sqrt(total / n))


def loudness(x: torch.Tensor, *, block: int = 1024, out: torch.Tensor | None = None) -> torch.Tensor:
    """The root of the mean of x**2 of each row, computed in float32.

    x: (n_rows, n) float32, contiguous, n at least 1. block: a power of two, elements that a turn of the loop takes.
    out: (n_rows,) float32, allocated if not given.
    """
    out = x.new_empty(len(x)) if out is None else out
    loudness_kernel[(len(x),)](x, out, x.shape[1], BLOCK=block)
    return out


def compiler_report() -> tuple[str, str]:
    """(type of total before the loop, type that the loop gives it), in the words of the compiler."""
    return "int32", "fp32"


if __name__ == "__main__":  # the samples: ./course python -m week1.katas.debugging.debugging 1
    import sys

    days = torch.arange(1.0, 25.0) * torch.tensor([[100.0], [200.0], [50.0], [300.0], [150.0], [210.0]])
    samples = {
        "1": lambda: standardise(torch.arange(10.0, device=tools.gpu.device).reshape(2, 5)),
        "2": lambda: shares(days.half().to(tools.gpu.device)).sum(dim=1),
        "3": lambda: smooth(cupy.arange(100, dtype=np.float32)),
        "4": lambda: loudness(torch.ones(2, 100, device=tools.gpu.device), block=32),
    }
    print(samples[sys.argv[1]]())
