"""What `./course bench week2/katas/streams` measures: 32 small products from pinned memory, against PyTorch's batch."""

import numpy as np

from tools.course.content.workload import Workload, arrays

COUNT, SIDE = 32, 32


def factors(k, rng):
    return *arrays(rng, (COUNT, SIDE, k), (COUNT, k, SIDE)), 8


def batched(a, b, streams):
    """One launch for all of them."""
    import torch

    from tools.gpu import device

    there = (torch.from_numpy(each).to(device) for each in (a, b))
    return torch.bmm(*there).cpu().numpy()


def by_numpy(a, b, streams):
    return np.matmul(a, b)


WORKLOADS = (
    Workload(
        function="products", arguments=factors, sizes=(256, 4096), laptop_sizes=(16,), small=16,
        shape=lambda k: f"{COUNT} x ({SIDE} x {k} by {k} x {SIDE}) float32",
        moved=lambda k: 4 * COUNT * (2 * SIDE * k + SIDE * SIDE), flops=lambda k: 2 * COUNT * SIDE * SIDE * k,
        crossed=lambda k: 4 * COUNT * (2 * SIDE * k + SIDE * SIDE), terms=lambda k: k,
        rivals={"PyTorch, one batch": batched, "NumPy": by_numpy}),
)
