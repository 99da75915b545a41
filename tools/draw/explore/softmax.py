"""A softmax with a number taken off each score: exponentials, their sum, weights and log-sum-exp, in float32."""

import numpy as np

from tools.draw.explore.page import ROOM, TOP, page
from tools.draw.svg import MARGIN, colour

ROW = 44  # pixels of a key
BAR = ROOM / 3  # of a weight of 1


def stable_softmax(scores: tuple[float, ...], taken_off: float) -> str:
    """What float32 makes of exp(score - taken_off), of their sum, and of the quotients."""
    x, shift = np.array(scores, np.float32), np.float32(taken_off)
    with np.errstate(all="ignore"):
        exponentials = np.exp(x - shift)
        total = exponentials.sum()
        weights, log_sum = exponentials / total, shift + np.log(total)
    canvas = page(
        f"{taken_off:g} taken off, the maximum is {max(scores):g}: {_became(weights)}",
        f"the exponentials add up to {total:.4g}; {taken_off:g} + log of that is {log_sum:.6g}",
    )
    for key, score in enumerate(scores):
        top = TOP + key * ROW
        told = f"key {key}: exp({score:g} - {taken_off:g}) = {exponentials[key]:.3g}, weight {weights[key]:.3g}"
        width = float(np.nan_to_num(weights[key])) * BAR
        canvas.rect(MARGIN, top, BAR, ROW - 12, "empty", told)
        canvas.rect(MARGIN, top, width, ROW - 12, colour(key), told)
        canvas.text(MARGIN + BAR + 16, top + 21, told)
    return canvas.finish(TOP + len(scores) * ROW + MARGIN)


def _became(weights: np.ndarray) -> str:
    """What a softmax has come to, in a word."""
    if np.isnan(weights).any():
        return "NaN"
    return "weights" if weights.any() else "zeros"
