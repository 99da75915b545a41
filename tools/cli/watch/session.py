"""The session of a watch: one event after the other, until the learner quits or the input ends.

After a save the test in focus runs alone: whether it fails again is known sooner. If it passes, or there is none, all
run up to the first that fails; then the others do too.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue

from tools.cli import WIDTH, chosen, terminal
from tools.cli.watch.file_watcher import Saves
from tools.cli.watch.prestart import Ahead
from tools.cli.watch.runs import Outcome, Run
from tools.cli.watch.screens import QUIT, Printed, Screen
from tools.cli.watch.state import State
from tools.course.content.catalogue import Unit

TICK = 1.0  # seconds between two looks at the clock while tests run
SAVED, ENDED, KEY, OVER, RESIZED, STOP = "saved", "ended", "key", "over", "resized", "stop"  # events


def run(day: str | None, root: Path) -> int:
    """Watch until the learner quits. Returns the exit code: 2 when there is nothing to watch."""
    unit = chosen(day, root)
    events: SimpleQueue = SimpleQueue()  # its put may be called by the handler of a signal
    with _signals(events):
        if terminal.interactive():
            with terminal.Keys(lambda key: events.put((KEY, key) if key else (STOP, None))) as keys:
                Watch(unit, root, events, Screen(keys)).follow()
        else:
            with terminal.EndOfInput(lambda: events.put((OVER, None))):
                try:
                    Watch(unit, root, events, Printed()).follow()
                except BrokenPipeError:  # whoever read the results has gone: `./course watch | head`
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


@contextmanager
def _signals(events: SimpleQueue) -> Iterator[None]:
    """Ctrl-C and the like become events inside."""
    kinds = {"SIGINT": STOP, "SIGTERM": STOP, "SIGHUP": STOP, "SIGWINCH": RESIZED, "SIGCONT": RESIZED}
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number, kind in ((getattr(signal, name), kind) for name, kind in kinds.items() if hasattr(signal, name)):
            before[number] = signal.signal(number, lambda *_, kind=kind: events.put((kind, None)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Watch:
    """Runs a unit's tests after each save; its face shows what comes of it, and says what the keys mean."""

    def __init__(self, unit: Unit, root: Path, events: SimpleQueue, face: Printed | Screen):
        self.state, self._face, self._events = State(unit, root), face, events
        self._ahead = Ahead()

    def follow(self) -> None:
        """Until the learner quits or the input ends."""
        self._saves = self._notice_saves()
        try:
            self._start()
            while self._turn():
                pass
        finally:
            self._saves.stop()
            self._stop()
            self._ahead.stop()
            self._face.left()

    def _go_on(self, unit: Unit) -> None:
        """Watch `unit` from now on."""
        self._saves.stop()
        self.state.unit, self.state.outcome = unit, None
        self._saves = self._notice_saves()
        self._start()

    def _notice_saves(self) -> Saves:
        name = self.state.unit.name
        return Saves(self.state.unit, lambda: self._events.put((SAVED, name)))

    def _start(self, test: str | None = None, follows: bool = False) -> None:
        """Start a run of one test or, up to the first failure, of all; or, follows, of all: one has failed.

        A run that is under way is of no interest any more.
        """
        self._stop()
        columns, _ = terminal.size()
        self.state.run = Run(self.state.unit, lambda run, outcome: self._events.put((ENDED, (run, outcome))),
                             self._ahead, min(WIDTH, columns), self._face.colour, test, follows)  # fmt: skip
        self._face.started(self.state)

    def _stop(self) -> None:
        if self.state.run:
            self.state.run.stop()
            self.state.run = None

    def _turn(self) -> bool:
        """Wait for one event and answer it. False when it was the last."""
        state = self.state
        try:
            kind, what = self._events.get(timeout=TICK)
        except Empty:
            self._face.waited(state)
            return True
        if kind == SAVED and what == state.unit.name:
            self._start(state.outcome.failed if state.outcome else None)
        elif kind == ENDED and what[0] is state.run:
            self._note(*what)
        elif kind == RESIZED:
            self._face.resized(state)
        elif kind == OVER:
            state.last = True
        elif kind == KEY:
            asked = self._face.pressed(state, what.lower())
            if asked == QUIT:
                return False
            if isinstance(asked, Unit):
                self._go_on(asked)
        return kind != STOP and not (state.last and state.run is None)

    def _note(self, run: Run, outcome: Outcome) -> None:
        """The run under way has ended."""
        state, state.run = self.state, None
        if run.test and outcome.failed is None:  # it passes, or there is no such test any more
            return self._start()
        as_before = run.follows and state.result.failed == outcome.failed
        state.outcome, state.when = outcome, datetime.now()
        if run.test or outcome.early:
            self._start(follows=True)
        (self._face.completed if as_before else self._face.ended)(state)
        if not (state.run or state.last):
            self._ahead.prepare(state.unit)
