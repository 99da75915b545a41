"""What `./course bench week3/day2` measures: the weights of n rows, in three launches, against one."""

from tools.course.content.workload import Compiled, Workload, tensors


def by_pytorch(scores):
    import torch

    return torch.softmax(scores, dim=-1)


def as_written(scores):
    import torch

    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


WORKLOADS = (
    Workload(
        function="naive_softmax", arguments=lambda n, rng: tensors(rng, (n, n)),
        sizes=(512, 1024, 4096, 8192), laptop_sizes=(512,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 2 * 4 * n * n, flops=lambda n: 2 * n * n,  # of each score an addition and a division
        rivals={"PyTorch": by_pytorch, "torch.compile": Compiled(as_written)}),
)
