"""The picture of touches: the arrays of a launch in cells, and the costliest request of each line."""

from collections.abc import Iterator
from itertools import groupby

from tools.draw import words
from tools.draw.cells import NOBODY, OUTSIDE, SEVERAL, Cells, binned
from tools.draw.touched import Map, Request, Touches
from tools.draw.touches_svg import svg
from tools.words import cut, wrapped

__all__ = ["svg", "terminal"]

DOWN, ACROSS = 12, 24  # cells of a matrix, at the most
LINES = 4  # of a vector; as wide as there is room
GAP = 3  # columns between maps side by side
BACKGROUNDS = 41, 42, 43, 44, 45, 46  # ANSI colours of programs; their letters are black


def terminal(picture: Touches, width: int = 80, colour: bool = False) -> str:
    """The picture in lines of at most `width` columns, 50 at least. colour: with ANSI colours behind the letters."""
    drawn = [(each, binned(each, picture.followed, *_room(each, width))) for each in picture.maps]
    blocks = [_block(each, cells, picture.unit, width, colour) for each, cells in drawn]
    lines = [picture.title, words.heading(picture), ""]
    for row in _rows(blocks, width):
        lines += [*_beside(row), ""]
    legend = [f"{sign} {meaning}".strip() for sign, meaning in words.legend(picture, [cells for _, cells in drawn])]
    lines += [*_filled(legend, width), *[""] * bool(legend)]
    for _, requests in groupby(picture.requests, key=lambda request: request.line):
        lines += [*_line(list(requests), width), ""]
    if not picture.maps and not picture.requests:
        lines += ["It touches no array.", ""]
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def _room(drawn: Map, width: int) -> tuple[int, int]:
    if drawn.rows > 1:
        return DOWN, ACROSS
    return LINES, 1 << (width - len(str(drawn.cols)) - 1).bit_length() - 1  # labels are multiples of a power of two


# Maps --------------------------------------------------------------------------------------------

Block = tuple[int, list[tuple[int, str]]]  # width, and lines with their visible lengths


def _block(drawn: Map, cells: Cells, unit: str, width: int, colour: bool) -> Block:
    labels = [words.label(drawn, cells, line) for line in range(cells.who.shape[0])]
    margin = max(map(len, labels)) + 1
    across = cells.who.shape[1]
    texts = [f"{words.subject(drawn)}, {words.size(drawn)}", *words.facts(drawn, cells, unit)]
    if drawn.rows == 1:
        texts = [texts[0], ", ".join(texts[1:])]
    lines = [(len(line), line) for text in texts for line in wrapped(text, width)]
    for label, who, followed in zip(labels, cells.who.tolist(), cells.followed.tolist()):
        row = "".join(_cell(*each, colour) for each in zip(who, followed))
        lines.append((margin + across, f"{label:>{margin - 1}} {row}"))
    return max(length for length, _ in lines), lines


def _cell(who: int, followed: bool, colour: bool) -> str:
    if who == OUTSIDE:
        return " "
    if who == NOBODY:
        return words.NONE
    if who == SEVERAL:
        sign = words.FOLLOWED if followed else words.OTHERS
        return f"\x1b[7m{sign}\x1b[0m" if colour and followed else sign
    sign = words.letter(who)
    return f"\x1b[30;{BACKGROUNDS[words.tint(who, len(BACKGROUNDS))]}m{sign}\x1b[0m" if colour else sign


def _rows(blocks: list[Block], width: int) -> Iterator[list[Block]]:
    """As many side by side as there is room for."""
    row: list[Block] = []
    for block in blocks:
        if row and sum(each[0] + GAP for each in row) + block[0] > width:
            yield row
            row = []
        row.append(block)
    if row:
        yield row


def _beside(row: list[Block]) -> Iterator[str]:
    for number in range(max(len(lines) for _, lines in row)):
        texts = []
        for width, lines in row:
            length, text = lines[number] if number < len(lines) else (0, "")
            texts.append(text + " " * (width - length))
        yield (" " * GAP).join(texts)


def _filled(parts: list[str], width: int) -> Iterator[str]:
    """Parts in as few lines as will do; none is broken that fits into one."""
    line = ""
    for part in (piece for part in parts for piece in wrapped(part, width)):
        if line and len(line) + 3 + len(part) > width:
            yield line
            line = ""
        line += " " * 3 * bool(line) + part
    if line:
        yield line


# Requests ----------------------------------------------------------------------------------------


def _line(requests: list[Request], width: int) -> Iterator[str]:
    """A source line, and below it what it asks for; requests that look alike are drawn once."""
    source = f"line {requests[0].line}  {requests[0].source}"
    yield cut(source, width)
    for alike in words.alike(requests):
        yield from wrapped(words.verdict(alike), width, "  ", "    ")
        yield f"  {_sectors(alike[0], width - 2) if alike[0].space == 'global' else _banks(alike[0])}"


def _sectors(request: Request, width: int) -> str:
    """|0-7|8-15|: the lanes in each sector, in the order of memory; the middle is left out where it is too long."""
    pieces = [words.lanes(lanes) for lanes in request.pieces().values()]
    after = words.distance(request)
    after = f"  {after}" if after else ""
    shown = "|" + "|".join(pieces) + "|"
    if len(shown) + len(after) <= width:
        return shown + after
    return "|" + "|".join(pieces[:3]) + "| ... |" + pieces[-1] + "|" + after


def _banks(request: Request) -> str:
    """A figure for each bank: how many different words are asked of it."""
    return "banks  " + "".join("." if count == 0 else str(count) if count < 10 else "*" for count in request.words())
