"""Programs in flight together: each in a thread of its own, one of which runs at a time and hands on to another.

Who comes next is drawn by the seed. A program that waits for memory to change is not drawn until it does. When all
wait, those whose variables still change go on a while, as one that counts its tries; if nothing comes of it, nobody
can go on.
"""

import contextvars
import random
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from tools.sim.triton.turns.loops import Loop, Place

TRIES = 1000  # rounds that a loop is given when nobody but it can go on
SELDOM = 8  # one time in so many a program that was woken comes before others; to look again is often in vain
STACK = 1 << 20  # bytes of a thread's stack: a kernel calls a few functions, and there may be thousands of threads


class Stopped(BaseException):
    """The launch is over for this program, since another one failed."""


class Program:
    """One program in flight. looked: places for whose change it waits, by address; None: it can go on.

    is_woken: has what it waited for changed, and it has not looked yet? settled: would it do the same for ever?
    asks: does it look in a way that others can answer, by an atomic or a volatile load?
    tries: rounds in vain since memory changed last. line: where it waits.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.baton = threading.Lock()
        self.baton.acquire()
        self.thread: threading.Thread | None = None
        self.loops: dict[tuple[int, int], Loop] = {}
        self.looked: dict[int, Place] | None = None
        self.is_woken = self.settled = self.asks = False
        self.tries = self.line = 0


class Schedule:
    """The programs of one launch, by number in the order in which they start; at most `limit` are in flight.

    execute: runs a program from its start. resume: called with a number before its program goes on. stuck: makes the
    exception for a program that is among those which all wait. changers: by address, the program that changed that
    element last and its line, of small accesses. Their threads have the caller's context variables.
    """

    def __init__(
        self,
        numbers: list[int],
        limit: int,
        seed: str,
        execute: Callable[[int], None],
        resume: Callable[[int], None],
        stuck: Callable[["Schedule", Program], Exception],
    ) -> None:
        self.total, self.limit = len(numbers), limit
        self._execute, self._resume, self._stuck = execute, resume, stuck
        self.unstarted = numbers[::-1]
        self.flying: dict[int, Program] = {}
        self._random = random.Random(seed)
        self._main = threading.Lock()
        self._main.acquire()
        self._context = contextvars.copy_context()
        self.error: BaseException | None = None
        self.changers: dict[int, tuple[int, int]] = {}
        self._stopping = False
        self._threads: list[threading.Thread] = []
        self._doomed: Program | None = None

    def run(self) -> None:
        """Run all programs. Raises what a program raises."""
        before = threading.stack_size(STACK)
        try:
            self._wake(self._choose())
            self._main.acquire()
        except BaseException as error:  # a deadline, or an interrupt: it comes to this thread, which only waits
            self._show_program(error)
            raise
        finally:
            self._stop()
            threading.stack_size(before)
        if self.error is not None:
            raise self.error

    # Called by the program that runs

    def pass_on(self) -> None:
        """Perhaps another program goes on first."""
        self.check()
        self._switch(self._choose())

    def wait(self, looked: dict[int, Place], settled: bool, asks: bool, line: int) -> None:
        """Go on when one of these places changes. Raises what `stuck` makes when that cannot be."""
        self.check()
        now = self.now
        now.looked, now.settled, now.asks, now.line = looked, settled, asks, line
        self._switch(self._choose())
        if self._doomed is now:
            raise self._stuck(self, now)
        now.looked, now.is_woken = None, False

    def changed(self, addresses: set[int] | None) -> None:
        """These elements of memory changed; None: too many to tell."""
        for each in self.flying.values():
            each.tries = 0
            if each.looked is not None and (addresses is None or not addresses.isdisjoint(each.looked)):
                each.looked, each.is_woken = None, True

    def check(self) -> None:
        """Raise Stopped if the launch is over."""
        if self._stopping:
            raise Stopped

    # Who is next

    def _choose(self) -> Program | None:
        """One that can go on; a new one among those that could start; None: all are over."""
        ready = [each for each in self.flying.values() if each.looked is None]
        can_start = bool(self.unstarted) and len(self.flying) < self.limit
        fresh = [each for each in ready if not each.is_woken]
        if (fresh or can_start) and self._random.randrange(SELDOM):
            ready = fresh
        if ready or can_start:
            number = self._random.randrange(len(ready) + can_start)
            return ready[number] if number < len(ready) else self._start()
        if not self.flying:
            return None
        trying = [each for each in self.flying.values() if not each.settled and each.tries < TRIES]
        if trying:
            chosen = min(trying, key=lambda each: each.tries)
            chosen.tries += 1
            return chosen
        self._doomed = self.flying[min(self.flying)]
        return self._doomed

    def _start(self) -> Program:
        new = Program(self.unstarted.pop())
        self.flying[new.number] = new
        return new

    def _switch(self, to: Program | None) -> None:
        now = self.now
        if to is now:
            return
        self._wake(to)
        now.baton.acquire()
        self.check()
        self._goes_on(now)

    def _wake(self, program: Program | None) -> None:
        if program is None:
            self._main.release()
        elif program.thread is None:
            program.thread = threading.Thread(target=self._context.copy().run, args=(self._fly, program), daemon=True)
            self._threads.append(program.thread)
            try:
                program.thread.start()
            except RuntimeError:
                self._threads.pop()
                most = len(self._threads)
                raise RuntimeError(f"Programs that wait have a thread each, and this machine gives {most}.") from None
        else:
            program.baton.release()

    def _goes_on(self, program: Program) -> None:
        self.now = program
        self._resume(program.number)

    def _fly(self, program: Program) -> None:
        """All that happens in a program's thread."""
        try:
            self._goes_on(program)
            self._execute(program.number)
            self.check()
            del self.flying[program.number]
            following = self._choose()
            self._wake(following)
        except Stopped:
            return
        except BaseException as error:
            self.error = error
            self._wake(None)

    def _show_program(self, error: BaseException) -> None:
        """Put the frames of the program that runs below those of `error`, as if it had been raised there."""
        thread = getattr(getattr(self, "now", None), "thread", None)
        frame = sys._current_frames().get(thread.ident) if thread else None
        trace = None
        while frame is not None:
            trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
            frame = frame.f_back
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        if last is not None:
            last.tb_next = trace

    def _stop(self) -> None:
        """End the threads that are left, which wait for their turn."""
        self._stopping = True
        for each in list(self.flying.values()):
            with suppress(RuntimeError):  # after an interrupt: it may have been handed the baton just now
                each.baton.release()
        for thread in self._threads:
            thread.join(1)
