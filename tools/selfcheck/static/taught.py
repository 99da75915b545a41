"""Rules for what a lesson asks for: no name and no word before it is taught, no sitting that is too long."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.course.content import catalogue, glossary
from tools.course.content.catalogue import Unit, repaired
from tools.course.content.glossary import Entry
from tools.course.content.syntax import after_docstring, find_function
from tools.selfcheck.static.material import Material, Problem, Problems
from tools.words import quantity

LONGEST_SITTING = 75  # minutes
PYTHON = (str, bytes, int, float, list, tuple, dict, set)  # whose methods every learner knows
IMPORT = re.compile(r"^(import|from) .*", re.MULTILINE)  # to import a name is not to teach it
OF_BUILTINS = {"key", "default", "reverse", "strict", "start", "end", "sep"}  # keywords, of sorted and print, say


def names_are_taught(m: Material) -> Problems:
    """What a gap's answer calls stands in this lesson or in one that it needs: in a docstring, or in given code."""
    lessons = [m.stub, *(unit.lesson.read_text(encoding="utf-8") for unit in needed(m))]
    text = IMPORT.sub("", "\n".join(lessons))
    missing = [name for name in dict.fromkeys(_names(m)) if not re.search(_as_written(name), text, re.MULTILINE)]
    if missing:
        what = "the gaps need what no docstring teaches, here or in a unit that this one needs:"
        yield Problem(m.at(m.unit.lesson), f"{what} {', '.join(missing)}")


def words_come_after_their_day(m: Material) -> Problems:
    """A word of the glossary waits for its unit; `in_passing` lists what the docstring explains beside its way."""
    docstring, early, before = ast.get_docstring(m.stub_tree) or "", set(), _before(m)
    for entry in glossary.read(m.root):
        if not _known(entry, m, before):
            early |= {word for word in entry.words if re.search(rf"\b{re.escape(word)}(s|es)?\b", docstring, re.I)}
    lesson, day = m.at(m.unit.lesson), m.at(m.unit.folder / "day.toml")
    listed = {word.lower() for word in m.unit.in_passing}
    for word in sorted(early - listed):
        yield Problem(lesson, f"uses {word!r} before the unit that teaches it: say in half a sentence what it is, "
                              "and list it in in_passing of day.toml, or use another word")  # fmt: skip
    for word in sorted(listed - early):
        yield Problem(day, f"in_passing lists {word!r}, which the docstring does not use before its unit")


def a_sitting_is_not_too_long(m: Material) -> Problems:
    minutes, sittings = m.unit.minutes, m.unit.sittings
    if minutes > LONGEST_SITTING * sittings:
        what = f"{minutes} minutes in {quantity(sittings, 'sitting')}; at most {LONGEST_SITTING} in one"
        yield Problem(m.at(m.unit.folder / "day.toml"), what)
    if sittings > 1 and "sitting" not in (ast.get_docstring(m.stub_tree) or ""):
        yield Problem(m.at(m.unit.lesson), "the docstring does not say where the second sitting begins")


RULES = [names_are_taught, words_come_after_their_day, a_sitting_is_not_too_long]


def needed(m: Material) -> list[Unit]:
    """The units that this one needs, followed through."""
    found: dict[str, Unit] = {}
    waiting = list(m.unit.needs)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _unit(name, m.root)
            waiting += found[name].needs
    return list(found.values())


@cache
def _unit(name: str, root: Path) -> Unit:
    """Read once: most units need most of the days before them."""
    return catalogue.unit(name, root)


def _known(entry: Entry, m: Material, before: list[Unit]) -> bool:
    """Is it taught here, or taught or explained in passing in a unit that comes before?"""
    explained = {word.lower() for word in (*m.unit.concepts, *(word for unit in before for word in unit.in_passing))}
    worked = {m.unit.name, *(unit.name for unit in before)}
    return bool(worked & set(entry.units) or explained & set(entry.words)) or not (entry.units or entry.to_come)


def _before(m: Material) -> list[Unit]:
    """The units that this one needs, and all days of the course before the last of them, or before this day."""
    needs = needed(m)
    worked = {m.unit.name, *(unit.name for unit in needs)}
    days = [name for name in catalogue.names(m.root) if "/katas/" not in name]
    last = max((days.index(name) for name in worked if name in days), default=0)
    return [*needs, *(_unit(name, m.root) for name in days[:last])]


# The names in an answer ---------------------------------------------------------------------------


def _names(m: Material) -> Iterator[str]:
    """Each as it is written: "tl.load", ".stride" for an attribute of a value, "mask=" for a keyword."""
    kept = {gap.function: gap.given for gap in m.gaps} | dict.fromkeys(repaired(m.unit, m.stub), 0)
    imported = set(_imported(m.reference_tree))
    for name, given in kept.items():
        function = find_function(m.reference_tree, name)
        assert function is not None
        for statement in after_docstring(function)[given:]:
            yield from _names_in(statement, imported)


def _names_in(tree: ast.AST, imported: set[str]) -> Iterator[str]:
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (f"{word.arg}=" for word in node.keywords if word.arg and word.arg not in OF_BUILTINS)
        elif isinstance(node, (ast.Attribute, ast.Name)) and _root(node) in imported:
            if id(node) not in owners:  # tl.load is a name, its tl is none
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and not any(hasattr(kind, node.attr) for kind in PYTHON):
            if _root(node) != "math":
                yield f".{node.attr}"


def _root(node: ast.expr) -> str | None:
    """ "tl" of tl.load; None where the chain of attributes does not begin with a name."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names that imports bind, but math's: every learner knows that module."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names if alias.name != "math")


def _as_written(name: str) -> str:
    """A pattern: "tl.load" and "tl.load(", not "my_tl.load"; for ".size" also a field `size:`; for "out=" `out:`."""
    if name.endswith("="):
        return rf"\b{re.escape(name[:-1])}(=|:)"
    if name.startswith("."):
        return rf"{re.escape(name)}\b|^\s+{re.escape(name[1:])}:"
    return rf"(?<![\w.]){re.escape(name)}\b"
