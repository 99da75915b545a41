"""The state of an online softmax as it walks along four scores: the share of the sum that each has, step by step."""

from collections.abc import Sequence

import numpy as np

from tools.draw.explore.page import TOP, of, page
from tools.draw.svg import MARGIN, Canvas, colour
from tools.models.online_softmax import State, empty, of_piece

VALUES = np.array([[1, 0], [0, 1], [1, 1], [2, 0]])
COLUMNS = {"m": 110, "alpha": 150, "l": 214, "acc": 470}  # where each begins, in pixels
UNIT, ROW, HEIGHT = 48, 36, 20  # pixels of a sum of 1; from one step to the next; of a bar


def online_softmax(scores: Sequence[float], block: int) -> str:
    """m, alpha, l and acc after each block of four finite scores, whose values are those of the lesson."""
    steps = [empty((), 2)]
    for start in range(0, len(scores), block):
        end = start + block
        steps.append(steps[-1].merge(of_piece(np.array(scores[start:end], float), VALUES[start:end])))
    last, alphas = steps[-1], [_alpha(old, new) for old, new in zip(steps, steps[1:])]
    shrunk = sum(alpha < 1 for alpha in alphas[1:])
    x, y = last.output
    listed = " ".join(f"{score:g}" for score in scores)
    canvas = page(
        f"scores {listed}, {of(block, 'score')} a step; l shrinks {of(shrunk, 'time')}",
        f"m = {last.m_i:g}, l = {last.l_i:.3f}: output ({x:.3f}, {y:.3f}), log-sum-exp {last.logsumexp:.3f}",
    )
    for name, left in COLUMNS.items():
        canvas.text(left, TOP + 12, name, "soft")
    for number, step in enumerate(steps):
        seen = list(scores[: number * block])
        _step(canvas, number, seen, step, alphas[number - 1] if number else None)
    bottom = TOP + 22 + len(steps) * ROW
    canvas.text(MARGIN, bottom + 10, "a bar is l; each colour is exp(score - m) of one key", "small soft")
    return canvas.finish(bottom + 26)


def _alpha(old: State, new: State) -> float:
    return float(np.exp(old.m_i - new.m_i))


def _step(canvas: Canvas, number: int, seen: list[float], step: State, alpha: float | None) -> None:
    top = TOP + 22 + number * ROW
    words = of(len(seen), "score")
    canvas.text(MARGIN, top + 14, words)
    canvas.text(COLUMNS["m"], top + 14, "-inf" if not seen else f"{step.m_i:g}")
    if alpha is not None:
        canvas.text(COLUMNS["alpha"], top + 14, f"{alpha:.3f}", "strong" if 0 < alpha < 1 else "soft")
    canvas.text(COLUMNS["l"], top + 14, f"{step.l_i:.3f}")
    left = COLUMNS["l"] + 48.0
    for key, score in enumerate(seen):
        share = float(np.exp(score - step.m_i))
        tip = f"{words} seen: exp({score:g} - {step.m_i:g}) = {share:.4f}"
        canvas.rect(left, top, share * UNIT, HEIGHT, colour(key), tip)
        left += share * UNIT
    canvas.text(COLUMNS["acc"], top + 14, f"({step.acc[0]:.3f}, {step.acc[1]:.3f})")
