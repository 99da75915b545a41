"""The file week.toml, read strictly: title and aim of a week, its units in the order of the page, its running table."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, Unit
from tools.course.content.strict import Fault, Kinds, read_toml, table
from tools.words import listed

FILE = "week.toml"


@dataclass(frozen=True)
class Entry:
    """A unit on its week's page. writes: what the learner does; written_in: "Triton", or "" if that goes unsaid."""

    unit: Unit
    writes: str
    written_in: str


@dataclass(frozen=True)
class Step:
    """A row of the running table. predicted: what the unit's predict_traffic is called with; None where it has none."""

    unit: Unit
    function: str
    name: str
    changed: str
    predicted: tuple[int, ...] | None


@dataclass(frozen=True)
class Journey:
    """The running table of a week. note: says how it was made; {card}, {host} and {date} are filled in."""

    note: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Week:
    """A week: `aim` is one line, `entries` are all of its units in the order of the page."""

    name: str  # "week1"
    title: str
    aim: str
    entries: tuple[Entry, ...]
    journey: Journey | None

    @property
    def heading(self) -> str:
        """Week 1: why GPUs?"""
        return f"{self.name.replace('week', 'Week ')}: {self.title}"


def weeks(root: Path = ROOT) -> list[Week]:
    """All weeks that have units, in order. Raises BrokenCourseFile."""
    units = catalogue.units(root)
    return [_load(name, units, root) for name in dict.fromkeys(unit.week for unit in units)]


def week(name: str, root: Path = ROOT) -> Week:
    """One week that has units. Raises BrokenCourseFile."""
    return _load(name, catalogue.units(root), root)


def _load(name: str, units: Iterable[Unit], root: Path) -> Week:
    file = root / name / FILE
    try:
        return _week(name, read_toml(file, root), {unit.name: unit for unit in units if unit.week == name})
    except Fault as fault:
        raise BrokenCourseFile(file.relative_to(root), None, str(fault)) from None


def _week(name: str, raw: dict, units: dict[str, Unit]) -> Week:
    says = table(raw, "", {"title": str, "aim": str, "unit": list}, {"journey": dict})
    if "\n" in says["aim"]:
        raise Fault("aim must be one line")
    entries = tuple(_entry(each, f"unit {n}", name, units) for n, each in enumerate(says["unit"], start=1))
    named = [entry.unit.name for entry in entries]
    if twice := sorted({each for each in named if named.count(each) > 1}):
        raise Fault(f"unit: {listed(twice)} stands here twice")
    if lost := [each for each in units if each not in named]:
        raise Fault(f"unit: {listed(lost)} is missing: each day and kata of the week has a [[unit]]")
    if named != sorted(named, key=lambda each: "/katas/" in each):
        raise Fault("unit: the days come first, then the katas")
    journey = _journey(says["journey"], name, units) if "journey" in says else None
    return Week(name, says["title"], says["aim"], entries, journey)


def _entry(raw: object, where: str, week: str, units: dict[str, Unit]) -> Entry:
    says = table(raw, f"{where}: ", {"name": str, "writes": str}, {"in": str})
    return Entry(_unit(says["name"], where, week, units), says["writes"], says.get("in", ""))


def _unit(name: str, where: str, week: str, units: dict[str, Unit]) -> Unit:
    """`name` is written as seen from the week's folder: "day1", "katas/simd"."""
    if f"{week}/{name}" not in units:
        raise Fault(f"{where}: there is no day or kata {name!r} in {week}")
    return units[f"{week}/{name}"]


def _journey(raw: object, week: str, units: dict[str, Unit]) -> Journey:
    says = table(raw, "journey: ", {"note": str, "step": list}, {})
    steps = tuple(_step(each, f"journey: step {n}", week, units) for n, each in enumerate(says["step"], start=1))
    if not steps:
        raise Fault("journey: it has no step")
    note = " ".join(says["note"].split())
    try:
        note.format(card="", host="", date="")
    except (LookupError, ValueError):
        raise Fault("journey: note may hold {card}, {host} and {date}, and no other braces") from None
    return Journey(note, steps)


def _step(raw: object, where: str, week: str, units: dict[str, Unit]) -> Step:
    required: Kinds = dict.fromkeys(("unit", "function", "name", "changed"), str)
    says = table(raw, f"{where}: ", required, {"predicted": list})
    predicted = says.get("predicted")
    if predicted is not None and not all(type(size) is int for size in predicted):
        raise Fault(f"{where}: predicted must be whole numbers")
    unit = _unit(says["unit"], where, week, units)
    return Step(unit, says["function"], says["name"], says["changed"], None if predicted is None else tuple(predicted))
