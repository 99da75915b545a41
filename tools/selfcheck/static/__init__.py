"""Checks that run nothing: what the files of a unit, and the texts around it, must agree on."""

from collections.abc import Iterator
from pathlib import Path

from tools.course.content.answers import BadAnswer
from tools.course.content.catalogue import Unit
from tools.selfcheck.static import lesson, suite, taught, wrong
from tools.selfcheck.static.material import Material, Problem

OF_ITSELF = [*lesson.RULES, *suite.RULES, *wrong.RULES]


def check_unit(unit: Unit, root: Path) -> dict[str, list[Problem]]:
    """The problems of `unit` in its own files, rule by rule; an empty list for a rule that it keeps."""
    material = Material(unit, root)
    unreadable = list(_files_can_be_read(material))
    if unreadable:
        return {"files_can_be_read": unreadable}
    return {rule.__name__: list(rule(material)) for rule in OF_ITSELF}


def check_place(unit: Unit, root: Path) -> dict[str, list[Problem]]:
    """The problems of `unit` with what units before it teach; none of one whose files check_unit cannot read."""
    material = Material(unit, root)
    if any(_files_can_be_read(material)):
        return {}
    return {rule.__name__: list(rule(material)) for rule in taught.RULES}


def _files_can_be_read(m: Material) -> Iterator:
    for name in ("stub_tree", "reference_tree", "tests_tree", "wrong", "broken"):
        try:
            getattr(m, name)
        except SyntaxError as error:
            yield Problem(f"{error.filename}, line {error.lineno}", error.msg)
        except BadAnswer as error:
            yield Problem(m.unit.name, str(error))
