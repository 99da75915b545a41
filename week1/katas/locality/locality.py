"""Week 1, kata: locality

Challenge
    The same numbers added up in another order can take several times as long, although no addition was added.
    The difference is where the numbers lie. Count what an order costs before you time it. Then compute pairwise
    distances in an order that suits the cache, and at last by a library that takes care of the order itself.

        lines of 32 bytes hold 4 float64; a cache of 2 lines
            row 0    0  1  2  3 |  4  5  6  7        by rows      0 1 2 3 4 ...    6 misses
            row 1    8  9 10 11 | 12 13 14 15        by columns   0 8 16 1 9 ...  24 misses
            row 2   16 17 18 19 | 20 21 22 23        a column needs 3 lines, and only 2 stay

Explore
    ./course python -m timeit -s "import numpy as np; a = np.ones((4096, 4096))" "a[0].sum()"
    The same with "a[:, 0].sum()": as many additions. How many lines does each of the two touch?

Concept
    Cache: a small, fast memory that keeps what was used lately: 32 KiB next to the core, 1 MiB behind it. It
    works in *lines* of 64 bytes on most CPUs, so a load of one number brings its neighbours too. A *hit* finds
    its line in the cache; a *miss* waits until it has been fetched. In a full cache the line that was used
    longest ago makes room.
    Sets: the place of a line in the cache is not free. Line number i belongs to set i % sets, and a set has room
    for a few lines, its *ways*. Rows that begin a power of two apart share a few sets; one line of padding at
    the end of each row spreads them again. Cache(capacity, line, ways).missed(addresses) says which accesses miss.
    Orders: to walk down the columns of a matrix is to walk along the rows of its transpose: the same memory,
    with shape and strides exchanged. .ravel() lays an array out flat, np.count_nonzero counts what is True.
    Blocking: the differences of m and n points with d numbers each are m * n * d numbers, written once and read
    back after they have left the cache. Computed tile by tile they stay in it.
    BLAS: |x - y|**2 = x.x + y.y - 2 x.y needs no differences. It is a matrix product, np.matmul(x, y.T, out=out),
    and the library does the blocking. It subtracts large numbers that are nearly equal, which loses digits; so
    make the points small first: subtract their mean, y.mean(axis=0). Rounding can leave a distance below zero:
    np.maximum(out, 0, out=out).

Code it
    Task 1  addresses, count_misses: the order of access, and its misses               (three lines)
            predict_misses: down the columns of any matrix, without walking it          (five lines)
    Task 2  tile_for, distances_blocked: how large a tile may be; then tile by tile    (eight lines)
    Task 3  distances_blas: all pairs from one matrix product                           (five lines)

Verify
    pytest week1/katas/locality        then: ./course quiz week1/katas/locality
    Reflect: which of your own arrays have rows of a power of two, and which code walks down their columns?

No GPU is used. Misses are those of a model with one cache that fetches nothing ahead, which is also what
valgrind's cachegrind counts; a CPU that fetches ahead waits less, and moves as many bytes.
"""

import math

import numpy as np

from tools.models.cache import Cache

L1, LINE, WAYS = 32 * 1024, 64, 8  # bytes, bytes, lines in a set: the first-level data cache of many CPUs
TILE = 21  # points: what tile_for finds for 256 KiB and points of 64 numbers


# Task 1
def addresses(shape: tuple[int, int], strides: tuple[int, int], itemsize: int) -> np.ndarray:
    """Byte addresses of a matrix's elements, row by row; [0, 0] is at address 0.

    strides: in elements. itemsize: bytes an element. Returns int64, shape (rows * columns,).
    """
    raise NotImplementedError("week1/katas/locality task 1: addresses")


def count_misses(shape: tuple[int, int], strides: tuple[int, int], itemsize: int, *, capacity: int = L1,
                 line: int = LINE, ways: int = WAYS) -> int:
    """Misses of a walk over these addresses, in a Cache that is empty at first.

    capacity, line: bytes. ways: lines in a set.
    """
    raise NotImplementedError("week1/katas/locality task 1: count_misses")


def predict_misses(n_rows: int, n_cols: int, row_bytes: int, itemsize: int, *, capacity: int = L1,
                   line: int = LINE, ways: int = WAYS) -> int:
    """Misses of a walk down one column after the other, without walking it.

    row_bytes: from the start of a row to that of the next, a multiple of line; element [0, 0] begins a line.
    itemsize, capacity, line: bytes. ways: lines in a set.
    """
    raise NotImplementedError("week1/katas/locality task 1: predict_misses")


# Task 2
def distances_naive(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Squared distances of all pairs, by all differences at once. Given: to compare with."""
    difference = x[:, None] - y  # (m, n, d)
    difference *= difference
    return difference.sum(axis=2)


def tile_for(capacity: int, d: int, itemsize: int = 8) -> int:
    """The largest tile, in points, whose work stays in a cache of `capacity` bytes; at least 1.

    Its work: `tile` points of x and as many of y, of d numbers each, all their differences, and all their distances.
    itemsize: bytes of a number.
    """
    raise NotImplementedError("week1/katas/locality task 2: tile_for")


def distances_blocked(x: np.ndarray, y: np.ndarray, *, tile: int = TILE, out: np.ndarray | None = None) -> np.ndarray:
    """Squared distances of all pairs, never more than tile * tile of them at once.

    x: (m, d), y: (n, d), one dtype. out: (m, n) of that dtype, allocated if not given.
    """
    out = np.empty((len(x), len(y)), dtype=x.dtype) if out is None else out
    raise NotImplementedError("week1/katas/locality task 2: distances_blocked")


# Task 3
def distances_blas(x: np.ndarray, y: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """Squared distances of all pairs by one matrix product; none is negative. Arguments as for distances_blocked.

    Points far from the origin keep their digits.
    """
    out = np.empty((len(x), len(y)), dtype=x.dtype) if out is None else out
    raise NotImplementedError("week1/katas/locality task 3: distances_blas")
