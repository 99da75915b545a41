"""Week 1, kata: threads with Numba and OpenMP

Challenge
    A histogram says how often each value occurs; here, each of 256 brightnesses in an image. A Python loop can
    count them, and a compiled loop is hundreds of times as fast. Several cores are faster still, if each has a
    table of its own and enough to do.

        pixels     3 3 7 3 | 7 7 3 0 | 3 7 3 3            n = 12, three parts
                   part 0    part 1    part 2
        of 0          0         1         0        1      each part counts in a table of its own,
        of 3          3         1         3        7      and the tables are added up at the end
        of 7          1         2         1        4

Explore
    ./course python -c "import numba; print(numba.get_num_threads())"
    A thread that counts reads a number, adds 1 and writes it back. Two threads both read 5. What do they write?

Concept
    Compilation: @njit compiles a function of loops over arrays the first time it is called with such types, which
    takes half a second, once. It knows arrays, not lists: np.array(bounds) makes one.
    Parallel loop: under @njit(parallel=True), `for part in prange(parts)` deals its rounds out to threads. A
    thread runs lines of the program on a core of its own, beside the others; the order of the rounds is open.
    Race: two threads use one place without an agreement, and at least one of them writes. Some updates are lost,
    in some runs: 60 runs may be right. A *private* table for each part avoids it; a sum over the tables,
    .sum(axis=0), follows.
    OpenMP: the same in C, with one line above the loop: `#pragma omp parallel for` deals the rounds out, and its
    clause reduction(+:name[:length]) gives each thread a private copy of an array and adds them up at the end.
    Amdahl's law: the part s of the time in which only one thread can work stays as it is. So the speedup is
    1 / (s + (1 - s) / workers).
    Cost of a part: each further part costs a start and one more table to add, however small the image is.

Code it
    Task 1  chunk_bounds, amdahl, predict_steps, best_parts: the plan, on paper        (five lines)
    Task 2  count_kernel, parts_kernel: compiled loops; then private_histograms        (eight lines)
            and histogram, which call them
    Task 3  openmp_pragma: the same in C                                                 (one line)

Verify
    pytest week1/katas/numba_threads   then: ./course quiz week1/katas/numba_threads
    Reflect: a GPU has 10,000 threads. What becomes of one table for each?

No GPU is used. Without Numba the same functions run uncompiled, and only the test of speed is skipped; without a
compiler that knows OpenMP those of task 3 are.
"""

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path

import numpy as np

try:
    from numba import njit, prange
except ModuleNotFoundError:  # optional: without it these are plain Python functions, right and slow
    prange = range

    def njit(function=None, **options):
        return function or njit

LEVELS = 256  # of brightness


# Task 1
def chunk_bounds(n: int, parts: int) -> tuple[int, ...]:
    """The bounds of `parts` parts of n pixels, parts + 1 of them: part p is pixels[bounds[p]:bounds[p + 1]].

    The first is 0 and the last is n; the parts' lengths differ by 1 at most.
    """
    raise NotImplementedError("week1/katas/numba_threads task 1: chunk_bounds")


def amdahl(serial: float, workers: int) -> float:
    """The speedup of a program on `workers` cores, if on the share `serial` of its time only one of them can work."""
    raise NotImplementedError("week1/katas/numba_threads task 1: amdahl")


def predict_steps(n: int, parts: int) -> int:
    """Steps that follow each other: one for each pixel of the longest part, then one for each number of each table.

    All parts are counted at once; their tables of LEVELS numbers are added up by one thread.
    """
    raise NotImplementedError("week1/katas/numba_threads task 1: predict_steps")


def best_parts(n: int, workers: int) -> int:
    """The number of parts, from 1 to workers, with fewest steps by predict_steps; of equals the smallest."""
    raise NotImplementedError("week1/katas/numba_threads task 1: best_parts")


# Task 2
@njit
def count_kernel(pixels, counts):
    pass  # for each pixel, add 1 to the number in its place


@njit(parallel=True)
def parts_kernel(pixels, bounds, counts):
    pass  # deal the parts out; each counts its pixels into its row of counts


def private_histograms(pixels: np.ndarray, parts: int) -> np.ndarray:
    """A table for each part, by parts_kernel: how often each brightness occurs there. (parts, LEVELS) int64.

    pixels: (n,) uint8, contiguous. The parts are those of chunk_bounds.
    """
    raise NotImplementedError("week1/katas/numba_threads task 2: private_histograms")


def histogram(pixels: np.ndarray, parts: int) -> np.ndarray:
    """How often each brightness occurs in all pixels, counted in `parts` parts at once: (LEVELS,) int64.

    pixels: (n,) uint8, contiguous.
    """
    raise NotImplementedError("week1/katas/numba_threads task 2: histogram")


def parallel_loops() -> int:
    """The number of loops of parts_kernel that Numba deals out to threads, once it has been called. Given."""
    facts = parts_kernel.get_metadata(parts_kernel.signatures[0])
    return facts["parfor_diagnostics"].count_parfors()


# Task 3
def openmp_pragma() -> str:
    """The line in place of PRAGMA in HISTOGRAM_C, for threads to share the pixels and lose no update of `counts`."""
    raise NotImplementedError("week1/katas/numba_threads task 3: openmp_pragma")


HISTOGRAM_C = """
#include <omp.h>
#include <stdint.h>
#include <unistd.h>

int histogram(const uint8_t *pixels, int64_t n, int64_t *counts, int threads, int pause) {
    int team = 1;
    omp_set_num_threads(threads);
PRAGMA
    for (int64_t i = 0; i < n; i++) {
        if (i == 0) team = omp_get_num_threads();
        int64_t before = counts[pixels[i]];
        if (pause) usleep(pause);   /* microseconds in which other threads may come in between */
        counts[pixels[i]] = before + 1;
    }
    return team;
}
"""


def histogram_openmp(pixels: np.ndarray, *, threads: int, pause: int = 0) -> tuple[np.ndarray, int]:
    """The histogram by HISTOGRAM_C with your pragma, and how many threads counted. Given; pixels as above.

    Raises RuntimeError, with the compiler's message, where it does not compile.
    """
    counts = np.zeros(LEVELS, np.int64)
    call = _compiled(HISTOGRAM_C.replace("PRAGMA", openmp_pragma())).histogram
    call.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    return counts, call(pixels.ctypes.data, len(pixels), counts.ctypes.data, threads, pause)


@functools.cache
def _compiled(source: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        code, library = Path(folder, "histogram.c"), Path(folder, "histogram.so")
        code.write_text(source)
        done = subprocess.run(["cc", "-O3", "-fopenmp", "-shared", "-fPIC", "-o", library, code],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.replace(f"{folder}/", ""))
        return ctypes.CDLL(str(library))
