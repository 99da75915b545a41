"""The few SVG elements that the pictures are made of. A picture is one text without outside parts, readable on light
and on dark pages: it follows the reader's colour scheme."""

from html import escape

COLOURS = 8  # for series and programs: classes c0 to c7
MARGIN = 16
STYLE = """
svg { color-scheme: light dark; font: 13px system-ui, sans-serif; --page: #ffffff; --ink: #1f2328; --soft: #59636e;
  --line: #c8cfd6; --empty: #f0f2f4; --shared: #d5d9de; --mark: #d9480f; --on: #101418; }
@media (prefers-color-scheme: dark) { svg { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --empty: #161b22; --shared: #3a414a; --mark: #ff922b; } }
text { fill: var(--ink); } .soft { fill: var(--soft); } .title { font-size: 16px; font-weight: 600; }
.small { font-size: 11px; } .tiny { font-size: 8px; } .strong { font-weight: 600; }
.mono { font: 12px ui-monospace, monospace; white-space: pre; } .on { fill: var(--on); }
.page { fill: var(--page); } .empty { fill: var(--empty); } .shared { fill: var(--shared); }
.frame { fill: none; stroke: var(--line); } .axis { stroke: var(--soft); } .grid { stroke: var(--line); }
.mark { fill: none; stroke: var(--mark); stroke-width: 2; } .marked { fill: var(--mark); }
.curve { fill: none; stroke: var(--ink); stroke-width: 2; }
.c0 { fill: #8ecae6; } .c1 { fill: #ffb703; } .c2 { fill: #90be6d; } .c3 { fill: #f4978e; } .c4 { fill: #cdb4db; }
.c5 { fill: #80cbc4; } .c6 { fill: #e6cc80; } .c7 { fill: #b0c4de; }
"""


class Canvas:
    """Elements in the order in which they are drawn; coordinates in pixels, y downwards."""

    def __init__(self, width: float, title: str, description: str = ""):
        self.width, self.title, self.description = width, title, description
        self._parts: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start", turn: int = 0) -> None:
        """anchor: which end of the words is at x: start, middle or end. turn: degrees clockwise."""
        turned = f' transform="rotate({turn} {_n(x)} {_n(y)})"' if turn else ""
        named = f' class="{kind}"' if kind else ""
        placed = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self._parts.append(f'<text x="{_n(x)}" y="{_n(y)}"{named}{placed}{turned}>{escape(words)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        """tip: what a pointer that rests on it is told."""
        box = f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" class="{kind}"'
        self._parts.append(f"{box}><title>{escape(tip)}</title></rect>" if tip else f"{box}/>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self._parts.append(f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" class="{kind}"/>')

    def circle(self, x: float, y: float, radius: float, kind: str, tip: str = "") -> None:
        told = f"<title>{escape(tip)}</title>"
        self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="{kind}">{told}</circle>')

    def curve(self, points: list[tuple[float, float]], kind: str = "curve") -> None:
        self._parts.append(f'<polyline points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in points)}" class="{kind}"/>')

    def place(self, other: "Canvas", y: float) -> None:
        """Another canvas's elements, moved down to y."""
        self._parts.append(f'<g transform="translate(0 {_n(y)})">{"".join(other._parts)}</g>')

    def finish(self, height: float) -> str:
        """The picture as a file's text."""
        size = f'width="{_n(self.width)}" height="{_n(height)}" viewBox="0 0 {_n(self.width)} {_n(height)}"'
        told = f"<title>{escape(self.title)}</title>"
        told += f"<desc>{escape(self.description)}</desc>" if self.description else ""
        page = f'<rect width="{_n(self.width)}" height="{_n(height)}" class="page"/>'
        return (f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>{told}<style>{STYLE}</style>{page}'
                + "\n".join(self._parts) + "</svg>\n")


def colour(number: int) -> str:
    """The class of a series or a program."""
    return f"c{number % COLOURS}"


def _n(value: float) -> str:
    """A coordinate in as few digits as a screen can tell apart."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
