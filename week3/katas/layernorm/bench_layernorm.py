"""What `./course bench week3/katas/layernorm` measures: both ways of a layer norm, beside PyTorch and the compiler."""

from tools.course.content.workload import Compiled, Workload, tensors

EPS = 1e-5


def rows(n):
    """As many as a row is long, and more than there are programs on the way back."""
    return max(n, 256)


def rows_of(n, rng):
    return tensors(rng, (rows(n), n), n, n)


def by_torch(x, weight, bias):
    import torch

    y, mean, rstd = torch.native_layer_norm(x, weight.shape, weight, bias, EPS)
    return y, mean[:, 0], rstd[:, 0]


def by_formula(x, weight, bias):
    mean = x.mean(1, keepdim=True)
    rstd = ((x - mean).square().mean(1, keepdim=True) + EPS).rsqrt()
    return (x - mean) * rstd * weight + bias, mean[:, 0], rstd[:, 0]


def on_the_way_back(n, rng):
    d_out, x, weight = tensors(rng, (rows(n), n), (rows(n), n), n)
    mean = x.mean(1)
    return d_out, x, weight, mean, (x.var(1, unbiased=False) + EPS).rsqrt()


def back_by_torch(d_out, x, weight, mean, rstd):
    import torch

    columns = mean[:, None], rstd[:, None]
    return torch.ops.aten.native_layer_norm_backward(d_out, x, weight.shape, *columns, weight, weight, [True] * 3)


def back_by_formula(d_out, x, weight, mean, rstd):
    x_hat, g = (x - mean[:, None]) * rstd[:, None], d_out * weight
    d_x = (g - g.mean(1, keepdim=True) - x_hat * (g * x_hat).mean(1, keepdim=True)) * rstd[:, None]
    return d_x, (d_out * x_hat).sum(0), d_out.sum(0)


def of_rows(function, arguments, matrices, vectors, flops, rivals):
    return Workload(
        function=function, arguments=arguments, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,), small=64,
        shape=lambda n: f"{rows(n)} rows of {n} float32", terms=rows,
        moved=lambda n: 4 * (matrices * rows(n) * n + 2 * rows(n) + vectors * n),  # 2: mean and rstd
        flops=lambda n: flops * rows(n) * n, naive="PyTorch", rivals=rivals)


WORKLOADS = (
    of_rows("layernorm_forward", rows_of, 2, 2, 7, {"torch.compile": Compiled(by_formula), "PyTorch": by_torch}),
    of_rows("layernorm_backward", on_the_way_back, 3, 3, 13, {
        "torch.compile": Compiled(back_by_formula), "PyTorch": back_by_torch}),
)
