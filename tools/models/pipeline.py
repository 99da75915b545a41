"""A software pipeline: tiles are loaded into a ring of buffers while earlier ones are computed with."""

from dataclasses import dataclass
from math import ceil


@dataclass(frozen=True)
class Step:
    """What happens to one tile, and when, from the beginning of the first load on.

    slot: the buffer of the ring that it is loaded into.
    """

    slot: int
    load_start: float
    load_end: float
    compute_start: float
    compute_end: float


@dataclass(frozen=True)
class Pipeline:
    """Times of one tile, in a unit of your choice (whole numbers stay exact), and the depth of the ring.

    latency: from the beginning of a load until its data are there. compute: how long they are computed with.
    interval: from one load to the next, at the least: the bytes of a tile / the bandwidth. As long as `latency`, the
    loads follow one another; 0, any number of them is under way at once.
    stages: buffers of the ring. A load waits until its buffer has been computed with; with 1 nothing overlaps.
    """

    latency: float
    compute: float
    stages: int
    interval: float = 0.0

    def __post_init__(self) -> None:
        if self.stages < 1 or min(self.latency, self.compute, self.interval) < 0:
            raise ValueError(f"a pipeline has 1 stage or more and no negative times: {self}")

    def steps(self, tiles: int) -> list[Step]:
        """When each of so many tiles is loaded and computed with: loads in order, and computing in order."""
        steps: list[Step] = []
        for tile in range(tiles):
            load = compute = 0.0
            if tile:
                load, compute = steps[-1].load_start + self.interval, steps[-1].compute_end
            if tile >= self.stages:
                load = max(load, steps[tile - self.stages].compute_end)
            compute = max(compute, load + self.latency)
            steps.append(Step(tile % self.stages, load, load + self.latency, compute, compute + self.compute))
        return steps

    def makespan(self, tiles: int) -> float:
        """Time until the last of so many tiles is computed with; 0 for none."""
        return self.steps(tiles)[-1].compute_end if tiles else 0.0

    @property
    def period(self) -> float:
        """Time from one tile to the next, once the ring is full.

        The slowest of three sets it: the computing, the bandwidth, and the ring, each of whose buffers serves one
        tile in the time of a load and a computation.
        """
        return max(self.compute, self.interval, (self.latency + self.compute) / self.stages)

    @property
    def stages_needed(self) -> int:
        """The fewest stages that hide the latency: with more, the period is no shorter."""
        busiest = max(self.compute, self.interval)
        if not busiest:
            raise ValueError("with neither computing nor a limit on the loads, each further stage shortens the period")
        return max(1, ceil((self.latency + self.compute) / busiest))


# Little's law: what is under way = throughput x latency (J. Little, "A Proof for the Queuing Formula", 1961)


def bytes_in_flight(bandwidth: float, latency: float) -> float:
    """Bytes that must be under way at any time to sustain a bandwidth (bytes/s) at a latency (seconds)."""
    return bandwidth * latency


def sustained_bandwidth(in_flight: float, latency: float, peak: float) -> float:
    """Bandwidth (bytes/s) with so many bytes under way at any time, at a latency (seconds); at most the peak."""
    return min(peak, in_flight / latency)
