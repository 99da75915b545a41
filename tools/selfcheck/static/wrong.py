"""Rules for wrong.toml: the wrong answers that prove the tests. (The catalogue sees to day.toml.)"""

import ast
import itertools
import re
from typing import Any

from tools.course.content.answers import BadAnswer, Broken, Wrong, apply
from tools.course.content.syntax import new_statements
from tools.selfcheck.static.material import Material, Problem, Problems

FEWEST_WRONG, FEWEST_WRONG_OF_A_KATA = 6, 4


def wrong_answers_fit_the_reference(m: Material) -> Problems:
    for wrong in m.wrong:
        try:
            apply(wrong, m.reference)
        except BadAnswer as problem:
            yield Problem(*str(problem).split(": ", 1))


def there_are_enough_wrong_answers(m: Material) -> Problems:
    fewest = FEWEST_WRONG_OF_A_KATA if m.unit.is_kata else FEWEST_WRONG
    if (count := len(m.wrong) + len(m.broken)) < fewest:
        yield Problem(f"reference/{m.unit.name}/wrong.toml", f"{count} wrong answers; write at least {fewest}")


def wrong_answers_differ_in_more_than_constants(m: Material) -> Problems:
    shapes = [(wrong, _without_constants(wrong, m.reference)) for wrong in m.wrong]
    for (one, shape), (other, same) in itertools.combinations(shapes, 2):
        if shape is not None and shape == same:
            yield Problem(other.where, f"differs from {one.name} in constants only")


def rejecting_tests_exist(m: Material) -> Problems:
    known = {test.name for test in m.test_functions}
    entries: list[Wrong | Broken] = [*m.wrong, *m.broken]
    for entry in entries:
        for name in entry.rejected_by:
            if name not in known:
                yield Problem(f"reference/{m.unit.name}/wrong.toml: {entry.name}", f"there is no test {name}")


def nothing_else_says_the_words(m: Material) -> Problems:
    """Words that always appear, in a hint or in a test's name, would prove nothing about a failure text."""
    hints = {f"hint {i} of task {n}": hint for n, task in m.unit.hints.items() for i, hint in enumerate(task, 1)}
    names = {f"the name {test.name}": f"{test.name} {test.name.replace('_', ' ')}" for test in m.test_functions}
    entries: list[Wrong | Broken] = [*m.wrong, *m.broken]
    for entry in entries:
        place = next((place for place, text in (hints | names).items() if entry.says in text), None)
        if place:
            where = f"reference/{m.unit.name}/wrong.toml: {entry.name}"
            yield Problem(where, f"says {entry.says!r}, and so does {place}")


RULES = [
    wrong_answers_fit_the_reference, there_are_enough_wrong_answers,
    wrong_answers_differ_in_more_than_constants, rejecting_tests_exist,
    nothing_else_says_the_words,
]  # fmt: skip


def _without_constants(wrong: Wrong, reference: str) -> tuple | None:
    """What the answer has that the reference has not, but for the values of constants."""
    try:
        return _shape(new_statements(reference, apply(wrong, reference)))
    except BadAnswer:
        return None  # reported by wrong_answers_fit_the_reference


def _shape(part: Any) -> Any:
    """A part of a syntax tree as tuples. A text may be code of another language: only its numbers are constants."""
    if isinstance(part, list):
        return tuple(map(_shape, part))
    if isinstance(part, ast.Constant):
        return re.sub(r"\d+", "0", part.value) if isinstance(part.value, str) else 0
    if isinstance(part, ast.AST):
        return type(part), *(_shape(getattr(part, name, None)) for name in part._fields)
    return part
