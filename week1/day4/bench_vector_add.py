"""What `./course bench week1/day4` measures: sums of vectors and of matrices, against PyTorch."""

from tools.course.content.workload import Workload, tensors


def torch_add(x, y):
    import torch

    return torch.add(x, y)


WORKLOADS = (
    Workload(
        function="vector_add", arguments=lambda n, rng: tensors(rng, n, n),
        sizes=(2**16, 2**20, 2**24, 2**26), laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 3 * 4 * n, flops=lambda n: n,  # x and y are read, the sum is written
        rivals={"PyTorch": torch_add}),
    Workload(
        function="add_2d", arguments=lambda n, rng: tensors(rng, (n, n), (n, n)),
        sizes=(256, 1024, 4096, 8192), laptop_sizes=(256,), small=64, shape=lambda n: f"{n} x {n} float32, row-major",
        moved=lambda n: 3 * 4 * n * n, flops=lambda n: n * n,
        rivals={"PyTorch": torch_add}),
)
