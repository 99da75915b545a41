"""Week 2, kata: reduction

Challenge
    A reduction makes one number of many: a sum, a maximum, a product. A CPU does it in a loop, each step after the
    one before. On a GPU thousands of threads have to share it. Climb from one atomic for each element to a kernel that
    does little but read; in a second sitting, task 4, write reduction(op, identity), which makes one for any operation.

        a tree over 8 elements: each row is one step, with the places that it changes
             5   2   8   1   4   7   3   6                5   2   8   1   4   7   3   6
             7       9      11       9                    9   9  11   7
            16              20                           20  16
            36                                           36
               interleaved: step 1, 2, 4                    sequential: step 4, 2, 1

Explore
    ./course python -c "import numpy as np; x = np.ones(2**25, np.float32); print(int(x.cumsum()[-1]), int(x.sum()))"
    Both add up ones in float32, cumsum one after the other, sum part by part. Where does cumsum stop, and why there?
    ./course count week2/katas/reduction
    The sums that are given, line by line. Which line makes each of the first three slow: atomic, branch, conflicts?

Concept
    Atomics: in atomic_kernel each thread calls cuda.atomic.add(out, 0, x[i]), which adds x[i] to element 0 of out
    as one step. The result is right, and n updates of one address wait in line.
    Tree: a block adds its elements in pairs, then the sums in pairs: log2(THREADS) steps in shared memory, with a
    barrier before each. A place without an element holds 0. At the end one thread adds the block's sum to out.
    Interleaved: in interleaved_kernel thread t works if t is a multiple of 2 * step: up to step 16 every warp
    diverges. In strided_kernel thread t adds to place 2 * step * t instead. Now its warps are full, but their places
    lie 2 * step apart: bank conflicts.
    Sequential: the step begins at THREADS // 2 and is halved; the threads t < step add place t + step to place t.
    Neighbours work on neighbours: no conflicts, and no divergence until less than a warp is at work.
    Shuffle: cuda.shfl_down_sync(ALL, value, distance) gives each lane the `value` of the lane that is `distance`
    higher (beyond lane 31: its own), from register to register, without a barrier. ALL has a bit for each lane, and
    all 32 must come to the call. Added for distance in (16, 8, 4, 2, 1), lane 0 has the sum of 2, 4, 8, 16, 32 lanes.
    Two levels: lane 0 of each warp stores that sum in shared memory. One barrier later the first warp loads
    those sums, each lane one, and adds them by shuffles. Its lanes beyond the last sum come too, with a 0 to add.
    Several blocks: in a grid-stride loop, for i in range(cuda.grid(1), x.size, cuda.gridsize(1)), each thread first
    adds up many elements in a register: a few blocks serve any length, with one atomic each. sum_triton, given, does
    so too; its threads ask for 16 bytes at once.
    Identity: op(identity, x) == x for all numbers x, np.inf and -np.inf too. Lanes without an element take it, not 0.
    Order: float sums depend on it. Atomics come as blocks finish, so the last digits can differ from run to run; and
    no atomic multiplies. Instead each block stores its result in an array, [cuda.blockIdx.x], the number of the
    block. One block in a second launch reduces that array: the same order, the same bits, every time.
    Error: it can grow with n in a sum one by one, with log2(n) in a tree. Above 2**24 float32 has even numbers only:
    2**24 + 1 is rounded back to 2**24, where cumsum stops.
    Kernels in functions: a kernel defined inside a function can use the function's names: it may call op, a device
    function, and takes numbers as constants. Device functions may stand there too, below @cuda.jit(device=True).
    A block has cuda.blockDim.x threads, perhaps fewer than THREADS; a shared array keeps its size, WARPS places.

Code it
    Task 1  tree_kernel: the sequential tree of a block, and its atomic                  (eleven lines)
    Task 2  warp_sum, shuffle_kernel: registers, shuffles, several blocks               (sixteen lines)
    Task 3  predict_atomics, predict_traffic: what each kernel asks of memory               (two lines)
    Task 4  choose_launch, identity_of, kernel_for: shuffle_kernel for any operation (twenty-four lines)

Verify
    pytest week2/katas/reduction       then: ./course quiz week2/katas/reduction
    Reflect: which of these steps would still pay if x were only 10,000 elements long?

Simulated without a GPU: results, bounds, races, bytes, lanes and conflicts are exact. Time is not simulated, and
atomics come in the order of the blocks.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import functools
from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

WARP = 32           # lanes
ALL = 0xFFFFFFFF    # lanes of a warp, a bit for each
THREADS = 256       # of a block, a power of two
WARPS = 8           # of such a block: THREADS // WARP, which Numba would not take as the size of an array
MOST_BLOCKS = 2048  # of sum_shuffles
TRITON_BLOCK, TRITON_BLOCKS = 8192, 1056  # elements of a step of sum_triton's programs, and the most programs
BLOCKS_PER_SM = 8   # times 256 threads: 2048, as many as a multiprocessor (SM) of an H100 holds


# Given: three sums, and one in Triton
@cuda.jit
def atomic_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, 0, x[i])


@cuda.jit
def interleaved_kernel(x, out):
    sums = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i] if i < x.size else np.float32(0)
    step = 1
    while step < THREADS:
        cuda.syncthreads()
        if t % (2 * step) == 0:
            sums[t] += sums[t + step]
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, sums[0])


@cuda.jit
def strided_kernel(x, out):
    sums = cuda.shared.array(THREADS, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    sums[t] = x[i] if i < x.size else np.float32(0)
    step = 1
    while step < THREADS:
        cuda.syncthreads()
        place = 2 * step * t
        if place < THREADS:
            sums[place] += sums[place + step]
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, sums[0])


@triton.jit
def triton_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(acc))


def blocks_for(n: int) -> int:
    """Blocks of THREADS threads with a thread for each of n elements; at least one."""
    return max(1, triton.cdiv(n, THREADS))


def sum_by(kernel: Callable, blocks: int, x: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """The sum of x by a kernel that adds to out. It launches `blocks` blocks of THREADS threads.

    x: float32 of any length, contiguous. out: (1,) float32, allocated if not given; what it held does not count.
    """
    out = x.new_empty(1) if out is None else out  # of the dtype of x, and on its device
    out.zero_()
    kernel[blocks, THREADS](x, out)
    return out


def sum_atomic(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by atomic_kernel. Arguments as for sum_by."""
    return sum_by(atomic_kernel, blocks_for(x.numel()), x, out)


def sum_interleaved(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by interleaved_kernel. Arguments as for sum_by."""
    return sum_by(interleaved_kernel, blocks_for(x.numel()), x, out)


def sum_strided(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by strided_kernel. Arguments as for sum_by."""
    return sum_by(strided_kernel, blocks_for(x.numel()), x, out)


def sum_triton(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by triton_kernel, in at most TRITON_BLOCKS programs. Arguments as for sum_by."""
    out = x.new_empty(1) if out is None else out
    out.zero_()
    programs = max(1, min(triton.cdiv(x.numel(), TRITON_BLOCK), TRITON_BLOCKS))
    triton_kernel[(programs,)](x, out, x.numel(), BLOCK=TRITON_BLOCK, num_warps=8)
    return out


# Task 1
@cuda.jit
def tree_kernel(x, out):
    pass  # into shared memory, 0 where there is no element; halve the step; one thread's atomic


def sum_tree(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by tree_kernel. Given; arguments as for sum_by."""
    return sum_by(tree_kernel, blocks_for(x.numel()), x, out)


# Task 2
@cuda.jit(device=True)  # a function for kernels to call
def warp_sum(value):
    """In lane 0: the sum of `value` over the 32 lanes of its warp. What other lanes get means nothing."""
    raise NotImplementedError("week2/katas/reduction task 2: warp_sum")


@cuda.jit
def shuffle_kernel(x, out):
    pass  # many elements in a register; the sum of the warp; the sums of all warps; one atomic


def sum_shuffles(x: torch.Tensor, *, blocks: int | None = None, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum of x by shuffle_kernel. Given; blocks: at most MOST_BLOCKS if not given. The rest as for sum_by."""
    return sum_by(shuffle_kernel, min(blocks_for(x.numel()), MOST_BLOCKS) if blocks is None else blocks, x, out)


# Task 3
def predict_atomics(n: int, blocks: int) -> tuple[int, int, int]:
    """Atomic updates of out, by all threads: of sum_atomic, of sum_tree, and of sum_shuffles with `blocks` blocks.

    n: elements of x.
    """
    raise NotImplementedError("week2/katas/reduction task 3: predict_atomics")


def predict_traffic(n: int, blocks: int) -> int:
    """Bytes of global memory that a reduction of task 4 loads and stores: see `reduction` below, which is given.

    n: float32 elements of x. blocks: those of the first launch, at least 2; a second launch follows.
    """
    raise NotImplementedError("week2/katas/reduction task 3: predict_traffic")


# Task 4
@cuda.jit(device=True)
def add(a, b):
    return a + b


@cuda.jit(device=True)
def multiply(a, b):
    return a * b


@cuda.jit(device=True)
def maximum(a, b):
    return a if a > b or a != a else b  # only NaN is not equal to itself: it is passed on


@cuda.jit(device=True)
def minimum(a, b):
    return a if a < b or a != a else b


OPERATIONS = {"sum": add, "product": multiply, "max": maximum, "min": minimum}


def multiprocessors() -> int:
    """Those of the current GPU."""
    return cuda.get_current_device().MULTIPROCESSOR_COUNT


def choose_launch(n: int, sms: int) -> tuple[int, int]:
    """(blocks, threads of a block) for n elements on a GPU with `sms` multiprocessors.

    threads: whole warps, as many as n elements need, but 1 warp at least and THREADS threads at most.
    blocks: as many as give each element a thread, but 1 at least and BLOCKS_PER_SM for each multiprocessor at most.
    """
    raise NotImplementedError("week2/katas/reduction task 4: choose_launch")


def identity_of(name: str) -> float:
    """The identity of OPERATIONS[name]."""
    raise NotImplementedError("week2/katas/reduction task 4: identity_of")


@functools.cache  # one kernel for each operation, compiled once
def kernel_for(op: Callable, identity: float) -> Callable:
    """A kernel(x, out): each block combines its share of x by op and stores the result in out, at its own number.

    op: a device function of two float32 numbers whose order and grouping do not matter. identity: that of op.
    The kernel runs with any number of blocks, of 1 to WARPS warps each, and without an atomic.
    """
    nothing = np.float32(identity)
    raise NotImplementedError("week2/katas/reduction task 4: kernel_for")


def reduction(op: Callable, identity: float) -> Callable:
    """A function reduce(x, *, out=None) that combines all elements of x by op, without an atomic. Given.

    op, identity: as for kernel_for. Several blocks store their results in an array; one more block reduces that.
    x: float32 of any length, contiguous; none gives the identity. out: (1,) float32, allocated if not given.
    """
    kernel = kernel_for(op, identity)

    def reduce(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        out = x.new_empty(1) if out is None else out
        blocks, threads = choose_launch(x.numel(), multiprocessors())
        if blocks == 1:
            kernel[1, threads](x, out)
        else:
            partial = x.new_empty(blocks)
            kernel[blocks, threads](x, partial)
            kernel[1, THREADS](partial, out)
        return out

    return reduce


def reduce(name: str, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """The sum, product, max or min of x, by the kernel that reduction makes of OPERATIONS[name]. Given.

    x, out: as for reduction. A NaN in x gives NaN.
    """
    return reduction(OPERATIONS[name], identity_of(name))(x, out=out)
