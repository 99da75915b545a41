"""The calls of a lesson that count, compiled and show make: the day's workloads at their smallest size."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from tools.check import CompileError, NoCompiler
from tools.cli import busy, complain, nothing_for
from tools.cli.guarded import at_work
from tools.course.content.catalogue import Unit
from tools.course.content.workload import Workload, workloads
from tools.course.learner.lesson import LessonBroken, lesson_of
from tools.words import wrapped
from tools.worker import NoAnswer, TooSlow, raised_from

SEED = 0  # the same inputs whenever a command runs, so that its figures can be compared
LINES = 5  # of an error's text


class CallFailed(Exception):
    """The lesson's function raised; str() says what and where, in at most five lines."""


class Call(NamedTuple):
    """A function of the lesson, and what to call it with."""

    workload: Workload
    function: Callable
    arguments: tuple

    @property
    def title(self) -> str:
        return f"{self.workload.function}, {self.workload.shape(self.workload.small)}"


@dataclass
class Calls:
    """Iterating gives the calls of a day that can be made now; what cannot is complained about at the end."""

    unit: Unit
    page: Console
    problems: list[str] = field(default_factory=list)
    made: int = 0
    lost: bool = False  # a call did not come back
    at: str = ""  # the call that is being made

    def __iter__(self) -> Iterator[Call]:
        """Raises BrokenCourseFile."""
        with busy(self.page, f"loading {self.unit.name}"):
            known = workloads(self.unit)
        for workload in known:
            if workload.on == "cpu":
                continue
            try:
                with busy(self.page, f"loading {workload.function}"), at_work(self.unit.lesson.name):
                    function = getattr(lesson_of(self.unit, workload.function), workload.function)
                    arguments = workload.arguments(workload.small, np.random.default_rng(SEED))
            except LessonBroken as broken:
                self.problems.append(str(broken))
                continue
            except NoAnswer as silence:
                self._lose(silence, self.unit.lesson.name)
                continue
            call = Call(workload, function, arguments)
            self.at = call.title
            yield call

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """An attempt: what the lesson raises inside becomes a problem, and the next call can be made."""
        try:
            with _said(self.unit.lesson), at_work(self.at):
                yield
            self.made += 1
        except CallFailed as failed:
            self.problems.append(str(failed))
        except NoAnswer as silence:
            self._lose(silence, self.at)

    def _lose(self, silence: NoAnswer, what: str) -> None:
        self.lost = True
        frames = silence.frames or raised_from(silence, [self.unit.lesson]).frames
        where = f"\n{frames[-1].file}, line {frames[-1].line}: {frames[-1].source}" if frames else ""
        ended = f"it did not end within {silence.seconds:g} s." if isinstance(silence, TooSlow) else f"{silence}."
        self.problems.append(f"{what}: {ended}{where}")

    def finish(self, command: str) -> int:
        """The exit code of the command of that name: 1 when a call did not come back, 2 when none could be made."""
        for problem in dict.fromkeys(self.problems) if self.made else self.problems[:1]:
            complain(problem)
        if not self.made and not self.problems:
            nothing_for(command, "kernel", self.unit)
        return 1 if self.lost else 0 if self.made else 2


@contextmanager
def _said(lesson: Path) -> Iterator[None]:
    """Warnings about the size of a grid or about times are for runs, not for these small calls."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except BrokenPipeError:  # not the lesson's: whoever read what is printed has gone
            raise
        except NoAnswer:
            raise
        except (CompileError, NoCompiler) as error:
            raise CallFailed(_short(str(error))) from None
        except Exception as error:  # whatever a learner's function may raise
            raise CallFailed(failure(error, lesson)) from None


def failure(error: Exception, lesson: Path) -> str:
    """The error of a lesson's function, and its place, in at most five lines."""
    facts = getattr(error, "raised", None) or raised_from(error, [lesson])
    where = f"{lesson.name}, line {facts.frames[-1].line}: " if facts.frames else f"{lesson.name}: "
    if text := getattr(error, "text", ""):  # a fault of the simulator names its line itself
        return _short(text)
    return _short(where + (f"{facts.type_name}: {facts.message}" if facts.message else facts.type_name))


def _short(text: str) -> str:
    return "\n".join(wrapped(text)[:LINES])
