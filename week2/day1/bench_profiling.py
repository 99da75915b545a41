"""What `./course bench week2/day1` measures: the sum with a bias of task 6, against PyTorch's."""

from tools.course.content.workload import Workload, tensors


def by_pytorch(x, bias):
    return x + bias


WORKLOADS = (
    Workload(
        function="add_bias", arguments=lambda n, rng: tensors(rng, (n, n), n),
        sizes=(1024, 2048, 4096, 8192, 16384), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 4 * (2 * n * n + n), flops=lambda n: n * n, rivals={"PyTorch": by_pytorch}),
)
