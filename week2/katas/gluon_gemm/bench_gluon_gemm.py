"""What `./course bench week2/katas/gluon_gemm` measures: the product against cuBLAS, and in FP8 against _scaled_mm."""

from tools.course.content.workload import Workload, tensors
from week2.katas.gluon_gemm.run_gluon_gemm import library


def operands(dtype):
    def arguments(n, rng):
        import torch

        return tuple(tensor.to(torch.bfloat16).to(getattr(torch, dtype)) for tensor in tensors(rng, (n, n), (n, n)))
    return arguments


def of_squares(dtype, itemsize, rival):
    return Workload(
        function="linear", arguments=operands(dtype), sizes=(1024, 2048, 4096, 8192), laptop_sizes=(256,), small=256,
        shape=lambda n: f"{n} x {n} {dtype}", moved=lambda n: (2 * itemsize + 2) * n * n, flops=lambda n: 2 * n**3,
        terms=lambda n: n, dtype="bfloat16", rivals={rival: library})


WORKLOADS = (of_squares("bfloat16", 2, "cuBLAS"), of_squares("float8_e4m3fn", 1, "torch._scaled_mm"))
