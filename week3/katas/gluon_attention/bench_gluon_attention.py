"""What `./course bench week3/katas/gluon_attention` measures: attention of 16 heads, against cuDNN."""

from tools.course.content.workload import Workload, tensors
from week3.katas.gluon_attention.run_gluon_attention import by_cudnn

HEADS = 16


def halves(d, causal):
    def arguments(n, rng):
        import torch

        return *(tensor.to(torch.float16) for tensor in tensors(rng, *[(1, HEADS, n, d)] * 3)), causal
    return arguments


def workload(d, causal):
    return Workload(
        function="attention_alone", arguments=halves(d, causal), sizes=(1024, 2048, 4096, 8192), laptop_sizes=(256,),
        small=256, shape=lambda n: f"{HEADS} heads, {n} x {n}, d = {d}, float16{', causal' if causal else ''}",
        moved=lambda n: HEADS * n * (4 * 2 * d + 4),  # q, k, v, out; and lse in float32
        flops=lambda n: 4 * HEADS * n * n * d // (2 if causal else 1), terms=lambda n: n, dtype="float16",
        apart=0.01,  # both round the weights to float16, each below a maximum of its own: up to .003
        rivals={"cuDNN": by_cudnn})


WORKLOADS = (workload(128, False), workload(128, True), workload(64, False))
