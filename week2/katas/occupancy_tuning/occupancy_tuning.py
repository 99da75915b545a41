"""Week 2, kata: occupancy tuning

Challenge
    Full occupancy is one way to keep a GPU busy, and often not the cheapest. Give each thread several things to do at
    once, and count with the compiler what that costs in registers. In a second sitting, tasks 4 and 5, do so with loads
    from memory, and predict how few threads will do.

        a lane begins one multiply-add a clock, and each result comes 4 clocks later
        1 thread with 1 chain      a...a...a...a...     1 under way     a quarter of the peak
        4 threads with 1 chain     abcdabcdabcdabcd     4 under way     the peak
        1 thread with 4 chains     abcdabcdabcdabcd     4 under way     the peak, by a quarter of the threads

Explore
    ./course week2/katas/occupancy_tuning/explore_in_flight.py    How few threads reach the peak with 16 loads each?
    And which share of it do all 2048 threads of an SM reach with one load each?

Concept
    Little's law: operations under way = rate * latency. Any unit will do if both have the same: 8 floats a nanosecond
    and an answer after 600 nanoseconds are 4800 floats under way. Half as many give half of the rate; more than
    enough give no more than all of it. Each thread has whole operations under way: math.ceil(2.5) is 3.
    Chain: operations that each need the result before. One thread can have several chains under way, which is called
    instruction-level parallelism, ILP. It issues its instructions in order, and waits at the first one that lacks a
    number. So under way on an SM = threads that live there * what each of them has under way.
    The price is registers: each chain keeps its number in one. An SM has four quarters of 16384 registers, and a warp
    lives in one of the quarters. There it takes 32 times a thread's registers, rounded up to a multiple of 256 (day 1).
    A long long takes two, an int one. Of fewer than 2**30 elements an int can hold each index. Long long ones may cost
    nothing, as the compiler may keep addresses instead, or much: total<16> then takes from 55 to 92, with int 56.
    A limit on registers makes room for more warps: the compiler option --maxrregcount=32. What then does not fit
    *spills* to local memory, which is slow; or less is under way, since a load needs a register for its answer.
    Shared memory limits blocks: one that asks for shared_for(2) bytes and never uses them leaves room for two blocks on
    an SM, and changes nothing else. shared_for is given, and balances(..., room=2) asks for that much.
    Templates with numbers: template <int EACH> __global__ void, without extern "C", is the head of a kernel in which
    EACH is a constant; balances<4> is compiled for 4.
    float sums[EACH] = {}; is an array of zeros. Its elements are registers if every index is known to the compiler,
    which it is in a loop that is unrolled. #pragma unroll above a loop asks for that. The compiler often does it
    unasked, as it would with both kernels here: you may leave it out.
    Order: a loop over months inside of one over chains goes through the chains one by one, and each waits for itself.
    Months outside, chains inside: each month begins EACH of them. fmaf(a, b, c) is a * b + c, one multiply-add.
    Loads: a thread waits where a loaded number is used, not where it is asked for. EACH loads without a branch between
    them, x[i] or 0.0f beyond the end, are under way together; then come the additions. Each into a sum of its own.
    Around them stands a loop over turns, and the compiler unrolls that one by four: it asks for the loads of four turns
    before it adds any. #pragma unroll 1 above the loop over turns forbids it, so that EACH alone decides.
    Neighbours: threads side by side take elements side by side; a thread's next one lies a whole step further on.

Code it
    Task 1  share_of_peak, each_needed: Little's law, both ways              (two lines)
    Task 2  registers_allowed: what there is for so many warps               (two lines)
    Task 3  balances_code: EACH accounts a thread, side by side        (seventeen lines)
    Task 4  total_code: EACH loads under way, EACH sums                 (thirteen lines)
    Task 5  predict, choose: from the compiler's figures to a launch        (five lines)

Verify
    pytest week2/katas/occupancy_tuning    then: ./course quiz week2/katas/occupancy_tuning
    Reflect: a kernel reaches the peak at an eighth of the occupancy. What could it do with the registers that are left?

Simulated without a GPU: results and bytes are exact, registers and spills are those of NVIDIA's compiler. Time is not
simulated: that a prediction holds is seen on a GPU.
"""

import functools
import math

import numpy as np

from tools.gpu import cupy

SMS = 132             # of an H100 or H200; each holds
WARPS, BLOCKS = 64, 32
REGISTERS = 16384     # in each of its four quarters, and
SHARED = 233472       # bytes of shared memory
RESERVED = 1024       # of them for the system, for each block
MOST_REGISTERS = 255  # of a thread


# Task 1
def share_of_peak(under_way: float, rate: float, latency: float) -> float:
    """The share of `rate` that is reached, at most 1.0, if so many operations are under way at any time.

    rate: operations that begin in a unit of time. latency: units of time until the result of one is there.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 1: share_of_peak")


def each_needed(threads: int, rate: float, latency: float) -> int:
    """How many operations each of an SM's threads must at least have under way, so that the whole rate is reached."""
    raise NotImplementedError("week2/katas/occupancy_tuning task 1: each_needed")


# Task 2
def registers_allowed(warps: int) -> int:
    """The most registers that a thread may have if so many warps, 1 to 64, are to live on an SM at a time.

    The fullest quarter has warps / 4 of them, rounded up. Each takes 32 times a thread's registers, rounded up to a
    multiple of 256. No thread has more than 255.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 2: registers_allowed")


def shared_for(blocks: int) -> int:
    """The most bytes of shared memory that a block can ask for if so many blocks, 1 to 32, are to fit on an SM. Given.

    Each takes its own bytes and 1024 for the system, together rounded up to a multiple of 128 (day 1).
    """
    return SHARED // blocks // 128 * 128 - RESERVED


# Task 3
def balances_code() -> str:
    """C++ of the kernel template <int EACH>
        balances(const float* x, float* out, int n, int months, float factor, float deposit)

    Each of n accounts begins with x[i]; every month balance = balance * factor + deposit; out[i] is the last one.
    A block of blockDim.x threads has the next EACH * blockDim.x accounts; the last block perhaps fewer. EACH of a
    block's accounts are those of its thread t: number t, t + blockDim.x, t + 2 * blockDim.x, ... For one beyond the
    end a thread takes 0.0f and stores nothing.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 3: balances_code")


def kernel_of(code: str, name: str, registers: int) -> cupy.RawKernel:
    """A kernel of a template, whose threads have at most so many registers. Given."""
    module = cupy.RawModule(code=code, options=(f"--maxrregcount={registers}",), name_expressions=[name])
    return module.get_function(name)


@functools.cache
def balances_kernel(each: int, registers: int) -> cupy.RawKernel:
    return kernel_of(balances_code(), f"balances<{each}>", registers)


def balances(x: cupy.ndarray, months: int, factor: float, deposit: float, *, each: int = 8, threads: int = 128,
             room: int = 4, registers: int = MOST_REGISTERS, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """What the accounts x hold after so many months, by balances_code(). Given.

    each: accounts of a thread. threads: of a block. room: so many blocks can live on an SM. registers: the most of a
    thread. x: float32, fewer than 2**30 elements. out: likewise, allocated if not given.
    """
    out = cupy.empty_like(x) if out is None else out
    shared = shared_for(room)
    kernel = balances_kernel(each, registers)
    kernel.max_dynamic_shared_size_bytes = shared  # above 48 KiB a kernel has to be told
    blocks = max(1, math.ceil(x.size / (threads * each)))
    arguments = x, out, np.int32(x.size), np.int32(months), np.float32(factor), np.float32(deposit)
    kernel((blocks,), (threads,), arguments, shared_mem=shared)
    return out


# Task 4
ADD_BY_WARP = r"""
__device__ void add_by_warp(float* out, float sum) {  // all 32 lanes call it: out[0] grows by all of their sums, once
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, sum);
}
"""


def total_code() -> str:
    """C++ of the kernel template <int EACH> total(const float* x, float* out, int n): adds the sum of x to out[0].

    The `threads` of all blocks go over x in turns of EACH * threads elements. EACH elements of a turn are those of the
    grid's thread t: number t, t + threads, t + 2 * threads, ... It adds each of them to a sum of its own. After the
    last turn it adds up its EACH sums, and add_by_warp, given, adds that to out[0]. Blocks are whole warps.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 4: total_code")


@functools.cache
def total_kernel(each: int, registers: int) -> cupy.RawKernel:
    return kernel_of(ADD_BY_WARP + total_code(), f"total<{each}>", registers)


def total(x: cupy.ndarray, *, each: int = 32, threads: int = 256, blocks: int = 2 * SMS,
          registers: int = MOST_REGISTERS, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """The sum of x by total_code(), in so many blocks. Given. With 2 * SMS of them, two live on each SM.

    each: sums of a thread. threads: of a block. registers: the most of a thread.
    x: float32, fewer than 2**30 elements. out: (1,) float32, allocated if not given; what it held does not count.
    """
    out = cupy.empty(1, np.float32) if out is None else out
    out.fill(0)
    total_kernel(each, registers)((blocks,), (threads,), (x, out, np.int32(x.size)))
    return out


# Task 5
def describe(each: int, threads: int, registers: int = MOST_REGISTERS) -> dict:
    """A candidate: total_kernel(each, registers) in blocks of so many threads. Given; it needs NVIDIA's compiler.

    "local": bytes of local memory of a thread. "blocks": as many as the driver says that fit on an SM.
    """
    kernel = total_kernel(each, registers)
    blocks = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, threads, 0)
    return {"each": each, "threads": threads, "registers": kernel.num_regs, "local": kernel.local_size_bytes,
            "blocks": blocks}


def predict(candidate: dict, rate: float, latency: float) -> float:
    """The share of the rate that a candidate will reach with as many of its blocks on each SM as fit.

    candidate: as of describe. rate: floats in a nanosecond that memory sends to one SM. latency: nanoseconds.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 5: predict")


def choose(candidates: list[dict], rate: float, latency: float) -> dict:
    """The candidate with the highest prediction; of equals the one with the fewest threads on an SM.

    Those that spill are left out. At least one does not.
    """
    raise NotImplementedError("week2/katas/occupancy_tuning task 5: choose")
