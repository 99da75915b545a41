"""Results of a run of a unit's tests, as the process that ran them reports it (one JSON object a line)."""

import signal
from dataclasses import asdict, dataclass, field
from typing import Any

TELLS_STACKS = getattr(signal, "SIGUSR1", None)  # asks a process where its threads are; Windows has no such signal
TRIES = 3  # so often may a test of speed be undecided before that is its outcome: machines have other work too


@dataclass(frozen=True)
class Variant:
    """One lesson under its tests: the reference, the stub, a wrong answer, a broken machine or a mutant.

    Two kinds are no lesson's: "tools", tests in a room of tools/tests, and "unit", those made there for one unit.
    """

    kind: str  # reference, remote, stub, wrong, broken, mutant, unit, tools
    name: str  # of the wrong answer, machine or mutant; "" for the others
    arguments: tuple[str, ...]  # for pytest
    limit: float = 60.0  # seconds that one test may take
    audit: bool = False  # also hold every tolerance against its impostors
    facts: dict = field(default_factory=dict)  # what a broken machine pretends
    rejected_by: tuple[str, ...] = ()  # the tests that must fail
    says: str = ""  # words that the text of one of these failures must contain
    unreached: tuple[str, ...] = ()  # the tests that come out as on the reference: see reach.py

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()

    @property
    def of_lesson(self) -> bool:
        return self.kind not in ("unit", "tools")

    to_json = asdict

    @classmethod
    def from_json(cls, table: dict) -> "Variant":
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        return cls(**fields)


@dataclass(frozen=True)
class TestResult:
    """The outcome of one test in one variant; `text` is the failure text, or the reason of a skip."""

    __test__ = False  # not a test itself, whatever pytest makes of the name

    nodeid: str
    function: str
    outcome: str  # passed, failed, skipped, undecided, "after task N"
    text: str = ""
    tasks: tuple[int, ...] = ()
    stage: str = ""
    needs_gpu: bool = False  # it names a capability, and may be skipped where that is missing
    needs_program: bool = False  # the same for a program or package
    seconds: float = 0.0

    @property
    def waits(self) -> bool:
        """Was it skipped for something that this machine may lack?"""
        return self.outcome == "skipped" and (self.needs_gpu or self.needs_program)


@dataclass
class Result:
    """All tests of one variant. `died` says how the process ended if it did not survive the variant; `said` is the end
    of what it had written to standard error when pytest came to its end."""

    variant: Variant
    tests: list[TestResult] = field(default_factory=list)
    exit: int | None = None
    seconds: float = 0.0
    died: str = ""
    said: str = ""

    def of(self, function: str) -> list[TestResult]:
        return [test for test in self.tests if test.function == function]

    @property
    def failed(self) -> list[TestResult]:
        return [test for test in self.tests if test.outcome == "failed"]
