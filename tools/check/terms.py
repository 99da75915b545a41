"""A sum with names for its terms: an oracle that returns one lets a failure say which term is missing, or too much.

assert_matches(lesson.predict_traffic, m, n, k,
               oracle=lambda m, n, k: terms(a=4 * m * k, b=4 * k * n, out=4 * m * n))
"""

from collections.abc import Callable
from dataclasses import dataclass

from tools.sim.counters import Counters


@dataclass(frozen=True)
class Terms:
    """The terms whose sum is wanted."""

    parts: dict[str, int | float]

    @property
    def total(self) -> int | float:
        return sum(self.parts.values())


def terms(**parts: int | float) -> Terms:
    """Numbers by what they are for; an underscore in a name is read as a blank."""
    return Terms({name.replace("_", " "): value for name, value in parts.items()})


def by_line(counters: Counters, figure: str) -> Terms:
    """A figure of counters ("bytes", "sectors", ...) as the sum of those of the source lines."""
    parts: dict[str, int | float] = {}
    for launch in counters.launches:
        for line in launch.lines:
            name = f"line {line.line}"
            parts[name] = parts.get(name, 0) + getattr(line.counts, figure)
    return Terms(parts)


def change_terms(change: Callable[[Terms], object], value: object) -> object:
    """The same with change(terms) in place of a Terms, or of each in a tuple or list of them."""
    if isinstance(value, Terms):
        return change(value)
    if isinstance(value, (tuple, list)) and any(isinstance(part, Terms) for part in value):
        return type(value)(change_terms(change, part) for part in value)
    return value
