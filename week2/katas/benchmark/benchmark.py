"""Week 2, kata: benchmark

Challenge
    "Mine is 1.1 times as fast." Is it? A timing can be wrong without a word: it times the launch and not the work, a
    full cache, a first call that compiles, a GPU that grows hot, a busy neighbour. Write a harness that finds a
    difference of ten percent where there is one, and says "cannot say" where noise hides it.

        host     | flush | call |
        GPU              |------- flush, 100 us ------->|-- call, 100 us -->|
                                                      start                stop

Explore
    ./course python -m timeit -n 1 -r 8 -v "sum(range(100000))"
    Run it three times. By how much do the times of one line differ? Would you have seen a gain of ten percent?
    On a busy machine timeit warns that its results are unreliable: it has seen what this kata is about.

Concept
    Queue: the host asks the GPU for work and goes on. Whoever reads the host's clock around a call measures the
    asking. An event is a mark in the queue; the GPU notes the time when it comes to it.
    gpu.event() puts an event into the queue and gives it to you. gpu.wait() waits until the GPU is done with all
    that was asked for. Then, and no sooner, gpu.seconds(start, stop) is the time between two events.
    Warm-up: the first call compiles and loads. Make some calls that are not timed, without flush or wait.
    L2: data of 50 MB or less may still lie in the L2 cache from the call before, and then the call looks faster than
    it is in a program that does other things in between. gpu.flush() fills the L2 with other data. It also keeps
    the GPU busy: meanwhile the host asks for start, call and stop. So do not wait between flush and stop: the
    queue would be empty, and the events would time the host.
    Quantiles: sort n values; the quantile of share s lies at position s * (n - 1), counted from 0. Between two
    positions go in proportion: position 1.25 is value 1 plus a quarter of the way to value 2. Share 0.5 is the
    median; 0.05 and 0.95 say how far the times scatter.
    Pairs: clocks fall as a GPU grows hot, so what is timed later looks slower. Time both functions one after the
    other, each after a flush of its own, and take the ratio of each pair: what slows the machine slows both. The
    second of a pair is still the later one. So in every other pair the baseline comes first: the ratios are then too
    large and too small in turn. ratio = seconds of the baseline / seconds of the function: above 1 the function is
    the faster one.
    Interval: a ratio lies above or below the true median like a coin that falls. The interval from the smallest to
    the largest of n ratios leaves the median out only if none fell above it, or none below it: 2 cases of 2**n. The
    interval from the k-th smallest to the k-th largest leaves it out if fewer than k fell above it, or fewer than k
    below it: a chance of 2 * (comb(n, 0) + ... + comb(n, k - 1)) / 2**n, where math.comb(n, i) counts the ways to get
    i of n. Take the largest k for which it is at most 0.05. For n = 10: k = 2, 2 * (1 + 10) / 1024 = 0.02; the ends
    are the sorted values 1 and 8, counted from 0. With fewer than six ratios even k = 1 is too much; then nothing is
    known: (0.0, math.inf).
    Memory: gpu.allocated() is what is allocated now, in bytes; gpu.peak() is the most since gpu.reset_peak(). The host
    counts both: no wait is needed. What a call returns is allocated for as long as somebody has it: ask before a call
    what is there without it. How far the peak lies above that is what the call needs. And keep no outputs of calls in
    tasks 1 and 3 either: a long run would fill the memory.

Code it
    Task 1  time_calls: warm up, flush, mark, wait                            (ten lines)
    Task 2  quantile, median_interval: what a list of numbers says        (thirteen lines)
    Task 3  paired_ratios: one function against another                      (eight lines)
    Task 4  verdict: faster, slower, or cannot say                            (six lines)
    Task 5  peak_bytes, table: four ways to write y + 2 * x, side by side       (ten lines)

Verify
    pytest week2/katas/benchmark       then: ./course quiz week2/katas/benchmark
    ./course python -m week2.katas.benchmark.benchmark      the four in your table
    Reflect: you report the fastest of 20 times, and your rival's median. Who wins?

Without a GPU the tests hand your harness one that is made of arithmetic, fake_gpu.py: all its costs are known, so
each time that you report is compared with what it was. On a GPU the same harness uses CUDA's events.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import math
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda, device

NOISE = 0.05  # chance of a wrong verdict that is accepted
LARGE = 2**28  # bytes: more than any L2


class Gpu:
    """This machine's GPU, through PyTorch. Given."""

    def __init__(self):
        self.other_data = torch.empty(LARGE, dtype=torch.uint8, device="cuda")

    def event(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait(self) -> None:
        torch.cuda.synchronize()

    def seconds(self, start: torch.cuda.Event, stop: torch.cuda.Event) -> float:
        return start.elapsed_time(stop) / 1e3  # PyTorch says milliseconds

    def flush(self) -> None:
        self.other_data.zero_()

    def allocated(self) -> int:
        return torch.cuda.memory_allocated()

    def peak(self) -> int:
        return torch.cuda.max_memory_allocated()

    def reset_peak(self) -> None:
        torch.cuda.reset_peak_memory_stats()


class Cpu:
    """The same for work of the host, which is done when a call returns. Given."""

    def __init__(self):
        self.other_data = np.empty(LARGE // 8, np.uint8)  # more than a laptop's caches; a server's may be larger
        tracemalloc.start()  # counts what Python and NumPy allocate

    def event(self) -> float:
        return time.perf_counter()

    def wait(self) -> None:
        return  # nothing is under way

    def seconds(self, start: float, stop: float) -> float:
        return stop - start

    def flush(self) -> None:
        self.other_data.fill(0)

    def allocated(self) -> int:
        return tracemalloc.get_traced_memory()[0]

    def peak(self) -> int:
        return tracemalloc.get_traced_memory()[1]

    def reset_peak(self) -> None:
        tracemalloc.reset_peak()


# Task 1
def time_calls(function: Callable, gpu: Gpu, *, warmup: int = 3, repeats: int = 20) -> list[float]:
    """Seconds of the GPU for each of `repeats` calls of function(), in order, each after a flush.

    warmup: calls before them, which are not timed.
    """
    raise NotImplementedError("week2/katas/benchmark task 1: time_calls")


# Task 2
def quantile(values: list[float], share: float) -> float:
    """The value below which this share of the values lies, between two of them in proportion. At least one value.

    share: 0.0 to 1.0. The values come in any order, and stay in it.
    """
    raise NotImplementedError("week2/katas/benchmark task 2: quantile")


def median_interval(values: list[float]) -> tuple[float, float]:
    """An interval that leaves the true median out with a chance of at most NOISE; (0.0, math.inf): too few values."""
    raise NotImplementedError("week2/katas/benchmark task 2: median_interval")


# Task 3
def paired_ratios(function: Callable, baseline: Callable, gpu: Gpu, *, warmup: int = 3, pairs: int = 20) -> list[float]:
    """Seconds of baseline() over those of function(), one ratio for each pair of calls, in the order of the pairs.

    Pair 0 begins with function, pair 1 with baseline, and so on in turn. warmup: untimed calls of each, before pair 0.
    baseline may be function itself.
    """
    raise NotImplementedError("week2/katas/benchmark task 3: paired_ratios")


# Task 4
def verdict(ratios: list[float], wanted: float = 1.0) -> str:
    """"faster" if all of the median's interval lies above `wanted`, "slower" if all lies below, else "cannot say"."""
    raise NotImplementedError("week2/katas/benchmark task 4: verdict")


def compare(function: Callable, baseline: Callable, gpu: Gpu, *, wanted: float = 1.0, pairs: int = 20) -> str:
    """The verdict on a claim: function is `wanted` times as fast as baseline. Given."""
    return verdict(paired_ratios(function, baseline, gpu, pairs=pairs), wanted)


def planted(n: int, longer: float, *, pairs: int = 20) -> list[float]:
    """Ratios of two copies on this machine's GPU: of n float32, against `longer` times as many. Given, to be found."""
    x = torch.zeros(round(n * longer), device="cuda")
    out = torch.empty_like(x)
    return paired_ratios(lambda: out[:n].copy_(x[:n]), lambda: out.copy_(x), Gpu(), pairs=pairs)


# Task 5
def peak_bytes(function: Callable, gpu: Gpu) -> int:
    """Bytes that a call of function() allocates at the most, beyond what was allocated before it. Makes one call."""
    raise NotImplementedError("week2/katas/benchmark task 5: peak_bytes")


def table(contestants: dict[str, tuple[Callable, Gpu]], *, repeats: int = 20) -> list[tuple]:
    """A row for each contestant: name, median seconds, quantiles 0.05 and 0.95 of its seconds, peak bytes.

    contestants: by name, the function and what it runs on: `repeats` calls are timed, then one more is for the bytes.
    The row with the smallest median comes first.
    """
    raise NotImplementedError("week2/katas/benchmark task 5: table")


# Given: one operation, y + 2 * x, in four languages
@cuda.jit
def numba_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = y[i] + np.float32(2) * x[i]


@triton.jit
def triton_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, y + 2 * x, mask=mask)


def by_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return y + 2 * x


def by_torch(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.add(y, x, alpha=2)


def by_cuda(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    numba_kernel[max(1, triton.cdiv(x.numel(), 256)), 256](x, y, out)
    return out


def by_triton(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    triton_kernel[(max(1, triton.cdiv(x.numel(), 1024)),)](x, y, out, x.numel(), BLOCK=1024)
    return out


def contestants(x: np.ndarray, y: np.ndarray) -> dict[str, tuple[Callable, Gpu]]:
    """Four ways to compute y + 2 * x, for `table`. x, y: float32 of one length."""
    cpu = Cpu()
    gpu = cpu if device == "cpu" else Gpu()  # a simulated GPU is work of the host
    there = [torch.from_numpy(each).to(device) for each in (x, y)]
    return {"NumPy": (lambda: by_numpy(x, y), cpu), "PyTorch": (lambda: by_torch(*there), gpu),
            "CUDA": (lambda: by_cuda(*there), gpu), "Triton": (lambda: by_triton(*there), gpu)}


def race(x: np.ndarray, y: np.ndarray, *, repeats: int = 20) -> list[tuple]:
    """The table of the four, printed: times in microseconds."""
    rows = table(contestants(x, y), repeats=repeats)
    print(f"{'':10}{'median':>12}{'5%':>12}{'95%':>12}{'MB':>9}")
    for name, *seconds, peak in rows:
        print(f"{name:10}" + "".join(f"{each * 1e6:12.1f}" for each in seconds) + f"{peak / 1e6:9.1f}")
    if device == "cpu":
        print("Without a GPU CUDA and Triton are simulated, and the bytes of PyTorch's tensors are not counted.")
    return rows


if __name__ == "__main__":
    race(*np.ones((2, 2**16), np.float32))
