"""What `./course bench week2/day7` measures: the product in bfloat16, and the last case of the week.

time_gemm.py leaves the launches out, and shows more shapes and types.
"""

from tools.course.content.workload import Workload, matmul_by_library, tensors


def halves(rng, *shapes):
    import torch

    return tuple(tensor.to(torch.bfloat16) for tensor in tensors(rng, *shapes))


def masked_sum(grad, product):
    return (grad * (product > 0)).sum(0)


WORKLOADS = (
    Workload(
        function="matmul", arguments=lambda n, rng: halves(rng, (n, n), (n, n)),
        sizes=(512, 1024, 2048, 4096, 8192), laptop_sizes=(64,), small=256, shape=lambda n: f"{n} x {n} bfloat16",
        moved=lambda n: 3 * 2 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n, dtype="bfloat16",
        rivals={"cuBLAS": matmul_by_library}),
    Workload(
        function="bias_gradient", arguments=lambda n, rng: tensors(rng, (n, n), (n, n)),
        sizes=(1024, 2048, 4096, 8192), laptop_sizes=(64,), small=128, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 4 * n * n + 4 * n * n // 2 + 4 * n,  # half of grad is asked for, at a number above 0
        flops=lambda n: n * n, terms=lambda n: n,
        rivals={"PyTorch": masked_sum}),
)
