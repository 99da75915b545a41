"""Week 1, day 1: the NumPy baseline

Challenge
    Multiply two matrices, and measure how fast that was. All of week 1 speeds up this one operation: from a
    Python loop at a few thousandths of a GFLOPS to a kernel, a function that a GPU runs, above 1000. Today you
    write the first three versions and the measurement that every later one is compared by.

            k = 3            n = 2
        a: 1 2 3        b:  7  8        out[0, 0] = 1*7 + 2*9 + 3*11 = 58
    m=2    4 5 6            9 10
                           11 12        m * n results, k products in each

Explore
    ./course python -m timeit -s "import numpy as np; a = np.ones((64, 64))" "a @ a"
    How long NumPy takes for 64 x 64. Guess: how much of it would a Python loop have done? After task 5
    ./course bench week1/day1 tells.

Concept
    Work: the product of an (m, k) and a (k, n) matrix takes 2 * m * n * k flops: for each of the m * n results
    k multiplications and k additions, the first of them to zero. GFLOPS are 1e9 flops per second.
    Traffic: the least traffic is what must move in any case: each element of a and b is read once, each of out
    is written once. That is not what your loop reads: it reads each element of a and b many times.
    Arithmetic intensity: the flops for each byte of the least traffic. It grows with the size of the matrices,
    which is why large products are worth a GPU.
    Sums: a.dtype.type(0) is the zero of a's dtype. A sum that starts there is kept in that dtype. Memory from
    np.empty holds whatever was there before, so a sum must not start from it.
    Library: np.matmul(a, b, out=out) is a @ b, stored in out; with out=None it allocates the result.
    Tiles: a tile is a small rectangle of a matrix, a slice; one that reaches past the edge is just shorter. Each
    tile of out starts at zero and is a sum, along k, of products (@) of a tile of a and a tile of b. A tile serves
    many times while it lies in a cache, the fast memory beside the processor. NumPy's library cuts each @ into
    tiles by itself, so yours is no faster than one @; in your kernels it is the tiles that make them fast.
    Timing: the first call also pays for what later calls find ready, such as loaded code and full caches.
    Therefore some calls are made untimed (the warm-up), several are timed, and the rate is taken from the middle
    one of their times: statistics.median(seconds), which one slow run cannot move.

Code it
    Task 1  matmul_naive: three loops; NumPy is handed single numbers, never a row   (seven lines)
    Task 2  matmul_flops: the work, before you time it                                 (one line)
    Task 3  matmul_numpy: the same through the library                                 (one line)
    Task 4  measure_gflops and predict_seconds: the measurement, and a prediction     (nine lines)
    Task 5  matmul_blocked: tile by tile                                               (six lines)
    Task 6  matmul_min_bytes and arithmetic_intensity: the least traffic               (two lines)

Verify
    pytest week1/day1                  then: ./course quiz week1/day1
    Reflect: predict_seconds says how long your loop needs for 1024 x 1024. Would you wait?

No GPU is used today: everything here is real on every machine, times included.
"""

import statistics
import time

import numpy as np

BLOCK = 64  # three 64 x 64 tiles of float64 are 98,304 bytes: few enough for a cache


# Task 1
def matmul_naive(a: np.ndarray, b: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """a @ b, one product of two numbers at a time.

    a: (m, k), b: (k, n), one dtype. out: (m, n) of that dtype, allocated if not given.
    Every element of out is written, whatever it held before.
    """
    out = np.empty((a.shape[0], b.shape[1]), dtype=a.dtype) if out is None else out
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = a.dtype.type(0)  # a new sum for every result
            for p in range(a.shape[1]):
                total += a[i, p] * b[p, j]
            out[i, j] = total
    return out


# Task 2
def matmul_flops(m: int, n: int, k: int) -> int:
    """Multiplications and additions in the product of an (m, k) and a (k, n) matrix."""
    return 2 * m * n * k


# Task 3
def matmul_numpy(a: np.ndarray, b: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """a @ b by NumPy, which hands it to a tuned library. Arguments as for matmul_naive."""
    return np.matmul(a, b, out=out)


# Task 4
def measure_gflops(matmul, a: np.ndarray, b: np.ndarray, *, warmup: int = 1, repeats: int = 5,
                   clock=time.perf_counter) -> float:
    """GFLOPS of matmul(a, b): its flops over the median time of `repeats` calls, after `warmup` untimed ones.

    matmul: what to call and time. clock: what to read; clock() returns the time in seconds. a: (m, k), b: (k, n).
    """
    for _ in range(warmup):
        matmul(a, b)
    seconds = []
    for _ in range(repeats):
        start = clock()
        matmul(a, b)
        seconds.append(clock() - start)
    return matmul_flops(a.shape[0], b.shape[1], a.shape[1]) / statistics.median(seconds) / 1e9


def predict_seconds(m: int, n: int, k: int, gflops: float) -> float:
    """Seconds that the product of an (m, k) and a (k, n) matrix takes at this rate, in GFLOPS."""
    return matmul_flops(m, n, k) / (gflops * 1e9)


# Task 5
def matmul_blocked(a: np.ndarray, b: np.ndarray, *, block: int = BLOCK,
                   out: np.ndarray | None = None) -> np.ndarray:
    """a @ b as sums of products of tiles; a tile of a, b or out has at most block rows and block columns.

    Any m, n and k; block need not divide them. Arguments as for matmul_naive.
    """
    out = np.empty((a.shape[0], b.shape[1]), dtype=a.dtype) if out is None else out
    out[...] = 0  # np.empty promises nothing, and neither does GPU memory
    for i in range(0, a.shape[0], block):
        for j in range(0, b.shape[1], block):
            for p in range(0, a.shape[1], block):
                out[i:i + block, j:j + block] += a[i:i + block, p:p + block] @ b[p:p + block, j:j + block]
    return out


# Task 6
def matmul_min_bytes(m: int, n: int, k: int, itemsize: int) -> int:
    """Least traffic in bytes: a (m, k) and b (k, n) read once, out (m, n) written once; itemsize bytes an element."""
    return (m * k + k * n + m * n) * itemsize


def arithmetic_intensity(m: int, n: int, k: int, itemsize: int) -> float:
    """Flops of the product for each byte of the least traffic. Arguments as for matmul_min_bytes."""
    return matmul_flops(m, n, k) / matmul_min_bytes(m, n, k, itemsize)
