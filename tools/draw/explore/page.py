"""The top of each picture, and words for numbers."""

from tools.draw.svg import MARGIN, Canvas

WIDTH = 640
TOP = 64  # below the two lines of text
ROOM = WIDTH - 2 * MARGIN


def page(title: str, words: str) -> Canvas:
    """A canvas with two lines of text above TOP."""
    canvas = Canvas(WIDTH, title, words)
    canvas.text(MARGIN, 26, title, "strong")
    canvas.text(MARGIN, 48, words, "soft")
    return canvas


def of(number: int, noun: str, several: str = "") -> str:
    """'no program', '1 program', '2 programs'; several: the plural, where it is not the noun and an s."""
    if number == 0:
        return f"no {noun}"
    return f"{number} {noun if number == 1 else several or noun + 's'}"
