"""`from week1.day1 import numpy_baseline` gives the lesson under test: the learner's, an answer, or a stand-in for
one that runs in a process of its own."""

import importlib.abc
import importlib.util
import re
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

from tools import ROOT, gpu, worker
from tools.pytest_course.marks import reason, skip
from tools.pytest_course.run import HUNG, Run
from tools.pytest_course.upkeep import kept
from tools.worker.deadlines import hung
from tools.worker.guard import End
from tools.worker.limit import time_limit
from tools.worker.raised import frame_at

LESSON = re.compile(r"week\d+\.(?:day\d+|katas\.\w+)\.\w+")  # if its tests lie beside it
NO_TRITON = ("ModuleNotFoundError", "No module named 'triton'")
SYSTEMS = {"darwin": "macOS", "win32": "Windows"}


class BrokenLesson(Exception):
    """A lesson that cannot even be imported; its cause is what the import raised."""

    def __init__(self, shown: str, path: str, cause: BaseException) -> None:
        super().__init__(f"{shown} cannot be imported")
        self.shown, self.path = shown, path
        self.__cause__ = cause


def missing_triton() -> str:
    """The reason for a skip: what is missing, what was found, what to do."""
    if sys.platform == "linux":
        return reason("Triton", "none beside this Python", "docs/SETUP.md says how to install it.")
    found = SYSTEMS.get(sys.platform, sys.platform)
    return reason("Triton, which has wheels for Linux only", found, "Use WSL or a container: docs/SETUP.md says how.")


def install(run: Run, config: pytest.Config) -> None:
    """Put the finder in front of all others for the length of the run."""
    finder = LessonFinder(run, float(config.getini("course_limit")), config.stash.get(HUNG, None))
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))
    config.add_cleanup(worker.close_all)  # their processes end with the run, also where one program makes many runs


def file_of(run: Run, module: str) -> Path:
    """Where the source of a lesson module lies in this run."""
    return (run.answers_folder or ROOT) / _path_of(module)


def hung_there(end: End, seconds: float, file: Path) -> worker.TooSlow:
    """What to raise for a lesson that hung in native code when it was tried first; its functions are known then."""
    steps = [step for step in reversed(end.stack) if Path(step[0]) == file]
    hung.update((name, function) for name, _, function in steps[-1:])
    return worker.TooSlow(seconds, frames=tuple(frame_at(*step) for step in steps))


def _path_of(module: str) -> Path:
    return Path(*module.split(".")).with_suffix(".py")


def _has_tests(module: str) -> bool:
    """Is this the module that the unit's tests are about, and not one that helps it?"""
    file = ROOT / _path_of(module)
    return file.with_name(f"test_{file.name}").is_file()


class LessonFinder(importlib.abc.MetaPathFinder):
    """Answers for lesson modules only."""

    def __init__(self, run: Run, limit: float, end: End | None) -> None:
        self.run, self.limit, self.end = run, limit, end

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if not LESSON.fullmatch(fullname) or not _has_tests(fullname):
            return None
        file = file_of(self.run, fullname)
        if not file.is_file():
            return None
        self.run.sources[file] = file.read_bytes()
        shown = _path_of(fullname)
        tests = shown.with_name(f"test_{shown.name}").as_posix()
        end = self.end if self.end and self.end.place == tests else None  # it hung while it was imported
        loader = RemoteLoader if self.run.remote else LessonLoader
        return importlib.util.spec_from_file_location(
            fullname, file, loader=loader(fullname, str(file), shown.as_posix(), self.run, self.limit, end)
        )


class LessonLoader(SourceFileLoader):
    """Runs a lesson from its source (never from a stale cache) and keeps its accidents to itself."""

    def __init__(self, fullname: str, path: Any, shown: str, run: Run, limit: float, end: End | None) -> None:
        super().__init__(fullname, path)
        self.shown, self.run, self.limit, self.end = shown, run, limit, end

    def get_code(self, fullname: str) -> Any:
        return compile(Path(self.path).read_bytes(), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        try:
            with kept(self.run), time_limit(self.limit):
                super().exec_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as cause:  # SystemExit too: a lesson must not end the run
            self.give_up(cause)

    def give_up(self, cause: BaseException) -> NoReturn:
        """Skip the day where only Triton is missing; else its author has something to mend."""
        raised = getattr(cause, "raised", None) or worker.raised_from(cause, [])
        if (raised.type_name, raised.message) == NO_TRITON:
            skip("Triton", missing_triton())
        raise BrokenLesson(self.shown, self.path, cause) from cause


class RemoteLoader(LessonLoader):
    """Gives a module whose functions run in a worker."""

    def create_module(self, spec: Any) -> Any:
        try:
            if self.end:
                raise hung_there(self.end, self.limit, Path(self.path))
            with kept(self.run), worker.deadline(self.limit):
                return worker.proxy(self.name, Path(self.path), mode="gpu" if gpu.card() else "interpret")
        except (worker.LessonError, worker.Died, worker.TooSlow) as cause:
            self.give_up(cause)

    def exec_module(self, module: ModuleType) -> None:
        pass
