"""The CUDA kernels of the reference solutions with one barrier, mask or guard less: none of that goes unnoticed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tools.sim.cuda.faults import Fault
from tools.tests.sim.cuda.corpus.inject import Mutant

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).uniform(1, 2, shape).astype(np.float32)


def vectors(n: int, inputs: int = 2, factor: tuple = (np.float32(3),)):
    """saxpy and its like: more threads than elements, the last warp with a remainder."""
    return (math.ceil(n / 64) + 1, 64), (*factor, *(values(n) for _ in range(inputs)), np.zeros(n, np.float32))


def levels(n: int):
    """Two rows, a thread for each column; the last block with a remainder."""
    return ((math.ceil(n / 64), 2), 64), (values(2, n), np.zeros((2, n), np.float32))


def products(m: int, n: int, k: int):
    """Tiles of 32 x 32 with remainders on all sides."""
    grid = math.ceil(n / 32), math.ceil(m / 32)
    return (grid, (32, 32)), (values(m, k), values(k, n), np.zeros((m, n), np.float32))


def transposed(m: int, n: int):
    """A thread for each element of tiles of 32 x 32, remainders on both sides."""
    return ((math.ceil(n / 32), math.ceil(m / 32)), (32, 32)), (values(m, n), np.zeros((n, m), np.float32))


def total(n: int):
    """Blocks of 256 threads, the last one with a remainder."""
    return (math.ceil(n / 256), 256), (values(n), np.zeros(1, np.float32))


def biased(m: int, n: int):
    """A thread for each element, the last block with a remainder."""
    return (math.ceil(m * n / 64), 64), (values(m, n), values(n), np.zeros((m, n), np.float32))


def gradients(m: int, n: int):
    """32 columns a block, the last one with a remainder; every third product is below 0."""
    product = np.where(np.arange(m * n) % 3, 1, -1).astype(np.float32).reshape(m, n)
    return (math.ceil(n / 32), (32, 32)), (values(m, n), product, np.zeros(n, np.float32))


def pixels(n: int):
    """A byte for each thread, the last block with a remainder."""
    return (math.ceil(n / 64), 64), (np.arange(n).astype(np.uint8), np.zeros(n, np.uint8))


def zeros(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.zeros(shape, dtype)


def integers(below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, below, shape).astype(np.int32)


def binned(n: int):
    """256 threads for each of three blocks; the last with a remainder, some values below 0 and above 1."""
    return (3, 256), (values(n) * np.float32(1.5) - np.float32(1.7), zeros(256, dtype=np.int64))


def keyed(n: int):
    """A value and a key for each thread, the last block with a remainder."""
    return (3, 256), (values(n), integers(20, n), zeros(20, dtype=np.int32))


def sparse(rows: int):
    """Row r has r % 3 numbers; more threads than rows."""
    indptr = np.cumsum([0, *(row % 3 for row in range(rows))]).astype(np.int32)
    indices = integers(rows, int(indptr[-1]))
    return (2, 64), (indptr, indices, values(len(indices)), values(rows), zeros(rows))


def rows_by_warps(*shape: int, out: tuple):
    """A warp for each row, and one more; some numbers below 0."""
    return (math.ceil((shape[0] + 1) / 2), 64), (values(*shape) - np.float32(1.3), *out)


LAUNCHES = {  # kernel -> launch configuration and arguments
    "saxpy_kernel": lambda: vectors(150),
    "cuda_scale_kernel": lambda: vectors(150, inputs=1),
    "cuda_relu_kernel": lambda: vectors(150, inputs=1, factor=()),
    "cuda_saxpy_kernel": lambda: vectors(150),
    "convert_kernel": lambda: levels(150),
    "smooth_kernel": lambda: ((3, 64), (values(150), np.zeros(150, np.float32))),
    "invert_kernel": lambda: pixels(150),
    "simple_kernel": lambda: products(33, 40, 35),
    "tiled_kernel": lambda: products(33, 40, 70),
    "take_kernel": lambda: ((3, 64), (values(600), np.zeros(150, np.float32), 3, 4)),
    "rows_kernel": lambda: (((2, 2), (32, 8)), (values(10, 40), np.zeros((10, 40), np.float32))),
    "bias_kernel": lambda: biased(7, 30),
    "bias_gradient_kernel": lambda: gradients(50, 40),
    "polynomial_kernel": lambda: ((2, 256), (values(300), values(16), np.zeros(300, np.float32))),
    **dict.fromkeys(("transpose_kernel", "padded_kernel", "swizzled_kernel"), lambda: transposed(33, 40)),
    **dict.fromkeys(
        ("atomic_kernel", "interleaved_kernel", "strided_kernel", "tree_kernel", "shuffle_kernel"), lambda: total(600)
    ),
    "numba_kernel": lambda: vectors(150, factor=()),
    "bins_kernel": lambda: ((3, 256), (values(600) - 1, zeros(600, dtype=np.int32))),
    **dict.fromkeys(("global_kernel", "private_kernel"), lambda: binned(600)),
    "max_kernel": lambda: keyed(600),
    "degree_kernel": lambda: ((3, 256), (integers(50, 2, 600), zeros(50, dtype=np.int32))),
    "sorted_kernel": lambda: ((1, 256), (np.sort(integers(50, 600)), zeros(50, dtype=np.int32))),
    "mirror_kernel": lambda: ((2, 64), (values(64 * 5), zeros(64 * 5))),
    "row_sums_kernel": lambda: ((3, 64), (values(64 * 3), zeros(6))),
    "below_largest_kernel": lambda: ((3, 64), (integers(99, 150), zeros(150, dtype=np.int32))),
    "snake_kernel": lambda: ((4, 64), (values(4, 64), zeros(4, 64))),
    "histogram_kernel": lambda: ((2, 64), (integers(16, 300), zeros(16, dtype=np.int32))),
    "interleave_kernel": lambda: ((3, 64), (values(192), values(192), zeros(384))),
    "triples_kernel": lambda: ((3, 64), (values(150), zeros(150))),
    "hillis_steele_kernel": lambda: ((1, 256), (values(200), zeros(200))),
    "blelloch_kernel": lambda: ((3, 256), (values(600), zeros(600), zeros(3))),
    "row_kernel": lambda: sparse(100),
    "step_kernel": lambda: ((3, 64), (values(150).astype(np.float64), zeros(150, dtype=np.float64), 3)),
    "matmul_kernel": lambda: (((2, 2), (32, 8)), (values(2, 10, 7), values(2, 7, 40), zeros(2, 10, 40), 1)),
    "active_kernel": lambda: ((1, 64), (zeros(50, dtype=np.int32),)),
    "shares_kernel": lambda: rows_by_warps(3, 20, out=(zeros(3, 20),)),
    "scan_kernel": lambda: rows_by_warps(3, 70, out=(zeros(3, 70),)),
    "compact_kernel": lambda: rows_by_warps(3, 70, out=(zeros(3, 70), zeros(3, dtype=np.int32))),
    "first_kernel": lambda: rows_by_warps(3, 70, out=(zeros(3, dtype=np.int32),)),
    "product_kernel": lambda: rows_by_warps(3, 32, out=(values(32, 32), zeros(3, 32))),
}
CALLERS = {  # device function -> a kernel that calls it
    "warp_sum": "shuffle_kernel",
    "bin_of": "global_kernel",
    "butterfly_sum": "shares_kernel",
    "warp_scan": "scan_kernel",
    "times_matrix": "product_kernel",
}


EXCUSED = {  # function, what it has no more, changed line -> why its results are right all the same
    ("hillis_steele_kernel", "t >= step", "if True:"): "The first threads add the 0 that stands for what lies before.",
    ("smooth_kernel", "t > 0", "if False:"): "Every thread loads the number before its own: dearer, which is counted.",
    (
        "shuffle_kernel",
        "t < WARP",
        "if True:  # the whole first warp: its shuffles need all lanes",
    ): "Every warp then adds what the first one adds; one thread passes it on.",
}


def run(module, name: str) -> list[np.ndarray]:
    """The arrays of a launch, after it."""
    kernel = CALLERS.get(name, name)
    grid_and_block, arguments = LAUNCHES[kernel]()
    getattr(module, kernel)[grid_and_block](*arguments)
    return [each for each in arguments if isinstance(each, np.ndarray)]


def test_a_kernel_of_a_lesson_without_one_of_its_safeguards_is_found_out(name, mutant: Mutant, tmp_path):
    function = mutant.function
    unchanged = replace(mutant, text=mutant.file.read_text(encoding="utf-8"))
    whole = run(unchanged.load(tmp_path), function)
    try:
        same = all(map(np.array_equal, run(mutant.load(tmp_path), function), whole))
        found = "" if same else "wrong result"
    except Fault as fault:
        found = fault.kind
    if (function, mutant.removed, mutant.text.splitlines()[mutant.line - 1].strip()) in EXCUSED:
        assert not found, f"it is excused, but found out: {found}"
        return
    assert found, "it runs through, and the result is right"
    if mutant.kind != "guard":
        assert found != "wrong result", "the result is wrong, and no fault is raised"
