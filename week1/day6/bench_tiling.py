"""What `./course bench week1/day6` measures: statistics of tiles, and the product by tiles."""

from tools.course.content.workload import Compiled, Workload, matmul_by_library, matmul_by_rows, tensors

TILE = 32


def statistics(x):
    """Mean and variance of each tile; the sides of x are multiples of TILE."""
    import torch

    tiles = x.reshape(x.shape[0] // TILE, TILE, x.shape[1] // TILE, TILE)
    variance, mean = torch.var_mean(tiles, dim=(1, 3), correction=0)
    return torch.stack([mean, variance])


WORKLOADS = (
    Workload(
        function="tile_statistics", arguments=lambda n, rng: tensors(rng, (n, n)),
        sizes=(256, 1024, 4096, 8192), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 4 * n * n + 8 * (n // TILE)**2, flops=lambda n: 4 * n * n, terms=lambda n: TILE * TILE,
        naive="PyTorch", rivals={"torch.compile": Compiled(statistics), "PyTorch": statistics}),
    Workload(
        function="matmul", arguments=lambda n, rng: tensors(rng, (n, n), (n, n)),
        sizes=(256, 512, 1024, 2048, 4096), laptop_sizes=(64,), small=64, shape=lambda n: f"{n} x {n} float32",
        moved=lambda n: 3 * 4 * n * n, flops=lambda n: 2 * n**3, terms=lambda n: n,
        naive="row by row", rivals={"cuBLAS": matmul_by_library, "row by row": matmul_by_rows}),
)
