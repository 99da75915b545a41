"""What `./course bench week2/katas/scan` measures: three scans of float32, and sums of segments, against PyTorch."""

from tools.course.content.workload import Workload, tensors

MEAN = 32  # elements of a segment


def by_torch(x):
    import torch

    return torch.cumsum(x, 0)


def by_torch_too(x):
    import torch

    out = x.new_zeros(x.shape)
    torch.cumsum(x[:-1], 0, out=out[1:])
    return out


def segments(n, rng):
    import torch

    x, = tensors(rng, n)
    ids = torch.sort(torch.from_numpy(rng.integers(0, n // MEAN, n)).to(x.device, torch.int32)).values
    return ids, x, n // MEAN


def by_index_add(ids, x, segments):
    return x.new_zeros(segments).index_add_(0, ids, x)


def whole_numbers(n, rng):
    """-4 to 4: all sums along the way are exact in float32, so that every order of adding gives the same."""
    import torch

    x, = tensors(rng, 1)
    return (torch.from_numpy(rng.integers(-4, 5, n)).to(x.device, torch.float32),)


def of_vectors(function, sizes, small, **rivals):
    return Workload(
        function=function, arguments=whole_numbers, sizes=sizes, laptop_sizes=(4096,), small=small,
        shape=lambda n: f"{n} float32", moved=lambda n: 8 * n, flops=lambda n: n, terms=lambda n: n, rivals=rivals)


WORKLOADS = (
    of_vectors("scan_hillis_steele", (256,), 256, PyTorch=by_torch),
    of_vectors("exclusive_scan", (2**16, 2**20, 2**24), 1024, PyTorch=by_torch_too),
    Workload(
        function="segment_sums", arguments=segments, sizes=(2**16, 2**20, 2**24), laptop_sizes=(4096,), small=4096,
        shape=lambda n: f"{n} float32 in {n // MEAN} segments", moved=lambda n: 8 * n, flops=lambda n: n,
        terms=lambda n: 8 * MEAN, rivals={"PyTorch": by_index_add}),
    of_vectors("inclusive_scan", (2**16, 2**20, 2**24, 10**8), 4 * 4096, PyTorch=by_torch),
)
