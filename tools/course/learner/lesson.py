"""The learner's lesson as a module: imported anew, or the reason why it cannot be called yet."""

import ast
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from tools.course.content import source
from tools.course.content.catalogue import Unit
from tools.course.content.gaps import gap_line, is_placeholder
from tools.course.content.syntax import after_docstring, definitions, used_by
from tools.course.versions.reset import given


class LessonBroken(Exception):
    """A lesson, or one of its functions, that cannot be called yet; str() is one to five lines that say where."""


def lesson_of(unit: Unit, function: str | None = None) -> ModuleType:
    """The learner's lesson, imported anew under its own name.

    Raises LessonBroken where it cannot be imported; with `function`, also where that, or anything of the lesson that
    it uses, is still to be written.
    """
    name = unit.lesson.name
    try:
        text = unit.lesson.read_bytes()
        source.decode(text)
        spec = importlib.util.spec_from_file_location(unit.module, unit.lesson)
        assert spec is not None  # as of every file NAME.py
        module = importlib.util.module_from_spec(spec)
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
    doubtful = any(is_placeholder(node.body[-1]) for node in used)
    stub = definitions(given(unit) or "") if doubtful else {}  # git takes a moment
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


def lines_of_code(unit: Unit, function: str) -> int:
    """Source lines of a function and of all in the lesson that it uses, without docstrings, comments and blanks."""
    tree = ast.parse(source.read(unit.lesson))
    return sum(len(_lines(node)) for node in used_by(tree, function))


def _lines(function: ast.FunctionDef) -> set[int]:
    inside = [inner for statement in after_docstring(function) for inner in ast.walk(statement)]
    signature = [*ast.walk(function.args), *function.decorator_list, *([function.returns] if function.returns else [])]
    lines = (getattr(part, end, None) for part in inside + signature for end in ("lineno", "end_lineno"))
    return {line for line in lines if line is not None} | {function.lineno}


def _line_in(file: Path, error: BaseException) -> int:
    """The line of `file` that an import failed at; 0 where none is known."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno or 0
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == str(file)]
    return lines[-1] if lines else 0


def _says(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {(text or '').splitlines()[0] if text else ''}".rstrip(": ")
