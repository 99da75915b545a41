"""What `./course bench week3/day4` measures: attention in one matrix of scores, against PyTorch's ways to do it."""

from tools.course.content.workload import Compiled, Workload, tensors

HEADS, D = 8, 64


def step_by_step(q, k, v):
    import torch

    return torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1) @ v


def one_call(q, k, v):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


WORKLOADS = (
    Workload(
        function="attention", arguments=lambda n, rng: tensors(rng, *[(1, HEADS, n, D)] * 3),
        sizes=(512, 1024, 2048, 4096, 8192), laptop_sizes=(512,), small=64,
        shape=lambda n: f"{HEADS} heads, {n} x {n}, d = {D}, float32",
        moved=lambda n: 4 * 4 * HEADS * n * D, flops=lambda n: 4 * HEADS * n * n * D, terms=lambda n: n,
        naive="step by step",
        rivals={"PyTorch": one_call, "torch.compile": Compiled(step_by_step), "step by step": step_by_step}),
)
