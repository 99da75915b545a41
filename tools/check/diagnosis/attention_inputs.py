"""The inputs that attention is computed from, and the formula itself, for some of the rows of queries at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

CAUSAL = {"": None, "from the start": 0, "to the end": 1}  # which query sees key 0 alone; see `visible`


@dataclass(frozen=True, eq=False)
class Inputs:
    """In float64; the axes before the last two are the same everywhere, but that k and v may have fewer heads.

    q: (..., m, d), or None where `scores` (..., m, n) are given. k: (..., n, d). v: (..., n, columns).
    causal: a key of CAUSAL. mask: which keys a query sees, or None; `mask` may be additive, in floats.
    of_scores: is the log-sum-exp of the scores wanted, (..., m), and not the weighted sum of values?
    """

    q: np.ndarray | None
    k: np.ndarray | None
    v: np.ndarray
    scale: float
    causal: str = ""
    mask: np.ndarray | None = None
    of_scores: bool = False
    scores: np.ndarray | None = None

    @property
    def rows(self) -> int:
        given = self.q if self.q is not None else self.scores
        assert given is not None
        return given.shape[-2]

    @property
    def keys(self) -> int:
        return self.v.shape[-2]

    @property
    def d(self) -> int:
        return self.q.shape[-1] if self.q is not None else 1

    @property
    def heads(self) -> tuple[int, int] | None:
        """Of queries, and of keys where these are fewer."""
        if self.q is None or self.k is None or self.q.ndim < 3 or self.q.shape[-3] == self.k.shape[-3]:
            return None
        return self.q.shape[-3], self.k.shape[-3]

    def with_heads(self, number: Callable[[np.ndarray, int, int], np.ndarray]) -> "Inputs":
        """The same with a head of k and v for each of q: number(h, heads of q, heads of k)."""
        if self.heads is None or self.k is None:
            return self
        chosen = number(np.arange(self.heads[0]), *self.heads)
        return replace(self, k=self.k[..., chosen, :, :], v=self.v[..., chosen, :, :])

    def part(self, rows: np.ndarray) -> "Part":
        """The formula for these rows of queries."""
        own = self.with_heads(lambda h, of_q, of_k: h // (of_q // of_k))
        if own.q is not None and own.k is not None:
            products = own.q[..., rows, :] @ own.k.swapaxes(-1, -2)
        else:
            assert own.scores is not None
            products = own.scores[..., rows, :]
        return Part(self, own, rows, products)

    def visible(self, rows: np.ndarray, later: int = 0, causal: str | None = None) -> np.ndarray:
        """Which keys the causal mask lets each of these rows see: those up to its own, and so many later ones."""
        causal = self.causal if causal is None else causal
        if not causal:
            return np.ones((len(rows), self.keys), bool)
        ahead = self.keys - self.rows if causal == "to the end" else 0
        return np.arange(self.keys) <= rows[:, None] + ahead + later


@dataclass(frozen=True, eq=False)
class Part:
    """The formula for some rows. products: q . k, not scaled. inputs: `given` with as many heads of k and v as of q."""

    given: Inputs
    inputs: Inputs
    rows: np.ndarray
    products: np.ndarray

    @cached_property
    def hidden(self) -> np.ndarray:
        """What the mask without the causal one hides: False or -inf, in the shape of the products; 0 elsewhere."""
        mask = self.inputs.mask
        if mask is None:
            return np.zeros(())
        mask = np.broadcast_to(mask, (*mask.shape[:-2], self.inputs.rows, self.inputs.keys))[..., self.rows, :]
        return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask

    @cached_property
    def allowed(self) -> np.ndarray:
        """In the shape of the products."""
        allowed = self.inputs.visible(self.rows) & (self.hidden > -np.inf)
        return np.broadcast_to(allowed, self.products.shape)

    @cached_property
    def scaled(self) -> np.ndarray:
        """The scores of all keys, whatever a mask hides."""
        bias = np.where(self.hidden > -np.inf, self.hidden, 0.0)
        return self.products * self.inputs.scale + bias

    @cached_property
    def scores(self) -> np.ndarray:
        """-inf where a key is hidden."""
        return np.where(self.allowed, self.scaled, -np.inf)

    def seen(self, allowed: np.ndarray, products: np.ndarray | None = None) -> np.ndarray:
        """The scores under another mask, or of other products."""
        scaled = self.scaled if products is None else products
        return np.where(allowed, scaled, -np.inf)

    def of(self, scores: np.ndarray) -> np.ndarray:
        """The result of these scores."""
        m = largest(scores)
        e = np.exp(scores - m)
        return self.ends(e @ self.inputs.v, e.sum(-1, keepdims=True), m)

    def ends(self, acc: np.ndarray, total: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The result of acc, of the sum, and of the maximum that both go with."""
        return (m + np.log(total))[..., 0] if self.inputs.of_scores else acc / total


def largest(scores: np.ndarray) -> np.ndarray:
    """Of each row; 0 where a row has no score."""
    m = scores.max(-1, keepdims=True)
    return np.where(np.isfinite(m), m, 0.0)
