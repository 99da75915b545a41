"""Calls of a lesson that are worth measuring, and how to get at them: WORKLOADS in bench_NAME.py beside a lesson."""

import ast
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from tools import gpu
from tools.course.content import source
from tools.course.content.catalogue import BrokenCourseFile, Unit
from tools.course.learner.written import definitions, gap_line, given
from tools.wire import cupy_of


class LessonBroken(Exception):
    """A lesson, or one of its functions, that cannot be called yet; str() is one to five lines that say where."""


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
    terms: how many terms are added up for one number of the result.
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


def workloads(unit: Unit) -> tuple[Workload, ...]:
    """WORKLOADS of bench_NAME.py beside the lesson NAME.py; () where there is none. Raises BrokenCourseFile."""
    file = unit.folder / f"bench_{unit.lesson.stem}.py"
    if not file.exists():
        return ()
    name = f"{unit.name.replace('/', '.')}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return tuple(module.WORKLOADS)
    except Exception as error:
        raise BrokenCourseFile(Path(unit.name, file.name), None, f"{type(error).__name__}: {error}") from error


def lesson_of(unit: Unit, function: str | None = None) -> ModuleType:
    """The learner's lesson, imported anew under its own name.

    Raises LessonBroken where it cannot be imported; with `function`, also where that, or anything of the lesson that
    it uses, is still to be written.
    """
    name = unit.lesson.name
    try:
        text = unit.lesson.read_bytes()
        source.decode(text)
        module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(unit.module, unit.lesson))
        sys.modules[unit.module] = module
        exec(compile(text, str(unit.lesson), "exec", dont_inherit=True), vars(module))
    except OSError as error:
        raise LessonBroken(f"{unit.name}/{name} cannot be read ({error.strerror}).") from None
    except ModuleNotFoundError as missing:
        raise LessonBroken(
            f"{unit.name}/{name} needs {missing.name}, which is not installed here.\n"
            "docs/SETUP.md says what works where."
        ) from missing
    except source.NotText as error:
        raise LessonBroken(f"{unit.name}/{name}, line {error.line}: {error.words}") from None
    except (Exception, SystemExit) as error:
        raise _broken(unit, error) from error
    if function is not None:
        require_written(unit, function)
    return module


def require_written(unit: Unit, function: str) -> None:
    """Raise LessonBroken if `function`, or anything of the lesson that it uses, is missing or still a gap."""
    try:
        tree = ast.parse(unit.lesson.read_bytes(), str(unit.lesson))
    except (SyntaxError, ValueError) as error:
        raise _broken(unit, error) from None
    if function not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
        raise LessonBroken(f"{unit.name}/{unit.lesson.name} has no function {function}.")
    used = used_by(tree, function)
    ends_in_pass = any(isinstance(node.body[-1], ast.Pass) for node in used)
    stub = definitions(given(unit) or "") if ends_in_pass else {}  # git takes a moment
    for node in used:
        if (line := gap_line(node, stub.get(node.name))) is not None:
            task = next((task.number for task in unit.tasks if node.name in task.functions), None)
            of_task = f", of task {task}," if task is not None else ""
            raise LessonBroken(
                f"{unit.name}/{unit.lesson.name}, line {line}: {node.name}{of_task} is not "
                f"written yet.\nTo work it: ./course {unit.name}"
            )


def _broken(unit: Unit, error: BaseException) -> LessonBroken:
    line = _line_in(unit.lesson, error)
    where = f", line {line}" if line else ""
    return LessonBroken(f"{unit.name}/{unit.lesson.name}{where}: {_says(error)}\n./course {unit.name} shows more.")


def used_by(tree: ast.Module, function: str) -> list[ast.FunctionDef]:
    """The definition of `function`, then those of the lesson's functions that it names, and what these name."""
    known = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found, queue = [], [function]
    while queue:
        node = known.pop(queue.pop(0), None)  # each once, and no recursion without end
        if node is not None:
            found.append(node)
            queue += [inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    return found


def lines_of_code(unit: Unit, function: str) -> int:
    """Source lines of a function and of all in the lesson that it uses, without docstrings, comments and blanks."""
    tree = ast.parse(source.read(unit.lesson))
    return sum(len(_lines(node)) for node in used_by(tree, function))


def _lines(function: ast.FunctionDef) -> set[int]:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    inside = [inner for statement in body for inner in ast.walk(statement)]
    signature = [part for part in ast.walk(function.args)] + function.decorator_list + [function.returns]
    counted = {
        line for part in inside + signature if hasattr(part, "lineno") for line in (part.lineno, part.end_lineno)
    }
    return counted | {function.lineno}


def _line_in(file: Path, error: BaseException) -> int:
    """The line of `file` that an import failed at; 0 where none is known."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno or 0
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    return lines[-1] if lines else 0


def _says(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {(text or '').splitlines()[0] if text else ''}".rstrip(": ")


# For bench_NAME.py: inputs and rivals -------------------------------------------------------------


def arrays(rng: np.random.Generator, *shapes, dtype=np.float32) -> tuple[np.ndarray, ...]:
    """Random NumPy arrays of these shapes."""
    return tuple(rng.standard_normal(shape, dtype=dtype) for shape in shapes)


def tensors(rng: np.random.Generator, *shapes) -> tuple:
    """Random float32 tensors of these shapes, where lessons have theirs: on the GPU, if there is one."""
    import torch

    return tuple(torch.from_numpy(array).to(gpu.device) for array in arrays(rng, *shapes))


def cupy_arrays(rng: np.random.Generator, *shapes) -> tuple:
    """Random float32 arrays of CuPy, or of its stand-in."""
    return tuple(gpu.cupy.asarray(array) for array in arrays(rng, *shapes))


@dataclass(frozen=True)
class OnTensors:
    """A rival of PyTorch's for a lesson that takes CuPy's arrays: it sees the same memory as tensors.

    `convert` is what a stopwatch need not see.
    """

    function: Callable

    def __call__(self, *arguments):
        return self.function(*self.convert(arguments))

    @staticmethod
    def convert(arguments: tuple) -> tuple:
        return tuple(_as_tensor(value) if cupy_of(value) else value for value in arguments)


def _as_tensor(array):
    import torch

    return torch.as_tensor(array, device="cuda") if gpu.card() else torch.from_numpy(array.get())


class Compiled:
    """A function through torch.compile, compiled at the first call."""

    def __init__(self, function: Callable):
        self.function, self._compiled = function, None

    def __call__(self, *arguments):
        if self._compiled is None:
            import torch

            self._compiled = torch.compile(self.function, dynamic=False)  # each size has code of its own
        return self._compiled(*arguments)


def matmul_by_rows(a, b):
    """The product of two matrices without a thought for traffic: a row of a times all of b, then the sums."""
    import torch

    return torch.stack([(row[:, None] * b).sum(0) for row in a])


def matmul_by_library(a, b):
    """The product of two tensors by the vendor's library: cuBLAS on NVIDIA's GPUs."""
    import torch

    return torch.matmul(a, b)
