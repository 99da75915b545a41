"""A name that the tests use and the lesson has not, or not any more as a function: renamed, deleted, overwritten."""

import ast
import difflib
import sys
import textwrap

from tools import ROOT
from tools.check.show import WIDTH
from tools.course.content.catalogue import Unit
from tools.course.content.syntax import definitions, statements
from tools.course.versions.reset import given as given_text


def told(error: BaseException, unit: Unit) -> str | None:
    """What to say of a test of this unit which failed for want of a name of its lesson.

    None for any other error, and for a name that the stub has not either: then the test is wrong.
    """
    if isinstance(error, AttributeError) and getattr(error.obj, "__name__", None) == unit.module:
        return _missing(unit, str(error.name))
    if isinstance(error, TypeError) and "not callable" in str(error):
        return _overwritten(unit)
    return None


def _missing(unit: Unit, name: str) -> str | None:
    stub, shown = given_text(unit), _shown(unit)
    given, has = names(stub or ""), names(_text(unit))
    if stub is not None and name not in given:
        return None
    if name in has:
        said = (
            f"The tests use {name}. Line {has[name]} of {shown} has that name, but what it stands for after the "
            "import is no function and no plain constant."
        )
    else:
        others = [other for other in has if other not in given]  # what was given belongs to something else
        near = difflib.get_close_matches(name, others, n=1)
        said = f"The tests use {name}, and {shown} has nothing of that name." + (
            f" The nearest that it has is {near[0]}." if near else ""
        )
    return _together(unit, said, stub.splitlines()[given[name] - 1] if stub is not None else "")


def _overwritten(unit: Unit) -> str | None:
    """Of a function that the lesson overwrote with something else."""
    module, stub = sys.modules.get(unit.module), given_text(unit) or ""
    for name, node in definitions(stub).items():
        if not callable(thing := getattr(module, name, callable)):
            said = f"The tests call {name}, and in {_shown(unit)} it stands for {thing!r:.40}."
            return _together(unit, said, stub.splitlines()[node.lineno - 1])
    return None


def names(source: str) -> dict[str, int]:
    """The functions, classes and constants of a file, with their lines; none where it does not parse."""
    found = {}
    for node in statements(source):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node.lineno
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {
                leaf.id: node.lineno for target in targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
            }
    return found


def _together(unit: Unit, said: str, given: str) -> str:
    """given: the line of the stub; "" where there is no stub to go back to."""
    lines = textwrap.wrap(said, WIDTH, break_long_words=False, break_on_hyphens=False)
    if given:
        line = f"As it was given: {given}"
        lines += [
            line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}...",
            f"All of it back, your work kept beside it: ./course reset {unit.name}",
        ]
    return "\n".join(lines)


def _shown(unit: Unit) -> str:
    return unit.lesson.relative_to(ROOT).as_posix()


def _text(unit: Unit) -> str:
    try:
        return unit.lesson.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
