"""A model of mbarriers and of the copy engine, in which workers take turns in every order. Given; nothing to write.

Barriers count arrivals and bytes as a Hopper GPU's do. What that would do wrong without a word is an error here, and
so is waiting for ever.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from week2.katas.gluon_gemm.workers import CONSUMERS, ORDERS, PRODUCER, QUESTION, Run, line_of_the_lesson


class Barrier:
    """An mbarrier: its phase ends when all of `who` have arrived and the bytes that are expected are there."""

    def __init__(self, run: Run, name: str, who: tuple[str, ...]) -> None:
        self.run, self.name, self.who, self.count = run, name, who, len(who)
        self.left, self.bytes, self.ended = self.count, 0, 0
        self.place: Place | None = None  # that an arrival gives back

    def wait(self, phase: int) -> None:
        """For the end of a phase, 0 or 1: until the barrier is in the other one. A new one is in its phase 0."""
        if phase not in (0, 1):
            raise RuntimeError(f"{self.run.now} waits at {self.name} for phase {phase}: phases are 0 and 1.")

        self.run.waits[self.run.now].append(self.name)
        self.run.phases[self.run.now, self.name] = phase

        def where() -> str:
            arrivals = f"{self.left} of {self.count} arrivals missing" if self.left else "all have arrived"
            bytes = f", {abs(self.bytes)} bytes too {'few' if self.bytes > 0 else 'many'}" if self.bytes else ""
            return f"at {self.name} for phase {phase}: {arrivals}{bytes}."

        self.run.pause(where, lambda: self.ended % 2 != phase)

    def arrive(self) -> None:
        if self.run.now not in self.who:
            raise RuntimeError(f"{self.run.now} arrives at {self.name}, where {' and '.join(self.who)} should.")
        if self.place and (self.place.arriving or not self.place.what or self.run.now in self.place.unread):
            what = f"{self.place.what} in " if self.run.now in self.place.unread else ""
            raise RuntimeError(f"{self.run.now} arrives at {self.name}, and has not used {what}{self.place.name}.\n"
                               "What does an arrival at empty tell the producer?")
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
        self.what, self.value, self.arriving, self.line = "", None, False, ""
        self.unread: set[str] = set()
        self.waits: dict[str, int] = {}  # of each reader at the barrier, when it used what lies here
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
        self.line = line_of_the_lesson()
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
            raise RuntimeError(f"{me} uses {self.what} in {self.name} a second time.\n{self._of_the_wait()}")
        self.unread.remove(me)
        self.waits[me] = self.run.waits[me].count(self.barrier.name)
        return self.value

    def _of_the_wait(self) -> str:
        """A question to who uses the same thing again: perhaps it has waited for the phase that ended with that."""
        me, barrier = self.run.now, self.barrier
        phase = self.run.phases.get((me, barrier.name))
        again = self.run.waits[me].count(barrier.name) > self.waits[me]
        if self.run.question != QUESTION or not again or barrier.ended % 2 == phase:
            return self.run.question
        return (f"It waited at {barrier.name} for phase {phase}, which ended when {self.what} came.\n"
                "Which phase ends when the next one comes?")

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
        for empty, slot in zip(self.empty, self._slots):
            empty.place = slot

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
