"""Attention, or the log-sum-exp of its scores, with a mistake in it.

The rows of queries are independent of each other: a mistake is looked for in a few of them, and then in all.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tools.check.diagnosis.attention_blocks import BLOCKS, END
from tools.check.diagnosis.attention_found import Found, find
from tools.check.diagnosis.attention_inputs import Part
from tools.check.diagnosis.attention_rounded import ROUNDED, is_nearer
from tools.check.diagnosis.attention_scores import HEADS, MASKS, OVER_QUERIES, SCALE
from tools.check.diagnosis.formulas import Mistake, reproduces
from tools.check.diagnosis.steps import blocks, named_blocks
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause

MOST_SCORES = 2_000_000  # that are computed at a time
LARGEST = 0.1  # error that rounding makes
EMPTY: tuple[Callable[[Part], np.ndarray | float], ...] = (  # what may come of a query that sees no key
    lambda part: np.nan,
    lambda part: 0.0,
    lambda part: part.inputs.v.mean(-2, keepdims=True),  # of one whose scores are all the same large negative number
)


def attention_gone_wrong(symptoms: Symptoms) -> Cause | None:
    if not symptoms.comparable or symptoms.here.want.dtype.kind != "f" or (found := find(symptoms)) is None:
        return None
    if empty := _empty_rows(found, symptoms.slack):
        return empty
    few, names = found.few(), _names(found)
    part = found.inputs.part(few)
    for mistake, result, more in _tried(symptoms, found):
        for fill in EMPTY:
            said = symptoms.budget.call(_filled, result, part, found, fill)
            if found.fits(said, found.got, few, symptoms.slack) and _holds(symptoms, found, result, fill):
                return mistake.said(**names, **more)
            if said is None or np.isfinite(said).all():
                break  # no row is empty
    return _rounded(symptoms, found)


def _tried(symptoms: Symptoms, found: Found) -> Iterator[tuple[Mistake, Callable, dict]]:
    """Each mistake, what comes of it, and what its words tell beside the names."""
    inputs = found.inputs
    masked = MASKS if inputs.causal or inputs.mask is not None else ()
    for mistake in (*SCALE, *masked, *HEADS, *END):
        yield mistake, mistake.result, {}
    if math.prod(found.want.shape[:-1]) * inputs.keys <= MOST_SCORES:
        yield OVER_QUERIES, partial(OVER_QUERIES.result, found.inputs.part(np.arange(inputs.rows))), {}
    for block in [size for size in blocks(symptoms) if size > 1]:
        whole, padded = inputs.keys // block * block, -(-inputs.keys // block) * block
        facts = {"block": block, "last": (inputs.keys - 1) // block * block, "whole": whole, "padded": padded}
        for mistake in BLOCKS:
            if block < inputs.keys or mistake.name == "padding_counted":
                yield mistake, partial(mistake.result, block=block), facts


def _names(found: Found) -> dict[str, object]:
    inputs, root = found.inputs, found.inputs.d**-0.5
    own = inputs.q is not None and abs(inputs.scale - root) < 1e-9
    of_q, of_k = inputs.heads or (1, 1)
    return {
        "scale": f"1/sqrt({inputs.d})" if own else f"{inputs.scale:.4g}",
        "d": inputs.d,
        "rows": inputs.rows,
        "keys": inputs.keys,
        "of_q": of_q,
        "of_k": of_k,
    }


def _filled(result: Callable, part: Part, found: Found, fill: Callable) -> np.ndarray | None:
    """What comes of a mistake; `fill` for queries that see no key because of it, and what is wanted for others."""
    said = result(part)
    if said is None:
        return None
    before = np.asarray(~part.allowed.any(-1))
    now = np.asarray(np.isnan(said) if found.inputs.of_scores else np.isnan(said).all(-1))
    if not found.inputs.of_scores:
        before, now = before[..., None], now[..., None]
        said = np.where(now, fill(part), said)
    return np.where(before, found.of_rows(found.want, part.rows), said)


def _holds(symptoms: Symptoms, found: Found, result: Callable, fill: Callable) -> bool:
    """In all rows of queries."""
    said = symptoms.budget.call(_of_all, result, found, fill)
    return reproduces(symptoms, lambda call: said if call is symptoms.here else None)


def _of_all(result: Callable, found: Found, fill: Callable) -> np.ndarray | None:
    inputs = found.inputs
    pairs = math.prod(found.want.shape[: -1 if inputs.of_scores else -2])  # of batch and head
    step = max(1, MOST_SCORES // (inputs.keys * max(1, pairs)))
    pieces: list[np.ndarray] = []
    for start in range(0, inputs.rows, step):
        piece = _filled(result, inputs.part(np.arange(start, min(start + step, inputs.rows))), found, fill)
        if piece is None:
            return None
        pieces.append(piece)
    said = np.concatenate(pieces, -1 if inputs.of_scores else -2)
    return said[0] if found.single else said


def _empty_rows(found: Found, slack: float) -> Cause | None:
    """NaN for all of the queries that see no key, and for no other."""
    part = found.inputs.part(np.arange(found.inputs.rows))
    empty = np.asarray(~part.allowed.any(-1))
    empty = empty if found.inputs.of_scores else np.broadcast_to(empty[..., None], found.got.shape)
    wrong = np.isnan(found.got)
    if not empty.any() or (wrong != empty).any() or np.isnan(found.want[empty]).any():
        return None
    if not found.fits(np.where(empty, found.got, found.want), found.got, part.rows, slack):
        return None
    return cause(
        "empty_row",
        "NaN came back just for the queries that see no key: their sum is 0.",
        "What are acc and l_i there, and what should be divided by what?",
    )


def _rounded(symptoms: Symptoms, found: Found) -> Cause | None:
    if not symptoms.finite or symptoms.largest_error > LARGEST:
        return None
    few = found.few()
    part, got, want = found.inputs.part(few), found.of_rows(found.got, few), found.of_rows(found.want, few)
    sizes = named_blocks(symptoms) or [1 << power for power in range(4, 8)]
    for mistake in ROUNDED:
        for block in dict.fromkeys([*(size for size in sizes if size < found.inputs.keys), found.inputs.keys]):
            result = partial(mistake.result, block=block)
            if not is_nearer(got, symptoms.budget.call(_filled, result, part, found, EMPTY[0]), want):
                continue
            said = symptoms.budget.call(_of_all, result, found, EMPTY[0])
            if is_nearer(symptoms.here.got, said, symptoms.here.want):
                return mistake.said(block=block)
    return None
