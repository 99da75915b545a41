"""What `./course bench week3/katas/softmax_dropout` measures: softmax with dropout beside PyTorch and the compiler.

Each draws a mask of its own, so p is 0 here: all work is done, and the results agree.
"""

from tools.course.content.workload import Compiled, Workload, tensors

P, SEED = 0.0, 7


def operands(n, rng):
    scores, = tensors(rng, (n, n))
    return scores.half(), P, SEED


def by_torch(scores, p, seed):
    import torch

    return torch.dropout(torch.softmax(scores, 1), p, True), torch.logsumexp(scores.float(), 1, keepdim=True)


WORKLOADS = (
    Workload(
        function="softmax_dropout_forward", arguments=operands, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,),
        small=64, shape=lambda n: f"{n} x {n} float16", moved=lambda n: 4 * n * n, flops=lambda n: 8 * n * n,
        terms=lambda n: n, dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(by_torch), "PyTorch": by_torch}),
)
