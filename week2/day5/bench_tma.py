"""What `./course bench week2/day5` measures: a copy by boxes, and a product by boxes in float16."""

from tools.course.content.workload import Workload, matmul_by_library, tensors


def by_pytorch(x):
    import torch

    return torch.clone(x)


def halves(rng, *shapes):
    import torch

    return tuple(tensor.to(torch.float16) for tensor in tensors(rng, *shapes))


WORKLOADS = (
    Workload(
        function="copy", arguments=lambda n, rng: tensors(rng, (n, n)),
        sizes=(1024, 2048, 4096, 8192, 16384), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 2 * 4 * n * n, flops=lambda n: 0, rivals={"PyTorch": by_pytorch}),
    Workload(
        function="matmul", arguments=lambda n, rng: halves(rng, (n, n), (n, n)),
        sizes=(512, 1024, 2048, 4096, 8192), laptop_sizes=(64,), small=256, shape=lambda n: f"{n} x {n} float16",
        moved=lambda n: 3 * 2 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n, dtype="float16",
        rivals={"cuBLAS": matmul_by_library}),
)
