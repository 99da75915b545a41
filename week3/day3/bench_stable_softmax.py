"""What `./course bench week3/day3` measures: weights and their logarithms, against PyTorch and torch.compile."""

from tools.course.content.workload import Compiled, Workload, tensors


def softmax(scores):
    import torch

    return torch.softmax(scores, dim=-1)


def log_softmax(scores):
    import torch

    return torch.log_softmax(scores, dim=-1)


def halves(n, rng):
    """n rows of n float16."""
    return tuple(scores.half() for scores in tensors(rng, (n, n)))


def of_rows(function, rivals):
    return Workload(
        function=function, arguments=halves, sizes=(512, 1024, 4096, 8192), laptop_sizes=(512,), small=64,
        shape=lambda n: f"{n} x {n} float16", moved=lambda n: 2 * 2 * n * n, flops=lambda n: 3 * n * n,
        terms=lambda n: n, dtype="float16", naive="PyTorch", rivals=rivals)


WORKLOADS = (
    of_rows("row_softmax", {"torch.compile": Compiled(softmax), "PyTorch": softmax}),
    of_rows("row_log_softmax", {"torch.compile": Compiled(log_softmax), "PyTorch": log_softmax}),
)
