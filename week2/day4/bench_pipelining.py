"""What `./course bench week2/day4` measures: both products. record_timeline.py has the ladder of 1 to 4 stages."""

import numpy as np

from tools import gpu
from tools.course.content.workload import Workload, arrays


def halves(side, rng):
    import torch

    return [torch.from_numpy(array.astype(np.float16)).to(gpu.device) for array in arrays(rng, *2 * [(side, side)])]


def by_library(a, b):
    import torch

    return torch.matmul(a, b)


def product(function):
    return Workload(
        function=function, arguments=halves, sizes=(1024, 2048, 4096), laptop_sizes=(256,), small=256, naive="",
        shape=lambda n: f"{n} x {n} float16",
        moved=lambda n: (2 * 2 + 4) * n**2,  # a and b in float16, the result in float32: once
        flops=lambda n: 2 * n**3, terms=lambda n: n, dtype="float16", rivals={"cuBLAS": by_library})


WORKLOADS = product("matmul_prefetch"), product("matmul_staged")
