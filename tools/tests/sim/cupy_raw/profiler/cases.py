"""All launches with their inputs, which are the same wherever they run."""

from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tools.tests.sim.cupy_raw.profiler import atomics, copies, groups, tensor_cores, values
from tools.tests.sim.cupy_raw.profiler.in_triton import TRITON

TOOLKIT = "/usr/local/cuda/include"  # where mma.h finds what it includes; CUDA's wheels have it not
GROUPS = {"atomics": atomics, "copies": copies, "tensor cores": tensor_cores, "groups": groups, "values": values}


class Case(NamedTuple):
    """One launch. arguments: NumPy arrays, which lie on the device before, and NumPy's numbers."""

    name: str
    group: str
    kernel: str
    grid: int
    block: int
    arguments: tuple

    def run(self, cupy: ModuleType, look: Any) -> list[np.ndarray]:
        """Its arrays afterwards, with this CuPy, real or simulated. look: a context manager around the launch."""
        kernel = module(cupy, self.group).get_function(self.kernel)
        arrays = [cupy.asarray(_plain(each)) if _is_array(each) else each for each in self.arguments]
        cupy.cuda.Device().synchronize()
        with look():
            kernel((self.grid,), (self.block,), tuple(arrays))
            cupy.cuda.Device().synchronize()
        return [array.get().view(each.dtype) for each, array in zip(self.arguments, arrays) if _is_array(each)]


def cases() -> Iterator[Case]:
    """Those in CUDA C++, in the order in which they are launched under the profiler."""
    for group, source in GROUPS.items():
        seen: dict[str, int] = {}
        for kernel, grid, block, arguments in source.cases(_array):
            seen[kernel] = seen.get(kernel, 0) + 1
            name = kernel if seen[kernel] == 1 else f"{kernel} ({seen[kernel]})"
            yield Case(name, group, kernel, grid, block, arguments)


def names() -> list[str]:
    """Of all launches, those of Triton last."""
    return [case.name for case in cases()] + [case.name for case in TRITON]


@cache
def module(cupy: ModuleType, group: str) -> Any:
    """The kernels of a group."""
    source = GROUPS[group]
    return cupy.RawModule(
        code=source.CODE,
        options=("-std=c++17", f"-I{TOOLKIT}") if "mma.h" in source.CODE else ("-std=c++17",),
        name_expressions=getattr(source, "NAMES", None),
        enable_cooperative_groups=getattr(source, "COOPERATIVE", False),
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.names is None


def _plain(array: np.ndarray) -> np.ndarray:
    """CuPy knows no numbers of 16 bits but its own; a kernel asks for bytes alone."""
    return array if array.dtype.kind in "iuf" else array.view(np.uint16)


def _array(shape: Any, dtype: Any = np.float32, high: int | None = None) -> np.ndarray:
    """Random numbers, the same ones for the same shape and type; from 0 to high - 1 where it is given."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng([7, int(np.prod(shape)), dtype.num])
    if high is not None:
        return rng.integers(0, high, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)
