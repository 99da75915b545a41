"""The few SVG elements that the pictures are made of. A picture is one text without outside parts. Its colours stand at
each element, where every program that draws SVG finds them; a browser in the dark takes others."""

from functools import cache
from html import escape

COLOURS = 8  # for series and programs: classes c0 to c7
MARGIN = 16
PAGE, INK, SOFT, LINE, MARK = "#ffffff", "#1f2328", "#59636e", "#c8cfd6", "#d9480f"
SERIES = ("#8ecae6", "#ffb703", "#90be6d", "#f4978e", "#cdb4db", "#80cbc4", "#e6cc80", "#b0c4de")
KINDS = {  # what each word of an element's kind makes of it
    "page": f'fill="{PAGE}"',
    "empty": 'fill="#f0f2f4"',
    "shared": 'fill="#d5d9de"',
    "marked": f'fill="{MARK}"',
    **{f"c{number}": f'fill="{shade}"' for number, shade in enumerate(SERIES)},
    "frame": f'fill="none" stroke="{LINE}"',
    "axis": f'stroke="{SOFT}"',
    "grid": f'stroke="{LINE}"',
    "mark": f'fill="none" stroke="{MARK}" stroke-width="2"',
    "curve": f'fill="none" stroke="{INK}" stroke-width="2"',
    "soft": f'fill="{SOFT}"',
    "on": 'fill="#101418"',
    "strong": 'font-weight="600"',
    "title": 'font-size="16" font-weight="600"',
    "small": 'font-size="11"',
    "tiny": 'font-size="8"',
    "mono": 'font-size="12" font-family="ui-monospace, monospace" xml:space="preserve"',
}
DARK = """@media (prefers-color-scheme: dark) {
  .picture { fill: #e6edf3; color-scheme: dark; } .picture .page { fill: #0d1117; } .picture .empty { fill: #161b22; }
  .picture .shared { fill: #3a414a; } .picture .marked { fill: #ff922b; } .picture .mark { stroke: #ff922b; }
  .picture .frame, .picture .grid { stroke: #3d444d; } .picture .axis { stroke: #9198a1; }
  .picture .curve { stroke: #e6edf3; } .picture .soft { fill: #9198a1; }
}"""


@cache
def _style(kind: str) -> str:
    """The attributes of an element of this kind: one word, or several with blanks between."""
    return f' class="{kind}" {" ".join(KINDS[word] for word in kind.split())}' if kind else ""


class Canvas:
    """Elements in the order in which they are drawn; coordinates in pixels, y downwards."""

    def __init__(self, width: float, title: str, description: str = "") -> None:
        self.width, self.title, self.description = width, title, description
        self._parts: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start", turn: int = 0) -> None:
        """anchor: which end of the words is at x: start, middle or end. turn: degrees clockwise."""
        turned = f' transform="rotate({turn} {_n(x)} {_n(y)})"' if turn else ""
        placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}"{_style(kind)}{placed}{turned}>{escape(words)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        """tip: what a pointer that rests on it is told."""
        box = f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"{_style(kind)}'
        self._parts.append(f"{box}><title>{escape(tip)}</title></rect>" if tip else f"{box}/>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self._parts.append(f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"{_style(kind)}/>')

    def circle(self, x: float, y: float, radius: float, kind: str, tip: str = "") -> None:
        told = f"<title>{escape(tip)}</title>"
        self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"{_style(kind)}>{told}</circle>')

    def curve(self, points: list[tuple[float, float]], kind: str = "curve") -> None:
        self._parts.append(f'<polyline points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in points)}"{_style(kind)}/>')

    def place(self, other: "Canvas", y: float) -> None:
        """Another canvas's elements, moved down to y."""
        self._parts.append(f'<g transform="translate(0 {_n(y)})">{"".join(other._parts)}</g>')

    def finish(self, height: float) -> str:
        """The picture as a file's text."""
        size = f'width="{_n(self.width)}" height="{_n(height)}" viewBox="0 0 {_n(self.width)} {_n(height)}"'
        told = f"<title>{escape(self.title)}</title>"
        told += f"<desc>{escape(self.description)}</desc>" if self.description else ""
        page = f'<rect width="{_n(self.width)}" height="{_n(height)}"{_style("page")}/>'
        letters = f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" {size} {letters}>{told}'
            f"<style>{DARK}</style>{page}" + "\n".join(self._parts) + "</svg>\n"
        )


def colour(number: int) -> str:
    """The class of a series or a program."""
    return f"c{number % COLOURS}"


def _n(value: float) -> str:
    """A coordinate in as few digits as a screen can tell apart."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
