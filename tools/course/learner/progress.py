"""The learner's progress, kept in .course/progress.json. Whatever happens to that file, runs go on.

Every change is: lock, read again, change, replace the file. So two runs at once both keep what they found.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tools import ROOT
from tools.course.content.catalogue import Unit, file_hash
from tools.course.learner import lock, rebuilt, record
from tools.course.learner.record import (  # fmt: skip
    CONFIRMED,
    FINISHED,
    HERE,
    OPEN,
    PASSED,
    SIMULATED,
    STARTED,
    WAITING,
    Check,
    Entry,
    Plan,
    Record,
    Result,
    Wait,
)

__all__ = ["CONFIRMED", "HERE", "OPEN", "PASSED", "SIMULATED", "STARTED", "WAITING", "Check", "Plan", "Result", "Wait",
           "Progress", "UnitState", "file_hash"]  # fmt: skip

FILE, BROKEN = ".course/progress.json", ".course/progress.broken.json"
PATIENCE = 2.0  # seconds to wait for another run, which holds the lock for milliseconds


@dataclass(frozen=True)
class UnitState:
    """The state of a unit: how far the learner is."""

    overall: str  # OPEN, STARTED, WAITING, HERE, PASSED, SIMULATED or CONFIRMED
    entries: dict[tuple[int, str], Entry]  # by task and stage; what is not here is open
    done: frozenset[int]  # tasks that passed all that this machine can run, GPU tests aside
    blocked: frozenset[int]  # tasks of which nothing can run here before a package is installed
    reached: dict[int, str]  # task -> OPEN, HERE, PASSED, SIMULATED or CONFIRMED
    waits: frozenset[Wait]  # what waits for a package or a program
    edited: bool  # the lesson changed after something in it passed
    hints: dict[int, int]  # task -> rungs shown

    @property
    def finished(self) -> bool:
        """Is there nothing left in it that this machine can run and that did not pass?"""
        return self.overall in FINISHED

    @property
    def confirmation(self) -> Entry | None:
        """The newest of the confirmed entries: its card and its date stand for the unit."""
        confirmed = (entry for entry in self.entries.values() if entry.state == CONFIRMED)
        return max(confirmed, key=lambda entry: entry.date, default=None)


class Progress:
    """The learner's progress. After any call, `warning` is None or one line that the learner should read, and `plan`
    is what the last whole quiz that recommends something recommended, or None."""

    def __init__(self, root: Path):
        self.warning: str | None = None
        self.plan: Plan | None = None
        self._root, self._file = root, root / FILE
        self._records: dict[str, Record] = {}
        self._saves = True  # False once the file is out of reach: from then on only memory remembers

    @classmethod
    def load(cls, root: Path = ROOT) -> "Progress":
        progress = cls(root)
        with progress._lock():
            progress._read()
        return progress

    def state(self, unit: Unit) -> UnitState:
        """The state of a unit. What passed counts after an edit too, until a run of the new file."""
        known, now = self._of(unit), file_hash(unit.lesson)
        return UnitState(
            overall=known.overall(),
            entries=dict(known.entries),
            done=frozenset(task.number for task in unit.tasks if known.is_done(task.number)),
            blocked=frozenset(task.number for task in unit.tasks if not known.can_run(task.number)),
            reached={task.number: known.reached(task.number) for task in unit.tasks},
            waits=known.waits,
            edited=any(entry.hash != now for entry in known.entries.values()),
            hints=dict(known.hints),
        )

    def current(self, units: Iterable[Unit]) -> Unit | None:
        """The first day with something to do on this machine, from the plan's start on and then before it; after all
        days the first such kata, or None."""
        units = list(units)
        names = [unit.name for unit in units]
        start = names.index(self.plan.start) if self.plan and self.plan.start in names else 0
        skipped = {unit.name for unit in units[:start] if not unit.is_kata}
        todo = [unit for unit in units if self._of(unit).overall() in (OPEN, STARTED)]
        # min keeps the first of equals
        return min(todo, key=lambda unit: (unit.is_kata, unit.name in skipped), default=None)

    def follow(self, plan: Plan) -> None:
        """Remember where a quiz said to begin, and at which pace; an earlier plan is forgotten."""
        with self._exclusive():
            self.plan = plan

    def hint_shown(self, unit: Unit, task: int) -> int:
        """The number of rungs of this task's hints that the learner has seen."""
        return self._of(unit).hints.get(task, 0)

    def show_hint(self, unit: Unit, task: int) -> None:
        """Remember that the learner has seen one rung more."""

        def change(known: Record) -> None:
            known.hints[task] = known.hints.get(task, 0) + 1

        self._change(unit, change)

    def record(self, unit: Unit, results: Iterable[Result], file_hash: str, when: date,
               checks: Iterable[Check] | None = None, waits: Iterable[Wait] = ()) -> None:  # fmt: skip
        """Remember what a run of `unit` showed. What it did not run stays as it was.

        file_hash stands for the lesson that ran. checks are all that the unit's tests check here, and waits all that
        this machine lacks something for; checks are None when only some of the tests were asked for.
        """

        def change(known: Record) -> None:
            known.take(results, file_hash, when)
            if checks is not None:
                known.expect(checks, waits)

        self._change(unit, change)

    # The file -------------------------------------------------------------------------------------

    def _of(self, unit: Unit) -> Record:
        return self._records.get(unit.name) or Record()

    def _change(self, unit: Unit, change: Callable[[Record], None]) -> None:
        with self._exclusive():
            change(self._records.setdefault(unit.name, Record()))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """The file's content of now may be changed inside; then it is written."""
        with suppress(OSError):  # why there can be no folder is said when the file is written
            self._file.parent.mkdir(exist_ok=True)
        with self._lock():
            self._read()
            yield
            self._write()

    def _lock(self) -> AbstractContextManager[None]:
        """Other runs are kept out inside."""
        return lock.held(self._file.with_suffix(".lock"), PATIENCE)

    def _read(self) -> None:
        if not self._saves:
            return
        sound = True
        try:
            self._records, self.plan, sound = record.parse(self._file.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            self._records, self.plan = {}, None
        except (IsADirectoryError, UnicodeDecodeError):
            self._records, self.plan, sound = {}, None, False
        except record.Newer:
            self._give_up("it comes from a newer version of the course; update this one")
        except OSError as error:
            self._give_up(f"it cannot be read ({error.strerror})")
        if not sound:
            self._set_aside()

    def _set_aside(self) -> None:
        try:
            os.replace(self._file, self._file.with_name(Path(BROKEN).name))
        except OSError as error:
            return self._give_up(f"it is damaged and cannot be set aside ({error.strerror})")
        told = rebuilt.records(self._root)
        news = told.keys() - self._records.keys()
        kept = ["what could be read is kept"] if self._records else []
        kept += ["what the journal tells is taken over"] if news else []
        self._records = told | self._records
        self.warning = f"{FILE} was damaged; it is now {BROKEN}, and {', and '.join(kept) or 'progress starts anew'}."
        self._write()

    def _write(self) -> None:
        if not self._saves:
            return
        new = self._file.with_suffix(f".{os.getpid()}.tmp")
        try:
            new.parent.mkdir(exist_ok=True)
            new.write_text(record.dump(self._records, self.plan), encoding="utf-8")
            os.replace(new, self._file)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            self._give_up(f"it cannot be written ({error.strerror})")

    def _give_up(self, reason: str) -> None:
        self._saves = False
        self.warning = f"Progress is not kept in {FILE}: {reason}."
