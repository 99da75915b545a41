"""The faces of `course watch`: one screen that answers to keys, or a plain sequence of results."""

import os
import re
import textwrap
from collections.abc import Iterator
from contextlib import suppress

from tools.cli import hint, room, tasks, terminal
from tools.cli.terminal import COLOUR
from tools.cli.watch.runs import STOPPED
from tools.cli.watch.state import State
from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit, Unit
from tools.course.learner import hints
from tools.course.learner.hints import NoHints
from tools.course.learner.progress import Progress
from tools.course.learner.todo import next_task, whats_left
from tools.words import quantity, wrapped

QUIT = "quit"  # what a key may ask of the session, beside a unit to go on to
RESULT, HINT, LIST, ALL = "result", "hint", "list", "all"  # what the screen shows
VIEWS = {"h": HINT, "l": LIST, "a": ALL}
SAID_OTHERWISE = re.compile(  # lines for which the screen has no use
    rf"[.sFExXuT-]+( *\[ *\d+%\]|(?<=[FE]))|Stuck\? .*|{STOPPED}"
)
FAILURE = re.compile("FAILED |ERROR")  # how the part begins that shows one failure
OTHERS = "; the other tests are running"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


class Printed:
    """Each result as pytest printed it, for a pipe or a file."""

    colour = False

    def started(self, state: State) -> None:
        pass

    def waited(self, state: State) -> None:
        pass

    def resized(self, state: State) -> None:
        pass

    def pressed(self, state: State, key: str) -> str | Unit | None:
        return None

    def ended(self, state: State) -> None:
        print(state.result.text.rstrip())
        again = "" if state.last else f"; the next save of {state.unit.lesson.name} runs it again"
        print(f"({_when(state)}{OTHERS if state.others_run else again})\n", flush=True)

    completed = ended

    def left(self) -> None:
        pass


class Screen:
    """One screen: the last result, or what a key asked for."""

    def __init__(self, keys: terminal.Keys):
        self.colour = not os.environ.get("NO_COLOR")
        self._keys, self._view = keys, RESULT
        self._extra: list[str] = []

    # Events -------------------------------------------------------------------------------------

    def started(self, state: State) -> None:
        if state.outcome is None:
            _write(terminal.HOME + terminal.CLEAR_BELOW)
        if not state.others_run:
            self._foot(f"Running the tests of {state.unit.name}. q quit")

    def waited(self, state: State) -> None:
        if state.run and not state.others_run:
            self._foot(f"Running the tests of {state.unit.name}, {state.run.seconds:.0f} s. A save starts anew, q quit")

    def ended(self, state: State) -> None:
        self._view, self._extra = RESULT, []
        self._draw(state)

    def completed(self, state: State) -> None:
        """All tests have run, and the one in focus is still that one: what was asked for meanwhile stays."""
        self._draw(state)

    def resized(self, state: State) -> None:
        self._keys.take()
        self._draw(state)

    def pressed(self, state: State, key: str) -> str | Unit | None:
        """Show what a key asks for. QUIT, or the unit to go on to, where it asks for that."""
        if key == "q":
            return QUIT
        if key == "n" and state.green and (following := _following(state)[0]):
            self._view = RESULT
            return following
        self._view = VIEWS.get(key, RESULT) if state.outcome else RESULT
        self._extra = list(_extra(state, self._view))
        self._draw(state)
        return None

    def left(self) -> None:
        _write("\n")

    # Drawing ------------------------------------------------------------------------------------

    def _draw(self, state: State) -> None:
        """The whole screen at once, so that it does not flicker."""
        if state.outcome is None:
            return self.started(state)
        columns, rows = terminal.size()
        lines, cut = self._lines(state, columns, rows - 2)
        said = _when(state) + OTHERS * state.others_run + (f"; {quantity(cut, 'line')} cut, a shows all" if cut else "")
        keys = "" if state.run and not state.others_run else self._key_line(state)
        body = "\n".join([*lines, said])
        _write(f"{terminal.HOME}{terminal.CLEAR_BELOW}{body}\n{BOLD * self.colour}{keys}{PLAIN * self.colour}")
        if state.run:
            self.waited(state)

    def _lines(self, state: State, columns: int, room: int) -> tuple[list[str], int]:
        """What to show, and how many lines had to be cut."""
        if self._view == ALL:
            return [*state.result.text.strip().splitlines(), *self._extra], 0
        if self._view == LIST:
            return self._extra, 0
        room -= sum(terminal.rows(line, columns) for line in self._extra)
        where, head, body = _parts(state.result.text)
        shown, cut = terminal.fit([*where, *head], body, room, columns)
        if cut and head:
            shown, cut = terminal.fit(head, body, room, columns)
            cut += len(where)
        return [*shown, *self._extra], cut

    def _key_line(self, state: State) -> str:
        if self._view in (LIST, ALL):
            return "any key: back, q quit"
        if state.green:
            return f"{_following(state)[1]}; l list, q quit"
        focus = state.result.focus
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


def _following(state: State) -> tuple[Unit | None, str]:
    """The unit that is next, if there is one, and what to say about what is next."""
    try:
        following = state.following()
        if following:
            return following, f"n on to {following.name}, or change what you like"
        return None, whats_left(catalogue.units(state.root), Progress.load(state.root)).removesuffix(".")
    except BrokenCourseFile as error:
        return None, str(error)


def _extra(state: State, view: str) -> Iterator[str]:
    """What a key asked for."""
    try:
        if view == HINT:
            yield ""
            yield from _hint(state)
        elif view == LIST:
            unit = state.fresh()
            yield f"{unit.name}  {unit.title}"
            yield from tasks.full(unit, Progress.load(state.root).state(unit))
        elif view == ALL:
            for test, text in state.result.failures:
                yield from ("", f"FAILED {test}", *textwrap.indent(text.strip(), "  ").splitlines())
            yield ""
    except (NoSuchUnit, BrokenCourseFile) as error:
        yield str(error)


def _hint(state: State) -> Iterator[str]:
    """The next hint for the task in focus."""
    unit, progress = state.fresh(), Progress.load(state.root)
    waiting = next_task(unit, progress.state(unit))
    task = state.result.focus or (waiting.number if waiting else None)
    if task is None:
        yield f"Every task is done. To read a hint all the same: ./course hint {unit.name} 1"
        return
    try:
        yield from hint.lines(unit, hints.next_rung(unit, task, progress))
    except NoHints as none:
        yield from wrapped(str(none), room())


def _when(state: State) -> str:
    return f"{state.when:%H:%M:%S}, {state.result.seconds:.1f} s"


def _write(text: str) -> None:
    with suppress(OSError):  # the terminal is gone; its keys have ended, so the watch does
        print(text, end="", flush=True)
