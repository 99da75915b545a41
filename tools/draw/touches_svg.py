"""The picture of touches as SVG: finer cells than a terminal has, and the lanes of a request in their place."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from tools.draw import moved, words
from tools.draw.cells import NOBODY, OUTSIDE, SEVERAL, Cells, binned
from tools.draw.moved import Moved
from tools.draw.svg import COLOURS, MARGIN, Canvas, colour
from tools.draw.touched import Map, Request, Touches
from tools.models.units import BANKS, SECTOR
from tools.words import quantity, wrapped

WIDTH = 980
DOWN, ACROSS, SIDE = 32, 32, 8  # cells of a matrix, at the most, and the pixels of one
FEW, LARGE = 8, 16  # so few of them are drawn larger, to have room for letters
LINES, ALONG, BROAD, TALL = 4, 64, 13, 16  # the same of a vector
LABEL, GAP = 40, 24  # pixels to the left of a map, and to its right
SHOWN = 12  # sectors of a request that are drawn; the rest is said
EM, FIGURE, COLUMN = 7.2, 6.2, 48  # pixels of an average letter, of a small one, of "column" and a gap
BELOW = 15  # pixels from one small line to the next
SIGNS = {words.FOLLOWED: "marked", words.OTHERS: "shared", words.NONE: "empty"}


def svg(*pictures: Touches | Moved) -> str:
    """One file for all pictures, one below the other."""
    titles = "; ".join(dict.fromkeys(picture.title for picture in pictures))
    page, y = Canvas(WIDTH, titles, "What a call touches and moves."), 0.0
    for picture in pictures:
        canvas = Canvas(WIDTH, picture.title)
        height = moved.draw(canvas, picture) if isinstance(picture, Moved) else _draw(canvas, picture)
        page.place(canvas, y)
        y += height
    return page.finish(y)


def _draw(canvas: Canvas, picture: Touches) -> float:
    canvas.text(MARGIN, 28, picture.title, "title")
    canvas.text(MARGIN, 48, words.heading(picture), "soft")
    drawn = [
        (each, binned(each, picture.followed, *((LINES, ALONG) if each.rows == 1 else (DOWN, ACROSS))))
        for each in picture.maps
    ]
    y = _maps(canvas, picture, drawn, 62.0)
    y = _legend(canvas, _meanings(picture, [cells for _, cells in drawn]), y)
    if picture.requests:
        canvas.text(MARGIN, y + 16, "What one warp asks for at once, at its costliest", "strong")
        y += 24
    for _, requests in groupby(picture.requests, key=lambda request: request.line):
        y = _line(canvas, list(requests), y)
    if not picture.maps and not picture.requests:
        canvas.text(MARGIN, y + 12, "It touches no array.")
        y += 24
    return y + 16


def _meanings(picture: Touches, cells: Sequence[Cells]) -> list[tuple[str, str]]:
    """The legend; many programs have colours and no letters."""
    meanings = words.legend(picture, cells)
    if picture.units > len(words.LETTERS):
        meanings = [
            (sign, meaning if sign else f"each {picture.unit} has a colour, one of {COLOURS}")
            for sign, meaning in meanings
        ]
    return meanings


def _legend(canvas: Canvas, legend: list[tuple[str, str]], y: float) -> float:
    x = float(MARGIN)
    for sign, meaning in legend:
        if sign:
            canvas.rect(x, y + 3, 12, 12, SIGNS[sign])
            x += 18
        canvas.text(x, y + 13, meaning, "soft")
        x += len(meaning) * EM + 20
    return y + 24 * bool(legend)


# Maps --------------------------------------------------------------------------------------------


def _maps(canvas: Canvas, picture: Touches, drawn: Sequence[tuple[Map, Cells]], y: float) -> float:
    """As many beside each other as there is room for; gives where they end."""
    x, lowest = float(MARGIN), y
    follows = any((cells.followed & (cells.who == SEVERAL)).any() for _, cells in drawn)
    for each, cells in drawn:
        wide, high = (BROAD, TALL) if cells.wrapped else _cell(*cells.who.shape)
        heading, (down, across) = f"{words.subject(each)}, {words.size(each)}", cells.who.shape
        letters = max(int((LABEL + across * wide) / FIGURE), 24)
        facts = wrapped(", ".join(words.facts(each, cells, picture.unit)), letters)
        width = max(LABEL + across * wide, len(heading) * EM, *(len(fact) * FIGURE for fact in facts)) + GAP
        if x > MARGIN and x + width - GAP > WIDTH - MARGIN:
            x, y = float(MARGIN), lowest
        canvas.text(x, y + 14, heading)
        for number, fact in enumerate(facts):
            canvas.text(x, y + 31 + BELOW * number, fact, "soft small")
        left, top = x + LABEL, y + 37 + BELOW * len(facts)
        _axes(canvas, each, cells, left, top, wide, high)
        regions = list(_regions(cells))
        for region in regions:
            _region(canvas, region, left, top, wide, high, picture)
        canvas.rect(left, top, across * wide, down * high, "frame")
        for line, column, height, broad, who, followed in regions:
            if follows and followed and who != SEVERAL:  # where it is alone, so that it is found in every map
                canvas.rect(left + column * wide, top + line * high, broad * wide, height * high, "mark")
        lowest = max(lowest, top + down * high + 18)
        x += width
    return lowest


def _cell(down: int, across: int) -> tuple[int, int]:
    """Width and height of a cell; few rows are drawn higher, so that their numbers have room."""
    return (LARGE if max(down, across) <= FEW else SIDE), (LARGE if down <= FEW else SIDE)


def _axes(canvas: Canvas, drawn: Map, cells: Cells, x: float, y: float, wide: int, high: int) -> None:
    """Numbers of rows and columns; of a vector, of the first element in each line."""
    down, across = cells.who.shape
    for line in range(0, down, max(1, -(-down // 8))):
        label = words.label(drawn, cells, line, grouped=True)
        canvas.text(x - 5, y + line * high + (high + 8) / 2, label, "soft small", "end")
    if cells.wrapped:
        canvas.text(x - LABEL, y - 5, "element", "soft small")
        return
    canvas.text(x - 5, y - 5, "row" if len(drawn.shape) <= 2 else "index", "soft small", "end")
    end = x + across * wide
    if end - x < 100:
        return
    for column in range(0, across, -(-across // 4)):
        number = f"{column * cells.width:,}"
        if x + column * wide + len(number) * FIGURE < end - COLUMN:
            canvas.text(x + column * wide, y - 5, number, "soft small")
    canvas.text(end, y - 5, "column", "soft small", "end")


Region = tuple[int, int, int, int, int, bool]  # line, column, height, width, who, and whether it is followed


def _regions(cells: Cells) -> Iterator[Region]:
    """Rectangles of cells that are alike, so that a picture stays small."""
    growing: dict[tuple[int, int, int, bool], list[int]] = {}  # (column, width, who, followed): first line, height
    for line in range(cells.who.shape[0] + 1):
        runs = list(_runs(cells, line)) if line < cells.who.shape[0] else []
        for key in [key for key in growing if key not in runs]:
            first, height = growing.pop(key)
            yield first, key[0], height, *key[1:]
        for key in runs:
            growing.setdefault(key, [line, 0])[1] += 1


def _runs(cells: Cells, line: int) -> Iterator[tuple[int, int, int, bool]]:
    alike = zip(cells.who[line].tolist(), cells.followed[line].tolist())
    for (who, followed), group in groupby(enumerate(alike), key=lambda each: each[1]):
        run = list(group)
        if who != OUTSIDE:
            yield run[0][0], len(run), who, followed


def _region(canvas: Canvas, region: Region, x: float, y: float, wide: int, high: int, picture: Touches) -> None:
    line, column, height, width, who, followed = region
    left, top, across, down = x + column * wide, y + line * high, width * wide, height * high
    if who == NOBODY:
        canvas.rect(left, top, across, down, "empty", "nobody")
    elif who == SEVERAL:
        canvas.rect(left, top, across, down, "marked" if followed else "shared", f"several {picture.unit}s")
    else:
        tip = f"{picture.unit} {words.place(who, picture.grid)}"
        canvas.rect(left, top, across, down, colour(words.tint(who, COLOURS)), tip)
        if picture.units <= len(words.LETTERS) and min(across, down) >= SIDE:
            canvas.text(
                left + across / 2,
                top + down / 2 + 3.5,
                words.letter(who),
                "small on" if min(across, down) > SIDE else "tiny on",
                "middle",
            )


# Requests ----------------------------------------------------------------------------------------


def _line(canvas: Canvas, requests: list[Request], y: float) -> float:
    canvas.text(MARGIN, y + 12, f"line {requests[0].line}  {requests[0].source}", "mono")
    y += 18
    for group in words.alike(requests):
        canvas.text(MARGIN + 16, y + 14, words.verdict(group), "soft")
        y = (_sectors if group[0].space == "global" else _banks)(canvas, group[0], MARGIN + 16, y + 22)
    return y + 10


def _sectors(canvas: Canvas, request: Request, x: float, y: float) -> float:
    """Each sector a box of 32 bytes, in which what is asked for is coloured, with the lanes below."""
    pieces, wide, high = request.pieces(), 66, 14
    asked = sorted(set(request.addresses))
    for number, (piece, lanes) in enumerate(list(pieces.items())[:SHOWN]):
        left, start = x + number * (wide + 3), piece * SECTOR
        canvas.rect(left, y, wide, high, "empty")
        for address in asked:
            low, end = max(address - start, 0), min(address + request.size - start, SECTOR)
            if low < end:
                canvas.rect(left + low * wide / SECTOR, y, (end - low) * wide / SECTOR, high, "c0")
        canvas.rect(left, y, wide, high, "frame")
        canvas.text(left + wide / 2, y + high + 12, _lanes(lanes), "soft small", "middle")
    after = [f"and {len(pieces) - SHOWN} more"] * (len(pieces) > SHOWN) + [words.distance(request)]
    said = ", ".join(filter(None, [f"sectors of {SECTOR} bytes, below them the lanes", *after]))
    canvas.text(x, y + high + 28, said, "soft small")
    return y + high + 36


def _lanes(lanes: list[int]) -> str:
    text = words.lanes(lanes)
    return text if len(text) <= 10 else f"{len(set(lanes))} lanes"


def _banks(canvas: Canvas, request: Request, x: float, y: float) -> float:
    """A column for each bank, as high as the number of words that are asked of it."""
    counts, wide = request.words(), 16
    unit = 10 if max(counts) <= 8 else 80 / max(counts)
    bottom = y + max(max(counts) * unit, 10)
    for bank, count in enumerate(counts):
        left = x + bank * wide
        canvas.rect(
            left,
            bottom - count * unit,
            wide - 2,
            max(count * unit, 1),
            "c0" if count < 2 else "c3",
            f"bank {bank}: {quantity(count, 'word')}",
        )
        if bank % 8 == 0 or bank == BANKS - 1:
            canvas.text(left + wide / 2 - 1, bottom + 12, str(bank), "soft small", "middle")
    canvas.text(
        x,
        bottom + 27,
        f"banks of shared memory, and how many different words each is asked for: {max(counts)} at most",
        "soft small",
    )
    return bottom + 34
