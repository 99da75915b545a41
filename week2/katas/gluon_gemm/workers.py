"""Workers that take turns in every order: the roles of a kernel, and the copy engine. Given; nothing to write."""

import itertools
import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType, TracebackType
from typing import Any

PRODUCER, CONSUMERS, ENGINE = "the producer", ("consumer 0", "consumer 1"), "the copy engine"
ORDERS = tuple(itertools.permutations((PRODUCER, *CONSUMERS, ENGINE)))  # who goes first, whenever several can go on
MODEL = "workers.py", "ring_model.py", "gluon_model.py", "gluon_parts.py", "gluon_source.py"
MOST_STEPS = 100_000
QUESTION = "At which barrier, and for which phase, has it waited?"


class _Stopped(BaseException):
    """Ends a worker whose run is over."""


class Run:
    """Workers, each in a thread, of which one at a time goes on, and copies that are on their way.

    Who stops to wait says who goes on: often itself, and then no other thread has to wake.
    """

    def __init__(self, order: tuple[str, ...]) -> None:
        self.order, self.now = order, ""
        self.question = QUESTION  # who uses a place too early
        self.about_a_deadlock: Callable[[], list[str]] = list  # more lines, of what was seen until then
        self.arriving: list[Callable] = []  # what each copy does when it arrives, the oldest first
        self.products: dict[str, list] = {name: [] for name in CONSUMERS}  # in flight: the places that each one reads
        self.waits: dict[str, list[str]] = {name: [] for name in (PRODUCER, *CONSUMERS)}  # the barriers, by turns
        self.phases: dict[tuple[str, str], int] = {}  # who waits, and where: the phase of the last wait
        self.most_copies = 0
        self.places: list[Any] = []
        self._may_go: dict[str, SimpleQueue] = {name: SimpleQueue() for name in order}  # a turn is put there, and taken
        self._ended: SimpleQueue = SimpleQueue()  # quicker than semaphores, which are written in Python
        self._ready: dict[str, Callable | None] = {}  # of each worker: can it go on? None: it has ended
        self._where: dict[str, tuple[str, Callable[[], str]]] = {}  # its line, and what it waits for there
        self._stuck: RuntimeError | None = None  # what the next worker that goes on has to raise
        self._error: BaseException | None = None
        self._over = False
        self._steps = 0

    def go(self, workers: dict[str, Callable]) -> dict[str, Any]:
        """What each worker returns."""
        results: dict[str, Any] = {}
        threads = []
        for name, work in workers.items():
            self._ready[name], self._where[name] = (lambda: True), ("", str)
            threads.append(threading.Thread(target=self._work, args=(name, work, results), daemon=True))
            threads[-1].start()
        try:
            self._hand_on()
            self._ended.get()
            if self._error:
                raise self._error
            return results
        finally:
            self._over = True
            for name in workers:
                self._may_go[name].put(None)
            for thread in threads:
                thread.join(timeout=1)  # one that computes for ever is left behind

    def has_ended(self, name: str) -> bool:
        return name in self._ready and self._ready[name] is None

    def _hand_on(self) -> None:
        """Let the next worker go on to its next call of the model; or `go`, if all is done or something is wrong."""
        following = ""
        if not self._error:
            try:
                following = self._next()
            except BaseException as error:
                self._error = error
        self.now = following or self.now
        (self._may_go[following] if following else self._ended).put(None)

    def _next(self) -> str:
        """The worker that goes on, after the copies that arrive before; "" if all is done."""
        while self._steps < MOST_STEPS:
            self._steps += 1
            name = next((each for each in self.order if self._can_go_on(each)), "")
            if name != ENGINE:
                return name or self._doomed()
            self.arriving.pop(0)()
        raise RuntimeError(f"After {MOST_STEPS} steps the workers have not ended: does a loop go on for ever?")

    def _can_go_on(self, name: str) -> bool:
        if name == ENGINE:
            return bool(self.arriving)
        ready = self._ready.get(name)
        return ready is not None and ready()

    def _doomed(self) -> str:
        """Of the workers that all wait, the one whose error it is: one in the lesson, if there is; "" if all ended."""
        waiting = [name for name, ready in self._ready.items() if ready]
        if not waiting:
            return ""
        names: dict[tuple[str, str], list[str]] = {}  # by their line, and what they wait for
        for name in waiting:
            place, where = self._where[name]
            names.setdefault((place, where()), []).append(name)
        lines = [f"{place}{' and '.join(who)} wait{'s' * (len(who) == 1)} {where}"
                 for (place, where), who in names.items()]
        if ended := [name for name, ready in self._ready.items() if not ready]:
            lines.append(f"{' and '.join(ended)} {'has' if len(ended) == 1 else 'have'} ended.")
        self._stuck = RuntimeError("\n".join(["Deadlock: nobody can go on.", *lines, *self.about_a_deadlock()]))
        return next((name for name in reversed(waiting) if self._where[name][0]), waiting[0])

    def _work(self, name: str, work: Callable, results: dict) -> None:
        self._may_go[name].get()
        try:
            if not self._over:
                results[name] = work()
        except _Stopped:
            pass
        except BaseException as error:
            self._error = error.with_traceback(_without_the_model(error.__traceback__))
        self._ready[name] = None
        if not self._over:
            self._hand_on()

    def pause(self, where: Callable[[], str] = str, ready: Callable = lambda: True) -> None:
        """Others may go on now; this worker does when it is ready."""
        name = self.now
        self._ready[name], self._where[name] = ready, (line_of_the_lesson(), where)
        self._hand_on()
        self._may_go[name].get()
        if self._over:
            raise _Stopped
        if self._stuck:
            raise self._stuck


def line_of_the_lesson() -> str:
    """ "Line 85: ", from where the model was called; "" for a worker that is the model's own."""
    frame: FrameType | None = sys._getframe()
    while frame and _in_model(frame):
        frame = frame.f_back
    return f"Line {frame.f_lineno}: " if frame and frame.f_code.co_filename != threading.__file__ else ""


def _without_the_model(trace: TracebackType | None) -> TracebackType | None:
    """As far as the last line that is not the model's: the fault is to be looked for there."""
    last, step = None, trace
    while step:
        last, step = (step if not _in_model(step.tb_frame) else last), step.tb_next
    if last:
        last.tb_next = None
    return trace


def _in_model(frame: FrameType) -> bool:
    return os.path.basename(frame.f_code.co_filename) in MODEL
