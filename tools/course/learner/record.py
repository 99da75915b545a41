"""The record of one unit: which stages of its tasks passed, what its tests check, what cannot run here, which hints
were shown. Beside the units: where a quiz said to begin, and at which pace.

How far a task or a unit is, is decided here and nowhere else: `Record.is_done`, `reached` and `overall`.

Read from JSON strictly: a record of the wrong shape is refused whole, so nobody need doubt it later.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, field
from datetime import date
from typing import Any, TypeVar, get_type_hints

OPEN, STARTED, SIMULATED, CONFIRMED = "open", "started", "simulated", "confirmed"
PASSED = "passed"  # done, and nothing in it needs a GPU
HERE = "passed here"  # all that this machine can run passed, and some tests wait for a package or a program
WAITING = "cannot run here"  # of a unit: all of its tests wait for a package
FINISHED = (HERE, PASSED, SIMULATED, CONFIRMED)  # states of a unit in which the learner goes on to the next
STRENGTH = {OPEN: 0, SIMULATED: 1, CONFIRMED: 2}  # of a stage; a unit as a whole may be STARTED too
VERSION = 1


@dataclass(frozen=True)
class Result:
    """The result of one task's stage in a run: OPEN (something failed), SIMULATED, or CONFIRMED on `card`."""

    task: int
    stage: str
    state: str
    card: str | None = None

    def __post_init__(self) -> None:
        if self.state not in STRENGTH or (self.state == CONFIRMED) != (self.card is not None):
            raise ValueError(f"not a result: {self}")


@dataclass(frozen=True)
class Check:
    """Tests of a stage that a task has: they run anywhere, or need a GPU."""

    task: int
    stage: str
    needs_gpu: bool = False


@dataclass(frozen=True)
class Wait:
    """Tests of a task's stage that cannot run on this machine for want of `what`, as "numba-cuda" or "a C compiler".

    tests: how many; 0 where nobody can tell, because the whole unit waits (its task is 0, its stage "").
    """

    task: int
    stage: str
    what: str
    tests: int


@dataclass(frozen=True)
class Entry:
    """A task's stage that passed, on which day, on which card if CONFIRMED, with which lesson file."""

    task: int
    stage: str
    state: str  # SIMULATED or CONFIRMED
    card: str | None
    date: str  # "2026-11-20"
    hash: str  # of the lesson file that passed


@dataclass
class Record:
    """Entries by task and stage (what is not there is open); all that the unit's tests check on this machine (nothing
    before the first run of them all), and what waits; and how many rungs were shown of each task's hints."""

    entries: dict[tuple[int, str], Entry] = field(default_factory=dict)
    checks: frozenset[Check] = frozenset()
    waits: frozenset[Wait] = frozenset()
    hints: dict[int, int] = field(default_factory=dict)

    def take(self, results: Iterable[Result], file_hash: str, day: date) -> None:
        """Put in the results of a run. Of several for one task and stage, the weakest counts."""
        weakest_last = sorted(results, key=lambda result: STRENGTH[result.state], reverse=True)
        for key, result in {(result.task, result.stage): result for result in weakest_last}.items():
            known = self.entries.get(key)
            if result.state == OPEN:
                self.entries.pop(key, None)
            elif known and known.hash == file_hash and STRENGTH[known.state] >= STRENGTH[result.state]:
                continue  # the same file already reached this: its card and its date stay
            else:
                self.entries[key] = Entry(*key, result.state, result.card, day.isoformat()[:10], file_hash)

    def expect(self, checks: Iterable[Check], waits: Iterable[Wait] = ()) -> None:
        """Put in what the unit's tests check now and what waits, and drop what no test checks any more."""
        self.checks, self.waits = frozenset(checks), frozenset(waits)
        alive = {(check.task, check.stage) for check in self.checks}
        self.entries = {key: entry for key, entry in self.entries.items() if key in alive}

    def is_done(self, task: int) -> bool:
        """Has the task passed all that can run without a GPU (or, where nothing can, all that it has)?

        What waits for a package is no check: it neither counts, nor does it hold the learner back.
        """
        mine = [check for check in self.checks if check.task == task]
        anywhere = [check for check in mine if not check.needs_gpu]
        return bool(mine) and all(map(self._passed, anywhere or mine))

    def can_run(self, task: int) -> bool:
        """False where all tests of the task wait for a package."""
        waits = any(wait.task == task for wait in self.waits)
        return not waits or any(check.task == task for check in self.checks)

    def reached(self, task: int) -> str:
        """OPEN, or of a task that is done HERE, PASSED, SIMULATED or CONFIRMED."""
        with_gpu = [check for check in self.checks if check.task == task and check.needs_gpu]
        if not self.is_done(task):
            return OPEN
        if any(wait.task == task for wait in self.waits):
            return HERE
        return PASSED if not with_gpu else CONFIRMED if all(map(self._passed, with_gpu)) else SIMULATED

    def overall(self) -> str:
        """OPEN, STARTED, WAITING or one of FINISHED."""
        if self.waits and not self.checks:
            return WAITING
        anywhere = [check for check in self.checks if not check.needs_gpu]
        confirmed = len(anywhere) < len(self.checks) and all(map(self._passed, self.checks))
        if not confirmed and not (anywhere and all(map(self._passed, anywhere))):
            return STARTED if self.entries else OPEN
        if self.waits:
            return HERE
        if confirmed:
            return CONFIRMED
        return SIMULATED if len(anywhere) < len(self.checks) else PASSED

    def _passed(self, check: Check) -> bool:
        entry = self.entries.get((check.task, check.stage))
        return entry is not None and (entry.state == CONFIRMED or not check.needs_gpu)


@dataclass(frozen=True)
class Plan:
    """The recommendation of a unit's quiz: the unit to begin with, and the pace (one of day_file.TRACKS)."""

    start: str
    track: str


Made = TypeVar("Made", Entry, Check, Wait, Plan)


# JSON ---------------------------------------------------------------------------------------------


class Newer(ValueError):
    """The text was written by a version of the course that knows more than this one."""


def dump(records: dict[str, Record], plan: Plan | None = None) -> str:
    units = {
        name: {
            "entries": [asdict(entry) for entry in record.entries.values()],
            "checks": [asdict(check) for check in sorted(record.checks, key=astuple)],
            "hints": {str(task): count for task, count in record.hints.items()},
        }
        | ({"waits": [asdict(wait) for wait in sorted(record.waits, key=astuple)]} if record.waits else {})
        for name, record in sorted(records.items())
    }
    content = {"version": VERSION, "units": units} | ({"plan": asdict(plan)} if plan else {})
    return json.dumps(content, indent=1) + "\n"


def parse(text: str) -> tuple[dict[str, Record], Plan | None, bool]:
    """The records and the plan that are sound, and whether that is all of the text. Raises Newer."""
    try:
        content = json.loads(text)
        version, units = content["version"], content["units"].items()
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return {}, None, False
    if isinstance(version, int) and version > VERSION:
        raise Newer
    records = {}
    for name, raw in units:
        try:
            records[name] = _record(raw)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    plan, sound = _plan(content.get("plan"))
    return records, plan, sound and version == VERSION and len(records) == len(units)


def _plan(raw: object) -> tuple[Plan | None, bool]:
    """The plan, where there is a sound one, and whether there is no other."""
    if raw is None:
        return None, True
    try:
        return _strict(Plan, raw), True
    except TypeError:
        return None, False


def _record(raw: dict) -> Record:
    entries = [_strict(Entry, entry) for entry in raw["entries"]]
    for entry in entries:
        Result(entry.task, entry.stage, entry.state, entry.card)  # refuses what no run can have shown
        date.fromisoformat(entry.date)
    hints = {int(task): count for task, count in raw["hints"].items()}
    if not all(type(count) is int and count >= 0 for count in hints.values()):
        raise ValueError("not a number of hints")
    checks = frozenset(_strict(Check, check) for check in raw["checks"])
    waits = frozenset(_strict(Wait, wait) for wait in raw.get("waits", ()))  # older files have none
    return Record({(entry.task, entry.stage): entry for entry in entries}, checks, waits, hints)


def _strict(kind: type[Made], raw: Any) -> Made:
    """kind(**raw), if every value has the type that its field declares. Raises TypeError."""
    made, declared = kind(**raw), get_type_hints(kind)
    for name, value in vars(made).items():
        if not isinstance(value, declared[name]):
            raise TypeError(name)
    return made
