"""A GPU whose every cost is known: what the tests of this kata hand to your harness in place of a real one.

It has a queue and two clocks, the host's and its own, a cache that makes a second run shorter, a first call that
compiles, outputs that stay allocated while somebody has them, and on request noise and drift. All of it is
arithmetic; nothing here takes time. It keeps a log of what it was asked for, and `remark` says what is odd in one.
"""

import math
import random
import re

from tools.wire import builder

LAUNCH = 5.0  # microseconds of the host for each piece of work that it asks for
FLUSH = 100.0  # microseconds of the GPU


class FakeEvent:
    """A mark in the queue, and the microsecond at which the GPU comes to it."""

    def __init__(self, moment: float):
        self.moment = moment


class Output:
    """What a call returns: its bytes are allocated for as long as somebody has it."""

    def __init__(self, gpu: "FakeGpu", size: int):
        self.gpu, self.size = gpu, size
        gpu.held += size
        gpu.outputs_alive += 1

    def __del__(self):
        self.gpu.held -= self.size
        self.gpu.outputs_alive -= 1


class FakeGpu:
    """As Gpu of the lesson, with two functions to time: ours and rival. The arguments are those of fake_gpu."""

    def __init__(self, ours, rival, first, warm, drift, noise, seed, peaks, output, left):
        self.costs = {"ours": ours, "rival": rival}
        self.first, self.warm, self.drift, self.noise, self.peaks = first, warm, drift, noise, peaks
        self.output, self.left = output, left
        self.random = random.Random(seed)
        self.host, self.queue = 7.0, 0.0  # microseconds: the host's time, and when the queue is empty
        self.is_cached = False  # the data that ours and rival share
        self.held, self.highest = 5000, 10**9  # bytes: what is allocated, and the most since the peak was reset
        self.outputs_alive, self.outputs_kept = 0, 0  # now, and the most as a call began
        self.log: list[str] = []

    def ours(self) -> Output:
        return self._run("ours")

    def rival(self) -> Output:
        return self._run("rival")

    def event(self) -> FakeEvent:
        self.log.append("event")
        self.queue = max(self.queue, self.host)
        return FakeEvent(self.queue)

    def wait(self) -> None:
        self.log.append("wait")
        self.host = max(self.host, self.queue)

    def seconds(self, start: FakeEvent, stop: FakeEvent) -> float:
        if max(start.moment, stop.moment) > self.host:
            raise RuntimeError("the GPU has not come to this event yet: who has waited for it?")
        return (stop.moment - start.moment) / 1e6

    def flush(self) -> None:
        self.log.append("flush")
        self._queue(FLUSH)
        self.is_cached = False

    def allocated(self) -> int:
        return self.held

    def peak(self) -> int:
        return self.highest

    def reset_peak(self) -> None:
        self.highest = self.held

    def _run(self, name: str) -> Output:
        before, costs = self.log.count(name), self.costs[name]
        cost = costs[min(before, len(costs) - 1)]
        cost *= (1 + self.drift) ** (self.log.count("ours") + self.log.count("rival"))
        cost *= math.exp(self.noise * self.random.gauss(0, 1)) * (3 if self.random.random() < self.noise else 1)
        if before == 0:
            self.host += self.first
        if self.is_cached:
            cost *= self.warm
        self.is_cached = True
        self.highest = max(self.highest, self.held + self.peaks[name])
        self.held += self.left
        self.outputs_kept = max(self.outputs_kept, self.outputs_alive)
        self.log.append(name)
        self._queue(cost)
        return Output(self, self.output)

    def _queue(self, microseconds: float) -> None:
        """The host asks, and goes on; the GPU begins when all before it is done."""
        self.host += LAUNCH
        self.queue = max(self.queue, self.host) + microseconds

    def __repr__(self) -> str:
        return "gpu"

    def state(self) -> dict:
        return {"host": self.host, "queue": self.queue, "log": self.log, "highest": self.highest,
                "outputs_kept": self.outputs_kept}

    def restore(self, state: dict) -> None:
        vars(self).update(state)


@builder
def fake_gpu(
        ours, rival=(100.0,), *, first=0.0, warm=1.0, drift=0.0, noise=0.0, seed=0, peaks=(0, 0), output=0, left=0
) -> FakeGpu:
    """ours, rival: microseconds of each call in turn, the last of them for all later ones.

    first: microseconds that the host needs more in the first call of each. warm: what a run from a full cache takes,
    as a share; both load the same data. drift: each run takes so much more than the one before. noise: spread, and
    share of runs that take three times as long. peaks: bytes that ours and rival allocate at the most while they run.
    output: how many of these bytes are what a call returns. left: how many stay allocated after it, whoever has what.
    """
    ours, rival = ([costs] if isinstance(costs, float) else list(costs) for costs in (ours, rival))
    return FakeGpu(ours, rival, first, warm, drift, noise, seed, dict(zip(("ours", "rival"), peaks)), output, left)


ORDERS = {  # what an order of entries means: regular expressions
    r"event flush (ours|rival)": "A flush lies between two events, so its 100 us are timed too.",
    r"event (ours|rival)( ours| rival)+ event": "Several calls lie between the same two events.",
    r"(ours|rival) event( event| wait)* (ours|rival) event":
        "Between two timed calls nobody flushed: the later one finds in the L2 what the earlier one loaded.",
    r"wait( event)? (ours|rival) event":
        "The wait leaves the queue empty, so the GPU waits for the host between the two events.",
}


def remark(log: list[str], untimed: int, timed: int) -> str:
    """What is odd in a log, as a sentence; "" where nothing is. untimed, timed: how many calls were asked for."""
    calls = [i for i, entry in enumerate(log) if entry in ("ours", "rival")]
    between_events = [i for i in calls if log[max(i - 1, 0)] == "event" and log[i + 1:i + 2] == ["event"]]
    if len(calls) < untimed + timed:
        return f"{len(calls)} calls were made; {untimed} to warm up and {timed} to be timed are {untimed + timed}."
    if timed and "event" not in log:
        return "No event was asked for. Whose clock is read?"
    if timed and "flush" not in log:
        return "Nobody flushed."
    for order, meaning in ORDERS.items():
        if re.search(rf"\b{order}\b", " ".join(log)):
            return meaning
    if timed and not between_events:
        return "No call lies between two events."
    if between_events and any(i > between_events[0] for i in calls if i not in between_events):
        return "After a timed call comes one that is not timed. Is the warm-up within a loop?"
    if len(calls) > untimed + timed:
        return f"{len(calls)} calls were made; {untimed} to warm up and {timed} to be timed are {untimed + timed}."
    return ""
