"""CUDA graphs by stream capture: what is asked of a capturing stream is noted instead of done, and replayed as one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tools.models.timeline import DEFAULT
from tools.sim import host
from tools.sim.cupy.device.errors import CUDARuntimeError

SYNCHRONOUS = "the current stream is capturing, so synchronous API calls are disallowed"
ERRORS = {
    "IllegalState": (401, "the operation cannot be performed in the present state"),
    "StreamCaptureUnsupported": (900, "operation not permitted when stream is capturing"),
    "StreamCaptureInvalidated": (901, "operation failed due to a previous error during capture"),
    "StreamCaptureUnmatched": (903, "capture was not initiated in this stream"),
    "StreamCaptureUnjoined": (904, "capturing stream has unjoined work"),
    "StreamCaptureImplicit": (906, "operation would make the legacy stream depend on a capturing blocking stream"),
    "CapturedEvent": (907, "operation not permitted on an event last recorded in a capturing stream"),
}


def error(name: str, why: str = "") -> CUDARuntimeError:
    """The runtime's error of this name, with a sentence for the learner."""
    status, text = ERRORS[name]
    return CUDARuntimeError(status, f"cudaError{name}: {text}" + (f"\n{why}" if why else ""))


class Node(NamedTuple):
    """Work that a graph repeats. arrays: all that it may touch. again: does it, by calls that reach `execute`."""

    name: str
    arrays: list[np.ndarray]
    again: Callable[[], object]


@dataclass
class Capture:
    """One capture. origin: number of the stream that began it. done: by stream, how many nodes it has put in.

    known: by stream, up to which node of each other one it waits. broken: what was done that a capture forbids.
    """

    origin: int
    blocking: bool
    device: host.Device
    nodes: list[Node] = field(default_factory=list)
    done: dict[int, int] = field(default_factory=dict)
    known: dict[int, dict[int, int]] = field(default_factory=dict)
    broken: bool = False

    def add(self, stream: int, node: Node) -> None:
        self.nodes.append(node)
        self.done[stream] = self.done.get(stream, 0) + 1

    def reached(self, stream: int) -> dict[int, int]:
        """Up to which node of each stream is over where this one stands."""
        return self.known.get(stream, {}) | {stream: self.done.get(stream, 0)}

    def join(self, stream: int, reached: dict[int, int]) -> None:
        """The stream waits for that; it is part of the capture from then on."""
        mine = self.known.setdefault(stream, {})
        for other, count in reached.items():
            mine[other] = max(mine.get(other, 0), count)
        self.done.setdefault(stream, 0)

    def is_joined(self) -> bool:
        return self.reached(self.origin) == self.reached(self.origin) | self.done


class CapturedMark(NamedTuple):
    """The mark of an event that was recorded in a capture. reached: by stream, up to which node it is over."""

    capture: Capture
    reached: dict[int, int]


_captures: dict[int, Capture] = {}  # by stream
_replayed: list[int] | None = None  # while a graph runs: the bytes that its work moves


def of(stream: int) -> Capture | None:
    """The capture that this stream is part of."""
    capture = _captures.get(stream)
    return capture if capture is not None and capture.device is host.device() else None


def notes(stream: int) -> bool:
    """Is work of this stream noted instead of done?"""
    return _replayed is None and of(stream) is not None


def is_capturing(stream: int) -> bool:
    """CUDARuntimeError for the default stream while one that waits for it captures."""
    if stream == DEFAULT:
        _admit_default(invalidates=False)
    return of(stream) is not None


def begin(stream: int, blocking: bool) -> None:
    if of(stream):
        raise error("IllegalState", "This stream is capturing already.")
    _captures[stream] = Capture(stream, blocking, host.device())
    _captures[stream].done[stream] = 0


def end(stream: int) -> list[Node]:
    """All that was captured since `begin`."""
    capture = of(stream)
    if capture is None:
        raise error("IllegalState", "This stream is not capturing: begin_capture() comes first.")
    if capture.origin != stream:
        capture.broken = True
        raise error("StreamCaptureUnmatched", "The stream that began the capture ends it.")
    for number in [each for each, other in _captures.items() if other is capture]:
        del _captures[number]
    if capture.broken:
        raise error("StreamCaptureInvalidated", "Nothing was captured. Which call in between was refused?")
    if not capture.is_joined():
        raise error("StreamCaptureUnjoined", "A stream that joined the capture must be waited for before it ends.")
    return capture.nodes


def join(stream: int, mark: CapturedMark) -> None:
    """The stream waits for an event of a capture."""
    if of(stream) not in (None, mark.capture) or not any(each is mark.capture for each in _captures.values()):
        raise error("CapturedEvent", "The event belongs to another capture.")
    mark.capture.join(stream, mark.reached)
    _captures[stream] = mark.capture


# Work ----------------------------------------------------------------------------------------------


def captured(stream: int, name: str, arrays: list[np.ndarray], again: Callable[[], object]) -> bool:
    """Is it noted for a graph, because the stream captures? Otherwise it is to be done now."""
    if _replayed is not None:
        return False
    if stream == DEFAULT:
        _admit_default()
    capture = of(stream)
    if capture is not None:
        capture.add(stream, Node(name, arrays, again))
    return capture is not None


def execute(name: str, stream: int, arrays: list[np.ndarray], work: Callable[[], int]) -> None:
    """Work for the device, now; within a graph's launch, as a part of that."""
    if _replayed is not None:
        _replayed.append(work())
        return
    if of(stream):
        raise NotImplementedError(
            f"{name} is being captured, and graphs of the simulated GPU do not hold it; a GPU's may.\n"
            "They hold RawKernels, ElementwiseKernels, elementwise functions, sums and the like, fills and copies."
        )
    if stream == DEFAULT:
        _admit_default()
    host.device().execute(name, stream, arrays, work)


def forbid(stream: int) -> None:
    """Refuse a transfer that the host waits for, or that a graph does not hold here."""
    if of(stream):
        raise RuntimeError(SYNCHRONOUS)
    if stream == DEFAULT:
        _admit_default()


def forbid_waiting(stream: int | None = None) -> None:
    """Refuse to wait for a stream that captures, or, with None, for the device while any does; its capture is lost."""
    concerned = [each for number, each in _captures.items() if number == stream or stream is None]
    concerned = [each for each in concerned if each.device is host.device()]
    for capture in concerned:
        capture.broken = True
    if concerned:
        raise error(
            "StreamCaptureUnsupported", "A capture only notes what is to be done: there is nothing to wait for."
        )


def _admit_default(invalidates: bool = True) -> None:
    for capture in _captures.values():
        if capture.blocking and capture.device is host.device():
            capture.broken |= invalidates
            raise error("StreamCaptureImplicit", "Capture in a stream made with non_blocking=True.")


# Graphs --------------------------------------------------------------------------------------------


class Graph:
    """cupy.cuda.Graph: work that stream capture noted. Its launch is one piece of work for the device."""

    __module__ = "cupy.cuda.graph"
    _nodes: list[Node]
    _current: Callable[[], Any]  # the stream where a launch that names none goes

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "currently this class cannot be initiated by the user and must be created via stream capture"
        )

    @classmethod
    def _of(cls, nodes: list[Node], current: Callable[[], Any]) -> "Graph":
        graph = cls.__new__(cls)
        graph._nodes, graph._current = nodes, current
        return graph

    def launch(self, stream: Any = None) -> None:
        """Do all of it again, with the arrays and numbers of the capture, and what the arrays hold by now."""
        arrays = {id(array): array for node in self._nodes for array in node.arrays}
        execute("graph", (stream or self._current()).number, list(arrays.values()), self._replay)

    def upload(self, stream: Any = None) -> None:
        """Bring it to the device before its first launch; nothing is done."""
        forbid((stream or self._current()).number)

    def _replay(self) -> int:
        with _replaying() as moved:
            for node in self._nodes:
                node.again()
        return sum(moved)


@contextmanager
def _replaying() -> Iterator[list[int]]:
    global _replayed
    _replayed = []
    try:
        yield _replayed
    finally:
        _replayed = None
