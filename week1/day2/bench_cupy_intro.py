"""What `./course bench week1/day2` measures: what crosses and what is fused, against PyTorch and plain CuPy."""

import numpy as np

from tools import gpu
from tools.course.content.workload import Compiled, OnTensors, Workload, arrays, cupy_arrays

STEPS, WIDTH = 10, 0.5


def matmul_and_back(a, b):
    import torch

    return (torch.from_numpy(a).to(gpu.device) @ torch.from_numpy(b).to(gpu.device)).cpu()


def iterated(a, x, steps):
    import torch

    a, x = torch.from_numpy(a).to(gpu.device), torch.from_numpy(x).to(gpu.device)
    for _ in range(steps):
        x = a @ x
        x = x / x.abs().max()
    return x.cpu()


def iterated_by_numpy(a, x, steps):
    for _ in range(steps):
        x = a @ x
        x = x / np.abs(x).max()
    return x


def likeness(x, y, width):
    return (-(((x - y) / width) ** 2) / 2).exp()


def likeness_unfused(x, y, width):
    return gpu.cupy.exp(-((x - y) / width) ** 2 / 2)


WORKLOADS = (
    Workload(
        function="matmul_on_gpu", arguments=lambda n, rng: arrays(rng, (n, n), (n, n)),
        sizes=(256, 1024, 4096), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 3 * 4 * n * n, crossed=lambda n: 3 * 4 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n,
        rivals={"PyTorch": matmul_and_back, "NumPy": np.matmul}),
    Workload(
        function="power_iteration", arguments=lambda n, rng: (*map(np.abs, arrays(rng, (n, n), (n, 1))), STEPS),
        sizes=(256, 1024, 4096), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32, {STEPS} steps",
        moved=lambda n: STEPS * 4 * n * n, crossed=lambda n: 4 * (n * n + 2 * n), flops=lambda n: STEPS * 2 * n * n,
        terms=lambda n: n, rivals={"PyTorch": iterated, "NumPy": iterated_by_numpy}),
    Workload(
        function="similarity", arguments=lambda n, rng: (*cupy_arrays(rng, n, n), WIDTH),
        sizes=(2**16, 2**20, 2**24, 2**26), laptop_sizes=(4096,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 3 * 4 * n, flops=lambda n: 6 * n, naive="CuPy, operation by operation",
        rivals={"PyTorch": OnTensors(likeness), "torch.compile": OnTensors(Compiled(likeness)),
                "CuPy, operation by operation": likeness_unfused}),
)
