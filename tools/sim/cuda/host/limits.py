"""Limits that a launch must keep to, in the words of the driver."""

import math

from tools.models.launch import MOST_BLOCK, MOST_GRID
from tools.sim.cuda.host.errors import CUDAError
from tools.sim.cuda.memory.space import MOST_SHARED

CONSTANT = 64 * 1024  # bytes of constant memory: CUDA C++ Programming Guide 13, Compute Capabilities


def check_launch(grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, most_threads: int) -> None:
    """Raise ValueError or CUDAError for a launch that the driver refuses. shared: bytes of dynamic shared memory."""
    for name, sizes in (("grid", grid), ("block", block)):
        if min(sizes) < 1:
            raise ValueError(f"LaunchConfig.{name} values must be >= 1 (got {sizes})")
    threads = math.prod(block)
    if threads > most_threads:
        raise _refused(f"A block of {threads:,} threads is too large: it can have {most_threads:,}.")
    for name, sizes, most in (("block", block, MOST_BLOCK), ("grid", grid, MOST_GRID)):
        for axis, size, length in zip("xyz", sizes, most):
            if size > length:
                raise _refused(f"A {name} of {size:,} along {axis} is too large: it can have {length:,}.")
    if not 0 <= shared <= MOST_SHARED:
        raise _refused(f"A block can have {MOST_SHARED:,} bytes of shared memory, not {shared:,}.")


def check_cooperative(grid: tuple[int, int, int], most: int) -> None:
    """Raise ValueError for a grid whose blocks wait for each other, and of which not all run at once."""
    if math.prod(grid) > most:
        raise ValueError(
            f"The specified grid size ({' * '.join(map(str, grid))}) exceeds the limit ({most}):\n"
            "blocks that wait for each other must all run at once."
        )


def _refused(why: str) -> CUDAError:
    return CUDAError(f"CUDA_ERROR_INVALID_VALUE: the driver refuses this launch.\n{why}")
