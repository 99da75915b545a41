"""What `./course bench week3/katas/rmsnorm` measures: addition and norm both ways, beside PyTorch and the compiler."""

from tools.course.content.workload import Compiled, Workload, tensors

EPS = 1e-6


def rows(n):
    """As many as a row is long, and more than the 132 programs of the way back."""
    return max(n, 512)


def rows_of(n, rng):
    return tensors(rng, (rows(n), n), (rows(n), n), n)


def by_formula(x, residual, weight):
    total = x + residual
    rstd = (total.square().mean(1, keepdim=True) + EPS).rsqrt()
    return total * rstd * weight, total


def by_torch(x, residual, weight):
    import torch

    total = x + residual
    return torch.nn.functional.rms_norm(total, weight.shape, weight, EPS), total


def on_the_way_back(n, rng):
    d_y, d_total, total, weight = tensors(rng, *[(rows(n), n)] * 3, n)
    return d_y, d_total, total, weight, (total.square().mean(1) + EPS).rsqrt()


def back_by_formula(d_y, d_total, total, weight, rstd):
    x_hat, g = total * rstd[:, None], d_y * weight
    d_x = (g - x_hat * (g * x_hat).mean(1, keepdim=True)) * rstd[:, None] + d_total
    return d_x, (d_y * x_hat).sum(0)


def of_rows(function, arguments, flops, rivals):
    """Each way four matrices: x, residual, total, y; and d_y, total, d_total, d_x."""
    return Workload(
        function=function, arguments=arguments, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=64,
        shape=lambda n: f"{rows(n)} rows of {n} float32", moved=lambda n: 4 * 4 * rows(n) * n,
        flops=lambda n: flops * rows(n) * n, terms=rows, naive="PyTorch", rivals=rivals)


WORKLOADS = (
    of_rows("add_rmsnorm", rows_of, 5, {"torch.compile": Compiled(by_formula), "PyTorch": by_torch}),
    of_rows("rmsnorm_backward", on_the_way_back, 9, {"torch.compile": Compiled(back_by_formula),
                                                     "PyTorch": back_by_formula}),
)
