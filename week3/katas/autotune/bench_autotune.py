"""What `./course bench week3/katas/autotune` measures: weighted sums for few rows and many keys, and for many rows."""

from tools.course.content.workload import Compiled, Workload, matmul_by_library, tensors

FEW, D = 16, 64


def weighed(weights, values):
    return weights @ values


def few_rows(n, rng):
    return tensors(rng, (FEW, n), (n, D))


def all_in_one(n, rng):
    return *few_rows(n, rng), {"BLOCK_M": 16, "BLOCK_N": 64, "SPLIT": 1, "num_warps": 4, "num_stages": 3}


def product_of_two(weights, values, *config):
    return matmul_by_library(weights, values)


WORKLOADS = (
    Workload(
        function="weigh_tuned", arguments=few_rows, sizes=(2**12, 2**16, 2**20), laptop_sizes=(256,), small=256,
        shape=lambda n: f"{FEW} x {n} by {n} x {D} float32", moved=lambda n: 4 * (FEW * n + n * D + FEW * D),
        flops=lambda n: 2 * FEW * n * D, terms=lambda n: n,
        rivals={"cuBLAS": matmul_by_library, "torch.compile": Compiled(weighed)}),
    Workload(
        function="weigh", arguments=all_in_one, sizes=(2**12, 2**16, 2**20), laptop_sizes=(256,), small=256,
        shape=lambda n: f"{FEW} x {n} by {n} x {D} float32, one program",
        moved=lambda n: 4 * (FEW * n + n * D + FEW * D), flops=lambda n: 2 * FEW * n * D, terms=lambda n: n,
        rivals={"cuBLAS": product_of_two}),
)
