"""Mistakes of softmax and what is akin to it along blocks of a row, and in the numbers of one format."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.check.diagnosis.formulas import Mistake
from tools.check.diagnosis.softmax_rows import Rows

# In blocks ------------------------------------------------------------------------------------------------


def sum_of(part: Callable, rows: Rows, block: int) -> np.ndarray:
    """As if only some of each row were in the sum: those that part(length, block) slices out."""
    x = rows.x[..., part(rows.length, block)]
    return rows.of(Rows(x, "logsumexp").log_sum)


def last(length: int, block: int) -> slice:
    return slice((length - 1) // block * block, None)


def whole(length: int, block: int) -> slice:
    return slice(length // block * block)


def never_rescaled(rows: Rows, block: int) -> np.ndarray:
    """Each block's sum stays as it was when its maximum was the largest so far."""
    own = np.exp(rows.x - rows.running(block)).sum(-1, keepdims=True)
    return rows.of(rows.finite_m + np.log(own))


def rescaled_upside_down(rows: Rows, block: int) -> np.ndarray:
    """alpha = exp(new - old) in place of exp(old - new)."""
    running = rows.running(block)
    own = np.exp(rows.x - running + (rows.m - running)).sum(-1, keepdims=True)
    return rows.of(rows.finite_m + np.log(own))


def with_the_maximum_of(part: Callable, rows: Rows, block: int) -> np.ndarray:
    """The sum is right for the largest of all, and used with the largest of one block."""
    m = rows.x[..., part(rows.length, block)].max(-1, keepdims=True)
    return rows.of(rows.log_sum - rows.m + m)


def padded(rows: Rows, block: int) -> np.ndarray | None:
    """Zeros behind each row, up to whole blocks, in the sum."""
    more = -rows.length % block
    return rows.of(np.logaddexp(rows.log_sum, np.log(more))) if more else None


IN_BLOCKS = (
    Mistake(
        "last_block_only",
        partial(sum_of, last),
        "As if only the elements from {last} on were in the sum.",
        "What of the sum so far is kept when the next block comes?",
    ),
    Mistake(
        "first_block_only",
        partial(sum_of, lambda length, block: slice(block)),
        "As if only the first {block} of {length} elements were in the sum.",
        "How many turns does the loop take?",
    ),
    Mistake(
        "tail_ignored",
        partial(sum_of, whole),
        "As if only the first {whole} of {length} elements were in the sum.",
        "What happens to the last ones?",
    ),
    Mistake(
        "not_rescaled",
        never_rescaled,
        "As if the sum so far stayed when a block of {block} raises the maximum.",
        "By which factor does it shrink then?",
    ),
    Mistake(
        "rescaled_upside_down",
        rescaled_upside_down,
        "As if the sum so far grew when a block of {block} raises the maximum.",
        "alpha is exp of which difference?",
    ),
    Mistake(
        "maximum_of_one_block",
        partial(with_the_maximum_of, last),
        "The sum goes with the largest of all; used is the largest from {last} on.",
        "Which maximum goes with the sum when the loop has ended?",
    ),
    Mistake(
        "maximum_of_one_block",
        partial(with_the_maximum_of, lambda length, block: slice(block)),
        "The sum goes with the largest of all; used is that of the first {block}.",
        "Which line keeps the larger of two maxima?",
    ),
    Mistake(
        "padding_counted",
        padded,
        "It is right if {x} went on with zeros from {length} to {padded}.",
        "What do the positions hold that a mask leaves out?",
    ),
)


# In numbers of one format ---------------------------------------------------------------------------------


def nothing_taken_off(rows: Rows, name: str) -> np.ndarray:
    return rows.computed_in(name, np.zeros_like(rows.m))


def one_maximum_for_all(rows: Rows, name: str, of_nothing: float) -> np.ndarray | None:
    return rows.computed_in(name, np.full_like(rows.m, rows.m.max()), of_nothing) if rows.m.size > 1 else None


def maximum_of_other_axis(rows: Rows, name: str, of_nothing: float) -> np.ndarray | None:
    """Where rows lie so far apart that exp is 0 throughout all but one of them."""
    if rows.kind == "logsumexp" or rows.other is None:
        return None
    return rows.computed_in(name, rows.x.max(rows.other, keepdims=True), of_nothing)


def maximum_of_the_first(rows: Rows, name: str, block: int) -> np.ndarray:
    return rows.computed_in(name, rows.x[..., :block].max(-1, keepdims=True))


def log_of_the_softmax(rows: Rows, name: str) -> np.ndarray | None:
    if rows.kind != "log_softmax":
        return None
    return np.log(Rows(rows.x, "softmax").computed_in(name, rows.m))


OF_NOTHING = 0.0, 1.0  # what a sum of 0 is divided by: itself, or the 1 of a guard
NARROW = (
    Mistake(
        "maximum_not_subtracted",
        nothing_taken_off,
        "As if exp met {x} itself: in {dtype} it is inf above {above:.1f}, 0 below {below:.0f}.",
        "What can be taken off each row first, without changing the result?",
    ),
    *(
        Mistake(
            "one_maximum_for_all",
            partial(one_maximum_for_all, of_nothing=of_nothing),
            "As if the maximum of all were taken off each row: far below it exp is 0.",
            "Whose maximum makes sure that one term of a row is exp(0)?",
        )
        for of_nothing in OF_NOTHING
    ),
    *(
        Mistake(
            "maximum_of_other_axis",
            partial(maximum_of_other_axis, of_nothing=of_nothing),
            "As if the maximum ran along axis {other} of {x}, and the sum along {axis}.",
            "Along which axis must the maximum be the same number?",
        )
        for of_nothing in OF_NOTHING
    ),
    Mistake(
        "log_of_softmax",
        log_of_the_softmax,
        "As if log met the softmax, which in {dtype} is 0 below exp({below:.0f}).",
        "What is the logarithm of exp(x - max) / sum, worked out by hand?",
    ),
)
NOT_UPDATED = Mistake(
    "maximum_not_updated",
    maximum_of_the_first,
    "As if the maximum of the first {block} were taken off: above it exp overflows.",
    "When a later block has a larger one, which line keeps it?",
)
