"""What `./course bench week3/day7` measures: attention of 16 heads in float16, with a causal mask and without."""

from tools.course.content.workload import Compiled, Workload, tensors

HEADS, SMALL = 16, 256


def heads(n):
    """One where every access is drawn: then the picture shows which queries meet which keys."""
    return 1 if n == SMALL else HEADS


def halves(rng, *shapes):
    import torch

    return tuple(tensor.to(torch.float16) for tensor in tensors(rng, *shapes))


def by_cudnn(q, k, v, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = SDPBackend.CUDNN_ATTENTION if q.is_cuda else SDPBackend.MATH
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def step_by_step(q, k, v, causal):
    import torch

    scores = (q @ k.mT).float() * q.shape[-1] ** -0.5
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, -1).to(v.dtype) @ v


def workload(d, causal):
    return Workload(
        function="flash_attention", arguments=lambda n, rng: (*halves(rng, *[(1, heads(n), n, d)] * 3), causal),
        sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=SMALL,
        shape=lambda n: f"{heads(n)} head{'s' * (heads(n) > 1)}, {n} x {n}, d = {d}, float16{', causal' * causal}",
        moved=lambda n: heads(n) * n * (4 * 2 * d + 4),  # q, k, v, out; and lse in float32
        flops=lambda n: 4 * heads(n) * n * n * d // (2 if causal else 1), terms=lambda n: n, dtype="float16",
        naive="step by step", apart=0.05,  # the rivals round weights to float16, step by step scores too: up to .02
        rivals={"cuDNN": by_cudnn, "torch.compile": Compiled(step_by_step), "step by step": step_by_step})


WORKLOADS = (workload(128, True), workload(64, False))
