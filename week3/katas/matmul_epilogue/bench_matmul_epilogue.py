"""What `./course bench week3/katas/matmul_epilogue` measures: both ways, beside the compiler and PyTorch."""

from tools.course.content.workload import Compiled, Workload, tensors

K = 1024  # where the epilogue weighs as much as the product: a transformer's width


def operands(n, rng):
    import torch

    return tuple(x.to(torch.float16) for x in tensors(rng, (n, K), (K, n), n, (n, n)))


def by_formula(a, b, bias, residual):
    import torch

    return torch.nn.functional.gelu(torch.addmm(bias, a, b)) + residual


def on_the_way_back(n, rng):
    import torch

    return tuple(x.to(torch.float16) for x in tensors(rng, (n, n), (n, n)))


def back_by_formula(d_out, z):
    import torch

    wide = z.float()
    cdf = 0.5 * (1.0 + torch.erf(wide * 0.5**0.5))
    d_z = d_out * (cdf + wide * torch.exp(-0.5 * wide * wide) * 0.3989422804014327)
    return d_z.to(z.dtype), d_z.sum(0).to(z.dtype)


def back_by_torch(d_out, z):
    import torch

    d_z = torch.ops.aten.gelu_backward(d_out, z)
    return d_z, d_z.sum(0)


WORKLOADS = (
    Workload(
        function="linear_gelu", arguments=operands, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(64,), small=160,
        shape=lambda n: f"{n} x {K} times {K} x {n} float16", moved=lambda n: 2 * (2 * K * n + 2 * n * n + n),
        flops=lambda n: 2 * n * n * K, terms=lambda n: K, dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(by_formula), "PyTorch": by_formula}),
    Workload(
        function="fused_backward", arguments=on_the_way_back, sizes=(1024, 2048, 4096, 8192), laptop_sizes=(128,),
        small=64, shape=lambda n: f"{n} x {n} float16", moved=lambda n: 2 * 3 * n * n, flops=lambda n: 12 * n * n,
        terms=lambda n: n, dtype="float16", naive="PyTorch",
        rivals={"torch.compile": Compiled(back_by_formula), "PyTorch": back_by_torch}),
)
