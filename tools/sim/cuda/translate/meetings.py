"""Places where ways of a kernel meet, and the pieces of the syntax tree that bring its variables together there."""

import ast
from typing import NamedTuple

from tools.sim.cuda.translate.syntax import assign, name, runtime, stored


class Meeting(NamedTuple):
    """A variable where ways meet: the name under which the values of other lanes wait, and the phi."""

    variable: str
    waiting: str
    phi: str


def keep(meetings: list[Meeting]) -> list[ast.stmt]:
    return [assign(each.waiting, name(each.variable)) for each in meetings]


def swap(each: Meeting) -> ast.stmt:
    """x, waiting = waiting, x"""
    pair = each.variable, each.waiting
    return ast.Assign(
        [ast.Tuple(list(map(stored, pair)), ast.Store())], ast.Tuple(list(map(name, reversed(pair))), ast.Load())
    )


def merge(method: str, place: str, meetings: list[Meeting]) -> list[ast.stmt]:
    """The active lanes keep their value, all others get what waits for them."""
    return [assign(each.variable, _merged(method, place, each)) for each in meetings]


def hand_over(method: str, place: str, meetings: list[Meeting]) -> list[ast.stmt]:
    """The values of the active lanes wait from here on."""
    return [assign(each.waiting, _merged(method, place, each)) for each in meetings]


def _merged(method: str, place: str, each: Meeting) -> ast.expr:
    return runtime(method, name(each.variable), name(each.waiting), name(place), name(each.phi))
