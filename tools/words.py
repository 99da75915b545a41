"""Quantities, lists and lines of text, as every room writes them for people."""

import re
import textwrap
from collections.abc import Sequence

WIDTH = 80  # columns of a screen, at the most
LONGEST = 40  # letters of a name in a message
_CODE = re.compile(r"`[^`\n]+`")
_GLUE = "\0"  # in place of spaces where a line must not break


def quantity(count: int, thing: str) -> str:
    """1 program, 2 programs, 1,000 launches"""
    return f"{count:,} {plural(thing, count)}"


def plural(thing: str, count: int) -> str:
    """Its noun for so many: launch, launches; query, queries; day, days."""
    if count == 1:
        return thing
    if thing.endswith("y") and thing[-2] not in "aeou":
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith("ch") else f"{thing}s"


def listed(names: Sequence[str], before_last: str = "and") -> str:
    """x; x and y; x, y and z"""
    *others, last = names
    return f"{', '.join(others)} {before_last} {last}" if others else last


def cut(text: str, width: int) -> str:
    """The text; its end left out where it is longer than `width`."""
    return text if len(text) <= width else f"{text[: width - 3]}..."


def quoted(name: str) -> str:
    """A name that somebody typed, for a message: in quotes, and not of any length."""
    return repr(cut(name, LONGEST))


def wrapped(text: str, width: int = WIDTH, lead: str = "", indent: str | None = None) -> list[str]:
    """The text's lines in lines of at most `width` columns: the first one begins with `lead`, the others with `indent`,
    which is as wide as `lead` unless it is given.

    No word is broken, however long; nor is `code` between backticks, where a line has room for it.
    """
    indent = " " * len(lead) if indent is None else indent
    room = width - max(len(lead), len(indent))
    glued = _CODE.sub(lambda code: code[0].replace(" ", _GLUE) if len(code[0]) <= room else code[0], text.strip("\n"))
    found: list[str] = []
    for line in glued.split("\n"):
        found += textwrap.wrap(
            line,
            width,
            initial_indent=indent if found else lead,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [""]
    return [line.replace(_GLUE, " ") for line in found]


def matched(match: re.Match[str] | None) -> re.Match[str]:
    """The match of a pattern that always fits. ValueError where it does not: another program's text has a new form."""
    if match is None:
        raise ValueError("this text has a form that is not known here")
    return match
