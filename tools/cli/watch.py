"""course watch [DAY]: the day's tests on every save, on one screen, one failing test in focus; keys for the rest.

Without a terminal: each run's result as it comes, until standard input ends.
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
from tools.cli.watch_faces import Printed, Screen
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.learner.current import following
from tools.course.learner.progress import Progress
from tools.course.runs import Ahead, Outcome, Run
from tools.course.saves import Saves

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
        self.unit, self.root, self.face, self._events = unit, root, face, events
        self.run: Run | None = None  # the one under way
        self._ahead = Ahead()
        self.outcome: Outcome | None = None  # of the last run that ended, and when that was
        self.when: datetime | None = None
        self.last = False  # the input has ended: the run under way is the last one

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
            self.face.left()

    def fresh(self) -> Unit:
        """The unit as its files are now. Raises NoSuchUnit, BrokenCourseFile."""
        return catalogue.unit(self.unit.name, self.root)

    @property
    def green(self) -> bool:
        """Did all pass that can run here, and is the unit done with that?"""
        finished = Progress.load(self.root).state(self.unit).finished
        return finished and self.outcome is not None and self.outcome.code == 0

    def following(self) -> Unit | None:
        """The unit that comes after this one. Raises BrokenCourseFile."""
        return following(self.unit, catalogue.units(self.root), Progress.load(self.root))

    def go_on(self, unit: Unit) -> None:
        """Watch `unit` from now on."""
        self._saves.stop()
        self.unit, self.outcome = unit, None
        self._saves = self._notice_saves()
        self._start()

    def _notice_saves(self) -> Saves:
        name = self.unit.name
        return Saves(self.unit, lambda: self._events.put((SAVED, name)))

    def _start(self) -> None:
        """Start a run; one that is under way is of no interest any more."""
        self._stop()
        columns, _ = terminal.size()
        self.run = Run(self.unit, lambda run, outcome: self._events.put((ENDED, (run, outcome))),
                       self._ahead, columns=min(WIDTH, columns), colour=self.face.colour)  # fmt: skip
        self.face.started(self)

    def _stop(self) -> None:
        if self.run:
            self.run.stop()
            self.run = None

    def _turn(self) -> bool:
        """Wait for one event and answer it. False when it was the last."""
        try:
            kind, what = self._events.get(timeout=TICK)
        except Empty:
            self.face.waited(self)
            return True
        if kind == SAVED and what == self.unit.name:
            self._start()
        elif kind == ENDED and what[0] is self.run:
            self.run, self.outcome, self.when = None, what[1], datetime.now()
            self.face.ended(self)
            if not self.last:
                self._ahead.prepare(self.unit)
        elif kind == RESIZED:
            self.face.resized(self)
        elif kind == OVER:
            self.last = True
        elif kind == KEY and not self.face.pressed(self, what.lower()):
            return False
        return kind != STOP and not (self.last and self.run is None)
