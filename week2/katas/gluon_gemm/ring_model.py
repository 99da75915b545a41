"""A model of mbarriers and of the copy engine, in which workers take turns in every order. Given; nothing to write.

Barriers count arrivals and bytes as a Hopper GPU's do. What that would do wrong without a word is an error here, and
so is waiting for ever.
"""

import itertools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, SimpleNamespace, TracebackType
from typing import Any

PRODUCER, CONSUMERS, ENGINE = "the producer", ("consumer 0", "consumer 1"), "the copy engine"
ORDERS = tuple(itertools.permutations((PRODUCER, *CONSUMERS, ENGINE)))  # who goes first, whenever several can go on
MOST_STEPS = 100_000


class _Stopped(BaseException):
    """Ends a worker whose run is over."""


class Run:
    """Workers, each in a thread, of which one at a time goes on, and copies that are on their way."""

    def __init__(self, order: tuple[str, ...]) -> None:
        self.order, self.now = order, ""
        self.question = "At which barrier, and for which phase, has it waited?"  # who uses a place too early
        self.arriving: list[Callable] = []  # what each copy does when it arrives, the oldest first
        self.products: dict[str, list] = {name: [] for name in CONSUMERS}  # in flight: the places that each one reads
        self.most_products = self.most_copies = 0
        self.places: list[Place] = []
        self._may_go = {name: threading.Semaphore(0) for name in order}
        self._paused = threading.Semaphore(0)
        self._ready: dict[str, Callable | None] = {}  # of each worker: can it go on? None: it has ended
        self._where: dict[str, tuple[str, Callable[[], str]]] = {}  # its line, and what it does there
        self._error: BaseException | None = None
        self._over = False

    def go(self, workers: dict[str, Callable]) -> dict[str, Any]:
        """What each worker returns."""
        results: dict[str, Any] = {}
        threads = []
        for name, work in workers.items():
            self._ready[name], self._where[name] = (lambda: True), ("", str)
            threads.append(threading.Thread(target=self._work, args=(name, work, results), daemon=True))
            threads[-1].start()
        try:
            if any(not self._step() for _ in range(MOST_STEPS)):
                return results
            raise RuntimeError(f"After {MOST_STEPS} steps the workers have not ended: does a loop go on for ever?")
        finally:
            self._over = True
            for name in workers:
                self._may_go[name].release()
            for thread in threads:
                thread.join(timeout=1)  # one that computes for ever is left behind

    def _step(self) -> bool:
        """Let one worker go on to its next call of the model, or let one copy arrive. False if all is done."""
        for name in self.order:
            if name == ENGINE and self.arriving:
                self.arriving.pop(0)()
                return True
            ready = self._ready.get(name)
            if ready and ready():
                self.now = name
                self._may_go[name].release()
                self._paused.acquire()
                if self._error:
                    raise self._error
                return True
        if any(self._ready.values()):
            waiting = [(name, *self._where[name]) for name, ready in self._ready.items() if ready]
            lines = [f"{place}{name} {where()}" for name, place, where in waiting]
            raise RuntimeError("Deadlock: nobody can go on.\n" + "\n".join(lines))
        return False

    def _work(self, name: str, work: Callable, results: dict) -> None:
        self._may_go[name].acquire()
        try:
            if not self._over:
                results[name] = work()
        except _Stopped:
            pass
        except BaseException as error:
            self._error = error.with_traceback(_without_the_model(error.__traceback__))
        self._ready[name] = None
        self._paused.release()

    def pause(self, where: Callable[[], str] = lambda: "works", ready: Callable = lambda: True) -> None:
        """Others may go on now; this worker does when it is ready."""
        name, frame = self.now, sys._getframe()
        while frame.f_back and _in_model(frame):
            frame = frame.f_back
        place = "" if frame.f_code.co_filename == threading.__file__ else f"Line {frame.f_lineno}: "
        self._ready[name], self._where[name] = ready, (place, where)
        self._paused.release()
        self._may_go[name].acquire()
        if self._over:
            raise _Stopped


def _without_the_model(trace: TracebackType | None) -> TracebackType | None:
    """As far as the last line that is not the model's: the fault is to be looked for there."""
    last, step = None, trace
    while step:
        last, step = (step if not _in_model(step.tb_frame) else last), step.tb_next
    if last:
        last.tb_next = None
    return trace


def _in_model(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).name in ("ring_model.py", "gluon_model.py")


class Barrier:
    """An mbarrier: its phase ends when all of `who` have arrived and the bytes that are expected are there."""

    def __init__(self, run: Run, name: str, who: tuple[str, ...]) -> None:
        self.run, self.name, self.who, self.count = run, name, who, len(who)
        self.left, self.bytes, self.ended = self.count, 0, 0

    def wait(self, phase: int) -> None:
        """Until the phase with this number, 0 or 1, has ended. A new barrier is in its phase 0."""
        if phase not in (0, 1):
            raise RuntimeError(f"{self.run.now} waits at {self.name} for phase {phase}: phases are 0 and 1.")

        def where() -> str:
            arrivals = f"{self.left} of {self.count} arrivals missing" if self.left else "all have arrived"
            bytes = f", {abs(self.bytes)} bytes too {'few' if self.bytes > 0 else 'many'}" if self.bytes else ""
            return f"waits at {self.name} for phase {phase}: {arrivals}{bytes}."

        self.run.pause(where, lambda: self.ended % 2 != phase)

    def arrive(self) -> None:
        if self.run.now not in self.who:
            raise RuntimeError(f"{self.run.now} arrives at {self.name}, where {' and '.join(self.who)} should.")
        if not self.left:
            raise RuntimeError(f"{self.run.now} arrives at {self.name} once more than it counts: {self.count} for each "
                               "phase.\nDoes it arrive twice, or has it not waited for the end of the phase before?")
        self.left -= 1
        self._end_phase()
        self.run.pause()

    def expect(self, bytes: int) -> None:
        """So many bytes more belong to this phase; and an arrival."""
        self.bytes += bytes
        self.arrive()

    def land(self, bytes: int) -> None:
        self.bytes -= bytes
        self._end_phase()

    def _end_phase(self) -> None:
        if self.left == 0 and self.bytes == 0:
            self.left, self.ended = self.count, self.ended + 1


class Place:
    """A place in shared memory that copies fill. readers: who uses each thing that is copied into it, once."""

    def __init__(self, run: Run, name: str, readers: tuple[str, ...] = CONSUMERS, shape: tuple = ()) -> None:
        self.run, self.name, self.readers, self.shape, self.turned = run, name, readers, shape, False
        self.what, self.value, self.arriving = "", None, False
        self.unread: set[str] = set()
        run.places.append(self)

    def fill(self, what: str, value: Any, bytes: int, barrier: Barrier) -> None:
        """Ask the engine for a copy. When it is there the barrier hears of its bytes."""
        reading = [name for name, places in self.run.products.items() if any(self in pair for pair in places)]
        if self.arriving:
            raise RuntimeError(f"{what} is copied into {self.name} while {self.what} is on its way there.")
        if reading:
            raise RuntimeError(f"{what} is copied over {self.what} in {self.name} while {reading[0]} multiplies "
                               "with it.\nWho says at empty that the place is free, and when?")
        if self.unread:
            raise RuntimeError(f"{what} is copied over {self.what} in {self.name} before {sorted(self.unread)[0]} has "
                               "used it.\nWho says at empty that the place is free, and who waits for that?")

        before = barrier.ended if barrier.left < barrier.count or barrier.bytes else barrier.ended - 1

        def land():
            self.value, self.arriving, self.unread = value, False, set(self.readers)
            barrier.land(bytes)

        self.what, self.arriving, self.barrier, self.phases = what, True, barrier, before
        self.run.arriving.append(land)
        copies = sum(place.arriving for place in self.run.places if place.readers == CONSUMERS)
        self.run.most_copies = max(self.run.most_copies, copies)
        self.run.pause()

    def use(self) -> Any:
        me = self.run.now
        if me not in self.readers:
            raise RuntimeError(f"{me} uses {self.name}, which is {self.readers[0]}'s.")
        if self.arriving and self.barrier.ended > self.phases:
            raise RuntimeError(f"{me} uses {self.name} while {self.what} is on its way there:\n"
                               f"{self.barrier.name} did not wait for its bytes. How many did it expect?")
        if self.arriving:
            raise RuntimeError(f"{me} uses {self.name} while {self.what} is on its way there.\n{self.run.question}")
        if not self.what:
            raise RuntimeError(f"{me} uses {self.name}, into which nothing has been copied.\n{self.run.question}")
        if me not in self.unread:
            raise RuntimeError(f"{me} uses {self.what} in {self.name} a second time.\n{self.run.question}")
        self.unread.remove(me)
        return self.value

    def permute(self, axes: tuple) -> "Place":
        """The same place, seen with rows and columns exchanged."""
        view = SimpleNamespace(**vars(self), place=self)
        view.turned = tuple(axes) == (1, 0)
        return view  # type: ignore[return-value]


class Ring:
    """A ring of slots, each with a barrier `full`, where one worker arrives, and one `empty`, where both consumers do.

    ring.copy(item, slot, barrier): the engine copies the item into the slot, and gives the barrier its item_bytes.
    ring.use(slot): what lies in the slot.
    """

    item_bytes = 1024

    def __init__(self, run: Run, stages: int) -> None:
        self.stages = stages
        self.full = [Barrier(run, f"full[{slot}]", (PRODUCER,)) for slot in range(stages)]
        self.empty = [Barrier(run, f"empty[{slot}]", CONSUMERS) for slot in range(stages)]
        self._slots = [Place(run, f"slot {slot}") for slot in range(stages)]

    def copy(self, item: int, slot: int, barrier: Barrier) -> None:
        self._slots[slot].fill(f"item {item}", item, self.item_bytes, barrier)

    def use(self, slot: int) -> int:
        return self._slots[slot].use()


def run_ring(produce: Callable, consume: Callable, items: int, stages: int) -> tuple[list, int]:
    """What both consumers used, the same in every order of the workers, and the most items on their way at once."""
    seen, copies = [], []
    for order in ORDERS:
        run = Run(order)
        ring = Ring(run, stages)
        workers = {name: lambda: consume(ring, items) for name in CONSUMERS}
        results = run.go({PRODUCER: lambda: produce(ring, items)} | workers)
        seen.append([results[name] for name in CONSUMERS])
        copies.append(run.most_copies)
    return next((used for used in seen if used != seen[0]), seen[0]), max(copies)
