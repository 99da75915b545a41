"""What `./course bench week2/day6` measures: the product in bfloat16, whose result stays in float32."""

from tools.course.content.workload import Workload, matmul_by_library, tensors


def bfloats(rng, *shapes):
    import torch

    return tuple(tensor.to(torch.bfloat16) for tensor in tensors(rng, *shapes))


WORKLOADS = (
    Workload(
        function="matmul", arguments=lambda n, rng: bfloats(rng, (n, n), (n, n)),
        sizes=(512, 1024, 2048, 4096, 8192), laptop_sizes=(64,), small=256, shape=lambda n: f"{n} x {n} bfloat16",
        moved=lambda n: (2 * 2 + 4) * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n, dtype="bfloat16",
        rivals={"cuBLAS": matmul_by_library}),
)
