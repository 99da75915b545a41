"""What `./course bench week2/katas/benchmark` measures: y + 2 * x, as the table of the kata has it."""

from tools.course.content.workload import Compiled, Workload, tensors


def vectors(n, rng):
    return tensors(rng, n, n)


def in_two_steps(x, y):
    return y + 2 * x


def in_one(x, y):
    import torch

    return torch.add(y, x, alpha=2)


WORKLOADS = tuple(
    Workload(
        function=function, arguments=vectors, sizes=(2**20, 2**24, 2**26), laptop_sizes=(65536,), small=4096,
        shape=lambda n: f"{n} float32", moved=lambda n: 12 * n, flops=lambda n: 2 * n, naive="PyTorch, two steps",
        rivals={"PyTorch": in_one, "torch.compile": Compiled(in_two_steps), "PyTorch, two steps": in_two_steps})
    for function in ("by_cuda", "by_triton"))
