"""Two kernels that do the same work, one of them slowly: what `course demo` runs, and what was counted."""
# mypy: allow-untyped-defs
# The kernels are shown as a learner writes them, without types.

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.models.units import SECTOR
from tools.sim import cuda
from tools.sim.counters import Counters
from tools.sim.recording import record

SIDE = 256  # rows and columns
BLOCK = (32, 8)  # threads, x first: a warp is 32 threads that differ in x


@cuda.jit
def slow(image, out):
    row, col = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = 2 * image[row, col]


@cuda.jit
def fast(image, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        out[row, col] = 2 * image[row, col]


@dataclass(frozen=True)
class Measured:
    """One kernel's run: whether its result is right, and the counters of its one launch."""

    name: str
    source: str
    right: bool
    counters: Counters

    @property
    def asked(self) -> int:
        """Bytes of the sectors that its warps ask for, whole ones, wanted or not."""
        return SECTOR * self.counters.sectors


def run(kernel: Any) -> Measured:
    """Run `slow` or `fast` on an image in the simulator, GPU or not: these figures are the same everywhere."""
    image = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE)
    on_gpu, out = cuda.to_device(image), cuda.device_array(image.shape, np.float32)
    grid = SIDE // BLOCK[0], SIDE // BLOCK[1]
    with record() as counters:
        kernel[grid, BLOCK](on_gpu, out)
    source = inspect.getsource(kernel.py_func).split("\n", 1)[1]  # without the decorator
    right = bool((out.copy_to_host() == 2 * image).all())
    return Measured(kernel.py_func.__name__, source, right, counters)
