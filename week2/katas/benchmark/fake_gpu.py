"""A GPU whose every cost is known: what the tests of this kata hand to your harness in place of a real one.

It has a queue and two clocks, the host's and its own, a cache that makes a second run shorter, a first call that
compiles, and on request noise and drift. All of it is arithmetic; nothing here takes time.
"""

import math
import random

from tools.wire import builder

LAUNCH = 5.0  # microseconds of the host for each piece of work that it asks for
FLUSH = 100.0  # microseconds of the GPU


class FakeEvent:
    """A mark in the queue, and the microsecond at which the GPU comes to it."""

    def __init__(self, moment: float):
        self.moment = moment


class FakeGpu:
    """As Gpu of the lesson, with two functions to time: ours and rival. The arguments are those of fake_gpu."""

    def __init__(self, ours, rival, first, warm, drift, noise, seed, peaks):
        self.costs = {"ours": ours, "rival": rival}
        self.first, self.warm, self.drift, self.noise, self.peaks = first, warm, drift, noise, peaks
        self.random = random.Random(seed)
        self.host, self.queue = 7.0, 0.0  # microseconds: the host's time, and when the queue is empty
        self.cached: set[str] = set()
        self.held, self.highest = 5000, 10**9  # bytes: what is allocated, and the most since the peak was reset
        self.log: list[str] = []

    def ours(self) -> None:
        self._run("ours")

    def rival(self) -> None:
        self._run("rival")

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
        self.cached.clear()

    def allocated(self) -> int:
        return self.held

    def peak(self) -> int:
        return self.highest

    def reset_peak(self) -> None:
        self.highest = self.held

    def _run(self, name: str) -> None:
        before, costs = self.log.count(name), self.costs[name]
        cost = costs[min(before, len(costs) - 1)]
        cost *= (1 + self.drift) ** (self.log.count("ours") + self.log.count("rival"))
        cost *= math.exp(self.noise * self.random.gauss(0, 1)) * (3 if self.random.random() < self.noise else 1)
        if before == 0:
            self.host += self.first
        if name in self.cached:
            cost *= self.warm
        self.highest = max(self.highest, self.held + self.peaks[name])
        self.cached.add(name)
        self.log.append(name)
        self._queue(cost)

    def _queue(self, microseconds: float) -> None:
        """The host asks, and goes on; the GPU begins when all before it is done."""
        self.host += LAUNCH
        self.queue = max(self.queue, self.host) + microseconds

    def __repr__(self) -> str:
        return f"a GPU on which ours takes {self.costs['ours']} us and rival {self.costs['rival']} us"

    def state(self) -> dict:
        return {"host": self.host, "queue": self.queue, "log": self.log, "highest": self.highest}

    def restore(self, state: dict) -> None:
        vars(self).update(state)


@builder
def fake_gpu(ours, rival=(100.0,), *, first=0.0, warm=1.0, drift=0.0, noise=0.0, seed=0, peaks=(0, 0)) -> FakeGpu:
    """ours, rival: microseconds of each call in turn, the last of them for all later ones.

    first: microseconds that the host needs more in the first call of each. warm: what a run from a full cache takes,
    as a share. drift: each run takes so much more than the one before. noise: spread, and share of runs that
    take three times as long. peaks: bytes that ours and rival allocate while they run.
    """
    ours, rival = ([costs] if isinstance(costs, float) else list(costs) for costs in (ours, rival))
    return FakeGpu(ours, rival, first, warm, drift, noise, seed, dict(zip(("ours", "rival"), peaks)))
