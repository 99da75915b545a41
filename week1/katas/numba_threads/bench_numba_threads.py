"""What `./course bench week1/katas/numba_threads` measures: a histogram by all cores, against NumPy."""

import os

import numpy as np

from tools.course.content.workload import Workload

LEVELS = 256
SIZES = (2**12, 2**16, 2**20, 2**24)


def pixels(n, rng):
    return rng.integers(LEVELS, size=n, dtype=np.uint8), os.cpu_count()


def by_numpy(pixels, parts):
    return np.bincount(pixels, minlength=LEVELS)


WORKLOADS = (
    Workload(
        function="histogram", arguments=pixels, on="cpu", dtype="int64", small=4096, sizes=SIZES, laptop_sizes=SIZES,
        shape=lambda n: f"{n} uint8", moved=lambda n: n + 8 * LEVELS, flops=lambda n: n,
        rivals={"NumPy": by_numpy}),
)
