"""The month at a glance: what was reached in four figures, a square for each unit, the largest changes."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby
from typing import NamedTuple

from tools.course.content.catalogue import Unit
from tools.course.learner.changes import Change
from tools.course.learner.portfolio import Portfolio
from tools.course.learner.progress import CONFIRMED, HERE, OPEN, PASSED, SIMULATED, STARTED
from tools.report import words
from tools.words import plural

LARGEST = 3  # changes shown at the top
LEGEND = {
    CONFIRMED: "confirmed on a GPU",
    SIMULATED: "passed on simulators",
    PASSED: "passed; needs no GPU",
    HERE: "passed as far as it ran",
    STARTED: "started",
    OPEN: "open",
}


class Figure(NamedTuple):
    """A value, what it counts, and what should be known of it."""

    value: str
    what: str
    more: str


class Square(NamedTuple):
    """A unit in the row of its week; `linked` where it has a section."""

    unit: Unit
    text: str
    names: str  # classes of the style sheet
    title: str
    linked: bool


def figures(portfolio: Portfolio) -> Iterator[Figure]:
    """Four figures at most of what was reached; only those for which something was recorded."""
    yield Figure(f"{portfolio.done} of {len(portfolio.days)}", "days done", _how(portfolio))
    if portfolio.minutes >= 1:
        yield Figure(_hours(portfolio.minutes), "at work", "pauses of 15 minutes and more left out")
    if portfolio.first_kernel is not None:
        yield Figure(words.span(portfolio.first_kernel), "to the first green kernel", "counted from the first run")
    if portfolio.began:
        what = f"{plural('hint', portfolio.hints)} taken"
        yield Figure(str(portfolio.hints), what, "there are three for each task")


def _hours(minutes: float) -> str:
    return words.span(timedelta(minutes=minutes)) if minutes < 90 else f"{minutes / 60:.1f} hours"


def _how(portfolio: Portfolio) -> str:
    """The days by state, and the cards that confirmed some."""
    parts = [
        f"{portfolio.days.count(word)} {word}"
        for word in (HERE, PASSED, SIMULATED, CONFIRMED)
        if word in portfolio.days
    ]
    cards = ", ".join(f"{card} ({words.day(when)})" for card, when in portfolio.cards.items())
    return ", ".join(parts) + (f" on {cards}" if cards else "")


def weeks(portfolio: Portfolio) -> Iterator[tuple[str, list[Square]]]:
    """A row for each week: its days, then its katas."""
    shown = {each.unit.name for each in portfolio.sections}
    for week, members in groupby(portfolio.units, key=lambda pair: pair[0].week):
        yield week.replace("week", "Week "), [_square(unit, word, unit.name in shown) for unit, word in members]


def _square(unit: Unit, word: str, linked: bool) -> Square:
    text = unit.folder.name.removeprefix("day").replace("_", " ")
    return Square(unit, text, f"cell {word}{' kata' * unit.is_kata}", f"{unit.title}: {word}", linked)


def legend(portfolio: Portfolio) -> list[tuple[str, str]]:
    """The states that some unit is in, and what each means."""
    states = {reached for _, reached in portfolio.units}
    return [(word, meaning) for word, meaning in LEGEND.items() if word in states]


def largest(portfolio: Portfolio) -> list[tuple[Change, Unit]]:
    """The largest changes for the better, one a function; none where a single section would show the same."""
    best: dict[tuple[str, str], Change] = {}
    for each in sorted((c for s in portfolio.sections for c in s.changes), key=lambda c: c.factor):
        if each.factor > 1:
            best[each.unit, each.function] = each
    if len({unit for unit, _ in best}) < 2:
        return []
    units = {unit.name: unit for unit, _ in portfolio.units}
    shown = sorted(best.values(), key=lambda change: -change.factor)[:LARGEST]
    return [(change, units[change.unit]) for change in shown]
