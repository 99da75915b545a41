"""A timeline of asynchronous work: engines, streams, events and the host, by arithmetic alone.

A model of order, not of speed: how long each piece of work takes is the caller's to say.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass

UPLOAD, COMPUTE, DOWNLOAD = ENGINES = ("upload", "compute", "download")  # each does one thing at a time
DEFAULT = 0  # the stream that work goes to when none is named


@dataclass(frozen=True)
class Span:
    """One piece of work. start, end: seconds since the timeline began."""

    start: float
    end: float
    stream: int
    engine: str
    label: str


class Timeline:
    """The host's clock, and the work it has handed to the engines.

    now: seconds on the host's clock. spans: all work, in the order of submission.

    Work runs in order within its stream and one piece at a time on its engine, which takes what is ready: a stream
    that waits holds up no other. The default stream is CUDA's legacy one: its work begins after all earlier work of
    the blocking streams, and their later work begins after it (CUDA Driver API, "Stream synchronization behavior").
    Kernels that share the device are not modelled: one engine runs them one by one.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.spans: list[Span] = []
        self._done = {DEFAULT: 0.0}  # when the work of each stream so far is done
        self._blocking = {DEFAULT}
        self._work: dict[str, list[Span]] = {engine: [] for engine in ENGINES}  # in order of time

    def stream(self, blocking: bool = True) -> int:
        """A new stream. blocking: it and the default stream wait for each other."""
        new = len(self._done)
        self._done[new] = 0.0
        if blocking:
            self._blocking.add(new)
        return new

    # What the host hands over without waiting for it

    def submit(self, stream: int, engine: str, seconds: float, label: str = "") -> Span:
        """Hand over work that occupies an engine for so many seconds; gives when it runs."""
        if engine not in ENGINES:
            raise ValueError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")
        if seconds < 0:
            raise ValueError(f"work takes 0 seconds or more, not {seconds}")
        start = self._first_idle(engine, self._ready(stream), seconds)
        span = Span(start, start + seconds, stream, engine, label)
        insort(self._work[engine], span, key=_order)
        self.spans.append(span)
        self._done[stream] = span.end
        return span

    def record(self, stream: int) -> float:
        """An event in the stream: the moment at which all work before it is done."""
        self._done[stream] = self._ready(stream)
        return self._done[stream]

    def wait(self, stream: int, moment: float) -> None:
        """The stream's later work begins no earlier than this moment, as an event of another stream gave it."""
        self._done[stream] = max(self._ready(stream), moment)

    # What takes the host's time

    def work(self, seconds: float) -> None:
        """The host is busy for so long: it computes, or prepares a launch."""
        self.now += seconds

    def synchronize(self, stream: int | None = None) -> float:
        """The host waits for the work of this stream, or of every stream; gives the time it then is.

        The default stream answers only after the work of the blocking streams.
        """
        if stream is None:
            streams = set(self._done)
        else:
            streams = self._blocking if stream == DEFAULT else {stream}
        return self.wait_until(self._done_by(streams))

    def wait_until(self, moment: float) -> float:
        """The host waits for this moment, if it is still to come; gives the time it then is."""
        self.now = max(self.now, moment)
        return self.now

    # What can be read off

    def overlap(self, one: str, other: str) -> float:
        """For how many seconds both engines were busy; one engine with itself: how long it was busy."""
        a, b = iter(self._work[one]), iter(self._work[other])
        span, against, seconds = next(a, None), next(b, None), 0.0
        while span and against:
            seconds += max(0.0, min(span.end, against.end) - max(span.start, against.start))
            if span.end < against.end:
                span = next(a, None)
            else:
                against = next(b, None)
        return seconds

    def _ready(self, stream: int) -> float:
        """When work that is handed to the stream now may begin."""
        if stream == DEFAULT:
            return max(self.now, self._done_by(self._blocking))
        return max(self.now, self._done_by({stream, DEFAULT} if stream in self._blocking else {stream}))

    def _done_by(self, streams: Iterable[int]) -> float:
        """When the work of all these streams so far is done."""
        unknown = set(streams) - set(self._done)
        if unknown:
            raise ValueError(f"this timeline has no stream {unknown.pop()!r}; stream() makes one")
        return max(self._done[stream] for stream in streams)

    def _first_idle(self, engine: str, ready: float, seconds: float) -> float:
        """When the engine is first idle for so long, from this moment on."""
        work, start = self._work[engine], ready
        for span in work[bisect_right(work, ready, key=lambda span: span.end) :]:
            if start + seconds <= span.start:
                break
            start = span.end
        return start


def _order(span: Span) -> tuple[float, float]:
    return span.start, span.end
