"""What `./course bench week2/katas/warp_primitives` measures: rows of a matrix, one warp a row, against PyTorch."""

import torch

from tools import gpu
from tools.course.content.workload import Workload, tensors

COLUMNS = 1024


def positive_rows(rows, rng):
    x, = tensors(rng, (rows, 32))
    return (x.abs() + 0.1,)  # sums that do not cancel


def rows_of(rows, rng):
    x, = tensors(rng, (rows, COLUMNS))
    return (x.abs(),)  # running sums that do not cancel


def signed_rows(rows, rng):
    return tensors(rng, (rows, COLUMNS))


def one_negative(rows, rng):
    x, = rows_of(rows, rng)
    places = torch.from_numpy(rng.integers(0, COLUMNS, (rows, 1))).to(gpu.device)
    return (x.scatter(1, places, -1.0),)


def factors(rows, rng):
    return tensors(rng, (rows, 32), (32, 32))


def packed(x):
    """A stable sort by sign: there is no function for rows."""
    keep = x > 0
    order = torch.sort(keep, dim=1, descending=True, stable=True).indices
    return torch.where(keep, x, 0).gather(1, order), keep.sum(1, dtype=torch.int32)


def first(x):
    negative = x < 0
    found = negative.to(torch.uint8).argmax(1).to(torch.int32)
    return torch.where(negative.any(1), found, -1)


def of_rows(function, arguments, rival, *, columns=COLUMNS, moved=8, flops=1, terms=1, sizes=(2**8, 2**12, 2**16)):
    return Workload(
        function=function, arguments=arguments, sizes=sizes, laptop_sizes=(256,), small=8,
        shape=lambda rows: f"{rows} x {columns} float32", moved=lambda rows: moved * columns * rows,
        flops=lambda rows: flops * columns * rows, terms=lambda rows: terms, rivals={"PyTorch": rival})


WORKLOADS = (
    of_rows("shares", positive_rows, lambda x: x / x.sum(1, keepdim=True), columns=32, flops=2, terms=32,
            sizes=(2**12, 2**16, 2**20)),
    of_rows("scan_rows", rows_of, lambda x: x.cumsum(1), terms=COLUMNS),
    of_rows("compact_rows", signed_rows, packed),
    of_rows("first_negative", one_negative, first, moved=4),
    of_rows("product", factors, lambda x, w: x @ w, columns=32, flops=64, terms=32, sizes=(2**12, 2**16, 2**20)),
)
