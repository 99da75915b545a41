"""Calls of a lesson that are worth measuring, and how to get at them: WORKLOADS in bench_NAME.py beside a lesson."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tools import gpu
from tools.course.content.catalogue import BrokenCourseFile, Unit
from tools.wire import cupy_of

if TYPE_CHECKING:
    import torch

Shape = int | tuple[int, ...]


@dataclass(frozen=True)
class Workload:
    """One call of a lesson that is worth measuring. Every figure is a function of its size.

    function: its name in the lesson.
    arguments: (size, rng) -> what to call it with: NumPy's arrays, PyTorch's tensors or CuPy's arrays, as it takes.
    sizes: small to large, on a GPU. laptop_sizes: without one. small: simulated in a second at most.
    shape: "4096 x 4096 float32". moved: bytes that must be read and written at the least, by any program.
    flops: additions and multiplications. rivals: name -> function of the same arguments.
    naive: the name of that rival which shows what no thought costs, "" for none.
    on: "gpu"; or "cpu" where no GPU is used, so that its time means something on every machine.
    crossed: bytes that must cross between host and GPU. dtype: that of the arithmetic.
    terms: how many terms are added up for one number of the result. apart: how far two right results may lie apart,
    relative, where dtype and terms do not say it, as where a rival rounds on its way; the reason beside it.
    """

    function: str
    arguments: Callable[[int, np.random.Generator], tuple]
    sizes: tuple[int, ...]
    laptop_sizes: tuple[int, ...]
    small: int
    shape: Callable[[int], str]
    moved: Callable[[int], int]
    flops: Callable[[int], int]
    rivals: dict[str, Callable]
    naive: str = ""
    on: str = "gpu"
    crossed: Callable[[int], int] = lambda n: 0
    dtype: str = "float32"
    terms: Callable[[int], int] = lambda n: 1
    apart: float | None = None


def workloads(unit: Unit) -> tuple[Workload, ...]:
    """WORKLOADS of bench_NAME.py beside the lesson NAME.py; () where there is none. Raises BrokenCourseFile."""
    file = unit.folder / f"bench_{unit.lesson.stem}.py"
    if not file.exists():
        return ()
    name = f"{unit.name.replace('/', '.')}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # as of every file NAME.py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return tuple(module.WORKLOADS)
    except Exception as error:
        raise BrokenCourseFile(Path(unit.name, file.name), None, f"{type(error).__name__}: {error}") from error


# For bench_NAME.py: inputs and rivals -------------------------------------------------------------


def arrays(rng: np.random.Generator, *shapes: Shape, dtype: type = np.float32) -> tuple[np.ndarray, ...]:
    """Random NumPy arrays of these shapes."""
    return tuple(rng.standard_normal(shape, dtype=dtype) for shape in shapes)


def tensors(rng: np.random.Generator, *shapes: Shape) -> tuple:
    """Random float32 tensors of these shapes, where lessons have theirs: on the GPU, if there is one."""
    import torch

    return tuple(torch.from_numpy(array).to(gpu.device) for array in arrays(rng, *shapes))


def cupy_arrays(rng: np.random.Generator, *shapes: Shape) -> tuple:
    """Random float32 arrays of CuPy, or of its stand-in."""
    return tuple(gpu.cupy.asarray(array) for array in arrays(rng, *shapes))


@dataclass(frozen=True)
class OnTensors:
    """A rival of PyTorch's for a lesson that takes CuPy's arrays: it sees the same memory as tensors.

    `convert` is what a stopwatch need not see.
    """

    function: Callable

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*self.convert(arguments))

    @staticmethod
    def convert(arguments: tuple) -> tuple:
        return tuple(_as_tensor(value) if cupy_of(value) else value for value in arguments)


def _as_tensor(array: Any) -> "torch.Tensor":
    import torch

    return torch.as_tensor(array, device="cuda") if gpu.card() else torch.from_numpy(array.get())


class Compiled:
    """A function through torch.compile, compiled at the first call."""

    def __init__(self, function: Callable):
        self.function = function
        self._compiled: Callable | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._compiled is None:
            import torch

            self._compiled = torch.compile(self.function, dynamic=False)  # each size has code of its own
        return self._compiled(*arguments)


def matmul_by_rows(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
    """The product of two matrices without a thought for traffic: a row of a times all of b, then the sums."""
    import torch

    return torch.stack([(row[:, None] * b).sum(0) for row in a])


def matmul_by_library(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
    """The product of two tensors by the vendor's library: cuBLAS on NVIDIA's GPUs."""
    import torch

    return torch.matmul(a, b)
