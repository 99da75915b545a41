"""Floors: how many checks of each kind have to pass in each place of the course, so that none is lost unseen.

A place is a unit, whose floors.toml stands beside its reference, or a room of tests, where it stands among them. A file
for each place: a loss in one unit is not hidden by a gain in another, and two branches seldom raise the same file.
Floors are those of the standard install without a GPU; what was skipped did not pass.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.selfcheck.findings import Findings
from tools.selfcheck.parts import TESTS, asking_for
from tools.selfcheck.variants import unit_mutants
from tools.selfcheck.verdicts import Verdict

FILE = "floors.toml"
ROOMS = "tools/tests"
OF_LESSONS = (
    "lesson tests",
    "lesson tests, remote",
    "tests of the unit",
    "tests seen red",
    "wrong answers",
    "broken machines",
)
OF_UNITS = (*OF_LESSONS, "static rules")
MUTANTS = "mutants made"  # all that the machine makes of a unit; which of them run differs from form to form
OF_TESTS = (*TESTS.values(), "dev tests")
OF_PART = {  # the kinds of check that are all made when a part runs
    **{part: (kind,) for part, kind in TESTS.items()},
    "units": (*OF_LESSONS, MUTANTS),
    "quick": ("lesson tests",),
    "static": ("static rules",),
    "golden": ("transcripts",),
    "dev": ("dev tests",),
}
HEAD = """\
# So many checks of each kind have to pass here. `./course check --raise-floors` raises; a lower number needs a reason
# in the commit message.
"""
LOST = """\
{passed} passed, and {floor} did before
bring back what is lost; or lower the number, and say why in the commit message"""
NONE = """\
{passed} passed, and no floor keeps them
./course check --raise-floors writes it"""

Counts = Mapping[tuple[str, str], int]  # place (a folder below the root), kind -> how many passed


def counts(parts: Iterable[Findings], units: Iterable[Unit], root: Path, dev: Sequence[str]) -> Counts:
    """How many checks of each kind passed in each place, and how many mutants each of `units` makes. dev: packages.

    Tests that ask for one of these packages are counted as "dev tests" only: elsewhere they may be skipped.
    """
    asking = {file.relative_to(root).as_posix() for file in asking_for(dev, root)}
    found: Counter[tuple[str, str]] = Counter()
    for verdict in (verdict for part in parts for verdict in part.verdicts if verdict.passed):
        place = _place(verdict)
        if place and not (verdict.kind in TESTS.values() and verdict.subject.partition("::")[0] in asking):
            found[place, verdict.kind] += 1
    for unit in units:
        found[_of(unit.name), MUTANTS] = len(unit_mutants(unit, root))
    return found


def kept(passed: Counts, kinds: Iterable[str], units: Iterable[Unit], root: Path) -> Findings:
    """A verdict for each floor of these kinds in the places of `units` and of the tests; and for what has no floor."""
    kinds = set(kinds)
    places = {place for place, _ in passed} | set(_written(units, root))
    verdicts = []
    for place in sorted(places):
        floors = read(root / place / FILE)
        had = {kind for where, kind in passed if where == place}
        for kind in sorted(kinds & (floors.keys() | had)):
            now = passed.get((place, kind), 0)
            detail = (LOST if kind in floors else NONE).format(passed=now, floor=floors.get(kind))
            verdicts.append(Verdict("floors kept", f"{place}/{FILE}: {kind}", now >= floors.get(kind, now + 1), detail))
    return Findings("floors", verdicts)


def raised(passed: Counts, kinds: Iterable[str], root: Path) -> Findings:
    """Write each floor of these kinds that more than so many checks passed; a note for each file that was changed."""
    notes = []
    for place in sorted({place for place, _ in passed}):
        file = root / place / FILE
        before = read(file)
        now = {kind: _steady(kind, passed[place, kind]) for kind in kinds if (place, kind) in passed}
        after = before | {kind: number for kind, number in now.items() if number > before.get(kind, 0)}
        if after != before:
            lines = [f'"{kind}" = {number}\n' for kind, number in sorted(after.items())]
            file.write_text(HEAD + "".join(lines), encoding="utf-8")
            notes.append(f"raised in {place}/{FILE}")
    return Findings("floors", notes=notes)


def read(file: Path) -> dict[str, int]:
    """The floors in a file, by kind; none where there is no file."""
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _steady(kind: str, number: int) -> int:
    """Of tests two figures, rounded down: some are skipped where a machine lacks a program."""
    step = 10 ** max(0, len(str(number)) - 2) if kind in OF_TESTS else 1
    return number - number % step


def _written(units: Iterable[Unit], root: Path) -> list[str]:
    """The places that have floors: those of `units` and of the tests; of all units also what has floors and no unit."""
    names = [unit.name for unit in units]
    files = [root / _of(name) / FILE for name in names] + [
        *root.glob(f"{ROOMS}/{FILE}"),
        *root.glob(f"{ROOMS}/*/{FILE}"),
    ]
    if set(names) == set(catalogue.names(root)):
        files += [*root.glob(f"reference/week*/*/{FILE}"), *root.glob(f"reference/week*/katas/*/{FILE}")]
    return [file.parent.relative_to(root).as_posix() for file in files]


def _of(unit: str) -> str:
    return f"reference/{unit}"


def _place(verdict: Verdict) -> str | None:
    """The folder of the floors.toml that a verdict counts in; None for what has no floor."""
    if verdict.kind in OF_UNITS:
        name = verdict.subject.partition(": ")[0]
        return _of(name) if catalogue.UNIT_NAME.fullmatch(name) else None
    if verdict.kind in OF_TESTS and verdict.subject.startswith(f"{ROOMS}/"):
        room, deeper, _ = verdict.subject.partition("::")[0].removeprefix(f"{ROOMS}/").partition("/")
        return f"{ROOMS}/{room}" if deeper else ROOMS
    return f"{ROOMS}/golden" if verdict.kind == "transcripts" else None
