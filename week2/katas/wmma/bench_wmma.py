"""What `./course bench week2/katas/wmma` measures: tensor cores in CUDA C++, from half to float, against cuBLAS."""

import numpy as np

from tools import gpu
from tools.course.content.workload import OnTensors, Workload, arrays, matmul_by_library


def halves(n, rng):
    return tuple(gpu.cupy.asarray(array.astype(np.float16)) for array in arrays(rng, (n, n), (n, n)))


WORKLOADS = tuple(
    Workload(
        function=function, arguments=halves, sizes=(512, 1024, 2048, 4096), laptop_sizes=(256,), small=small,
        shape=lambda n: f"{n} x {n} float16", moved=lambda n: (2 + 2 + 4) * n * n, flops=lambda n: 2 * n**3,
        dtype="float16", terms=lambda n: n, rivals={"cuBLAS": OnTensors(matmul_by_library)})
    for function, small in (("matmul_warps", 64), ("matmul_edges", 64), ("matmul", 256))
)
