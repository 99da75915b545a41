"""What `./course bench week1/katas/elementwise` measures: a * x + y by threads and programs, and its relu fused."""

from tools.course.content.workload import Compiled, Workload, tensors

A = 0.7


def saxpy(a, x, y):
    import torch

    return torch.add(y, x, alpha=a)


def saxpy_and_relu(a, x, y):
    import torch

    return torch.relu(torch.add(y, x, alpha=a))


def of_vectors(function, **rivals):
    return Workload(
        function=function, arguments=lambda n, rng: (A, *tensors(rng, n, n)),
        sizes=(2**16, 2**20, 2**24, 2**26), laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 3 * 4 * n, flops=lambda n: 2 * n, **rivals)  # x and y are read, the result is written


WORKLOADS = (
    of_vectors("cuda_saxpy", rivals={"PyTorch": saxpy}),
    of_vectors("triton_saxpy", rivals={"PyTorch": saxpy}),
    of_vectors("fused", naive="PyTorch, one after the other",
               rivals={"torch.compile": Compiled(saxpy_and_relu), "PyTorch, one after the other": saxpy_and_relu}),
)
