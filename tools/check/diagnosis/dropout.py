"""Dropout with a mistake in it: kept elements that are scaled wrongly, or others that are dropped."""

from collections.abc import Iterator

import numpy as np

from tools.check.diagnosis.formulas import bits_of_pattern, float_arguments, reproduces, same, wide
from tools.check.diagnosis.steps import blocks
from tools.check.diagnosis.symptoms import ENOUGH_BITS, Symptoms
from tools.check.diagnosis.words import Cause, cause

FEWEST = 32  # elements, of which a share is dropped
SIGMAS = 5  # that the share may be off
MOST_SHIFT = 64  # elements


def dropout_gone_wrong(symptoms: Symptoms) -> Cause | None:
    """Right wherever an element is not 0, and with a share p of zeros, where p is an argument."""
    want = symptoms.here.want
    if not symptoms.comparable or want.dtype.kind != "f" or want.size < FEWEST or not symptoms.finite:
        return None
    for p in _shares(symptoms):
        if _is_share(want == 0, p):
            return _scaled(symptoms, p) or _dropped(symptoms, p)
    return None


def _shares(symptoms: Symptoms) -> Iterator[float]:
    """What may be the probability to drop an element."""
    given = [*symptoms.args, *symptoms.keywords.values()]
    return (value for value in given if type(value) is float and 0 < value < 1)


def _is_share(marked: np.ndarray, p: float) -> bool:
    return abs(float(marked.mean()) - p) <= SIGMAS * (p * (1 - p) / marked.size) ** 0.5


def _scaled(symptoms: Symptoms, p: float) -> Cause | None:
    ways = (
        (1 - p, "not_scaled", f"As if kept elements were not divided by 1 - p = {1 - p:.3g}."),
        ((1 - p) ** 2, "scaled_upside_down", f"As if kept elements were multiplied by 1 - p = {1 - p:.3g}."),
        ((1 - p) / p, "scaled_by_p", f"As if kept elements were divided by p = {p:.3g}, not by 1 - p."),
        (1 / (1 - p), "scaled_twice", f"As if kept elements were divided by 1 - p = {1 - p:.3g} twice."),
    )
    for factor, name, seen in ways:
        if abs(factor - 1) > 1e-3 and reproduces(symptoms, lambda call: factor * call.want):
            return cause(name, seen, "What keeps the mean of the result as large as that of x?")
    return None


def _dropped(symptoms: Symptoms, p: float) -> Cause | None:
    """Others are dropped than should be, and what both keep is right."""
    got, want = symptoms.here.got, symptoms.here.want
    kept, right = got != 0, want != 0
    if min(bits_of_pattern(kept), bits_of_pattern(right)) < ENOUGH_BITS or (kept == right).all():
        return None
    if (kept == ~right).all():
        return cause(
            "kept_and_dropped_exchanged",
            "Just those elements are kept that should be 0, and the others are 0.",
            "On which side of p does a random number keep its element?",
        )
    if not same(got[kept & right], want[kept & right], symptoms.slack) or not _explained(symptoms, kept, p):
        return None
    return _same_in_every_block(symptoms, kept, right) or _elsewhere(symptoms, kept, right) or _by_share(kept, p)


def _explained(symptoms: Symptoms, kept: np.ndarray, p: float) -> bool:
    """Is what it keeps besides x / (1 - p) too, for one array among the arguments? Without one, there is no telling."""
    got, want = symptoms.here.got, symptoms.here.want
    for i in float_arguments(symptoms):
        whole = wide(symptoms.args[i]) / (1 - p)
        if whole.shape == want.shape and same(np.where(want != 0, whole, 0.0), want, symptoms.slack):
            return same(np.where(kept, whole, 0.0), got, symptoms.slack)
    return True


def _same_in_every_block(symptoms: Symptoms, kept: np.ndarray, right: np.ndarray) -> Cause | None:
    flat, whole = kept.reshape(-1), right.reshape(-1)
    sizes = [*(blocks(symptoms)), 512, 1024, *([kept.shape[-1]] if kept.ndim > 1 else [])]
    for block in dict.fromkeys(size for size in sizes if FEWEST // 2 <= size < flat.size):
        if (flat == np.resize(whole[:block], flat.size)).all():
            seen = f"As if every block of {block} dropped the same elements as the first one."
            return cause("same_mask_in_every_block", seen, "What does the offset of a random number count?")
    return None


def _elsewhere(symptoms: Symptoms, kept: np.ndarray, right: np.ndarray) -> Cause | None:
    flat, whole = kept.reshape(-1), right.reshape(-1)
    for by in range(1, min(MOST_SHIFT, flat.size - FEWEST) + 1):
        for one, other, where in ((flat[:-by], whole[by:], "later"), (flat[by:], whole[:-by], "before")):
            if (one == other).all():
                seen = f"Each element is dropped as the one {by} {'place' if by == 1 else 'places'} {where} should be."
                return cause("mask_shifted", seen, "With which offset does element 0 ask for its random number?")
    if kept.ndim == 2 and (kept == whole.reshape(kept.shape[::-1]).T).all():
        seen = "As if random numbers were counted down the columns, not along the rows."
        return cause("mask_transposed", seen, "What is the offset of element [1, 0]?")
    return None


def _by_share(kept: np.ndarray, p: float) -> Cause | None:
    share = f"{np.count_nonzero(~kept)} of {kept.size} elements are 0"
    if abs(p - 0.5) > 0.05 and _is_share(~kept, 1 - p):
        return cause("p_for_keep", f"{share}, and p = {p:g} is the share to drop.", "On which side of p is one kept?")
    if _is_share(~kept, p):
        return cause(
            "another_mask",
            f"{share}, as p = {p:g} says, but others than the seed gives.",
            "With which seed and offset does each element ask for its random number?",
        )
    return None
