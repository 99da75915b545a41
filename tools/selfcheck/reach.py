"""The reach of a change: the tests of a lesson whose outcome a change of one of its functions may turn.

A test that uses nothing of what changed, not even through something else, comes out as on the reference: it need not
run again. Read from the syntax of both files; where that does not tell, a change may reach everything.
"""

import ast
from functools import lru_cache

from tools.course.content.syntax import edited, meaning, parsed
from tools.course.content.uses import STATEMENTS, Definitions, Uses, closure, definitions, of_lesson, uses


def unreached(tests: str, lesson: str, reference: str, answer: str) -> tuple[str, ...]:
    """The test functions of `tests` that no difference between two texts of a lesson reaches. lesson: its module."""
    differing = changed(reference, answer)
    if differing is None:
        return ()
    return tuple(
        name
        for name, names in of_lesson(tests, lesson).items()
        if name.startswith("test_") and names is not None and not names & differing
    )


def changed(reference: str, answer: str) -> set[str] | None:
    """The names at top level whose meaning differs, be it through what they use; None: perhaps of all."""
    gone, new = map(definitions, edited(reference, answer))
    differing = {name for name in gone | new if _meanings(gone, name) != _meanings(new, name)}
    before, after = _uses(reference), uses({name: new[name] for name in differing & new.keys()})
    every = {name: before.get(name, set()) | after.get(name, set()) for name in (*before, *after)}
    reached = {name for name in every if closure(name, every) & differing}
    return None if STATEMENTS in reached else reached


def _meanings(every: Definitions, name: str) -> list[str]:
    return list(map(meaning, every.get(name, ())))


@lru_cache(maxsize=4)
def _uses(text: str) -> Uses:
    return uses(definitions(parsed(text) or ast.parse(text)))
