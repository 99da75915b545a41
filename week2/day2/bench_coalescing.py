"""What `./course bench week2/day2` measures: four copies, each against what PyTorch does for the same result."""

from tools.course.content.workload import Workload, tensors

SIDES = (256, 1024, 4096, 8192)


def copied(x, blocks):
    return x.clone()


def transposed(x):
    return x.T.contiguous()


def aligned(rng, m, n):
    """A random (m, n) float32 matrix whose rows begin sectors."""
    (x,) = tensors(rng, (m, n + -n % 8))
    return (x[:, :n],)


def padded(x):
    import torch

    return torch.nn.functional.pad(x, (0, -x.shape[1] % 8))[:, : x.shape[1]]


WORKLOADS = (  # a copy has no flops
    Workload(
        function="copy_vector", arguments=lambda n, rng: (*tensors(rng, n), 1024 if n > 4096 else 2),
        sizes=(2**16, 2**20, 2**24, 2**28), laptop_sizes=(4096,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 2 * 4 * n, flops=lambda n: 0, rivals={"PyTorch": copied}),
    Workload(
        function="copy_rows", arguments=lambda n, rng: aligned(rng, n, n + 1),
        sizes=SIDES, laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n + 1} float32",
        moved=lambda n: 2 * 4 * n * (n + 1), flops=lambda n: 0, rivals={"PyTorch, padded": padded}),
    Workload(
        function="split_fields", arguments=lambda n, rng: tensors(rng, (n, 4)),
        sizes=(2**14, 2**18, 2**22, 2**26), laptop_sizes=(1024,), small=1024, shape=lambda n: f"{n} x 4 float32",
        moved=lambda n: 2 * 4 * 4 * n, flops=lambda n: 0, rivals={"PyTorch": transposed}),
    Workload(
        function="transpose", arguments=lambda n, rng: tensors(rng, (n, n)),
        sizes=SIDES, laptop_sizes=(64,), small=192, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 2 * 4 * n * n, flops=lambda n: 0, rivals={"PyTorch": transposed}),
)
