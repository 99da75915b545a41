"""One run of pytest and its subject: the only state of the plugin, kept on `config.stash`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tools import ROOT
from tools.course.content import catalogue, source
from tools.course.content.catalogue import Unit
from tools.course.learner import written
from tools.course.learner.written import Share
from tools.marker import Marker
from tools.worker import guard


@dataclass
class Run:
    """Set once by options.py; what stands last changes while tests run."""

    seed: int
    remote: bool = False
    red: bool = False
    hint: bool = False
    answers: str | None = None  # as typed after --answers=
    answers_folder: Path | None = None  # where those answers lie
    chosen: Unit | None = None  # the current day, when bare `pytest` chose it
    selected: bool = False  # -k, -m or :: picked single tests
    only_lessons: bool = False  # nothing but lessons was asked for: use the short screen
    failed_tasks: set[tuple[str, int]] = field(default_factory=set)  # (unit name, task) whose correctness failed
    miscounted: set[tuple[str, int]] = field(default_factory=set)  # (unit name, task) of which a counters test failed
    gaps_met: set[Marker] = field(default_factory=set)  # unwritten, and a test came to them
    hung_tasks: set[tuple[str, int]] = field(default_factory=set)  # (unit name, task) of which a test did not end
    busy: str = ""  # node id of the test under way
    interrupted: bool = False  # Ctrl-C, or pytest.exit
    untrusted: bool = False  # the lesson changed what judges it
    sources: dict[Path, bytes] = field(default_factory=dict)  # the lessons' files as they were imported
    put_back: set[str] = field(default_factory=set)  # those that the lesson deleted
    units: dict[str, Unit] = field(default_factory=dict)  # as they were before their tests ran
    texts: dict[str, str] = field(default_factory=dict)  # unit name -> see `text`
    as_given: dict[str, frozenset[int]] = field(default_factory=dict)  # unit name -> see `untouched`
    shares_of: dict[str, dict[int, Share]] = field(default_factory=dict)  # unit name -> see `shares`

    def unit(self, name: str) -> Unit:
        """A unit as it was when it was first asked for. Raises NoSuchUnit, BrokenCourseFile."""
        if name not in self.units:
            self.units[name] = catalogue.unit(name)
        return self.units[name]

    def untouched(self, name: str) -> frozenset[int]:
        """The unit's tasks of repair whose code is as it was given."""
        if name not in self.as_given:
            self.as_given[name] = written.untouched(self.unit(name))
        return self.as_given[name]

    def text(self, name: str) -> str:
        """The lesson that is under test, as it was when it was imported or first asked for."""
        if name not in self.texts:
            lesson = self.unit(name).lesson
            file = (self.answers_folder or ROOT) / lesson.relative_to(ROOT)
            if file in self.sources:
                self.texts[name] = self.sources[file].decode("utf-8-sig", errors="replace")
            else:
                self.texts[name] = source.read(file if file.is_file() else lesson)
        return self.texts[name]

    def shares(self, name: str) -> dict[int, Share]:
        """What of each task of the unit is the learner's."""
        if name not in self.shares_of:
            stub = source.read(self.unit(name).lesson) if self.answers else None  # an author's file: git takes a moment
            self.shares_of[name] = written.shares(self.unit(name), self.text(name), stub)
        return self.shares_of[name]

    @property
    def own_files(self) -> bool:
        """Are the learner's own files under test, as they are?"""
        return self.answers is None and not self.red


KEY = pytest.StashKey[Run]()
HUNG = pytest.StashKey[guard.End]()  # how this run ended when it was tried in one process and hung in native code


def run_of(config: pytest.Config) -> Run:
    return config.stash[KEY]


def week_parts(path: Path | str) -> tuple[str, ...]:
    """('week1', 'day4', ...) for a path in a week's folder, () for all else."""
    path = Path(path)
    if path.is_absolute():
        path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path()
    return path.parts if path.parts and path.parts[0].startswith("week") else ()


def unit_name(path: Path | str) -> str | None:
    """'week1/day4' for any path in that folder, 'week1/katas/simd' for a kata's, None for all else."""
    parts = week_parts(path)
    depth = 3 if parts[1:2] == ("katas",) else 2
    return "/".join(parts[:depth]) if len(parts) >= depth else None


def item_unit(item: pytest.Item) -> str | None:
    return unit_name(item.path)


def unit_of(item: pytest.Item) -> Unit:
    """The unit that the test of a lesson belongs to."""
    name = item_unit(item)
    assert name is not None
    return run_of(item.config).unit(name)


def from_controller(config: pytest.Config, key: str) -> Any:
    """A value that pytest-xdist's first process gave to this one, which is one of the others."""
    return getattr(config, "workerinput")[key]


def is_worker(config: pytest.Config) -> bool:
    """Is this one of pytest-xdist's processes?"""
    return hasattr(config, "workerinput")
