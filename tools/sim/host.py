"""The simulated GPU of this process, which all stand-ins for GPU libraries share: its memory, streams and clock.

Work is done at once, in the order of the program; the clock says when a GPU would do it. But what asynchronous
copies bring is in the host's memory only after the host has waited, and work that nothing puts in order is refused.
"""

import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from tools.models.chips import Chip, chip
from tools.models.timeline import COMPUTE, DEFAULT, DOWNLOAD, UPLOAD, Timeline
from tools.sim import recording
from tools.sim.device_memory import Memory
from tools.sim.order import Clock, Event, Order, Work, check_order, check_unchanged, is_over, spot

CHIP = "COURSE_CHIP"  # environment variable: which chip of tools/models/chips.toml is simulated
CAPACITY = 16 << 30  # bytes of memory, whatever the chip has: a laptop must hold them

# Measured on an H200 with driver 580 and numba-cuda 0.30.4, 256 MiB at a time: pinned memory 50 GB/s up and 53 GB/s
# down, of the 64 GB/s of its link; pageable memory 5 and 10 GB/s, and 13 and 14 GB/s for 16 MiB. A launch kept the
# host for 25 us, a download of 4 bytes for 32 us; questions about a stream or an event took it 2 to 4 us.
PINNED_SHARE = 0.8  # of the link's bandwidth
PAGEABLE = 10e9  # bytes/s: the host copies to a pinned buffer first
HAND_OVER = 25e-6  # seconds of the host's time for each piece of work
ASK = 2e-6  # seconds of the host's time for a question or an event


class Mark(NamedTuple):
    """An event: when it happens on the device's clock, in seconds, and what is over by then.

    stream, line: where it was recorded.
    """

    moment: float
    over: Clock
    stream: int = DEFAULT
    line: int = 0


class Device:
    """One simulated GPU. Streams are the numbers of its timeline.

    Arrays are NumPy's views of its memory, or of the host's. A copy is an upload, a download or within the device.
    """

    def __init__(self, chip: Chip) -> None:
        self.chip, self.memory, self.timeline = chip, Memory(CAPACITY), Timeline()
        self._order = Order()
        self._under_way: list[Work] = []
        self._has_streams = False

    # Work

    def upload(self, target: np.ndarray, source: np.ndarray, stream: int = DEFAULT, *, wait: bool = True) -> None:
        """From the host. Without `wait` the host goes on at once, if its memory is pinned."""
        pinned = self.memory.is_pinned(source)
        later = pinned and not wait
        self._bring([source])
        arrive = partial(check_unchanged, source, source.tobytes(), spot()) if later else None
        mark = self._submit(
            stream, UPLOAD, self._crossing(source, pinned), "upload", [(source, False), (target, True)], arrive=arrive
        )
        np.copyto(target, source)
        recording.uploaded(source.nbytes)
        if not later:
            self._wait_for(mark)

    def download(self, target: np.ndarray, source: np.ndarray, stream: int = DEFAULT, *, wait: bool = True) -> None:
        """To the host. Without `wait`, pinned memory receives its values when the host has waited for them."""
        pinned = self.memory.is_pinned(target)
        later = pinned and not wait
        arrive = partial(np.copyto, target, source.copy()) if later else None
        mark = self._submit(
            stream,
            DOWNLOAD,
            self._crossing(source, pinned),
            "download",
            [(source, False), (target, True)],
            arrive=arrive,
        )
        recording.downloaded(source.nbytes)
        if not later:
            self._wait_for(mark)
            recording.synchronized()
            np.copyto(target, source)

    def copy(self, target: np.ndarray, source: np.ndarray, stream: int = DEFAULT) -> None:
        """Within the device; the host does not wait."""
        self._submit(
            stream, COMPUTE, 2 * source.nbytes / self.chip.bandwidth, "copy", [(source, False), (target, True)]
        )
        np.copyto(target, source)
        recording.copied(source.nbytes)

    def execute(self, name: str, stream: int, arrays: Iterable[np.ndarray], kernel: Callable[[], int]) -> None:
        """Run a kernel; the host does not wait. kernel: does it all, and gives how many bytes it moved.

        It takes as long as its bytes at the memory's full bandwidth, those of pinned memory at the link's: a bound,
        not a forecast. arrays: all that it may touch; what it changed is what it wrote.
        """
        arrays = list(arrays)
        self._bring(arrays)
        before = [array.tobytes() for array in arrays] if self._has_streams else []
        moved = kernel()
        linked = sum(self._crossing(array, pinned=True) for array in arrays if self.memory.is_pinned(array))
        touches = [(array, array.tobytes() != values) for array, values in zip(arrays, before)]
        self._submit(stream, COMPUTE, max(moved / self.chip.bandwidth, linked), name, touches, is_kernel=True)

    # Streams and events

    def stream(self, blocking: bool = True) -> int:
        """A new stream. blocking: it and the default stream wait for each other."""
        self._has_streams = True
        number = self.timeline.stream(blocking)
        self._order.add(number, blocking)
        return number

    def record(self, stream: int = DEFAULT) -> Mark:
        """An event: all work that is in the stream now is over. Raises ValueError for an unknown stream."""
        self.timeline.work(ASK)
        return Mark(self.timeline.record(stream), self._order.record(stream), stream, spot().line)

    def wait(self, stream: int, mark: Mark) -> None:
        """The stream's later work begins after this event."""
        self.timeline.work(ASK)
        self.timeline.wait(stream, mark.moment)
        self._order.wait(stream, Event(mark.over, mark.stream, mark.line))

    def is_over(self, mark: Mark) -> bool:
        """Has this event happened? To ask takes the host time, so that a loop of questions ends."""
        self.timeline.work(ASK)
        over = mark.moment <= self.timeline.now
        if over:
            self._wait_for(mark)
        return over

    def synchronize(self, stream: int | None = None) -> None:
        """The host waits for a stream, or for all work."""
        self.timeline.work(ASK)
        self.timeline.synchronize(stream)
        self._order.host_waits(None if stream is None else self._order.record(stream))
        self._settle()
        recording.synchronized()

    def wait_for(self, mark: Mark) -> None:
        """The host waits for an event."""
        self._wait_for(mark)
        recording.synchronized()

    # Inside

    def _crossing(self, array: np.ndarray, pinned: bool) -> float:
        """Seconds that its bytes need between the host and the device."""
        linked = PINNED_SHARE * self.chip.host_bandwidth
        return array.nbytes / (linked if pinned else min(PAGEABLE, linked))

    def _submit(
        self,
        stream: int,
        engine: str,
        seconds: float,
        label: str,
        touches: list,
        *,
        arrive: Callable[[], None] | None = None,
        is_kernel: bool = False,
    ) -> Mark:
        self.timeline.work(HAND_OVER)
        span = self.timeline.submit(stream, engine, seconds, label)
        work = Work(label, self._order.submit(stream), spot(), touches, is_kernel, arrive, self._order.waits)
        for other in self._under_way:
            check_order(self._order, other, work)
        if touches:
            self._under_way.append(work)
        return Mark(span.end, work.ticket.over)

    def _wait_for(self, mark: Mark) -> None:
        self.timeline.wait_until(mark.moment)
        self._order.host_waits(mark.over)
        self._settle()

    def _settle(self) -> None:
        """What the host knows to be over has arrived."""
        over = [work for work in self._under_way if is_over(work.ticket, self._order.host)]
        self._under_way = [work for work in self._under_way if work not in over]
        _arrive(over)

    def _bring(self, arrays: list[np.ndarray]) -> None:
        """What the device itself needs from the host's memory has arrived there, if the host knows it or not."""
        _arrive(
            work
            for work in self._under_way
            if any(np.shares_memory(array, touched) for touched, _ in work.touches for array in arrays)
        )


def _arrive(works: Iterable[Work]) -> None:
    for work in works:
        arrive, work.arrive = work.arrive, None
        if arrive:
            arrive()


@cache
def device() -> Device:
    """The GPU of this process, made when it is first asked for. ValueError for an unknown COURSE_CHIP."""
    try:
        return Device(chip(os.environ.get(CHIP) or "h100"))
    except ValueError as error:
        raise ValueError(f"{CHIP}: {error}") from None


def reset() -> None:
    """The next one who asks gets another device, whose clock is at 0."""
    device.cache_clear()
