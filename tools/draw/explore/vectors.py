"""Two vectors in a plane: their dot product and cosine, and which other vectors have the same."""

from math import cos, radians, sin

from tools.draw.explore.page import TOP, WIDTH, page
from tools.draw.svg import Canvas, colour

UNIT = 70  # pixels of length 1
REACH = 3  # the longest vector
SIDE = WIDTH / 2 / UNIT - 0.2  # how far the plane goes to the left and to the right
ROOM_FOR_WORDS = 120  # pixels of "the same cosine"


def dot_product(angle: float, length: float, query_length: float = 2.0) -> str:
    """A query that points to the right, and a key at `angle` degrees. Lengths: 0 to 3.

    Keys with the score of this one end on one line across the query; keys with its cosine lie on one ray, or on its
    mirror image.
    """
    x, y = length * cos(radians(angle)), length * sin(radians(angle))
    zero = not length or not query_length
    score, cosine = query_length * x, 0.0 if zero else cos(radians(angle))
    why = "a zero vector has no angle" if zero else f"score over {query_length:g} * {length:g}"
    canvas = page(
        f"a query of length {query_length:g}, a key of length {length:g} at {angle:g} degrees",
        f"score {_short(score)}; cosine {_short(cosine)}: {why}",
    )
    canvas.line(*_at(-SIDE, 0), *_at(SIDE, 0), "grid")
    if query_length:
        _line_of_equal_scores(canvas, x)
    if not zero:
        _rays_of_equal_cosines(canvas, angle)
    _arrow(canvas, query_length, 0.0, "query", "mark", 1, above=y <= 0)
    _arrow(canvas, x, y, "key", "curve", 0, above=y > 0)
    return canvas.finish(_at(0, -REACH)[1] + 44)


def _line_of_equal_scores(canvas: Canvas, x: float) -> None:
    canvas.line(*_at(x, REACH), *_at(x, -REACH), "axis")
    left, bottom = _at(x, -REACH)
    canvas.text(left, bottom + 32, "the same score", "small soft", "middle")


def _rays_of_equal_cosines(canvas: Canvas, angle: float) -> None:
    """To the edge of the plane. The words stand beside the ray on which the key does not lie."""
    across, up = cos(radians(angle)), sin(radians(angle))
    end = min(REACH / max(abs(up), 0.01), SIDE / max(abs(across), 0.01))
    for side in (up, -up):
        canvas.line(*_at(0, 0), *_at(end * across, end * side), "axis")
    left, top = _at(0.85 * end * across, -0.85 * end * up)
    outward = 1 if across >= 0 else -1
    if ROOM_FOR_WORDS < left < WIDTH - ROOM_FOR_WORDS:
        canvas.text(left + 12 * outward, top + 4, "the same cosine", "small soft", "start" if outward > 0 else "end")
    else:
        below = 28 if up >= 0 else -20  # and further from the axis than the names of vectors that lie on it
        canvas.text(left, top + below, "the same cosine", "small soft", "end" if outward > 0 else "start")


def _arrow(canvas: Canvas, x: float, y: float, name: str, kind: str, number: int, above: bool) -> None:
    """From the origin, with a dot at its tip and the name above or below it."""
    left, top = _at(x, y)
    canvas.line(*_at(0, 0), left, top, kind)
    canvas.circle(left, top, 6, colour(number), f"{name}: ({_short(x)}, {_short(y)})")
    canvas.text(left + 10, top - 8 if above else top + 18, name, "strong")


def _at(x: float, y: float) -> tuple[float, float]:
    """Pixels of a point of the plane."""
    return WIDTH / 2 + x * UNIT, TOP + 14 + (REACH - y) * UNIT


def _short(value: float) -> str:
    """Two digits after the point, and no -0.00."""
    return f"{value:.2f}" if abs(value) >= 0.005 else "0"
