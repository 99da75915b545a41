"""All kernels with their inputs, which are the same wherever they run."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tools.tests.sim.cuda.profiler import hard, textbook


class Case(NamedTuple):
    """One launch. configuration: grid, block, stream and dynamic shared memory, as in kernel[...]."""

    name: str
    kernel: object
    configuration: tuple
    arguments: tuple
    group: str


def cases() -> Iterator[Case]:
    """In the order in which they are launched under the profiler."""
    for group in (textbook, hard):
        for name, kernel, grid, block, arguments in group.cases(_array):
            shared = getattr(group, "DYNAMIC", {}).get(name, 0)
            yield Case(name, kernel, (grid, block, 0, shared), arguments, group.__name__.rpartition(".")[2])


def _array(shape, dtype=np.float32, high: int | None = None) -> np.ndarray:
    """Random numbers, the same ones for the same shape and type; from 0 to high - 1 where it is given."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng([7, int(np.prod(shape)), dtype.num])
    if high is not None:
        return rng.integers(0, high, shape).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(-100, 100, shape).astype(dtype)
    return (rng.standard_normal(shape) + (1j if dtype.kind == "c" else 0)).astype(dtype)
