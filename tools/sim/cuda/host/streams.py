"""Streams and events, on the modelled clock: it tells what overlaps and in which order, not how fast a GPU is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from tools.models.timeline import DEFAULT
from tools.sim import host
from tools.sim.cuda.host.errors import INVALID_HANDLE, NOT_READY, CudaAPIError

RESERVED = 2  # handles 1 and 2 are CUDA's other names for the default stream


class Stream:
    """A queue of work. number: the device's; handle: what other libraries know it by."""

    def __init__(self, number: int, external: bool = False) -> None:
        self.number, self.external = number, external
        self.handle = number + RESERVED if number else 0

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        if self.number == DEFAULT:
            return "<Default CUDA stream>"
        return f"<{'External ' * self.external}CUDA stream {self.handle}>"

    def synchronize(self) -> None:
        """The host waits for all work in this stream."""
        host.device().synchronize(self.number)

    @contextmanager
    def auto_synchronize(self) -> Iterator["Stream"]:
        """The host waits for all work in this stream when the block ends without an exception."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable, arg: object = None) -> NoReturn:
        raise NotImplementedError(
            "The simulated GPU has no thread of its own that could call a function.\n"
            "stream.synchronize(), and then the call, keeps the same order."
        )

    def async_done(self) -> NoReturn:
        raise NotImplementedError("The simulated GPU gives nothing to await. stream.synchronize() waits.")


class Event:
    """A mark in a stream. mark: the device's; None: never recorded. timing: may it be asked for times?"""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self.mark: Any = None

    def record(self, stream: Stream | int = 0) -> None:
        """It happens when all work that is in the stream now is done."""
        self.mark = host.device().record(number(stream))

    def query(self) -> bool:
        """Has it happened? An event that was never recorded has."""
        return self.mark is None or host.device().is_over(self.mark)

    def synchronize(self) -> None:
        """The host waits until it has happened."""
        if self.mark is not None:
            host.device().wait_for(self.mark)

    def wait(self, stream: Stream | int = 0) -> None:
        """The stream's later work waits until it has happened."""
        if self.mark is not None:
            host.device().wait(number(stream), self.mark)

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to another, on the modelled clock. Raises CudaAPIError."""
        if any(each.mark is None or not each.timing for each in (self, end)):
            raise CudaAPIError(
                INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE:\nan event was never recorded, or made with timing=False."
            )
        if max(self.mark.moment, end.mark.moment) > host.device().timeline.now:
            raise CudaAPIError(
                NOT_READY, "CUDA_ERROR_NOT_READY:\nthe host has not waited for the events. Use event.synchronize()."
            )
        return 1e3 * (end.mark.moment - self.mark.moment)


def number(stream: Stream | int) -> int:
    """The device's number of a stream, or of 0, the default one. Raises TypeError."""
    if isinstance(stream, Stream):
        return stream.number
    if stream != 0:
        raise TypeError(f"Expected a Stream object or 0, got {type(stream).__name__}")
    return DEFAULT


def stream() -> Stream:
    """A new stream; it and the default one wait for each other."""
    return Stream(host.device().stream())


def default_stream() -> Stream:
    return Stream(DEFAULT)


legacy_default_stream = default_stream


def external_stream(ptr: int) -> Stream:
    """A stream that another library made, by its handle. Raises TypeError; ValueError if there is none."""
    if not isinstance(ptr, int):
        raise TypeError("ptr for external stream must be an int")
    of_device = max(ptr - RESERVED, DEFAULT)
    host.device().record(of_device)  # which knows whether there is such a stream
    return Stream(of_device, external=True)


def event(timing: bool = True) -> Event:
    """An event. timing: may it be asked for times?"""
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds from one event to the other. Raises CudaAPIError."""
    return start.elapsed_time(end)


def synchronize() -> None:
    """The host waits for all work of the device."""
    host.device().synchronize()
