"""What `./course bench week2/day4` measures: the ladder of 1 to 4 stages, and the product that asks ahead by hand."""

import numpy as np

from tools import gpu
from tools.course.content.workload import Workload, arrays

SIDE = 4096  # of the matrices of the ladder


def halves(rng, side):
    import torch

    return [torch.from_numpy(array.astype(np.float16)).to(gpu.device) for array in arrays(rng, *2 * [(side, side)])]


def by_library(a, b, *stages):
    import torch

    return torch.matmul(a, b)


def side_of(size):
    """A size up to 8 is a number of stages, for matrices of SIDE rows; a larger one is a number of rows."""
    return SIDE if size <= 8 else size


def product(function, **sizes):
    return Workload(
        function=function, **sizes, laptop_sizes=(64,), small=64, naive="",
        moved=lambda n: (2 * 2 + 4) * side_of(n) ** 2,  # a and b in float16, the result in float32: once
        flops=lambda n: 2 * side_of(n) ** 3, terms=side_of, dtype="float16", rivals={"cuBLAS": by_library})


WORKLOADS = (
    product("matmul_staged", sizes=(1, 2, 3, 4),
            arguments=lambda n, rng: (*halves(rng, side_of(n)), n if n <= 8 else 3),
            shape=lambda n: f"{side_of(n)} x {side_of(n)} float16, stages={n if n <= 8 else 3}"),
    product("matmul_prefetch", sizes=(1024, 2048, 4096),
            arguments=lambda n, rng: halves(rng, n), shape=lambda n: f"{n} x {n} float16"),
)
