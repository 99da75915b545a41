"""Figures of warps, 32 lanes that go together; and the error for those that a simulator cannot know."""

from dataclasses import dataclass, fields


class NotCounted(AttributeError):
    """A figure that this simulator cannot know."""


@dataclass
class Warps:
    """Sums over all that warps executed; two of them can be added.

    requests: warp instructions that access global memory, whatever the number of their active lanes.
    shared_requests, bytes_shared: the same of shared memory, and the useful bytes there.
    wavefronts: passes that shared memory needed for its requests.
    conflicts: those of them that bank conflicts cost.
    same_word: those of the conflicts that atomics have because lanes of a warp update one word, wherever it lies.
    barriers: times that a warp came to a barrier of its block: syncthreads and its relatives, not syncwarp.
    instructions, lanes: statements that warps executed, and their active lanes.
    branches, divergent_branches: decisions that warps took, and those in which their lanes parted.
    """

    requests: int = 0
    shared_requests: int = 0
    bytes_shared: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    same_word: int = 0
    barriers: int = 0
    instructions: int = 0
    lanes: int = 0
    branches: int = 0
    divergent_branches: int = 0

    @property
    def active_lanes(self) -> float:
        """Of the 32 lanes of a warp, how many did something in an average statement."""
        return self.lanes / self.instructions if self.instructions else 0.0

    def __add__(self, other: "Warps") -> "Warps":
        return Warps(**{name: getattr(self, name) + getattr(other, name) for name in vars(self)})


OF_WARPS = (*(each.name for each in fields(Warps)), "active_lanes", "sectors_per_request")
