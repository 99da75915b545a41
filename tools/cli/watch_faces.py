"""What `course watch` looks like: one screen that answers to keys, or a plain sequence of results."""

import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from tools.cli import hint, room, tasks, terminal
from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit, Unit
from tools.course.learner import hints
from tools.course.learner.hints import NoHints
from tools.course.learner.progress import Progress
from tools.course.learner.todo import next_task, whats_left
from tools.course.runs import COLOUR
from tools.words import quantity, wrapped

if TYPE_CHECKING:
    from tools.cli.watch import Watch

RESULT, HINT, LIST, ALL = "result", "hint", "list", "all"  # what the screen shows
VIEWS = {"h": HINT, "l": LIST, "a": ALL}
SAID_OTHERWISE = re.compile(r"[.sFExXuT-]+ *\[ *\d+%\]|Stuck\? .*")  # lines for which the screen has no use
FAILURE = re.compile("FAILED |ERROR")  # how the part begins that shows one failure
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


class Printed:
    """Each result as pytest printed it, for a pipe or a file."""

    colour = False

    def started(self, watch: "Watch") -> None:
        pass

    def waited(self, watch: "Watch") -> None:
        pass

    def resized(self, watch: "Watch") -> None:
        pass

    def pressed(self, watch: "Watch", key: str) -> bool:
        return True

    def ended(self, watch: "Watch") -> None:
        print(watch.outcome.text.rstrip())
        again = "" if watch.last else f"; the next save of {watch.unit.lesson.name} runs it again"
        print(f"({_when(watch)}{again})\n", flush=True)

    def left(self) -> None:
        pass


class Screen:
    """One screen: the last result, or what a key asked for."""

    def __init__(self, keys: terminal.Keys):
        self.colour = not os.environ.get("NO_COLOR")
        self._keys, self._view, self._extra = keys, RESULT, []

    # Events -------------------------------------------------------------------------------------

    def started(self, watch: "Watch") -> None:
        if watch.outcome is None:
            _write(terminal.HOME + terminal.CLEAR_BELOW)
        self._foot(f"Running the tests of {watch.unit.name}. q quit")

    def waited(self, watch: "Watch") -> None:
        if watch.run:
            self._foot(f"Running the tests of {watch.unit.name}, {watch.run.seconds:.0f} s. A save starts anew, q quit")

    def ended(self, watch: "Watch") -> None:
        self._view, self._extra = RESULT, []
        self._draw(watch)

    def resized(self, watch: "Watch") -> None:
        self._keys.take()
        self._draw(watch)

    def pressed(self, watch: "Watch", key: str) -> bool:
        """Answer a key. False when it was q."""
        if key == "q":
            return False
        if key == "n" and watch.green and (following := _following(watch)[0]):
            self._view = RESULT
            watch.go_on(following)
            return True
        self._view = VIEWS.get(key, RESULT) if watch.outcome else RESULT
        self._extra = list(_extra(watch, self._view))
        self._draw(watch)
        return True

    def left(self) -> None:
        _write("\n")

    # Drawing ------------------------------------------------------------------------------------

    def _draw(self, watch: "Watch") -> None:
        """The whole screen at once, so that it does not flicker."""
        if watch.outcome is None:
            return self.started(watch)
        columns, rows = terminal.size()
        lines, cut = self._lines(watch, columns, rows - 2)
        said = _when(watch) + (f"; {quantity(cut, 'line')} cut, a shows all" if cut else "")
        keys = "" if watch.run else self._key_line(watch)
        body = "\n".join([*lines, said])
        _write(f"{terminal.HOME}{terminal.CLEAR_BELOW}{body}\n{BOLD * self.colour}{keys}{PLAIN * self.colour}")
        if watch.run:
            self.waited(watch)

    def _lines(self, watch: "Watch", columns: int, room: int) -> tuple[list[str], int]:
        """What to show, and how many lines had to be cut."""
        if self._view == ALL:
            return [*watch.outcome.text.strip().splitlines(), *self._extra], 0
        if self._view == LIST:
            return self._extra, 0
        room -= sum(terminal.rows(line, columns) for line in self._extra)
        where, head, body = _parts(watch.outcome.text)
        shown, cut = terminal.fit([*where, *head], body, room, columns)
        if cut and head:
            shown, cut = terminal.fit(head, body, room, columns)
            cut += len(where)
        return [*shown, *self._extra], cut

    def _key_line(self, watch: "Watch") -> str:
        if self._view in (LIST, ALL):
            return "any key: back, q quit"
        if watch.green:
            return f"{_following(watch)[1]}; l list, q quit"
        focus = watch.outcome.focus
        return f"h hint{f' for task {focus}' if focus else ''}, l list, a all, q quit"

    def _foot(self, text: str) -> None:
        _write(terminal.CLEAR_LINE + text)


def _parts(text: str) -> tuple[list[str], list[str], list[str]]:
    """What pytest printed, without what the screen says otherwise: where it ran, how each task stands, one failure."""
    lines = [line for line in text.strip("\n").split("\n")
             if not SAID_OTHERWISE.fullmatch(COLOUR.sub("", line).rstrip())]  # fmt: skip
    plain = [COLOUR.sub("", line) for line in lines]
    where = int(plain[0].startswith("your files "))
    failure = next((n for n, line in enumerate(plain) if FAILURE.match(line)), None)
    end = len(lines) if failure is None else max(where, failure - 1)  # the empty line goes with the failure
    skips = next((n for n in range(where, end) if plain[n].startswith("skipped ")), end)
    head = [*lines[where:skips], *(["\n".join(lines[skips:end])] if skips < end else [])]  # all of them or none
    return lines[:where], head, lines[end:]


def _following(watch: "Watch") -> tuple[Unit | None, str]:
    """The unit that is next, if there is one, and what to say about what is next."""
    try:
        following = watch.following()
        if following:
            return following, f"n on to {following.name}, or change what you like"
        return None, whats_left(catalogue.units(watch.root), Progress.load(watch.root)).removesuffix(".")
    except BrokenCourseFile as error:
        return None, str(error)


def _extra(watch: "Watch", view: str) -> Iterator[str]:
    """What a key asked for."""
    try:
        if view == HINT:
            yield ""
            yield from _hint(watch)
        elif view == LIST:
            unit = watch.fresh()
            yield f"{unit.name}  {unit.title}"
            yield from tasks.full(unit, Progress.load(watch.root).state(unit))
        elif view == ALL:
            for test, text in watch.outcome.failures:
                yield from ("", f"FAILED {test}", *textwrap.indent(text.strip(), "  ").splitlines())
            yield ""
    except (NoSuchUnit, BrokenCourseFile) as error:
        yield str(error)


def _hint(watch: "Watch") -> Iterator[str]:
    """The next hint for the task in focus."""
    unit, progress = watch.fresh(), Progress.load(watch.root)
    waiting = next_task(unit, progress.state(unit))
    task = watch.outcome.focus or (waiting.number if waiting else None)
    if task is None:
        yield f"Every task is done. To read a hint all the same: ./course hint {unit.name} 1"
        return
    try:
        yield from hint.lines(unit, hints.next_rung(unit, task, progress))
    except NoHints as none:
        yield from wrapped(str(none), room())


def _when(watch: "Watch") -> str:
    return f"{watch.when:%H:%M:%S}, {watch.outcome.seconds:.1f} s"


def _write(text: str) -> None:
    with suppress(OSError):  # the terminal is gone; its keys have ended, so the watch does
        print(text, end="", flush=True)
