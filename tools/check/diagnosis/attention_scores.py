"""Mistakes of attention in its scores: the scale, the masks, which head and which matrix."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.check.diagnosis.attention_inputs import Part, largest
from tools.check.diagnosis.formulas import Mistake

LN2 = float(np.log(2))


# The scale ------------------------------------------------------------------------------------------------


def scaled_by(part: Part, factor: Callable[[Part], float]) -> np.ndarray:
    bias = part.scaled - part.products * part.inputs.scale
    return part.of(part.seen(part.allowed, part.products * factor(part) + bias))


SCALE = (
    Mistake(
        "scale_forgotten",
        partial(scaled_by, factor=lambda part: 1.0),
        "As if the scores were q . k without the factor {scale}.",
        "How large is q . k when d grows, and which line brings it down?",
    ),
    Mistake(
        "scale_twice",
        partial(scaled_by, factor=lambda part: part.inputs.scale**2),
        "As if the scores were multiplied by {scale} twice.",
        "Which two lines do it?",
    ),
    Mistake(
        "scale_by_d",
        partial(scaled_by, factor=lambda part: 1 / part.inputs.d),
        "As if the scores were divided by d = {d}, and not by its root.",
        "How large is q . k for random q and k of length d?",
    ),
    Mistake(
        "scale_upside_down",
        partial(scaled_by, factor=lambda part: 1 / part.inputs.scale),
        "As if the scores were divided by {scale}, not multiplied by it.",
        "Should they become larger or smaller?",
    ),
    Mistake(
        "base_two",
        partial(scaled_by, factor=lambda part: part.inputs.scale * LN2),
        "As if exp2 stood in place of exp, and the scores lacked log2(e).",
        "exp(x) is exp2(x * log2(e)): where is the factor?",
    ),
)


# Masks ----------------------------------------------------------------------------------------------------


def hidden_after_softmax(part: Part) -> np.ndarray:
    e = np.exp(part.scaled - largest(part.scaled))
    return part.ends(np.where(part.allowed, e, 0.0) @ part.inputs.v, e.sum(-1, keepdims=True), largest(part.scaled))


def hidden_by_zero(part: Part) -> np.ndarray:
    return part.of(np.where(part.allowed, part.scaled, 0.0))


def unmasked(part: Part) -> np.ndarray:
    return part.of(part.scaled)


def shifted(part: Part, later: int) -> np.ndarray | None:
    return _causal(part, part.inputs.visible(part.rows, later))


def other_end(part: Part) -> np.ndarray | None:
    other = {"from the start": "to the end", "to the end": "from the start"}.get(part.inputs.causal, "")
    return _causal(part, part.inputs.visible(part.rows, causal=other))


def upside_down(part: Part) -> np.ndarray | None:
    return _causal(part, ~part.inputs.visible(part.rows, later=-1))


def causal_only(part: Part) -> np.ndarray | None:
    return part.of(part.seen(part.inputs.visible(part.rows))) if part.inputs.causal else None


def _causal(part: Part, visible: np.ndarray) -> np.ndarray | None:
    return part.of(part.seen(visible & (part.hidden > -np.inf))) if part.inputs.causal else None


MASKS = (
    Mistake(
        "mask_after_softmax",
        hidden_after_softmax,
        "As if hidden keys were in the sum, and their weights set to 0 after it.",
        "To what do the weights of a row add up then?",
    ),
    Mistake("mask_by_zero", hidden_by_zero, "As if hidden keys had score 0.", "exp(0) is 1: which score has weight 0?"),
    Mistake("mask_ignored", unmasked, "As if no key were hidden.", "Which line uses the mask?"),
    Mistake(
        "own_key_hidden",
        partial(shifted, later=-1),
        "As if a query did not see the key of its own position.",
        "Is it < or <= that compares a key's position with a query's?",
    ),
    Mistake(
        "next_key_seen",
        partial(shifted, later=1),
        "As if a query saw one key more than it should.",
        "Which position is the last one that it may see?",
    ),
    Mistake(
        "causal_other_end",
        other_end,
        "As if the mask of {rows} queries and {keys} keys began at the other end.",
        "Which key is the last one that the first query sees, and which the last?",
    ),
    Mistake(
        "causal_upside_down",
        upside_down,
        "As if a query saw its own key and later ones, not earlier ones.",
        "Which of the two positions counts queries?",
    ),
    Mistake("mask_ignored", causal_only, "As if only the causal mask hid keys.", "Which line uses the other mask?"),
)


def over_queries(whole: Part, part: Part) -> np.ndarray | None:
    """whole: all rows of queries. Softmax along them."""
    if part.inputs.of_scores:
        return None
    e = np.exp(whole.scores - np.where(np.isfinite(m := whole.scores.max(-2, keepdims=True)), m, 0.0))
    return (e / e.sum(-2, keepdims=True))[..., part.rows, :] @ part.inputs.v


OVER_QUERIES = Mistake(
    "softmax_over_queries",
    over_queries,
    "As if the weights of each key added up to 1, not those of each query.",
    "Along which axis of the scores does softmax run?",
)


# Which head, which matrix ---------------------------------------------------------------------------------


def another_head(part: Part, number: Callable) -> np.ndarray | None:
    if part.given.heads is None:
        return None
    chosen = part.given.with_heads(number).part(part.rows)
    return chosen.of(chosen.scores)


def modulo(h: np.ndarray, of_q: int, of_k: int) -> np.ndarray:
    return h % of_k


def first(h: np.ndarray, of_q: int, of_k: int) -> np.ndarray:
    return 0 * h


def values_for_keys(part: Part) -> np.ndarray | None:
    inputs = part.inputs
    if inputs.q is None or inputs.k is None or inputs.k.shape != inputs.v.shape:
        return None
    products = inputs.q[..., part.rows, :] @ inputs.v.swapaxes(-1, -2)
    scores = part.seen(part.allowed, products * inputs.scale)
    e = np.exp(scores - largest(scores))
    return part.ends(e @ inputs.k, e.sum(-1, keepdims=True), largest(scores))


HEADS = (
    Mistake(
        "wrong_head",
        partial(another_head, number=modulo),
        "As if head h of {of_q} took keys and values of head h % {of_k}.",
        "Do neighbouring heads of queries share keys, or distant ones?",
    ),
    Mistake(
        "wrong_head",
        partial(another_head, number=first),
        "As if every head took keys and values of head 0.",
        "Which of the {of_k} heads of keys belongs to head h?",
    ),
    Mistake(
        "k_and_v_exchanged",
        values_for_keys,
        "As if k and v were exchanged.",
        "Which of them meets q, and which is weighted?",
    ),
)
