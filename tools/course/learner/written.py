"""The learner's part of a lesson: what is written of it, and what is as it was given."""

from collections.abc import Iterator
from dataclasses import dataclass

from tools.course.content import source
from tools.course.content.catalogue import Unit
from tools.course.content.gaps import Open, gap_line, open_gaps, own_functions
from tools.course.content.syntax import definitions, functions, parsed, same, task_at
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


@dataclass(frozen=True)
class Share:
    """What of a task is the learner's.

    own: functions by name, in file order; open: what is still to be written of them. line: where the work begins, at
    the def of the first that is open, or else of the first; None where the lesson has none of them.
    """

    own: tuple[str, ...]
    open: tuple[Open, ...]
    line: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """What is still to be written; where all is, what is the learner's."""
        return tuple(gap.function for gap in self.open) or self.own


def shares(unit: Unit, text: str | None = None, stub: str | None = None) -> dict[int, Share]:
    """The learner's share of each task.

    text: the lesson, where it is not the unit's own file that is asked about. stub: as it was given, where the caller
    knows it: else git is asked.
    """
    text, stub = source.read(unit.lesson) if text is None else text, given(unit) if stub is None else stub
    left, tree = open_gaps(text, stub), parsed(text)
    lines = {name: node.lineno for name, node in functions(tree)} if tree else {}
    found = {}
    for task in unit.tasks:
        own, todo = own_functions(task, stub), tuple(gap for gap in left if gap.task == task.number)
        starts = [gap.line for gap in todo] or [lines[name] for name in own if name in lines]
        found[task.number] = Share(own, todo, next(iter(starts), None))
    return found


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
