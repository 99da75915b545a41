"""The rows that softmax, its logarithm or log-sum-exp is applied to, and the formula itself."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Rows:
    """What the formula is applied to. x: float64, the axis last. kind: "softmax", "log_softmax" or "logsumexp".

    other: another axis of x, along which a mistake goes.
    """

    x: np.ndarray
    kind: str
    other: int | None = None

    @cached_property
    def m(self) -> np.ndarray:
        """The largest of each row."""
        return self.x.max(-1, keepdims=True)

    @cached_property
    def finite_m(self) -> np.ndarray:
        return np.where(np.isfinite(self.m), self.m, 0.0)

    @cached_property
    def e(self) -> np.ndarray:
        return np.exp(self.x - self.finite_m)

    @cached_property
    def log_sum(self) -> np.ndarray:
        """The logarithm of the sum of exp(x)."""
        return self.finite_m + np.log(self.e.sum(-1, keepdims=True))

    @property
    def length(self) -> int:
        return self.x.shape[-1]

    def of(self, log_sum: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
        """The result if this were the logarithm of the sum, and x the numbers."""
        x = self.x if x is None else x
        if self.kind == "logsumexp":
            return log_sum[..., 0]
        return x - log_sum if self.kind == "log_softmax" else np.exp(x - log_sum)

    def spread(self, flags: np.ndarray) -> np.ndarray:
        """Flags of rows, (..., 1), in the shape of the result."""
        return flags[..., 0] if self.kind == "logsumexp" else np.broadcast_to(flags, self.x.shape)

    def of_other_numbers(self, x: np.ndarray) -> np.ndarray:
        return self.of(Rows(x, self.kind).log_sum, x)

    def computed_in(self, name: str, m: np.ndarray | float, of_nothing: float = 0.0) -> np.ndarray:
        """The result as numbers of this format give it when m is subtracted: overflow, underflow, NaN.

        of_nothing: what stands in for a sum of 0.
        """
        y = (self.x - m).astype(name)
        e = np.exp(y)
        total = e.sum(-1, keepdims=True, dtype=np.promote_types(name, np.float32)).astype(name)
        total = np.where(total == 0, total.dtype.type(of_nothing), total)
        if self.kind == "softmax":
            return (e / total).astype(np.float64)
        log_sum = np.log(total).astype(np.float64)
        return (m + log_sum)[..., 0] if self.kind == "logsumexp" else y.astype(np.float64) - log_sum

    def running(self, block: int) -> np.ndarray:
        """At each place the largest number up to the end of its block."""
        starts = np.arange(0, self.length, block)
        largest = np.maximum.accumulate(np.maximum.reduceat(self.x, starts, -1), -1)
        return np.repeat(largest, block, -1)[..., : self.length]
