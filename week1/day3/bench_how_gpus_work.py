"""What `./course bench week1/day3` measures: a * x + y, and levels both ways, against PyTorch and plain CuPy."""

import math

import numpy as np

from tools import gpu
from tools.course.content.workload import Compiled, OnTensors, Workload, cupy_arrays

A = 2.5
SIZES = (2**16, 2**20, 2**24, 2**26)


def saxpy_by_torch(a, x, y):
    import torch

    return torch.add(y, x, alpha=a)


def saxpy_by_cupy(a, x, y):
    return np.float32(a) * x + y


def levels(n, rng):
    amplitudes, = cupy_arrays(rng, (2, n))
    return gpu.cupy.abs(amplitudes) + np.float32(0.1),


def converted(levels):
    import torch

    return torch.stack([20 * levels[0].log10(), (levels[1] * (math.log(10) / 20)).exp()])


WORKLOADS = (
    Workload(
        function="saxpy", arguments=lambda n, rng: (A, *cupy_arrays(rng, n, n)),
        sizes=SIZES, laptop_sizes=(4096,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 3 * 4 * n, flops=lambda n: 2 * n, naive="CuPy, operation by operation",
        rivals={"PyTorch": OnTensors(saxpy_by_torch), "CuPy, operation by operation": saxpy_by_cupy}),
    Workload(
        function="convert", arguments=levels,
        sizes=SIZES, laptop_sizes=(4096,), small=4096, shape=lambda n: f"2 x {n} float32",
        moved=lambda n: 2 * 2 * 4 * n, flops=lambda n: 2 * n, terms=lambda n: 64,  # a logarithm near 0 dB loses digits
        naive="PyTorch", rivals={"torch.compile": OnTensors(Compiled(converted)), "PyTorch": OnTensors(converted)}),
)
