"""What `./course bench week3/day1` measures: scores and cosines of many keys, against cuBLAS and torch.compile."""

from tools.course.content.workload import Compiled, Workload, tensors

D = 128  # elements of a key


def by_library(query, keys):
    return keys @ query


def scored(query, keys):
    return (query * keys).sum(1)


def measured(query, keys):
    return scored(query, keys) / (query.square().sum().sqrt() * keys.square().sum(1).sqrt())


def cosine_similarity(query, keys):
    import torch

    return torch.nn.functional.cosine_similarity(query[None], keys, dim=1)


def of_keys(function, flops, rivals, **more):
    return Workload(
        function=function, arguments=lambda n, rng: tensors(rng, D, (n, D)),
        sizes=(2**12, 2**16, 2**20, 2**22), laptop_sizes=(256,), small=256, shape=lambda n: f"{n} keys of {D} float32",
        moved=lambda n: 4 * (n * D + D + n), flops=lambda n: flops * n * D, terms=lambda n: D, rivals=rivals, **more)


WORKLOADS = (
    of_keys("scores", 2, {"cuBLAS": by_library, "torch.compile": Compiled(scored), "PyTorch": scored}, naive="PyTorch"),
    of_keys("cosines", 4, {"torch.compile": Compiled(measured), "PyTorch": cosine_similarity}, naive="PyTorch"),
)
