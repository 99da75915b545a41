"""The CUDA kernels of the reference solutions with one barrier, mask or guard less: none of that goes unnoticed."""

import math

import numpy as np
import pytest

from tools import ROOT
from tools.sim.cuda.faults import Fault
from tools.tests.sim.cuda.corpus.inject import Mutant, inject

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
FILES = [file for file in sorted((ROOT / "reference").rglob("*.py")) if "@cuda.jit" in file.read_text(encoding="utf-8")]
MUTANTS = [mutant for file in FILES for mutant in inject(file)]


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


LAUNCHES = {  # kernel -> launch configuration and arguments; the last array is what it writes
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
}
CALLERS = {"warp_sum": "shuffle_kernel"}  # device function -> a kernel that calls it


EXCUSED = {  # function and changed line -> why its results are right all the same
    (
        "smooth_kernel",
        "if False:",
    ): "Every thread then loads the number before its own: dearer, which the lesson counts.",
    (
        "shuffle_kernel",
        "if True:  # the whole first warp: its shuffles need all lanes",
    ): "Every warp then adds what the first one adds; one thread passes it on.",
}


def run(module, name: str) -> np.ndarray:
    kernel = CALLERS.get(name, name)
    grid_and_block, arguments = LAUNCHES[kernel]()
    getattr(module, kernel)[grid_and_block](*arguments)
    return [each for each in arguments if isinstance(each, np.ndarray)][-1]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file.stem}: {mutant}")
def test_a_kernel_of_a_lesson_without_one_of_its_safeguards_is_found_out(mutant: Mutant, tmp_path):
    name = mutant.function
    whole = run(Mutant(mutant.file, "", name, 0, "", mutant.file.read_text(encoding="utf-8")).load(tmp_path), name)
    try:
        found = "" if np.array_equal(run(mutant.load(tmp_path), name), whole, equal_nan=True) else "wrong result"
    except Fault as fault:
        found = fault.kind
    if (name, mutant.text.splitlines()[mutant.line - 1].strip()) in EXCUSED:
        assert not found, f"it is excused, but found out: {found}"
        return
    assert found, "it runs through, and the result is right"
    if mutant.kind != "guard":
        assert found != "wrong result", "the result is wrong, and no fault is raised"


def test_every_kernel_of_the_reference_solutions_is_launched_here():
    kernels = {mutant.function for mutant in MUTANTS}
    assert {"tiled_kernel", "simple_kernel"} <= kernels <= {*LAUNCHES, *CALLERS}
