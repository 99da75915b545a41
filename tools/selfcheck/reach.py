"""The reach of a change: the tests of a lesson whose outcome a change of one of its functions may turn.

A test that uses nothing of what changed, not even through something else, comes out as on the reference: it need not
run again. Read from the syntax of both files; where that does not tell, a change may reach everything.
"""

import ast

from tools.course.content.uses import STATEMENTS, closure, definitions, of_lesson, uses


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
    before, after = definitions(ast.parse(reference)), definitions(ast.parse(answer))
    differing = {name for name in before | after if _texts(before.get(name)) != _texts(after.get(name))}
    every = uses({name: [*before.get(name, ()), *after.get(name, ())] for name in before | after})
    reached = {name for name in every if closure(name, every) & differing}
    return None if STATEMENTS in reached else reached


def _texts(nodes: list[ast.stmt] | None) -> list[str]:
    return [ast.dump(node) for node in nodes or ()]
