"""What `./course bench week2/katas/histogram` measures: 256 bins and degrees, against PyTorch and CuPy."""

import numpy as np
import torch

from tools import gpu
from tools.course.content.workload import OnTensors, Workload


def values(n, rng):
    return (gpu.cupy.asarray(rng.random(n, dtype=np.float32)),)


NUMBER = 2**16  # of nodes, and of different keys


def keys_below(n, rng):
    return rng.integers(0, NUMBER, n).astype(np.int32)


def edges(n, rng):
    return gpu.cupy.asarray(keys_below(2 * n, rng).reshape(2, n)), NUMBER


def sorted_keys(n, rng):
    return gpu.cupy.asarray(np.sort(keys_below(n, rng))), NUMBER


def by_histc(x):
    return torch.histc(x, 256, 0, 1).to(torch.int64)


def by_torch(keys, number):
    return torch.bincount(keys.reshape(-1), minlength=number).to(torch.int32)


def by_cupy(keys, number):
    return gpu.cupy.bincount(keys.ravel(), minlength=number).astype(np.int32)


def of_values(function, sizes):
    return Workload(
        function=function, arguments=values, sizes=sizes, laptop_sizes=(65536,), small=4096,
        shape=lambda n: f"{n} float32", moved=lambda n: 4 * n + 8 * 256, flops=lambda n: n,
        rivals={"PyTorch": OnTensors(by_histc)})


def of_keys(function, arguments, shape, a_key, small):
    return Workload(
        function=function, arguments=arguments, sizes=(2**16, 2**20, 2**24), laptop_sizes=(65536,), small=small,
        shape=shape, moved=lambda n: 4 * a_key * n + 4 * NUMBER, flops=lambda n: a_key * n, dtype="int32",
        rivals={"PyTorch": OnTensors(by_torch), "CuPy": by_cupy})


WORKLOADS = (
    of_values("histogram_global", (2**16, 2**20, 2**24)),
    of_values("histogram_private", (2**16, 2**20, 2**24, 2**28)),
    of_values("histogram_copies", (2**16, 2**20, 2**24, 2**28)),
    # With fewer edges most degrees are zeros of CuPy's, which no kernel of the lesson stores
    of_keys("degrees_of", edges, lambda n: f"{n} edges", 2, small=2**16),
    of_keys("count_sorted", sorted_keys, lambda n: f"{n} int32", 1, small=4096),
)
