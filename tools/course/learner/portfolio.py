"""The learner's month, as far as there is something to show: from the progress, the journal, the notes, the lessons.

Nothing is computed here that was not recorded; the learner can edit all of it, so facts of another form are left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.learner import history, journal, written
from tools.course.learner.changes import Change, changes_of
from tools.course.learner.history import Bench, Count, Traffic
from tools.course.learner.journal import Entry
from tools.course.learner.progress import CONFIRMED, OPEN, STARTED, Progress, UnitState, file_hash
from tools.course.learner.record import FINISHED
from tools.course.learner.written import Piece
from tools.course.versions.git import BRANCH
from tools.course.versions.remote import ask


@dataclass(frozen=True)
class Section:
    """A day or kata with something to show."""

    unit: Unit
    state: UnitState
    reached: str  # OPEN, STARTED, WAITING, HERE, PASSED, SIMULATED or CONFIRMED
    dates: tuple[date, ...]  # on which something was recorded
    minutes: float
    hints: int
    changes: tuple[Change, ...]
    counts: tuple[Count, ...]
    benches: tuple[Bench, ...]  # the last of each function, by size
    traffic: tuple[Traffic, ...]  # the last of each function
    note: str  # Markdown
    pieces: tuple[Piece, ...]
    hash: str  # of the lesson as it is now


@dataclass(frozen=True)
class Portfolio:
    """All of it. Days are counted without katas."""

    name: str  # of the learner, "" where no branch tells it
    units: tuple[tuple[Unit, str], ...]  # all of them, with what was reached
    sections: tuple[Section, ...]
    cards: dict[str, date]  # on which days were confirmed -> when last
    minutes: float
    hints: int
    first_kernel: timedelta | None
    began: date | None
    warning: str | None

    @property
    def days(self) -> tuple[str, ...]:
        """The state of each day."""
        return tuple(reached for unit, reached in self.units if not unit.is_kata)

    @property
    def done(self) -> int:
        return sum(reached in FINISHED for reached in self.days)


def gather(root: Path) -> Portfolio:
    """Everything there is to show. Raises BrokenCourseFile."""
    units, progress, kept = catalogue.units(root), Progress.load(root), journal.read(root)
    minutes, hints = journal.minutes(kept), journal.hints(kept)
    states, sections = [], []
    for unit in units:
        each = _section(unit, progress.state(unit), kept.of(unit=unit.name), root, minutes, hints)
        states.append((unit, each.reached))
        if each.reached != OPEN or each.note:
            sections.append(each)
    return Portfolio(
        learner(root),
        tuple(states),
        tuple(sections),
        _cards(sections),
        sum(minutes.values()),
        sum(section.hints for section in sections),
        journal.first_green_kernel(kept),
        kept.entries[0].when.date() if kept.entries else None,
        kept.warning or progress.warning,
    )


def _section(unit: Unit, state: UnitState, entries: list[Entry], root: Path, minutes: dict, hints: dict) -> Section:
    return Section(
        unit=unit,
        state=state,
        reached=_reached(state, bool(entries)),
        dates=tuple(sorted({entry.when.date() for entry in entries})),
        minutes=minutes.get(unit.name, 0),
        hints=max(hints.get(unit.name, 0), sum(state.hints.values())),
        changes=changes_of(unit.name, entries),
        counts=history.counts(entries),
        benches=history.benches(entries),
        traffic=history.traffic(entries),
        note=_note(unit, root),
        pieces=tuple(written.pieces(unit)),
        hash=file_hash(unit.lesson),
    )


def _reached(state: UnitState, worked: bool) -> str:
    """The journal may tell of work where the progress does not."""
    return STARTED if state.overall == OPEN and worked else state.overall


def _cards(sections: Iterable[Section]) -> dict[str, date]:
    proofs = [proof for section in sections if section.reached == CONFIRMED and (proof := section.state.confirmation)]
    return {str(proof.card): date.fromisoformat(proof.date) for proof in sorted(proofs, key=lambda proof: proof.date)}


def learner(root: Path) -> str:
    """NAME of the branch learner/NAME, if that is the branch; else of the only such branch; else ""."""
    current = ask(root, "branch", "--show-current") or ""
    if current.startswith(BRANCH):
        return current.removeprefix(BRANCH)
    branches = (ask(root, "branch", "--list", BRANCH + "*", "--format=%(refname:short)") or "").splitlines()
    return branches[0].removeprefix(BRANCH) if len(branches) == 1 else ""


def _note(unit: Unit, root: Path) -> str:
    try:
        return (root / journal.FOLDER / f"{unit.name}.md").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
