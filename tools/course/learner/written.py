"""The learner's part of a lesson: what is written of it, and what is as it was given."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.course.content import source
from tools.course.content.catalogue import Unit
from tools.course.content.gaps import gap_line
from tools.course.content.syntax import definitions, same, task_at
from tools.course.versions.reset import given


@dataclass(frozen=True)
class Piece:
    """A function or class of a lesson, as text."""

    name: str
    task: int | None
    source: str
    known: bool  # it differs from the stub; False where there is no stub to compare with


def pieces(unit: Unit) -> Iterator[Piece]:
    """In file order what has no gap left and is not as it was given; nothing while the file does not parse."""
    text, stub = source.read(unit.lesson), given(unit)
    theirs = definitions(stub or "")
    lines = text.split("\n")
    for name, node in definitions(text).items():
        if gap_line(node, theirs.get(name)) is None and not same(node, theirs.get(name)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            own = "\n".join(lines[first - 1 : node.end_lineno])
            yield Piece(name, task_at(text, first) or None, own, known=stub is not None)


def untouched(unit: Unit) -> frozenset[int]:
    """The tasks of repair whose functions are all as they were given; none where git does not know how that was."""
    repairs = [task for task in unit.tasks if task.kind == "repair"]
    stub = definitions(given(unit) or "") if repairs else {}
    own = definitions(source.read(unit.lesson)) if stub else {}
    return frozenset(
        task.number
        for task in repairs
        if stub and task.functions and all(name in own and same(own[name], stub.get(name)) for name in task.functions)
    )
