"""What `./course bench week1/day7` measures: three products, each against cuBLAS in all of float32."""

from tools.course.content.workload import Workload, matmul_by_library, matmul_by_rows, tensors


def product(function):
    return Workload(
        function=function, arguments=lambda n, rng: tensors(rng, (n, n), (n, n)),
        sizes=(256, 512, 1024, 2048, 4096), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 3 * 4 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n,  # a, b, the result: once
        naive="row by row", rivals={"cuBLAS": matmul_by_library, "row by row": matmul_by_rows})


WORKLOADS = tuple(product(function) for function in ("matmul_simple", "matmul_tiled", "matmul_dot"))
