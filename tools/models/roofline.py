"""The roofline: how fast a kernel can be, from what it computes and what it moves.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009.
"""

from collections.abc import Iterable
from dataclasses import dataclass


def arithmetic_intensity(flops: float, nbytes: float) -> float:
    """flop per byte moved; infinite for a kernel that moves nothing."""
    return flops / nbytes if nbytes else float("inf")


def ridge_point(peak: float, bandwidth: float) -> float:
    """The intensity, in flop/byte, from which on arithmetic is the limit. peak: flop/s. bandwidth: bytes/s."""
    return peak / bandwidth


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The flop/s that a kernel of this intensity can reach: what memory feeds, at most the peak."""
    return min(peak, intensity * bandwidth)


def bound(intensity: float, peak: float, bandwidth: float) -> str:
    """What limits a kernel of this intensity: "memory" or "compute"; at the ridge point "compute"."""
    return "memory" if intensity < ridge_point(peak, bandwidth) else "compute"


@dataclass(frozen=True)
class Ceiling:
    """One of several limits, as Ceiling("bf16", flops, peak) or Ceiling("L2", nbytes, bandwidth).

    amount: what a kernel needs, in flop or bytes. rate: how much of it a second gives.
    """

    name: str
    amount: float
    rate: float

    @property
    def seconds(self) -> float:
        """The least time that this limit leaves."""
        return self.amount / self.rate


def lowest(ceilings: Iterable[Ceiling]) -> Ceiling:
    """The ceiling that a kernel meets, the one that costs most time; the first of equal ones."""
    return max(ceilings, key=lambda ceiling: ceiling.seconds)
