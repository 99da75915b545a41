"""What `./course bench week3/day6` measures: one head of attention in one launch, against PyTorch's ways to do it."""

from tools.course.content.workload import Compiled, Workload, tensors

D = 64


def eager(q, k, v):
    import torch

    return torch.softmax(q @ k.T * q.shape[1] ** -0.5, 1) @ v


def one_call(q, k, v):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]


WORKLOADS = (
    Workload(
        function="attention", arguments=lambda n, rng: tensors(rng, *[(n, D)] * 3),
        sizes=(256, 512, 1024, 2048, 4096), laptop_sizes=(64,), small=64,
        shape=lambda n: f"one head, {n} x {n}, d = {D}, float32",
        moved=lambda n: 4 * 4 * n * D, flops=lambda n: 4 * n * n * D, terms=lambda n: n, naive="eager",
        rivals={"PyTorch": one_call, "torch.compile": Compiled(eager), "eager": eager}),
)
