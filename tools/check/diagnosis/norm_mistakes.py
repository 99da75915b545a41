"""Mistakes of layer norm and of RMS norm: what comes back when each is made."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.check.diagnosis.formulas import Mistake
from tools.check.diagnosis.norm_rows import Norm


def eps_forgotten(norm: Norm) -> np.ndarray:
    return norm.of(below=np.sqrt(norm.spread))


def eps_outside(norm: Norm) -> np.ndarray:
    return norm.of(below=np.sqrt(norm.spread) + norm.eps)


def no_root(norm: Norm) -> np.ndarray:
    return norm.of(below=norm.spread + norm.eps)


def multiplied(norm: Norm) -> np.ndarray:
    return norm.of(below=1 / np.sqrt(norm.spread + norm.eps))


def counted(norm: Norm, by: Callable[[int], float]) -> np.ndarray:
    """The sum of squares, divided by another number than that of the elements."""
    return norm.of(spread=norm.spread * norm.length / by(norm.length))


def not_centred(norm: Norm) -> np.ndarray | None:
    return None if norm.rms else norm.of(center=np.zeros_like(norm.mean))


def squares_for_deviations(norm: Norm) -> np.ndarray | None:
    return None if norm.rms else norm.of(spread=norm.square)


def rms_norm(norm: Norm) -> np.ndarray | None:
    return None if norm.rms else norm.of(center=np.zeros_like(norm.mean), spread=norm.square)


def deviations_for_squares(norm: Norm) -> np.ndarray | None:
    return norm.of(spread=norm.variance) if norm.rms else None


def layer_norm(norm: Norm) -> np.ndarray | None:
    return norm.of(center=norm.mean, spread=norm.variance) if norm.rms else None


def weight_first(norm: Norm) -> np.ndarray | None:
    if norm.of_rstd:
        return None
    ones = np.ones_like(norm.weight)
    return Norm(norm.x * norm.weight, ones, norm.bias, norm.eps, norm.rms).of()


def bias_first(norm: Norm) -> np.ndarray | None:
    return None if norm.of_rstd else (norm.of() - norm.bias) + norm.bias * norm.weight


def without(norm: Norm, weight: bool) -> np.ndarray | None:
    if norm.of_rstd:
        return None
    return (norm.of() - norm.bias) / norm.weight + norm.bias if weight else norm.of() - norm.bias


def over_all(norm: Norm) -> np.ndarray:
    if norm.rms:
        return norm.of(spread=np.mean(norm.x**2, keepdims=True))
    return norm.of(center=np.mean(norm.x, keepdims=True), spread=np.var(norm.x, keepdims=True))


def squares_overflow(norm: Norm) -> np.ndarray:
    """Rows with a square that float16 cannot hold are divided by infinity."""
    largest = np.abs(norm.x - norm.center).max(-1, keepdims=True) ** 2
    return norm.of(spread=np.where(largest > float(np.finfo(np.float16).max), np.inf, norm.spread))


PLAIN = (
    Mistake(
        "eps_forgotten",
        eps_forgotten,
        "As if {eps} were not added to the {spread}.",
        "What is divided by where all elements of a row are equal?",
    ),
    Mistake(
        "eps_outside",
        eps_outside,
        "As if {eps} were added to the root of the {spread}, not below it.",
        "On which side of sqrt does eps stand?",
    ),
    Mistake("no_root", no_root, "As if x were divided by the {spread} itself.", "Where is the root?"),
    Mistake(
        "multiplied",
        multiplied,
        "As if x were multiplied by the root of the {spread}.",
        "Which of std and 1 / std is it?",
    ),
    Mistake(
        "divided_by_n_minus_one",
        partial(counted, by=lambda length: length - 1.0),
        "As if the sum of squares were divided by {before}, not by {length}.",
        "By how many is it divided?",
    ),
    Mistake(
        "not_averaged",
        partial(counted, by=lambda length: 1.0),
        "As if the sum of squares were divided by 1, not by {length}.",
        "By how many is it divided?",
    ),
    Mistake(
        "mean_not_subtracted",
        not_centred,
        "As if the mean were not taken off x before it is divided.",
        "Which line takes it off, and is the result of that line used?",
    ),
    Mistake(
        "rms_for_deviation",
        squares_for_deviations,
        "As if the mean of the squares of x were divided by, not the variance.",
        "What is taken off x before it is squared?",
    ),
    Mistake(
        "rms_for_deviation",
        rms_norm,
        "As if the mean were taken off nowhere: x is divided by its own rms.",
        "From what does a layer norm take the mean off?",
    ),
    Mistake(
        "deviation_for_rms",
        deviations_for_squares,
        "As if the variance of x were divided by, not the mean of its squares.",
        "What does an RMS norm leave out?",
    ),
    Mistake(
        "deviation_for_rms",
        layer_norm,
        "As if it were a layer norm: the mean was taken off.",
        "What does an RMS norm leave out?",
    ),
    Mistake(
        "weight_first",
        weight_first,
        "As if x were multiplied by {weight} before mean and spread are computed.",
        "Which comes first, the norm or the weight?",
    ),
    Mistake(
        "bias_first",
        bias_first,
        "As if {bias} were added before {weight} is multiplied by.",
        "Which of the two comes last?",
    ),
    Mistake(
        "weight_forgotten", partial(without, weight=True), "As if {weight} were 1 everywhere.", "Which line uses it?"
    ),
    Mistake("bias_forgotten", partial(without, weight=False), "As if {bias} were 0 everywhere.", "Which line adds it?"),
    Mistake(
        "normed_over_all",
        over_all,
        "As if mean and spread were those of all elements, not of each row.",
        "Along which axis are they computed?",
    ),
    Mistake(
        "squares_overflow",
        squares_overflow,
        "As if squares were float16: rows with one above 65504 were divided by inf.",
        "In which dtype is a square kept?",
    ),
)


# In blocks ------------------------------------------------------------------------------------------------


def padding_in_the_variance(norm: Norm, block: int) -> np.ndarray | None:
    """(0 - mean)**2 for each position behind a row."""
    more = block - norm.length
    return None if norm.rms else norm.of(spread=norm.variance + more * norm.mean**2 / norm.length)


def divided_by_the_block(norm: Norm, block: int) -> np.ndarray:
    mean = norm.mean * norm.length / block
    if norm.rms:
        return norm.of(spread=norm.square * norm.length / block)
    return norm.of(center=mean, spread=((norm.x - mean) ** 2).sum(-1, keepdims=True) / block)


def zeros_behind(norm: Norm, block: int) -> np.ndarray | None:
    """Mean and variance of a row that goes on with zeros."""
    if norm.rms:
        return None
    mean, square = (each * norm.length / block for each in (norm.mean, norm.square))
    return norm.of(center=mean, spread=square - mean**2)


IN_BLOCKS = (
    Mistake(
        "padding_counted",
        padding_in_the_variance,
        "As if the variance counted zeros behind each row, up to {block}.",
        "What is 0 - mean, squared, at the positions that a mask leaves out?",
    ),
    Mistake(
        "divided_by_block",
        divided_by_the_block,
        "As if the sums were divided by {block}, not by {length}.",
        "How many elements has a row?",
    ),
    Mistake(
        "padding_counted",
        zeros_behind,
        "As if each row went on with zeros from {length} to {block}.",
        "Which positions exist, and by how many is a sum divided?",
    ),
)
