"""What `./course bench week1/katas/debugging` measures: the four kernels, repaired, each against PyTorch."""

from tools import gpu
from tools.course.content.workload import OnTensors, Workload, cupy_arrays, tensors

WIDTH = 1000  # of a row: no power of two


def half_precision(n, rng):
    import torch

    return (torch.from_numpy(rng.uniform(1, 2, (n, WIDTH))).to(gpu.device, torch.float16),)


def loudness(x):
    return x.square().mean(dim=1).sqrt()


def shares(x):
    import torch

    return (x / x.sum(dim=1, keepdim=True, dtype=torch.float32)).to(x.dtype)


def smooth(x):
    import torch

    return (torch.cat([x[:1], x[:-1]]) + x) / 2


def standardise(x):
    apart = x - x.mean(dim=1, keepdim=True)
    return apart / apart.square().mean(dim=1, keepdim=True).sqrt()


def of_rows(function, arguments, rival, *, moved, flops, dtype="float32"):
    """moved: bytes of a row, read and written. flops: for an element."""
    return Workload(
        function=function, arguments=arguments, sizes=(2**10, 2**13, 2**16), laptop_sizes=(64,), small=8,
        shape=lambda n: f"{n} x {WIDTH} {dtype}", moved=lambda n: moved * n, flops=lambda n: flops * WIDTH * n,
        terms=lambda n: WIDTH, dtype=dtype, rivals={"PyTorch": rival})


WORKLOADS = (
    of_rows("standardise", lambda n, rng: tensors(rng, (n, WIDTH)), standardise,
            moved=2 * 4 * WIDTH, flops=5),
    of_rows("shares", half_precision, shares, moved=2 * 2 * WIDTH, flops=2, dtype="float16"),
    Workload(
        function="smooth", arguments=lambda n, rng: cupy_arrays(rng, n),
        sizes=(2**16, 2**20, 2**24), laptop_sizes=(65536,), small=4096, shape=lambda n: f"{n} float32",
        moved=lambda n: 2 * 4 * n, flops=lambda n: 2 * n, rivals={"PyTorch": OnTensors(smooth)}),
    of_rows("loudness", lambda n, rng: tensors(rng, (n, WIDTH)), loudness, moved=4 * WIDTH + 4, flops=2),
)
