"""What `./course bench week3/katas/flash_backward` measures: the backward alone, against those of cuDNN and PyTorch."""

from tools.course.content.workload import Workload, tensors

HEADS, SMALL = 16, 256


def heads(n):
    """One where every access is drawn: then the picture shows which queries meet which keys."""
    return 1 if n == SMALL else HEADS


class Backward:
    """The backward of an attention: its forward is run once for each set of arguments, its graph is kept.

    Without a GPU nothing is timed, and the rival computes in float32, to be compared with.
    """

    def __init__(self, forward):
        self.forward, self.of, self.graph = forward, None, None

    def __call__(self, q, k, v, o, lse, d_out, causal, scale):
        import torch

        if self.of != (place := (q.data_ptr(), q.shape, causal)):
            leaves = [(x if x.is_cuda else x.float()).detach().requires_grad_() for x in (q, k, v)]
            self.of, self.graph = place, (self.forward(*leaves, causal, scale), leaves)
        found = torch.autograd.grad(*self.graph, d_out.to(self.graph[0].dtype), retain_graph=True)
        return tuple(x.to(q.dtype) for x in found)


def by_cudnn(q, k, v, causal, scale):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = SDPBackend.CUDNN_ATTENTION if q.is_cuda else SDPBackend.MATH
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def by_flash(q, k, v, causal, scale):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = SDPBackend.FLASH_ATTENTION if q.is_cuda else SDPBackend.MATH
    with sdpa_kernel(backend):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def step_by_step(q, k, v, causal, scale):
    import torch

    scores = (q @ k.mT).float() * scale
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, -1).to(v.dtype) @ v


def operands(d, causal):
    def arguments(n, rng):
        import torch

        q, k, v, d_out = (x.to(torch.bfloat16) for x in tensors(rng, *[(1, heads(n), n, d)] * 4))
        out, lse = one_head_at_a_time(q, k, v, causal, d**-0.5)
        return q, k, v, out, lse, d_out, causal, d**-0.5
    return arguments


def one_head_at_a_time(q, k, v, causal, scale):
    """out and lse by the lesson's forward, whose scores of all heads might not fit."""
    import torch
    from week3.katas.flash_backward.flash_backward import attention_forward

    heads = [attention_forward(*(x[:, head:head + 1] for x in (q, k, v)), causal, scale) for head in range(q.shape[1])]
    return tuple(torch.cat(parts, 1) for parts in zip(*heads))


def workload(d, causal):
    return Workload(
        function="attention_backward", arguments=operands(d, causal),
        sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=SMALL,
        shape=lambda n: f"{heads(n)} head{'s' * (heads(n) > 1)}, {n} x {n}, d = {d}, bfloat16{', causal' * causal}",
        moved=lambda n: heads(n) * n * (8 * 2 * d + 4),  # q, k, v, out, d_out and three gradients; lse in float32
        flops=lambda n: 10 * heads(n) * n * n * d // (2 if causal else 1), terms=lambda n: 2 * n, dtype="bfloat16",
        naive="step by step",
        # bfloat16 has 3 digits. A query that sees few keys has gradients that nearly cancel, and more of a difference.
        apart=0.5 if causal else 0.2,
        rivals={"cuDNN": Backward(by_cudnn), "FlashAttention-2": Backward(by_flash),
                "step by step": Backward(step_by_step)})


WORKLOADS = (workload(128, True), workload(64, False))
