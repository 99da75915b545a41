"""Findings of one part of the self-check, and the report of all of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.selfcheck.verdicts import Verdict


@dataclass
class Findings:
    """Verdicts of one part; `notes` are lines to read that are no fault; `skips` counts tests by reason; `unjudged`
    counts, by kind, what failed where a package is missing that it may be due to."""

    name: str
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skips: Counter = field(default_factory=Counter)
    unjudged: Counter = field(default_factory=Counter)
    seconds: float = 0.0
    pieces: dict[str, "Findings"] = field(default_factory=dict)  # by test file or unit, where a job has several

    @property
    def passed(self) -> bool:
        return all(verdict.passed for verdict in self.verdicts)


def merged(parts: Iterable[Findings]) -> list[Findings]:
    """One for each name, in the order in which the names first come."""
    whole: dict[str, Findings] = {}
    for part in parts:
        one = whole.setdefault(part.name, Findings(part.name))
        one.verdicts += part.verdicts
        one.notes += part.notes
        one.skips += part.skips
        one.unjudged += part.unjudged
        one.seconds += part.seconds
    return list(whole.values())


def unjudged(parts: list[Findings], absent: list[str]) -> Findings:
    """One verdict for packages that the course wants and that are not here, in place of all that follows from it."""
    counts = sum((part.unjudged for part in parts), Counter())
    what = "; ".join(f"{kind}: {count}" for kind, count in counts.items()) or "the floors"
    return Findings(
        "packages",
        [
            Verdict(
                "packages",
                f"not installed: {', '.join(absent)}",
                False,
                f"not judged for want of it: {what}\n./course doctor says what to type",
            )
        ],
    )


def report(parts: list[Findings]) -> str:
    """Notes, counts and times; then the faults, which a log that is cut short has too; the last line counts all."""
    verdicts = [verdict for part in parts for verdict in part.verdicts]
    failed = [verdict for verdict in verdicts if not verdict.passed]
    sections = [
        [f"{part.name}: {note}" for part in parts for note in part.notes],
        [f"skipped {count}: {reason}" for reason, count in _skips(parts).items()],
        [f"{count:6d}  {kind}" for kind, count in sorted(_passed(parts).items())],
        [f"{part.seconds:6.1f} s  {part.name}" for part in parts if part.seconds >= 0.1],
        [_fault(verdict) for verdict in failed],
        [f"{len(verdicts) - len(failed)} passed, {len(failed)} failed"],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _fault(verdict: Verdict) -> str:
    detail = "".join(f"\n    {line}" for line in verdict.detail.splitlines())
    return f"FAILED {verdict.kind}: {verdict.subject}{detail}"


def _passed(parts: list[Findings]) -> Counter:
    return Counter(verdict.kind for part in parts for verdict in part.verdicts if verdict.passed)


def _skips(parts: list[Findings]) -> Counter:
    return sum((part.skips for part in parts), Counter())
