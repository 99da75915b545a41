"""The marker of a function that is still to be written: NotImplementedError("week1/day4 task 3: vector_add")."""

import re
from dataclasses import dataclass

_FORM = re.compile(r"(week\d+/[\w/]+) task (\d+): (\w+)")


@dataclass(frozen=True)
class Marker:
    """A function that is still to be written, as the error in its place names it."""

    unit: str
    task: int
    function: str


def marker_in(message: str) -> Marker | None:
    """The marker that is this message; None for any other text."""
    match = _FORM.fullmatch(message)
    return Marker(match[1], int(match[2]), match[3]) if match else None


def marker_of(error: BaseException) -> Marker | None:
    """The marker that raised this error, or None."""
    return marker_in(str(error)) if isinstance(error, NotImplementedError) else None
