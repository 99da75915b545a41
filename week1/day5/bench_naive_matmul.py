"""What `./course bench week1/day5` measures: a product by one program for each result, against cuBLAS."""

from tools.course.content.workload import Workload, matmul_by_library, matmul_by_rows, tensors

WORKLOADS = (
    Workload(
        function="matmul", arguments=lambda n, rng: tensors(rng, (n, n), (n, n)),
        sizes=(128, 256, 512, 1024, 2048), laptop_sizes=(32,), small=32, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 3 * 4 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n,  # a, b, the result: once
        naive="row by row", rivals={"cuBLAS": matmul_by_library, "row by row": matmul_by_rows}),
)
