"""Mistakes of attention in its sums: along blocks of keys, and at the end."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.check.diagnosis.attention_inputs import Part, largest
from tools.check.diagnosis.formulas import Mistake

LN2 = float(np.log(2))


# Blocks of keys -------------------------------------------------------------------------------------------


def running(part: Part, block: int) -> np.ndarray:
    """At each key the largest score up to the end of its block."""
    starts = np.arange(0, part.scores.shape[-1], block)
    m = np.maximum.accumulate(np.maximum.reduceat(part.scores, starts, -1), -1)
    m = np.repeat(m, block, -1)[..., : part.scores.shape[-1]]
    return np.where(np.isfinite(m), m, 0.0)


def kept(part: Part, block: int, acc: bool, total: bool) -> np.ndarray:
    """acc, total: is it left as it is when the maximum grows?"""
    m = largest(part.scores)
    own, right = np.exp(part.scores - running(part, block)), np.exp(part.scores - m)
    return part.ends((own if acc else right) @ part.inputs.v, (own if total else right).sum(-1, keepdims=True), m)


def grown(part: Part, block: int) -> np.ndarray:
    """alpha = exp(new - old) in place of exp(old - new), of both."""
    m = largest(part.scores)
    at = running(part, block)
    e = np.exp(part.scores - at + (m - at))
    return part.ends(e @ part.inputs.v, e.sum(-1, keepdims=True), m)


def last_sum(part: Part, block: int) -> np.ndarray:
    """l_i is that of the last block alone, acc is right."""
    e = np.exp(part.scores - largest(part.scores))
    tail = e[..., (e.shape[-1] - 1) // block * block :]
    return part.ends(e @ part.inputs.v, tail.sum(-1, keepdims=True), largest(part.scores))


def only(part: Part, block: int, which: Callable[[int, int], slice]) -> np.ndarray:
    """As if there were no keys but those of a slice."""
    inside = np.zeros(part.scores.shape[-1], bool)
    inside[which(len(inside), block)] = True
    return part.of(np.where(inside, part.scores, -np.inf))


def zeros_behind(part: Part, block: int) -> np.ndarray | None:
    """Keys of zeros up to whole blocks: their score is 0, and their values add nothing."""
    more = -part.scores.shape[-1] % block
    if not more or part.inputs.causal == "from the start":
        return None
    m = np.maximum(part.scores.max(-1, keepdims=True), 0.0)
    e = np.exp(part.scores - m)
    return part.ends(e @ part.inputs.v, e.sum(-1, keepdims=True) + more * np.exp(-m), m)


BLOCKS = (
    Mistake(
        "acc_not_rescaled",
        partial(kept, acc=True, total=False),
        "As if acc stayed as it is when a block of {block} keys raises the maximum.",
        "By which factor do acc and l_i shrink then?",
    ),
    Mistake(
        "sum_not_rescaled",
        partial(kept, acc=False, total=True),
        "As if l_i stayed as it is when a block of {block} keys raises the maximum.",
        "By which factor do acc and l_i shrink then?",
    ),
    Mistake(
        "nothing_rescaled",
        partial(kept, acc=True, total=True),
        "As if acc and l_i stayed when a block of {block} keys raises the maximum.",
        "By which factor do both shrink then?",
    ),
    Mistake(
        "rescaled_upside_down",
        grown,
        "As if acc and l_i grew when a block of {block} keys raises the maximum.",
        "alpha is exp of which difference?",
    ),
    Mistake(
        "sum_not_carried",
        last_sum,
        "As if l_i held only the sum of the keys from {last} on.",
        "What of l_i is kept when the next block comes?",
    ),
    Mistake(
        "last_block_only",
        partial(only, which=lambda length, block: slice((length - 1) // block * block, None)),
        "As if there were no keys but those from {last} on.",
        "What of acc and l_i is kept when the next block comes?",
    ),
    Mistake(
        "first_block_only",
        partial(only, which=lambda length, block: slice(block)),
        "As if there were only the first {block} of {keys} keys.",
        "How many turns does the loop over keys take?",
    ),
    Mistake(
        "tail_ignored",
        partial(only, which=lambda length, block: slice(length // block * block)),
        "As if there were only the first {whole} of {keys} keys.",
        "What happens to the last ones?",
    ),
    Mistake(
        "padding_counted",
        zeros_behind,
        "As if keys of zeros followed the {keys}, up to {padded}.",
        "Which score has a key that does not exist?",
    ),
)


# The end --------------------------------------------------------------------------------------------------


def not_divided(part: Part) -> np.ndarray | None:
    return None if part.inputs.of_scores else np.exp(part.scores - largest(part.scores)) @ part.inputs.v


def by_the_number(part: Part) -> np.ndarray | None:
    acc = not_divided(part)
    return None if acc is None else acc / part.allowed.sum(-1, keepdims=True)


def of_log_sum(part: Part, change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray | None:
    """change: of the maximum, and of the logarithm of the sum beyond it."""
    if not part.inputs.of_scores:
        return None
    m = largest(part.scores)
    return change(m, np.log(np.exp(part.scores - m).sum(-1, keepdims=True)))[..., 0]


END = (
    Mistake(
        "not_divided",
        not_divided,
        "As if acc were not divided by l_i.",
        "What do the weights of a row add up to before that?",
    ),
    Mistake(
        "divided_by_length",
        by_the_number,
        "As if acc were divided by the number of keys, and not by l_i.",
        "What do the weights of a row add up to before that?",
    ),
    Mistake(
        "maximum_left_out",
        partial(of_log_sum, change=lambda m, log: log),
        "It is log(l_i) alone, without the maximum.",
        "What was taken off every score before exp?",
    ),
    Mistake(
        "only_the_maximum",
        partial(of_log_sum, change=lambda m, log: m),
        "It is the maximum alone, without log(l_i).",
        "What is the logarithm of the sum of all exp(score)?",
    ),
    Mistake(
        "base_two",
        partial(of_log_sum, change=lambda m, log: (m + log) / LN2),
        "It is right in units of log(2), the logarithm to base 2.",
        "Which logarithm is asked for?",
    ),
    Mistake(
        "base_two",
        partial(of_log_sum, change=lambda m, log: m + log / LN2),
        "As if log2(l_i) were added to the maximum.",
        "Which logarithm undoes exp?",
    ),
    Mistake(
        "base_two",
        partial(of_log_sum, change=lambda m, log: m / LN2 + log),
        "The maximum is in units of log(2), log(l_i) is not.",
        "In which units are the scores, once log2(e) is in them?",
    ),
    Mistake(
        "sum_not_logged",
        partial(of_log_sum, change=lambda m, log: m + np.exp(log)),
        "As if l_i itself were added to the maximum.",
        "Of what is the logarithm taken?",
    ),
)
