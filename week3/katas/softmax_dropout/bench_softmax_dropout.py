"""What `./course bench week3/katas/softmax_dropout` measures: softmax with dropout, its backward, and attention.

Each draws a mask of its own, so p is 0 here: all work is done, and the results agree.
"""

from tools.course.content.workload import Compiled, Workload, tensors

P, SEED = 0.0, 7
D = 64


def forward_operands(n, rng):
    scores, = tensors(rng, (n, n))
    return scores.half(), P, SEED


def backward_operands(n, rng):
    import torch

    d_y, scores = tensors(rng, (n, n), (n, n))
    return d_y.half(), scores.half(), torch.logsumexp(scores.half().float(), 1, keepdim=True), P, SEED


def attention_operands(n, rng):
    return *tensors(rng, *[(n, D)] * 3), P, SEED


def forward(scores, p, seed):
    import torch

    return torch.dropout(torch.softmax(scores, 1), p, True), torch.logsumexp(scores.float(), 1, keepdim=True)


def backward(d_y, scores, lse, p, seed):
    """PyTorch's steps with the mask of p = 0, which keeps all."""
    import torch

    weights = torch.exp(scores.float() - lse)
    d_weights = torch.dropout(d_y.float(), p, True)
    return (weights * (d_weights - (weights * d_weights).sum(1, keepdim=True))).to(scores.dtype)


def attention(q, k, v, p, seed):
    import torch

    return torch.dropout(torch.softmax(q @ k.T * q.shape[1] ** -0.5, 1), p, True) @ v


def one_call(q, k, v, p, seed):
    import torch

    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q[None, None], k[None, None], v[None, None], dropout_p=p)[0, 0]


WORKLOADS = (
    Workload(
        function="softmax_dropout_forward", arguments=forward_operands, sizes=(1024, 2048, 4096, 8192),
        laptop_sizes=(128,), small=256, shape=lambda n: f"{n} x {n} float16", moved=lambda n: 4 * n * n + 4 * n,
        flops=lambda n: 8 * n * n, terms=lambda n: n, dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(forward), "PyTorch": forward}),
    Workload(
        function="softmax_dropout_backward", arguments=backward_operands, sizes=(1024, 2048, 4096, 8192),
        laptop_sizes=(128,), small=256, shape=lambda n: f"{n} x {n} float16", moved=lambda n: 6 * n * n + 4 * n,
        flops=lambda n: 8 * n * n, terms=lambda n: n, dtype="float16", naive="step by step",
        rivals={"torch.compile": Compiled(backward), "step by step": backward}),
    Workload(
        function="attention", arguments=attention_operands, sizes=(256, 512, 1024, 2048, 4096), laptop_sizes=(64,),
        small=64, shape=lambda n: f"one head, {n} x {n}, d = {D}, float32", moved=lambda n: 4 * 4 * n * D,
        flops=lambda n: 4 * n * n * D, terms=lambda n: n, naive="eager",
        rivals={"PyTorch": one_call, "torch.compile": Compiled(attention), "eager": attention}),
)
