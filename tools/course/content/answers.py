"""Wrong answers and broken machines: read from reference/<unit>/wrong.toml, checked, written out as files.

A wrong answer is the reference with one mistake in it; its unit's tests must reject it, in these words.
"""

import ast
import difflib
import textwrap
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools import ROOT
from tools.course.content.syntax import after_docstring, edited, find_function, functions, new_statements, parsed
from tools.words import cut

SHOWN = 50  # letters of a text that is looked for


class BadAnswer(ValueError):
    """A wrong answer that does not exist, or that its wrong.toml does not describe properly. One line."""


@dataclass(frozen=True)
class Wrong:
    """One mistake, made by `find` and `replace` in the text, or by `code` as the new body of `function`."""

    unit: str  # "week1/day1"
    name: str
    rejected_by: tuple[str, ...]  # names of test functions that must fail
    says: str  # words that the failure text must contain
    find: str = ""
    replace: str = ""
    all: bool = False  # every place, not the only one
    function: str = ""  # "f", or "Class.f"
    code: str = ""

    @property
    def where(self) -> str:
        return f"reference/{self.unit}/wrong.toml: {self.name}"


@dataclass(frozen=True)
class Broken:
    """A machine on which the setup tests named in `rejected_by` must fail; `facts` are what it pretends."""

    unit: str
    name: str
    rejected_by: tuple[str, ...]
    says: str
    facts: dict = field(default_factory=dict)


def wrong_answers(unit: str, root: Path = ROOT) -> list[Wrong]:
    """The wrong answers of `unit` ("week1/day1") in file order. Raises BadAnswer."""
    return [Wrong(unit=unit, **_entry(Wrong, unit, table)) for table in _tables(unit, "wrong", root)]


def broken_machines(unit: str, root: Path = ROOT) -> list[Broken]:
    """The broken machines of `unit` in file order. Raises BadAnswer."""
    return [Broken(unit=unit, **_entry(Broken, unit, table)) for table in _tables(unit, "broken", root)]


def reference_file(unit: str, root: Path = ROOT) -> Path:
    """The reference solution of `unit`. Raises BadAnswer where there is none, as in the learner edition."""
    files = sorted((root / "reference" / unit).glob("*.py"))
    if len(files) != 1:
        found = "none" if not files else ", ".join(file.name for file in files)
        raise BadAnswer(f"reference/{unit} must hold one solution; found {found}.")
    return files[0]


def materialise(name: str, folder: Path, root: Path = ROOT) -> Path:
    """Write the wrong answer `name` ("week1/day1/NAME") below `folder`; return `folder`, ready for --answers.

    Raises BadAnswer for an unknown name or an edit that does not fit the reference.
    """
    unit, _, short = name.rpartition("/")
    if not unit:
        raise BadAnswer(f"{name!r} names no unit; write it like week1/day1/{name}.")
    known = {wrong.name: wrong for wrong in wrong_answers(unit, root)}
    if short not in known:
        raise BadAnswer(f"{unit} has no wrong answer {short!r}.{_suggestion(short, known)}")
    reference = reference_file(unit, root)
    source = apply(known[short], reference.read_text(encoding="utf-8"))
    file = folder / unit / reference.name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")
    return folder


@lru_cache(maxsize=128)
def apply(wrong: Wrong, source: str) -> str:
    """The text of the reference, `source`, with the mistake in it. Raises BadAnswer."""
    changed = _new_body(wrong, source) if wrong.function else _new_text(wrong, source)
    try:
        gone, new = edited(source, changed)
    except SyntaxError as error:
        raise BadAnswer(f"{wrong.where}: the result does not parse (line {error.lineno}: {error.msg}).") from None
    if len(gone.body) == len(new.body) and not new_statements(source, changed):
        raise BadAnswer(f"{wrong.where}: the result is the reference itself.")
    if _signatures(gone) != _signatures(new):
        raise BadAnswer(f"{wrong.where}: the result changes a signature.")
    return changed


# The two kinds of edit ---------------------------------------------------------------------------


def _new_text(wrong: Wrong, source: str) -> str:
    """`find` is looked for below the lesson's docstring, which may well show the very line that it teaches."""
    lesson, source = _docstring_and_code(source)
    count = source.count(wrong.find)
    if count == 0:
        raise BadAnswer(f"{wrong.where}: the reference does not contain {_short(wrong.find)}.")
    if count > 1 and not wrong.all:
        raise BadAnswer(f"{wrong.where}: {_short(wrong.find)} occurs {count} times; say more of it, or all = true.")
    return lesson + source.replace(wrong.find, wrong.replace)


@lru_cache(maxsize=4)
def _docstring_and_code(source: str) -> tuple[str, str]:
    """The text of a module up to the end of its docstring, and the rest."""
    tree, lines = parsed(source) or ast.parse(source), source.splitlines(keepends=True)
    end = tree.body[0].end_lineno if ast.get_docstring(tree, clean=False) is not None else 0
    return "".join(lines[:end]), "".join(lines[end:])


def _new_body(wrong: Wrong, source: str) -> str:
    function = find_function(parsed(source) or ast.parse(source), wrong.function)
    if function is None or not after_docstring(function):
        raise BadAnswer(f"{wrong.where}: the reference has no function {wrong.function} with a body.")
    body = after_docstring(function)
    lines = source.splitlines()
    new = textwrap.indent(textwrap.dedent(wrong.code.strip("\n")), " " * body[0].col_offset)
    return "\n".join([*lines[: body[0].lineno - 1], new, *lines[body[-1].end_lineno :]]) + "\n"


def _signatures(tree: ast.Module) -> list[tuple[str, str, str]]:
    return [
        (name, ast.dump(function.args), " ".join(map(ast.dump, function.decorator_list)))
        for name, function in functions(tree)
    ]


# Reading wrong.toml ------------------------------------------------------------------------------

_NEEDED: dict[str, Any] = {"name": str, "rejected_by": (str, list), "says": str}
_OPTIONAL: dict[type, dict[str, Any]] = {
    Wrong: {"find": str, "replace": str, "all": bool, "function": str, "code": str},
    Broken: {"facts": dict},
}


def _tables(unit: str, kind: str, root: Path) -> list[dict]:
    file = root / "reference" / unit / "wrong.toml"
    shown = f"reference/{unit}/wrong.toml"
    if not file.is_file():
        raise BadAnswer(f"There is no {shown}; wrong answers come with the authors' edition of the course.")
    try:
        content = _content(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadAnswer(f"{shown} is not valid TOML: {error}.") from None
    if unknown := content.keys() - {"wrong", "broken"}:
        raise BadAnswer(f"{shown}: {min(unknown)!r} is neither [[wrong]] nor [[broken]].")
    tables = content.get(kind, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BadAnswer(f"{shown}: write [[{kind}]], in double brackets.")
    names = [table.get("name") for table in tables]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadAnswer(f"{shown}: two entries are called {twice[0]}.")
    return tables


_content = lru_cache(maxsize=4)(tomllib.loads)  # of each unit some fifty answers are asked for, one by one


def _entry(kind: type, unit: str, table: dict) -> dict[str, Any]:
    """The fields of a wrong answer or a broken machine, but for the unit. Raises BadAnswer."""
    where = f"reference/{unit}/wrong.toml: {table.get('name', '(no name)')}"
    allowed = _NEEDED | _OPTIONAL[kind]
    for key in _NEEDED:
        if not table.get(key):
            raise BadAnswer(f"{where}: {key} is missing.")
    for key, value in table.items():
        if key not in allowed:
            raise BadAnswer(f"{where}: unknown key {key!r}.{_suggestion(key, allowed)}")
        if not isinstance(value, allowed[key]):
            raise BadAnswer(f"{where}: {key} has a value of the wrong type.")
    by_text, by_code = (
        bool(table.get("find")) and "replace" in table,
        bool(table.get("function") and table.get("code")),
    )
    if kind is Wrong and by_text == by_code:
        raise BadAnswer(f"{where}: give find and replace, or function and code.")
    tests = table["rejected_by"]
    return {**table, "rejected_by": (tests,) if isinstance(tests, str) else tuple(tests)}


def _suggestion(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]}?" if close else f" Known: {', '.join(known)}."


def _short(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else text
    return repr(cut(line, SHOWN))
