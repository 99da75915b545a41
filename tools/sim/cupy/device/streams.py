"""Streams and events of the simulated device, and what arrays report to it."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from tools.models.timeline import DEFAULT
from tools.sim import host
from tools.sim.cupy.device import graphs
from tools.sim.cupy.device.errors import CUDARuntimeError

RESERVED = 2  # handles 1 and 2 are CUDA's other names for the default stream

_events = itertools.count(0x5000_0000, 0x100)  # their handles


class _BaseStream:
    """ptr: its handle. number: the device's."""

    def __init__(self, ptr: int, number: int, device_id: int) -> None:
        self.ptr, self.number, self.device_id = ptr, number, device_id
        self._before: list[_BaseStream] = []

    def use(self) -> "_BaseStream":
        """Work goes here from now on."""
        global _current
        _current = self
        return self

    def __enter__(self) -> "_BaseStream":
        self._before.append(_current)
        return self.use()

    def __exit__(self, *exception: Any) -> None:
        self._before.pop().use()

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _BaseStream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr} (device {self.device_id})>"

    @property
    def done(self) -> bool:
        """Is all work in this stream over?"""
        if capture := graphs.of(self.number):
            capture.broken = True
            return False
        return host.device().is_over(host.device().record(self.number))

    def synchronize(self) -> None:
        """The host waits for all work in this stream."""
        graphs.forbid_waiting(self.number)
        host.device().synchronize(self.number)

    def record(self, event: "Event | None" = None) -> "Event":
        """An event that happens when all work that is in the stream now is done."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """The stream's later work waits until the event has happened."""
        if isinstance(event.mark, graphs.CapturedMark):
            graphs.join(self.number, event.mark)
        elif event.mark is not None:
            host.device().wait(self.number, event.mark)

    def begin_capture(self, mode: Any = None) -> None:
        """Note what this stream is asked for from now on, instead of doing it."""
        if self.ptr in (0, 1):
            raise RuntimeError("cannot capture on the default (legacy) stream")
        graphs.begin(self.number, blocking=not getattr(self, "is_non_blocking", True))

    def end_capture(self) -> graphs.Graph:
        """A graph of all that was noted since begin_capture."""
        return graphs.Graph._of(graphs.end(self.number), get_current_stream)

    def is_capturing(self) -> bool:
        return graphs.is_capturing(self.number)

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        raise NotImplementedError(
            "The simulated GPU has no thread of its own that could call a function.\n"
            "stream.synchronize(), and then the call, keeps the same order."
        )

    add_callback = launch_host_func


class Stream(_BaseStream):
    """A queue of work. Stream.null is the default one; it and the others, but the non-blocking, wait for each other."""

    null: "Stream"
    ptds: "Stream"

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        if null or ptds:
            super().__init__(0 if null else RESERVED, DEFAULT, device_id=-1)
        else:
            number = host.device().stream(blocking=not non_blocking)
            super().__init__(number + RESERVED, number, device_id=0)
        self.is_non_blocking, self.priority = non_blocking, priority or 0


class ExternalStream(_BaseStream):
    """A stream that another library made, by its handle."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        super().__init__(ptr, max(ptr - RESERVED, DEFAULT), device_id)


Stream.null = _current = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class Event:
    """A mark in a stream: all work before it is over. mark: the device's; None: never recorded."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        if interprocess and not disable_timing:
            raise ValueError("Timing must be disabled for interprocess events")
        self.ptr, self.timing = next(_events), not disable_timing
        self.mark: Any = None

    @property
    def done(self) -> bool:
        self._admit()
        return self.mark is None or host.device().is_over(self.mark)

    def record(self, stream: _BaseStream | None = None) -> None:
        """It happens when all work that is in the stream now is done."""
        capture = graphs.of((stream or _current).number)
        if capture is not None:
            self.mark = graphs.CapturedMark(capture, capture.reached((stream or _current).number))
        else:
            self.mark = host.device().record(number(stream))

    def synchronize(self) -> None:
        """The host waits until it has happened. Of an event of a capture: refused, and the capture is lost."""
        if isinstance(self.mark, graphs.CapturedMark):
            self.mark.capture.broken = True
        self._admit()
        if self.mark is not None:
            host.device().wait_for(self.mark)

    def _admit(self) -> None:
        if isinstance(self.mark, graphs.CapturedMark):
            raise graphs.error("CapturedEvent", "It was recorded in a capture, where nothing happens yet.")


def get_current_stream(device_id: int = -1) -> _BaseStream:
    return _current


def get_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds from one event to the other, on the modelled clock. Raises CUDARuntimeError."""
    if any(each.mark is None or not each.timing for each in (start, end)):
        raise CUDARuntimeError(400, "cudaErrorInvalidResourceHandle: invalid resource handle")
    for each in (start, end):
        each._admit()
    moments = [each.mark.moment for each in (start, end)]
    if max(moments) > host.device().timeline.now:
        raise CUDARuntimeError(600, "cudaErrorNotReady: device not ready")
    return 1e3 * (moments[1] - moments[0])


def fetch(size: int) -> None:
    """The host waits for so many bytes that a kernel found out, because it cannot go on without them."""
    host.device().download(np.empty(size, np.uint8), np.empty(size, np.uint8), number())


def number(stream: _BaseStream | None = None) -> int:
    """The device's number of a stream, for work that no graph holds; None: of the current one."""
    graphs.forbid((stream or _current).number)
    return (stream or _current).number


def is_capturing() -> bool:
    """Does the current stream note its work for a graph?"""
    return graphs.notes(_current.number)


def captured(
    name: str, arrays: list[np.ndarray], again: Callable[[], object], stream: _BaseStream | None = None
) -> bool:
    """Is it noted for a graph instead of done, because the stream captures? again: does it, when the graph is launched.

    arrays: all that it may touch.
    """
    return graphs.captured((stream or _current).number, name, arrays, again)


def copy(target: np.ndarray, source: np.ndarray) -> None:
    """From one place of the device's memory to another, in the current stream."""

    def again() -> None:
        graphs.execute("copy", _current.number, [target, source], work)

    def work() -> int:
        np.copyto(target, source)
        return 2 * source.nbytes

    if not captured("copy", [target, source], again):
        host.device().copy(target, source, number())


def execute(name: str, arrays: list[np.ndarray], work: Callable[[], int], stream: _BaseStream | None = None) -> None:
    """Work for the device. work: does it, and gives the bytes that it moved."""
    graphs.execute(name, (stream or _current).number, arrays, work)
