"""compiled: what the real compiler makes of the kernels that a call launches, on any machine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools.check import arrays
from tools.check.count import on_cpu
from tools.compiler import CompileError, Evidence, NoCompiler, evidence_from
from tools.worker import Died, Lesson, lesson_at, lesson_of, name_of


def compiled(function: Callable, *args: object, chip: str | Sequence[str] = "h100", **kwargs: object) -> Any:
    """Evidence for every kernel that function(*args, **kwargs) launches, compiled for `chip` and not run.

    chip: a name of tools/models/chips.toml, or several: then a dict of Evidence by chip. The call is made
    once for each, in a process that compiles, with tensors in CPU memory; kernels compute no values there.
    Raises CompileError, NoCompiler, ValueError for an unknown chip, and what the function's own Python raises.
    """
    chips = (chip,) if isinstance(chip, str) else tuple(chip)
    moved: dict[int, arrays.Array] = {}
    args, kwargs = arrays.change_arrays(lambda array: on_cpu(array, moved), (args, kwargs))
    lesson = compiling(function)
    answer = lesson.ask("compile", name_of(function), args, kwargs, chips).result()
    found = _read(answer, chips, name_of(function), lesson)
    return found[chip] if isinstance(chip, str) else found


def begin_compiler(module: str, file: Path, copied: bool) -> None:
    """Start the process that compiles this lesson's kernels and do not wait for it.

    copied: it may begin as a copy of this process, so that it need not import what is imported here.
    """
    lesson_at(module, file.resolve(), "compile").begin(copied)


def compiling(function: Callable) -> Lesson:
    """The worker that compiles the kernels of this function's lesson."""
    return lesson_of(function, "compile")


def _read(answer: Any, chips: tuple[str, ...], caller: str, lesson: Lesson) -> dict[str, Evidence]:
    def disassembled(key: str, name: str) -> str:
        match lesson.ask("disassemble", key, name).result():
            case str(text):
                return text
        raise Died("something else than machine code came out of the lesson's process")

    match answer:
        case ("rejected", str(text)):
            raise CompileError(text)
        case ("no compiler", str(text), str(what)):
            raise NoCompiler(text, what)
    try:
        return {name: evidence_from(plain, caller, disassembled) for name, plain in zip(chips, answer, strict=True)}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise Died("something else than evidence came out of the lesson's process") from None
