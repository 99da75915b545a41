"""What `./course bench week1/katas/locality` measures: distances of n points to n others, in 64 dimensions."""

import numpy as np

from tools.course.content.workload import Workload, arrays

DIMENSIONS = 64
SIZES = (64, 128, 256, 512, 1024)


def by_torch(x, y):
    import torch

    return torch.cdist(torch.from_numpy(x), torch.from_numpy(y)).square()


def all_at_once(x, y):
    return ((x[:, None] - y) ** 2).sum(axis=2)


def distances(function):
    return Workload(
        function=function, on="cpu", dtype="float64", small=32, sizes=SIZES, laptop_sizes=SIZES,
        arguments=lambda n, rng: arrays(rng, (n, DIMENSIONS), (n, DIMENSIONS), dtype=np.float64),
        shape=lambda n: f"2 x {n} x {DIMENSIONS} float64", terms=lambda n: DIMENSIONS,
        moved=lambda n: 8 * (2 * n * DIMENSIONS + n * n), flops=lambda n: 3 * n * n * DIMENSIONS,
        naive="NumPy, all at once", rivals={"PyTorch": by_torch, "NumPy, all at once": all_at_once})


WORKLOADS = (distances("distances_blocked"), distances("distances_blas"))
