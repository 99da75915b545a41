"""Pieces of a job, each remembered by itself: of a room of the tools' tests its test files, of the rules for units'
own files the units, of any other job itself."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.course.content.catalogue import Unit
from tools.selfcheck import golden, parts, recording
from tools.selfcheck.findings import Findings
from tools.selfcheck.inputs import snapshot
from tools.selfcheck.memory import Memory

Job = tuple[str, partial[Findings]]  # the part it belongs to, and what to call with `tell`
WHOLE = ""  # in place of a test file or a unit


@dataclass(frozen=True)
class Plan:
    """A job, what is remembered of it, and which of its pieces have to run."""

    job: Job
    known: tuple[Findings, ...]
    left: tuple[str, ...]
    processes: int = 1  # side by side, for a unit

    @property
    def of_unit(self) -> bool:
        return self.job[1].func is parts.check_unit

    @property
    def run(self) -> partial[Findings]:
        """What to call for what is left."""
        _, run = self.job
        if self.of_unit:
            return partial(run, processes=self.processes)
        return partial(run, only=list(self.left)) if self.known else run

    def keep(self, memory: Memory, found: Findings, log: Path) -> None:
        """Remember each piece that passed, with what was read for it."""
        after = snapshot(memory.root)
        for piece, findings in (found.pieces or {WHOLE: found}).items():
            read = recording.of(log, piece) if piece else recording.read(log)
            memory.keep(identity(self.job, piece), findings, {*read, *parts.reads(self.job[1], piece)}, after)


def plan(job: Job, memory: Memory, root: Path) -> Plan:
    """What is left of a job, after what the memory holds."""
    recalled = {piece: memory.recall(identity(job, piece)) for piece in pieces(job, root)}
    known = tuple(found for found in recalled.values() if found)
    return Plan(job, known, tuple(piece for piece, found in recalled.items() if not found))


def pieces(job: Job, root: Path) -> list[str]:
    """The test files, relative to the root, that a job runs; the units whose files it reads; [WHOLE] of any other."""
    _, run = job
    if run.func is parts.check_tests:
        return parts.files_of_tests(run.args[0], root)
    return [unit.name for unit in run.args[0]] if run.func is parts.check_files else [WHOLE]


def identity(job: Job, piece: str = WHOLE) -> str:
    """The name of a job, or of a piece of it, among those of all forms, with what it was asked."""
    name, run = job
    asked = [*run.args, *(value for _, value in sorted(run.keywords.items()))]
    if run.func is parts.check_files:  # a unit is judged alike, whichever others are
        asked = asked[1:]
    return " ".join([name, run.func.__name__, *map(_in_words, asked), *filter(None, [piece])])


def _in_words(asked: object) -> str:
    return asked.name if isinstance(asked, (Unit, golden.Transcript)) else str(asked)
