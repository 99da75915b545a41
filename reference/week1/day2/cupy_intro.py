"""Week 1, day 2: first contact with a GPU

Challenge
    Multiply day 1's matrices on a GPU with CuPy, whose functions are named as NumPy's are. A GPU has a memory
    of its own: what it works on is copied there first, and the result is copied back. The code hardly shows
    these copies. You will count them, remove those that nobody needs, and say from which size a GPU pays.

        host                                     GPU
        a  1 2 3    b   7  8    -- 24 bytes -->  a         all of it in float32:
           4 5 6        9 10    -- 24 bytes -->  b         2 uploads, 1 download,
                       11 12                               64 bytes
        out  58  64             <-- 16 bytes --  a @ b
            139 154

Explore
    ./course python -c "import numpy as np; from tools.gpu import cupy; print(cupy.ones(3) + np.ones(3))"
    An error: CuPy does not mix the two memories. Which array would it have had to copy, and in which direction?

Concept
    Copies: cupy.asarray(x) uploads an array of the host. cupy.asnumpy(y) downloads one, and with out= into an
    array that is there already. float(y), print(y) and `if y > 0` download too, and the host waits for them.
    Launches: a kernel is a function that the GPU runs for all elements at once, and a launch is the request to
    run it. x + y is one launch, which reads x and y and writes a result. A formula of six operations is six
    launches, and five results that are written only to be read again.
    Fusion: a fused kernel does several operations in one launch. cupy.ElementwiseKernel makes one out of four
    texts: inputs, outputs, what happens to one element, and a name. The third is C: a variable has a type
    (`float d = x - y;`), a statement ends with a semicolon, and there is no **. For squares of float32:
        square = cupy.ElementwiseKernel("float32 x", "float32 out", "out = x * x", "square"); square(x, out)
    In C a `double` and a constant such as 0.5 have 8 bytes; `float` and 0.5f have 4.
    One source: cupy.get_array_module(x) is the module of x, cupy or numpy. Both have the same functions: cupy.abs(x),
    x.sum(axis=1, keepdims=True) for the sum of each row, kept as a column. x / x.max() needs no download.
    Waiting: a launch returns before the GPU has done the work, so a clock may only be read after a wait.
    Widths: arange and eye give 8-byte numbers. float64 doubles every byte, and most GPUs are slow in it.
    Break-even: the work grows as n cubed, the bytes as n squared. So from some size on the GPU is faster.

Code it
    Task 1  matmul_on_gpu: upload, multiply, download                                       (two lines)
    Task 2  chain_on_gpu: many products, each matrix uploaded once, one result down        (four lines)
    Task 3  power_iteration: given, right, and it copies in each step; repair it           (five lines)
    Task 4  similarity_kernel, similarity: six launches made one                          (three lines)
    Task 5  array_module, smooth: the same lines for NumPy and CuPy                        (five lines)
    Task 6  seconds_per_call: day 1's measurement, for a GPU                                (ten lines)
    Task 7  predict_bytes, predict_seconds, break_even_size: before you measure             (six lines)

Verify
    pytest week1/day2                  then: ./course quiz week1/day2
    Reflect: at the size where the GPU begins to pay, for what share of its time does it multiply?

Simulated without a GPU: results, CuPy's rules, launches, waits and every byte that is copied are exact. Time is
modelled there, so nothing is concluded from it.
"""

import functools
import statistics
import time

import numpy as np

from tools.gpu import cupy


# Task 1
def matmul_on_gpu(a: np.ndarray, b: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """The product a @ b, computed by the GPU: from arrays of the host to an array of the host.

    a: (m, k), b: (k, n), one dtype. out: (m, n) of that dtype, contiguous, allocated if not given.
    """
    product = cupy.asarray(a) @ cupy.asarray(b)
    return cupy.asnumpy(product, out=out)


# Task 2
def chain_on_gpu(matrices: list[np.ndarray]) -> np.ndarray:
    """The product matrices[0] @ matrices[1] @ ... by the GPU: each is uploaded once, only the last product comes back.

    matrices: arrays of the host, one or more, of one dtype, whose shapes fit. The list stays as it is.
    """
    product = cupy.asarray(matrices[0])
    for matrix in matrices[1:]:
        product = product @ cupy.asarray(matrix)
    return cupy.asnumpy(product)


# Task 3
def power_iteration(a: np.ndarray, x: np.ndarray, steps: int) -> np.ndarray:
    """x after `steps` steps: each multiplies it by a, then divides it by its largest magnitude.

    It turns towards the direction that a stretches most. a: (n, n), x: (n, 1), arrays of the host of one dtype.
    steps: at least 1.
    """
    a_gpu, x_gpu = cupy.asarray(a), cupy.asarray(x)
    for _ in range(steps):
        x_gpu = a_gpu @ x_gpu
        x_gpu = x_gpu / cupy.abs(x_gpu).max()  # an array without axes: the host need not know the number
    return cupy.asnumpy(x_gpu)


# Task 4
def similarity_unfused(x: cupy.ndarray, y: cupy.ndarray, width: float) -> cupy.ndarray:
    """exp(-((x - y) / width)**2 / 2), operation by operation. Given.

    It is 1 where x and y are equal, 0.61 where they are `width` apart, and near 0 further on.
    """
    return cupy.exp(-((x - y) / width) ** 2 / 2)


@functools.cache
def similarity_kernel() -> cupy.ElementwiseKernel:
    """The kernel of the same formula. Inputs: float32 x, y and width; output: float32 out. Made at the first call."""
    return cupy.ElementwiseKernel("float32 x, float32 y, float32 width", "float32 out",
                                  "float apart = (x - y) / width; out = exp(-apart * apart / 2)", "similarity")


def similarity(x: cupy.ndarray, y: cupy.ndarray, width: float, *, out: cupy.ndarray | None = None) -> cupy.ndarray:
    """similarity_unfused in one launch of the kernel that similarity_kernel() returns.

    x, y: float32 of one shape, on the GPU. out: likewise, allocated if not given.
    """
    out = cupy.empty_like(x) if out is None else out
    return similarity_kernel()(x, y, width, out)


# Task 5
def array_module(x):
    """The module whose array x is: cupy or numpy."""
    return cupy.get_array_module(x)


def smooth(x, width: float):
    """Each row of x replaced by a mean of all rows, weighted by how near they are.

    Row j counts in row i with the weight exp(-((i - j) / width)**2 / 2), divided by the sum of row i's weights.
    x: (n, m), of NumPy or CuPy, float32 or float64. The result has x's shape, kind and dtype; nothing is copied
    between host and GPU.
    """
    xp = array_module(x)
    rows = xp.arange(len(x), dtype=x.dtype)  # without dtype the weights would be float64
    weights = xp.exp(-((rows[:, None] - rows) / width) ** 2 / 2)
    return weights @ x / weights.sum(axis=1, keepdims=True)


# Task 6
def wait_for_gpu() -> None:
    """Return when the GPU has done all that it was asked to. Given."""
    cupy.cuda.Device().synchronize()


def seconds_per_call(function, *args, warmup: int = 1, repeats: int = 5, clock=time.perf_counter,
                     wait=None) -> float:
    """Median seconds from before function(*args) until the GPU is done, of `repeats` calls after `warmup` untimed ones.

    clock() returns the time in seconds. wait() returns when the GPU is done, wait_for_gpu if not given; it is called
    once after each call, untimed ones too.
    """
    wait = wait_for_gpu if wait is None else wait
    seconds = []
    for _ in range(warmup):
        function(*args)
        wait()
    for _ in range(repeats):
        start = clock()
        function(*args)
        wait()
        seconds.append(clock() - start)
    return statistics.median(seconds)


# Task 7
def predict_bytes(n: int) -> int:
    """Bytes uploaded and downloaded, together, when matmul_on_gpu multiplies two (n, n) matrices of float32."""
    return 3 * 4 * n * n


def predict_seconds(n: int, gflops: float, gb_per_s: float, overhead: float) -> float:
    """Seconds of that call, one thing after the other: its bytes, its flops, and `overhead` seconds.

    gb_per_s: of the copies, in 1e9 bytes a second. gflops: of the GPU, in 1e9 flops a second.
    """
    return predict_bytes(n) / (gb_per_s * 1e9) + 2 * n**3 / (gflops * 1e9) + overhead


def break_even_size(cpu_gflops: float, gpu_gflops: float, gb_per_s: float, overhead: float,
                    largest: int = 65536) -> int | None:
    """The least n at which that call takes less time than the CPU, which copies nothing; None if none up to largest.

    A GPU that takes as long as the CPU does not pay yet. Rates and overhead: as in predict_seconds.
    """
    for n in range(1, largest + 1):
        if predict_seconds(n, gpu_gflops, gb_per_s, overhead) < 2 * n**3 / (cpu_gflops * 1e9):
            return n
    return None
