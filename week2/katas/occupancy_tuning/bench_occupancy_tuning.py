"""What `./course bench week2/katas/occupancy_tuning` measures: few threads with much to do, against PyTorch."""

from tools.course.content.workload import OnTensors, Workload, cupy_arrays

MONTHS, FACTOR, DEPOSIT = 64, 0.999, 1.5


def accounts(n, rng):
    return *cupy_arrays(rng, n), MONTHS, FACTOR, DEPOSIT


def month_by_month(x, months, factor, deposit):
    for _ in range(months):
        x = x * factor + deposit
    return x


WORKLOADS = (
    Workload(
        function="balances", arguments=accounts, sizes=(2**16, 2**20, 2**24), laptop_sizes=(4096,), small=4096,
        shape=lambda n: f"{n} float32", moved=lambda n: 2 * 4 * n, flops=lambda n: 2 * MONTHS * n,
        terms=lambda n: MONTHS, rivals={"PyTorch": OnTensors(month_by_month)}),
    Workload(
        function="total", arguments=lambda n, rng: tuple(map(abs, cupy_arrays(rng, n))),
        sizes=(2**20, 2**24, 2**28), laptop_sizes=(65536,), small=2**15, shape=lambda n: f"{n} float32",
        moved=lambda n: 4 * n, flops=lambda n: n, terms=lambda n: n,
        rivals={"PyTorch": OnTensors(lambda x: x.sum().reshape(1))}),
)
