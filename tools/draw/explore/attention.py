"""One query's attention to four keys, step by step, and where its result lies among their values."""

import numpy as np

from tools.draw.explore.page import TOP, of, page
from tools.draw.svg import MARGIN, Canvas, colour

QUERY = np.array([1, 2, 0, 1])
KEYS = np.array([[2, 1, 5, 0], [-2, 1, 3, 0], [1, 0, 0, 1], [1, 2, 1, 1]])
VALUES = np.array([[1, 0], [0, 1], [1, 1], [2, 0]])
COLUMNS = {"q . k": 76, "score": 130, "exp(score - m)": 196, "weight": 312}  # where each begins, in pixels
ROW, BAR = 34, 66  # pixels of a key; of a bar as long as 1
UNIT, LEFT, BOTTOM = 80, 448, TOP + 140  # pixels of 1 in the plane of the values, and where its corner is


def attention(scale: float, seen: int) -> str:
    """q . k, times `scale`, through the softmax, to a sum of the values; only the first `seen` of 4 keys are seen."""
    products = KEYS @ QUERY
    scores = np.where(np.arange(4) < seen, products * scale, -np.inf)
    m = scores.max() if seen else 0.0
    powers = np.exp(scores - m)
    l = powers.sum()
    weights = powers / (l or 1)
    out = weights @ VALUES
    sums = f"m = {m:.4g}, l = {l:.3f}: " if seen else ""
    found = f"{sums}out = ({out[0]:.3f}, {out[1]:.3f}), the mark among the values"
    canvas = page(f"scale {scale:g}, {of(seen, 'key')} seen", found)
    for name, left in COLUMNS.items():
        canvas.text(left, TOP + 12, name, "soft")
    for key in range(4):
        _row(canvas, key, products[key], scores[key], powers[key], weights[key])
    _plane(canvas, weights, out)
    return canvas.finish(BOTTOM + 46)


def _row(canvas: Canvas, key: int, product: int, score: float, power: float, weight: float) -> None:
    top = TOP + 22 + key * ROW
    hidden = score == -np.inf
    canvas.text(MARGIN, top + 16, f"key {key}", "soft" if hidden else "")
    canvas.text(COLUMNS["q . k"], top + 16, str(product), "soft" if hidden else "")
    canvas.text(COLUMNS["score"], top + 16, "-inf" if hidden else f"{score:g}", "soft" if hidden else "")
    for name, length in (("exp(score - m)", power), ("weight", weight)):
        left = COLUMNS[name]
        tip = f"key {key}: {name} {length:.4f}{', hidden' if hidden else ''}"
        canvas.rect(left, top, BAR, ROW - 12, "empty")
        canvas.rect(left, top, BAR * length, ROW - 12, colour(key), tip)
        canvas.text(left + BAR + 4, top + 16, f"{length:.3f}", "small soft" if hidden else "small")


def _plane(canvas: Canvas, weights: np.ndarray, out: np.ndarray) -> None:
    """The values as places, the larger the more they weigh, and the result as a square."""
    canvas.line(LEFT, BOTTOM, LEFT + 2 * UNIT, BOTTOM, "axis")
    canvas.line(LEFT, BOTTOM, LEFT, BOTTOM - 1.15 * UNIT, "axis")
    for key, (x, y) in enumerate(VALUES):
        left, top = LEFT + x * UNIT, BOTTOM - y * UNIT
        canvas.circle(left, top, 5 + 16 * weights[key], colour(key), f"value {key}: ({x}, {y})")
        canvas.text(left, top - 26 if y else top + 34, f"({x}, {y})", "small", "middle")
    canvas.rect(LEFT + out[0] * UNIT - 5, BOTTOM - out[1] * UNIT - 5, 10, 10, "mark", "out")
