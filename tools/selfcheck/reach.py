"""The reach of a change: the tests of a lesson whose outcome a change of one of its functions may turn.

A test that uses nothing of what changed, not even through something else, comes out as on the reference: it need not
run again. Read from the syntax of both files; where that does not tell, a change may reach everything.
"""

import ast
from dataclasses import dataclass
from functools import lru_cache

from tools.course.content.syntax import parsed, text_of
from tools.course.content.uses import STATEMENTS, Uses, closure, definitions, names_read, of_lesson


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
    before, after = _definitions(reference), _definitions(answer)
    differing = {name for name in before | after if before.get(name) != after.get(name)}

    def reads(name: str) -> set[str]:
        return set().union(*(meaning.reads for meaning in [*before.get(name, ()), *after.get(name, ())]))

    every: Uses = {name: reads(name) for name in before | after}
    reached = {name for name in every if closure(name, every) & differing}
    return None if STATEMENTS in reached else reached


@dataclass(frozen=True)
class Meaning:
    """What a statement says, whatever its layout and comments, and the names that it reads."""

    says: str
    reads: frozenset[str]


def _definitions(text: str) -> dict[str, list[Meaning]]:
    """What the statements at the top of a file mean, by the names that they define."""
    lines = text.splitlines()
    found = definitions(parsed(text) or ast.parse(text))
    return {name: [_meaning(text_of(node, lines)) for node in nodes] for name, nodes in found.items()}


@lru_cache(maxsize=512)
def _meaning(statement: str) -> Meaning:
    """Of a statement as it is written: all answers of a lesson share most of theirs."""
    tree = ast.parse(statement)
    return Meaning(ast.dump(tree), frozenset(names_read(tree)))
