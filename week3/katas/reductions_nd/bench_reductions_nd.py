"""What `./course bench week3/katas/reductions_nd` measures: moments along rows and along columns, beside PyTorch."""

from tools.course.content.workload import Compiled, Workload, tensors


def along(axis):
    def arguments(n, rng):
        return *tensors(rng, (n, n)), axis

    return arguments


def by_torch(x, axis):
    import torch

    var, mean = torch.var_mean(x, axis, keepdim=True)
    return mean, var


def by_formula(x, axis):
    mean = x.mean(axis, keepdim=True)
    return mean, (x - mean).square().sum(axis, keepdim=True) / (x.shape[axis] - 1)


def of_squares(axis, words):
    return Workload(
        function="moments", arguments=along(axis), sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=64,
        shape=lambda n: f"{n} x {n} float32, {words}", moved=lambda n: 4 * n * n + 8 * n, flops=lambda n: 4 * n * n,
        terms=lambda n: n, naive="PyTorch", rivals={"torch.compile": Compiled(by_formula), "PyTorch": by_torch})


WORKLOADS = (of_squares(1, "along rows"), of_squares(0, "along columns"))
