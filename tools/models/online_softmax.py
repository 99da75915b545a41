"""Softmax over a row that arrives in pieces: a running maximum and sum, and the running product with values.

Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; the names are those of the
FlashAttention papers.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike


@dataclass(frozen=True)
class State:
    """What is known of rows after some of their scores. m_i, l_i: (...,). acc: (..., d), d columns of values.

    m_i: the largest score. l_i: the sum of exp(score - m_i). acc: the sum of exp(score - m_i) * value.
    """

    m_i: np.ndarray
    l_i: np.ndarray
    acc: np.ndarray

    def merge(self, other: "State") -> "State":
        """What is known after the scores of both: the same in any order and grouping, but for rounding."""
        m_i = np.maximum(self.m_i, other.m_i)
        mine, others = _weight(self.m_i, m_i), _weight(other.m_i, m_i)
        return State(
            m_i, self.l_i * mine + other.l_i * others, self.acc * mine[..., None] + other.acc * others[..., None]
        )

    @property
    def output(self) -> np.ndarray:
        """softmax(scores) @ values, (..., d); 0 for a row that has no score above -inf."""
        return self.acc / np.where(self.l_i == 0, 1, self.l_i)[..., None]

    @property
    def logsumexp(self) -> np.ndarray:
        """log(sum(exp(scores))), (...,); -inf for a row that has no score above -inf."""
        with np.errstate(divide="ignore"):
            return self.m_i + np.log(self.l_i)


def empty(rows: tuple[int, ...], d: int, dtype: DTypeLike = np.float64) -> State:
    """Before any score. Merged with another state, it gives that state."""
    return State(np.full(rows, -np.inf, dtype), np.zeros(rows, dtype), np.zeros((*rows, d), dtype))


def of_piece(scores: ArrayLike, values: ArrayLike) -> State:
    """What is known after float scores (..., n) and their values (n, d) or (..., n, d); n may be 0."""
    scores = np.asarray(scores)
    m_i = scores.max(axis=-1, initial=-np.inf)
    weights = _weight(scores, m_i[..., None])
    return State(m_i, weights.sum(axis=-1), (weights[..., None, :] @ values)[..., 0, :])


def _weight(score: np.ndarray, maximum: np.ndarray) -> np.ndarray:
    """exp(score - maximum); 0 where both are -inf, for a score that is masked out adds nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(score == -np.inf, 0, np.exp(score - maximum))
