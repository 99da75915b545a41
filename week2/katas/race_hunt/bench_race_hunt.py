"""What `./course bench week2/katas/race_hunt` measures: the kernels, mended, each against PyTorch."""

import torch

from tools import gpu
from tools.course.content.workload import Workload, tensors

BINS = 16


def vector(n, rng):
    return tensors(rng, n)


def two_vectors(n, rng):
    return tensors(rng, n, n)


def rows_of(columns):
    return lambda n, rng: tensors(rng, (n // columns, columns))


def integers(n, rng):
    return (torch.from_numpy(rng.integers(0, BINS, n)).to(gpu.device, torch.int32),)


def turned(x):
    return x.view(-1, 64).flip(1).reshape(-1)


def summed(x):
    return x.sum(dim=1)


def below(x):
    pieces = x.view(-1, 64)
    return (pieces.amax(dim=1, keepdim=True) - pieces).view(-1)


def snaked(x):
    out = x.clone()
    out[1::2] = x[1::2].flip(1)
    return out


def counted(x):
    return torch.bincount(x, minlength=BINS).to(torch.int32)


def woven(a, b):
    return torch.stack([a, b], dim=1).view(-1)


def tripled(x):
    padded = torch.nn.functional.pad(x, (1, 1))
    return padded[:-2] + padded[1:-1] + padded[2:]


def stepped(x):
    return torch.diff(x, append=x.new_zeros(1))


def of_elements(function, rival, arguments=vector, *, moved=8, flops=0, terms=1, dtype="float32"):
    """moved: bytes of an element, read and written. flops: for an element."""
    return Workload(
        function=function, arguments=arguments, sizes=(2**16, 2**20, 2**24), laptop_sizes=(4096,), small=1024,
        shape=lambda n: f"{n} {dtype}", moved=lambda n: moved * n, flops=lambda n: flops * n,
        terms=lambda n: terms, dtype=dtype, rivals={"PyTorch": rival})


WORKLOADS = (
    of_elements("mirror", turned),
    of_elements("row_sums", summed, rows_of(32), moved=4, flops=1, terms=32),
    of_elements("below_largest", below, integers, dtype="int32"),
    of_elements("snake", snaked, rows_of(64)),
    of_elements("histogram", counted, integers, moved=4, dtype="int32"),
    of_elements("interleave", woven, two_vectors, moved=16),
    of_elements("triples", tripled, flops=2, terms=3),
    of_elements("steps", stepped, flops=1),
)
