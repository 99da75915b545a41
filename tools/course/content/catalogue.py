"""The days and katas of the course: where their files are, what day.toml says, which tasks the lesson has.

Loading a unit reads that unit alone: a run of one day must neither wait for the other 73 nor fail for them.
"""

import difflib
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tools import ROOT
from tools.course.content import day_file, source
from tools.course.content.day_file import UNIT_NAME, BrokenCourseFile, Question, Reading, Recommendation
from tools.course.content.gaps import marked
from tools.course.content.syntax import Definition, functions, parsed, statements, task_at, task_comments
from tools.words import quantity, quoted

WEEK_NAME = re.compile(r"week\d+")


class NoSuchUnit(LookupError):
    """A name that is no day or kata of this course; str() is one line with the nearest name."""


@dataclass(frozen=True)
class Task:
    """A numbered piece of a lesson; functions are its public functions and classes, in file order."""

    number: int
    kind: str  # "gap", "repair" or "setup"
    functions: tuple[str, ...] = ()
    line: int | None = None  # of the comment `# Task N`; None where the lesson has none, as for setup
    repairs: tuple[str, ...] = ()  # of a repair, those that are handed over, where day.toml says which

    def about(self, functions: Sequence[str]) -> str:
        """Some of its functions, or its kind, for a list of tasks."""
        return ", ".join(functions) or ("this machine" if self.kind == "setup" else "not in the lesson")


@dataclass(frozen=True)
class Unit:
    """A day or a kata. Paths are absolute; what day.toml leaves out is empty."""

    name: str  # "week1/day1", "week1/katas/simd"
    folder: Path
    lesson: Path
    tests: Path
    module: str  # "week1.day1.numpy_baseline"
    title: str
    minutes: int
    sittings: int  # over which the minutes are spread
    needs: tuple[str, ...]  # names of units
    concepts: tuple[str, ...]
    in_passing: tuple[str, ...]  # words of the glossary that the docstring explains before their unit
    points: dict[str, int]  # by stage
    hints: dict[int, tuple[str, ...]]  # by task: three rungs
    quiz: tuple[Question, ...]
    reading: tuple[Reading, ...]
    topics: dict[str, str]  # topic of a question -> name of the unit that teaches it
    recommend: tuple[Recommendation, ...]  # highest bar first
    tasks: tuple[Task, ...]  # by number

    @property
    def week(self) -> str:
        return self.name.split("/")[0]

    @property
    def root(self) -> Path:
        """The course that it belongs to."""
        return self.folder.parents[self.name.count("/")]

    @property
    def is_kata(self) -> bool:
        return "/katas/" in self.name

    @property
    def duration(self) -> str:
        """60 minutes; 120 minutes in 2 sittings"""
        sittings = f" in {quantity(self.sittings, 'sitting')}" if self.sittings > 1 else ""
        return f"{quantity(self.minutes, 'minute')}{sittings}"


def names(root: Path = ROOT) -> list[str]:
    """The names of all units in course order: by week, its days by number, then its katas by name."""
    files = [*root.glob("week*/day*/day.toml"), *root.glob("week*/katas/*/day.toml")]
    found = (file.parent.relative_to(root).as_posix() for file in files)
    return sorted(filter(UNIT_NAME.fullmatch, found), key=_course_order)


def units(root: Path = ROOT) -> list[Unit]:
    """All units in course order. Raises BrokenCourseFile at the first that breaks a rule."""
    return [_load(name, root) for name in names(root)]


def unit(name: str, root: Path = ROOT) -> Unit:
    """One unit by name; "./week1/day1/" will do as well. Raises NoSuchUnit, BrokenCourseFile."""
    found = clean(name)
    if not UNIT_NAME.fullmatch(found) or not os.path.exists(root / found / "day.toml"):  # of any length
        raise NoSuchUnit(f"There is no day or kata {quoted(name)}.{_nearest(found, root)}")
    return _load(found, root)


def selected(wanted: Sequence[str], root: Path = ROOT) -> list[Unit]:
    """The units that are named, each once; a week means all of its units, no name all units. Raises as `unit` does."""
    every = names(root)
    found: list[str] = []
    for name in wanted or every:
        of_week = [each for each in every if WEEK_NAME.fullmatch(clean(name)) and each.startswith(f"{clean(name)}/")]
        found += of_week or [name]
    return [unit(name, root) for name in dict.fromkeys(map(clean, found))]


def clean(name: str) -> str:
    """The name of a unit or a week as it is typed, as the catalogue writes it."""
    return name.replace("\\", "/").removeprefix("./").rstrip("/")


def file_hash(file: Path) -> str:
    """Stands for the content of a lesson; "" when it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


def _course_order(name: str) -> tuple:
    week, *katas, last = name.split("/")
    return int(week.removeprefix("week")), bool(katas), 0 if katas else int(last.removeprefix("day")), last


def _nearest(name: str, root: Path) -> str:
    nearest = difflib.get_close_matches(name, names(root), n=1, cutoff=0.5)
    return f" Did you mean {nearest[0]}?" if nearest else " ./course status lists them."


def _load(name: str, root: Path) -> Unit:
    folder = root / name
    says = day_file.read(folder / "day.toml", root)
    kinds, repairs = says.pop("task_kinds"), says.pop("repairs")
    lesson, tests = _files(folder, root)
    try:
        text = source.read(lesson)
    except OSError as error:
        raise BrokenCourseFile(lesson.relative_to(root), None, f"cannot be read ({error.strerror})") from None
    module = f"{name.replace('/', '.')}.{lesson.stem}"
    return Unit(name, folder, lesson, tests, module, **says, tasks=_tasks(text, kinds, says["hints"], repairs))


def _files(folder: Path, root: Path) -> tuple[Path, Path]:
    """The lesson X.py and its test_X.py."""
    tests = sorted(folder.glob("test_*.py"))
    if len(tests) != 1:
        found = ", ".join(file.name for file in tests) or "none"
        raise BrokenCourseFile(folder.relative_to(root), None, f"must hold one file test_*.py; found {found}")
    lesson = folder / tests[0].name.removeprefix("test_")
    if not lesson.exists():
        path = lesson.relative_to(root)
        raise BrokenCourseFile(path, None, f"is missing; this brings it back: git restore {path.as_posix()}")
    return lesson, tests[0]


# Tasks --------------------------------------------------------------------------------------------


def repaired(unit: Unit, stub: str) -> list[str]:
    """Names of the functions ("f", "Class.f") of the tasks of repair: all that a learner may change there."""
    owners = {name for task in unit.tasks if task.kind == "repair" for name in task.functions}
    tree = parsed(stub)
    return [name for name, _ in functions(tree) if name.partition(".")[0] in owners] if tree else []


def _tasks(
    text: str, kinds: dict[int, str], hints: dict[int, tuple[str, ...]], repairs: dict[int, tuple[str, ...]]
) -> tuple[Task, ...]:
    """The tasks that the lesson, the hints or the kinds name.

    A lost comment, a filled gap or a syntax error in the learner's file must not lose a task.
    """
    of_task = _definitions_by_task(text)
    line_of = {task: line for line, task in task_comments(text)}
    numbers = sorted(line_of.keys() | hints.keys() | kinds.keys())
    return tuple(Task(n, kinds.get(n, "gap"), of_task.get(n, ()), line_of.get(n), repairs.get(n, ())) for n in numbers)


@lru_cache(maxsize=128)  # pages and rules load all units several times
def _definitions_by_task(text: str) -> Mapping[int, tuple[str, ...]]:
    """The public functions and classes of each task, in file order."""
    of_task: dict[int, tuple[str, ...]] = {}
    for node in statements(text):
        if isinstance(node, Definition) and not node.name.startswith("_"):
            marker = marked(node)
            task = marker.task if marker else task_at(text, node.lineno)
            of_task[task] = (*of_task.get(task, ()), node.name)
    return of_task
