"""What `./course bench week1/katas/embedding_lookup` measures: rows of 1024 float32 by random ids, against PyTorch."""

from tools import gpu
from tools.course.content.workload import Workload, tensors

ROWS, WIDTH = 2**14, 1024


def table_and_ids(n, rng):
    import torch

    table, = tensors(rng, (ROWS, WIDTH))
    return table, torch.from_numpy(rng.integers(0, ROWS, n)).to(gpu.device)


def embedding(table, ids):
    import torch

    return torch.nn.functional.embedding(ids, table)


WORKLOADS = (
    Workload(
        function="lookup", arguments=table_and_ids, sizes=(2**12, 2**15, 2**18), laptop_sizes=(64,), small=64,
        shape=lambda n: f"{n} rows of {WIDTH} float32",
        moved=lambda n: 4 * WIDTH * (min(n, ROWS) + n) + 8 * n,  # a row that many ids name need be read once
        flops=lambda n: 2 * n,  # the address of each row; copying has none
        rivals={"PyTorch": embedding}),
)
