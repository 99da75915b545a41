"""Attention found among the arguments: q, k and v, or the scores and v; how they are scaled, and what hides keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tools.check.diagnosis.attention_inputs import CAUSAL, Inputs
from tools.check.diagnosis.formulas import float_arguments, wide
from tools.check.diagnosis.numbers import differ, is_float
from tools.check.diagnosis.symptoms import Symptoms

FEW = 12  # rows of queries that are looked at first


@dataclass(frozen=True, eq=False)
class Found:
    """got, want: with an axis of queries, before the last one, or the last one of log-sum-exp. single: it was added."""

    inputs: Inputs
    got: np.ndarray
    want: np.ndarray
    single: bool

    def of_rows(self, array: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Those of got, want or the like."""
        return array[..., rows] if self.inputs.of_scores else array[..., rows, :]

    def few(self) -> np.ndarray:
        """Rows from the beginning, the end and between."""
        return np.unique(np.linspace(0, self.inputs.rows - 1, FEW).astype(int))

    def fits(self, said: np.ndarray | None, array: np.ndarray, rows: np.ndarray, slack: float) -> bool:
        """Is this what `array`, got or want, holds for these rows? The typical size of a few is not that of all."""
        right = self.of_rows(array, rows)
        return said is not None and said.shape == right.shape and not differ(right, said, 4 * slack)


def find(symptoms: Symptoms) -> Found | None:
    floats = float_arguments(symptoms)
    for places in [*combinations(floats, 3), *combinations(floats, 2)]:
        matrices = [wide(symptoms.args[i]) for i in places]
        single = matrices[0].ndim == 1
        first, *rest = [matrices[0][None] if single else matrices[0], *matrices[1:]]
        if min(each.ndim for each in (first, *rest)) < 2:
            continue
        got, want = symptoms.here.got, symptoms.here.want
        for of_scores in _of_scores(want.shape, first[0] if single else first, rest):
            lifted = (got[None], want[None]) if single else (got, want)
            for inputs in ways(symptoms, first, rest, of_scores, set(places)):
                found = Found(inputs, *lifted, single)
                if _is_wanted(found, symptoms.slack):
                    return found
    return None


def _of_scores(shape: tuple[int, ...], first: np.ndarray, rest: list[np.ndarray]) -> Iterator[bool]:
    """Does the result's shape allow that it is the weighted sum (False), the log-sum-exp of the scores (True)?"""
    v = rest[-1]
    related = (
        rest[0].shape[:-1] == v.shape[:-1] and first.shape[-1] == rest[0].shape[-1]
        if len(rest) == 2
        else first.shape[-1] == v.shape[-2]
    )
    if related and shape == (*first.shape[:-1], v.shape[-1]):
        yield False
    if related and len(rest) == 2 and shape == first.shape[:-1]:
        yield True


def ways(
    symptoms: Symptoms, first: np.ndarray, rest: list[np.ndarray], of_scores: bool, used: set[int]
) -> Iterator[Inputs]:
    """All that these matrices may be the inputs of."""
    v, scores = rest[-1], None if len(rest) == 2 else first
    q, k = (first, rest[0]) if scores is None else (None, None)
    if q is not None and not _heads_fit(q.shape[:-2], v.shape[:-2]):
        return
    shape = (*first.shape[:-1], v.shape[-2])
    given = [value for i, value in enumerate(symptoms.args) if i not in used] + list(symptoms.keywords.values())
    own = [float(value) for value in given if type(value) is float] + [1.0]
    scales = own if q is None else [q.shape[-1] ** -0.5, *own]
    for mask in [None, *(mask for value in given for mask in _masks(value, shape))]:
        for causal in CAUSAL if first.ndim > 1 else [""]:
            if causal == "to the end" and shape[-1] == shape[-2]:
                continue  # the same as from the start
            for scale in dict.fromkeys(scales):
                yield Inputs(q, k, v, scale, causal, mask, of_scores, scores)


def _heads_fit(of_q: tuple[int, ...], of_k: tuple[int, ...]) -> bool:
    if of_q == of_k:
        return True
    return len(of_q) == len(of_k) and of_q[:-1] == of_k[:-1] and of_k[-1] > 0 and of_q[-1] % of_k[-1] == 0


def _masks(value: Any, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """What a mask, or lengths, among the arguments may hide: True where a query sees a key; floats are added."""
    if not isinstance(value, np.ndarray) or value.ndim < 1:
        return
    if value.dtype.kind == "i" and value.shape == shape[:1] and len(shape) > 2:
        yield (np.arange(shape[-1]) < value[:, None]).reshape(shape[0], *[1] * (len(shape) - 2), shape[-1])
        return
    of_batch = value.shape == (shape[0], shape[-1]) and len(shape) > 2
    mask = value.reshape(shape[0], *[1] * (len(shape) - 2), shape[-1]) if of_batch else value
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        return
    mask = mask if mask.ndim > 1 else mask[None]
    if fits and value.dtype.kind == "b":
        yield from (mask, ~mask)
    elif fits and is_float(value.dtype):
        yield wide(mask)


def _is_wanted(found: Found, slack: float) -> bool:
    """Queries that see no key may give anything."""
    rows = found.few()
    part = found.inputs.part(rows)
    full: np.ndarray = np.any(part.allowed, -1)
    full = full if found.inputs.of_scores else full[..., None]
    want = found.of_rows(found.want, rows)
    said = part.of(part.scores)
    if said.shape != want.shape or not full.any():
        return False
    return found.fits(np.where(full, said, want), found.want, rows, slack)
