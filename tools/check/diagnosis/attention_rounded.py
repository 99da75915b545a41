"""Attention in which something is kept in a narrow dtype: no formula gives the last digits, but one comes nearer."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.check.diagnosis.attention_blocks import running
from tools.check.diagnosis.attention_inputs import Part, largest
from tools.check.diagnosis.formulas import Mistake
from tools.check.diagnosis.numbers import rms
from tools.check.diagnosis.precision import to_digits

FEWEST = 32  # elements of a result of which one says that it was rounded on its way
NEARER = 4  # times as near must it be to what rounding gives as to what is wanted


def is_nearer(got: np.ndarray, said: np.ndarray | None, want: np.ndarray) -> bool:
    """Is the result far nearer to what rounding gives than to what is wanted?"""
    if said is None or said.shape != got.shape or got.size < FEWEST or not np.isfinite(said).all():
        return False
    return NEARER * rms(got - said) < rms(got - want)


def weights(part: Part, block: int, narrow: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
    """Weights that are rounded before they meet the values, block by block."""
    if part.inputs.of_scores:
        return None
    at, m = running(part, block), largest(part.scores)
    e = np.exp(part.scores - at)
    return part.ends((narrow(e) * np.exp(at - m)) @ part.inputs.v, (e * np.exp(at - m)).sum(-1, keepdims=True), m)


def acc(part: Part, block: int) -> np.ndarray | None:
    """acc in float16 from block to block."""
    if part.inputs.of_scores:
        return None
    at = running(part, block)
    acc, before = np.zeros((*part.scores.shape[:-1], part.inputs.v.shape[-1])), at[..., :1]
    for start in range(0, part.scores.shape[-1], block):
        m = at[..., start : start + 1]
        e = np.exp(part.scores[..., start : start + block] - m)
        acc = float16(acc * np.exp(before - m) + e @ part.inputs.v[..., start : start + block, :])
        before = m
    return acc / np.exp(part.scores - largest(part.scores)).sum(-1, keepdims=True)


def float16(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float16).astype(np.float64)


def bfloat16(values: np.ndarray) -> np.ndarray:
    return to_digits(values, 8)


ROUNDED = (
    Mistake(
        "weights_rounded",
        partial(weights, narrow=float16),
        "As if the weights were rounded to float16 before they meet v.",
        "In which dtype does that product take its operands?",
    ),
    Mistake(
        "weights_rounded",
        partial(weights, narrow=bfloat16),
        "As if the weights were rounded to bfloat16 before they meet v.",
        "In which dtype does that product take its operands?",
    ),
    Mistake(
        "float16_accumulation",
        acc,
        "As if acc were kept in float16 from one block of {block} keys to the next.",
        "In which dtype are sums kept?",
    ),
)
