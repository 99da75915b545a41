"""The order of work on a GPU: what is certain to be over before what, by streams, events and the host.

Vector clocks (Mattern, "Virtual time and global states of distributed systems", 1989): a clock says of each stream
how many of its pieces of work are over. Time has no say: what happens to be over early is not in order.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tools.models.timeline import DEFAULT
from tools.sim import faults

HERE = os.path.dirname(__file__) + os.sep

Clock = dict[int, int]


class Ticket(NamedTuple):
    """One piece of work: the number-th of its stream. seen: what is over before it begins."""

    stream: int
    number: int
    seen: Clock

    @property
    def over(self) -> Clock:
        """What is over when it is."""
        return self.seen | {self.stream: self.number}


class Event(NamedTuple):
    """What is over when it happens; the stream and the line that it was recorded in."""

    over: Clock
    stream: int
    line: int


class Wait(NamedTuple):
    """The last wait of one stream for events of another: its number, the event's line, and what the stream had before.

    before: how many pieces of work.
    """

    number: int
    line: int
    before: int


class Order:
    """The streams of a device, and what each of them and the host know to be over. waits: for events, how many so far.

    The default stream is CUDA's legacy one: it and the blocking streams wait for each other.
    """

    def __init__(self) -> None:
        self.host: Clock = {}
        self.waits = 0
        self._last_wait: dict[tuple[int, int], Wait] = {}  # who, for whom
        self._streams: dict[int, Clock] = {DEFAULT: {}}  # of each, what it knows beyond the host: a device has hundreds
        self._blocking = {DEFAULT}

    def add(self, stream: int, blocking: bool) -> None:
        """There is a new stream."""
        self._streams[stream] = {}
        if blocking:
            self._blocking.add(stream)

    def submit(self, stream: int) -> Ticket:
        """The host hands over a piece of work."""
        seen = self.record(stream)
        ticket = Ticket(stream, seen.get(stream, 0) + 1, seen)
        self._streams[stream] = self._beyond_host(ticket.over)
        return ticket

    def record(self, stream: int) -> Clock:
        """What is over when an event happens that is recorded in this stream now."""
        if stream == DEFAULT:
            before = self._blocking
        else:
            before = {stream, DEFAULT} if stream in self._blocking else {stream}
        return _merged(self.host, *(self._streams[each] for each in before))

    def wait(self, stream: int, event: Event) -> None:
        """The stream's later work begins when this has happened."""
        self._streams[stream] = self._beyond_host(_merged(self._streams[stream], event.over))
        self.waits += 1
        self._last_wait[stream, event.stream] = Wait(self.waits, event.line, self._count(stream))

    def waited_since(self, first: "Work", stream: int, recorded_in: int) -> int | None:
        """The line of an event of `recorded_in` for which `stream` has waited since the first work was submitted.

        Of the stream of that work: if it is not over then, the event was recorded before it.
        """
        wait = self._last_wait.get((stream, recorded_in))
        return wait.line if wait and wait.number > first.waits else None

    def has_worked_since(self, stream: int, recorded_in: int) -> bool:
        """Has the stream got work since it last waited for an event of `recorded_in`? Then the wait was for that."""
        return self._count(stream) > self._last_wait[stream, recorded_in].before

    def later(self, ticket: Ticket) -> int:
        """How many pieces of work its stream has got since."""
        return self._count(ticket.stream) - ticket.number

    def _count(self, stream: int) -> int:
        return self._streams[stream].get(stream, 0) or self.host.get(stream, 0)

    def host_waits(self, clock: Clock | None = None) -> None:
        """The host waits until all this is over, or all that there is."""
        self.host = _merged(self.host, *(self._streams.values() if clock is None else [clock]))
        self._streams = {stream: self._beyond_host(known) for stream, known in self._streams.items()}

    def _beyond_host(self, clock: Clock) -> Clock:
        return {stream: number for stream, number in clock.items() if number > self.host.get(stream, 0)}


def is_over(ticket: Ticket, clock: Clock) -> bool:
    """Is this piece of work over for whoever has this clock?"""
    return clock.get(ticket.stream, 0) >= ticket.number


def _merged(*clocks: Clock) -> Clock:
    """What is over by any of the clocks. The first, of the host mostly, is the longest."""
    merged = dict(clocks[0])
    for clock in clocks[1:]:
        merged |= {stream: number for stream, number in clock.items() if number > merged.get(stream, 0)}
    return merged


# What nothing puts in order ----------------------------------------------------------------------


@dataclass(eq=False)
class Work:
    """A kernel or a copy that the host does not know to be over. touches: memory that it reads, or writes (True).

    spot: the line that submitted it. arrive: what becomes of the host's memory when it is over; None: nothing.
    waits: how many waits for events there had been.
    """

    label: str
    ticket: Ticket
    spot: faults.Spot
    touches: list[tuple[np.ndarray, bool]]
    is_kernel: bool
    arrive: Callable[[], None] | None
    waits: int = 0

    def __str__(self) -> str:
        return f"kernel {self.label}" if self.is_kernel else f"the {self.label}"


def spot() -> faults.Spot:
    """The learner's line that runs now."""
    return faults.spot(faults.innermost(lambda file: file.startswith(HERE)))


def check_order(order: Order, first: Work, second: Work) -> None:
    """Raise Fault if both touch the same memory, one of them writes, and nothing makes the second wait.

    Two kernels are left out: atomics let them share memory in any order.
    """
    if is_over(first.ticket, second.ticket.seen) or first.is_kernel and second.is_kernel:
        return
    for one, writes in first.touches:
        for other, writes_too in second.touches:
            if (writes or writes_too) and np.shares_memory(one, other):
                raise _not_in_order(order, first, second, "written" if writes else "read")


def _not_in_order(order: Order, first: Work, second: Work, doing: str) -> faults.Fault:
    what = f"{second} uses memory that may still be {doing} in another stream,\nby {first} of line {first.spot.line}."
    asks = "Which event should this stream wait for, or should both be in one stream?"
    here, there = second.ticket.stream, first.ticket.stream
    came = "the kernel" if first.is_kernel else first
    if line := order.waited_since(first, here, recorded_in=there):
        what += f"\nIt waits for an event that line {line} recorded there before {came} came."
        asks = "Which event should this stream wait for, and when is that to be recorded?"
    elif line := order.waited_since(first, here, recorded_in=here):
        what += f"\nIt waits for an event that line {line} recorded in its own stream, not in that of {came}."
        asks = "In which stream is the event to be recorded that this one waits for?"
    elif line := order.waited_since(first, there, recorded_in=here):
        if order.has_worked_since(there, recorded_in=here):
            more = order.later(first.ticket)
            what += f"\nThat stream has had {more} more since, and this one waited for no event of it."
            asks = "Which event should this stream wait for before this line?"
        else:
            what += f"\nThe other stream waits for this one, by an event of line {line}, and this one not for it."
            asks = "Which of the two should wait for the other?"
    return faults.Fault(second.spot, "race", what, asks)


def check_unchanged(source: np.ndarray, values: bytes, spot: faults.Spot) -> None:
    """Raise Fault if the memory of an upload no longer holds the values that it had when it was submitted."""
    if source.tobytes() != values:
        raise faults.Fault(
            spot,
            "race",
            f"the host changed pinned memory of {source.nbytes:,} bytes while it might still be uploaded.",
            "Wait for the stream, or for an event in it, before this memory is filled again.",
        )
