"""The cells of a day's notebook: %%task writes code into the lesson and tests it, %tests, %hint, shell, lesson.

Tests run in a process of their own, as on the command line: what a cell defined before cannot help them.
"""

import ast
import dataclasses
import io
import os
import shlex
import subprocess
import sys
import tokenize
from datetime import datetime
from pathlib import Path
from types import ModuleType

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.content.gaps import gap_line
from tools.course.content.source import NotText, decode
from tools.course.content.syntax import definitions, task_comments
from tools.course.learner import hints
from tools.course.learner.lesson import LessonBroken, lesson_of
from tools.course.learner.progress import Progress
from tools.course.versions.reset import given, keep
from tools.notebook import text

FOLDER = ".course/notebook"  # solutions run here

LATER = "later"


class NotWritten(Exception):
    """A cell that cannot go into the lesson; str() is one or two lines that say why."""


class Day:
    """The day of this notebook: `unit.lesson` is the file that its cells write into."""

    def __init__(self, unit: Unit, solution: bool):
        self.solution, self.unit = solution, unit
        self._wrote: dict[int, str] = {}  # by task, what a cell wrote last
        if solution:
            file = unit.root / FOLDER / unit.name / unit.lesson.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(unit.lesson.read_bytes())
            self.unit = dataclasses.replace(unit, lesson=file)

    @property
    def shown(self) -> str:
        return self.unit.lesson.relative_to(self.unit.root).as_posix()

    def write(self, task: int, code: str) -> str:
        """Put a cell's code below `# Task N`; returns what the learner should know. Raises NotWritten."""
        lesson = self._lesson()
        here = text.sections(lesson)
        if task not in here:
            raise NotWritten(
                f"{self.shown} has no line '# Task {task}' any more.\nThe lesson as it was: "
                f"./course reset {self.unit.name}"
            )
        _check(task, code, here[task])
        code, told = code.strip("\n"), ""
        if not self.solution and here[task] not in (code, self._wrote.get(task)) and self._is_work(task, here[task]):
            kept = keep(self.unit, self.unit.lesson.read_bytes(), datetime.now()).relative_to(self.unit.root)
            told = f"The lesson held other code for task {task}; it is kept in {kept.as_posix()}.\n"
        self.unit.lesson.write_text(text.replace_section(lesson, task, code), encoding="utf-8")
        self._wrote[task] = code
        return told

    def _lesson(self) -> str:
        """The lesson's text of now; only UTF-8, in which it is written."""
        found = self.unit.lesson.read_bytes()
        try:
            lesson = decode(found)
        except NotText as error:
            raise NotWritten(f"{self.shown}, line {error.line}: {error.words}\nNothing was written.") from None
        if not tokenize.detect_encoding(io.BytesIO(found).readline)[0].startswith("utf-8"):
            raise NotWritten(
                f"{self.shown} names an encoding in its first lines; save it as UTF-8, without that.\n"
                "Nothing was written."
            )
        return lesson

    def _is_work(self, task: int, found: str) -> bool:
        """Is this more than what the lesson was given with?"""
        stub = given(self.unit)
        if stub is not None:
            return text.sections(stub).get(task) != found
        return any(gap_line(node) is None for node in definitions(found).values())

    def test(self, task: int | None = None) -> None:
        """Run the tests of one task, or of all, and print the short screen."""
        tests = (
            [self.unit.name]
            if task is None
            else [
                f"{self.unit.tests.relative_to(self.unit.root).as_posix()}::{name}"
                for name in tests_of(self.unit, task)
            ]
        )
        if not tests:
            return print(f"{self.unit.name} has no tests of task {task}.")
        answers = [f"--answers={FOLDER}"] if self.solution else []
        run = [sys.executable, "-m", "pytest", "--color=yes", *answers, *tests]
        _show(run, self.unit.root)


def _check(task: int, code: str, before: str) -> None:
    """Raise NotWritten for a cell that would spoil the lesson."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        line = (error.lineno or 1) + 1  # the cell's first line is the magic
        raise NotWritten(f"Line {line} of this cell: {error.msg}.\nNothing was written.") from None
    if lost := [name for name in definitions(before) if name not in definitions(code)]:
        raise NotWritten(f"Task {task} needs {', '.join(lost)}, which this cell does not define.\nNothing was written.")
    if task_comments(code):
        raise NotWritten(
            "A line '# Task N' begins a task in the lesson; it cannot stand in a cell.\nNothing was written."
        )


def tests_of(unit: Unit, task: int) -> list[str]:
    """The names of the tests for which this is the last task that they need."""
    names = []
    for node in ast.parse(unit.tests.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        tasks = [
            number.value
            for decorator in node.decorator_list
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.task"
            for number in decorator.args
            if isinstance(number, ast.Constant) and isinstance(number.value, int)
        ]
        if tasks and max(tasks) == task:
            names.append(node.name)
    return names


def _show(command: list[str], folder: Path) -> None:
    """Run a command and print what it prints while it runs."""
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        try:
            for line in process.stdout or ():
                print(line, end="")
        finally:
            process.terminate()  # when the cell is interrupted; one that has ended does not mind


# What cells call ----------------------------------------------------------------------------------

_day: Day | None = None


def begin(name: str, solution: bool = False) -> None:
    """Open a day for this notebook; its magics work from here on."""
    from IPython import get_ipython

    global _day
    _day = Day(catalogue.unit(name, ROOT), solution)
    shell_of = get_ipython()
    shell_of.register_magic_function(_task, "cell", "task")
    shell_of.register_magic_function(_tests, "line", "tests")
    shell_of.register_magic_function(_hint, "line", "hint")
    print(f"{_day.unit.title}: ready. Its tasks are written into {_day.shown}.")


def _opened() -> Day:
    """The day of this notebook. RuntimeError before its first cell has run."""
    if _day is None:
        raise RuntimeError("Run the first cell of this notebook first: it opens the day.")
    return _day


def lesson() -> ModuleType | None:
    """Your lesson, imported anew: lesson().vector_add(x, y)."""
    try:
        return lesson_of(_opened().unit)
    except LessonBroken as error:
        print(error)
        return None


def shell(command: str) -> None:
    """Run a command of the lesson, with this notebook's own Python where it says ./course python."""
    words = shlex.split(command)
    print(f"$ {command}")
    _show([sys.executable, *words[2:]] if words[:2] == ["./course", "python"] else words, ROOT)


def _task(line: str, cell: str) -> None:
    """%%task N: the cell's code goes below `# Task N` of the lesson; then the task's tests run, or later where it
    says %%task N later."""
    number, _, later = line.strip().partition(" ")
    if (task := _number(number)) is None:
        return
    try:
        print(_opened().write(task, cell), end="")
    except NotWritten as error:
        print(error)
    except OSError as error:
        print(f"{_opened().shown} cannot be written ({error.strerror}).")
    else:
        if later.strip() == LATER:
            print(f"Task {task} is written. %tests {task} tests it.")
        else:
            _opened().test(task)


def _tests(line: str) -> None:
    """%tests: all tests of the day; %tests N: those of a task."""
    if not line.strip():
        _opened().test()
    elif (task := _number(line)) is not None:
        _opened().test(task)


def _hint(line: str) -> None:
    """%hint N: the next hint for a task."""
    if (task := _number(line)) is None:
        return
    try:
        rung = hints.next_rung(_opened().unit, task, Progress.load(_opened().unit.root))
        print(f"{rung.heading}: {rung.text}")
    except hints.NoHints as error:
        print(error)


def _number(line: str) -> int | None:
    known = [task.number for task in _opened().unit.tasks]
    if line.strip().isdecimal() and int(line) in known:
        return int(line)
    print(f"Name a task: {', '.join(map(str, known))}.")
    return None
