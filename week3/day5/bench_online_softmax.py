"""What `./course bench week3/day5` measures: an output with its log-sum-exp in one read, softmax in two."""

from tools.course.content.workload import Compiled, Workload, tensors

N, D = 4096, 64  # keys of a row, and the length of a value
WIDE = 65536     # two blocks of softmax


def rows(n):
    """Rows of n scores: two where all is simulated."""
    return 2 if n == WIDE else 2048


def halves(rng, *shapes):
    import torch

    return tuple(tensor.to(torch.float16) for tensor in tensors(rng, *shapes))


def attended(scores, values):
    import torch

    weights = torch.softmax(scores.float(), -1).to(values.dtype)
    return (weights[:, None] @ values)[:, 0], torch.logsumexp(scores.float(), -1)


def by_pytorch(x):
    import torch

    return torch.softmax(x, -1)


def as_written(x):
    import torch

    wide = x.float()
    exponentials = torch.exp(wide - wide.amax(-1, keepdim=True))
    return (exponentials / exponentials.sum(-1, keepdim=True)).to(x.dtype)


WORKLOADS = (
    Workload(
        function="attend", arguments=lambda n, rng: halves(rng, (n, N), (n, N, D)),
        sizes=(32, 128, 512, 2048), laptop_sizes=(4,), small=2, shape=lambda n: f"{n} x {N} float16, d_v = {D}",
        moved=lambda n: 2 * n * (N + N * D + D) + 4 * n, flops=lambda n: 2 * n * N * D,
        terms=lambda n: N, dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(attended), "PyTorch": attended}),
    Workload(
        function="softmax", arguments=lambda n, rng: halves(rng, (rows(n), n)),
        sizes=(8192, 32768, 131072), laptop_sizes=(WIDE,), small=WIDE,
        shape=lambda n: f"{rows(n)} x {n} float16",
        moved=lambda n: 2 * 2 * n * rows(n),
        flops=lambda n: 2 * n * rows(n), terms=lambda n: n, dtype="float16",
        apart=0.02,  # weights of so many keys lie below float16's normal numbers, where a digit is 1 % of them
        rivals={"PyTorch": by_pytorch, "torch.compile": Compiled(as_written)}),
)
