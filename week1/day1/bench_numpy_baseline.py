"""What `./course bench week1/day1` measures: three products of (n, n) matrices of float64, on the CPU."""

import numpy as np

from tools.course.content.workload import Workload, arrays


def square(n, rng):
    return arrays(rng, (n, n), (n, n), dtype=np.float64)


def product(function, sizes):
    """Each product against NumPy's; a and b are read once, and the result is written once."""
    return Workload(function=function, arguments=square, sizes=sizes, laptop_sizes=sizes, small=16, on="cpu",
                    shape=lambda n: f"{n} x {n} float64", dtype="float64", terms=lambda n: n,
                    moved=lambda n: 3 * 8 * n * n, flops=lambda n: 2 * n**3, rivals={"NumPy": np.matmul})


WORKLOADS = (product("matmul_naive", (16, 32, 64, 128)),
             product("matmul_blocked", (64, 128, 256, 512, 1024)),
             product("matmul_numpy", (64, 128, 256, 512, 1024)))
