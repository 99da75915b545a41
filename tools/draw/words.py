"""The words under pictures of touches; terminal and SVG say the same."""

import string
from collections.abc import Sequence

from tools.draw.cells import NOBODY, SEVERAL, Cells
from tools.draw.touched import Map, Request, Touches
from tools.models.units import SECTOR
from tools.words import quantity

LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits
FOLLOWED, OTHERS, NONE = "#", "+", "."
NAMED = 6  # programs of which a legend says where they stand


def letter(program: int) -> str:
    return LETTERS[program % len(LETTERS)]


def tint(program: int, colours: int) -> int:
    """Which of so many colours a program has: the sum of its digits, so that neighbours differ, those in a grid whose
    rows are a multiple of `colours` too."""
    total = 0
    while program:
        program, digit = divmod(program, colours)
        total += digit
    return total % colours


def place(program: int, grid: tuple[int, ...]) -> str:
    """5, or (1, 2): where a program stands in its grid."""
    axes = []
    for size in grid:
        axes.append(program % size)
        program //= size
    return str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"


def heading(picture: Touches) -> str:
    """add_kernel, 4 programs"""
    grid = f" ({' x '.join(map(str, picture.grid))})" if len(picture.grid) > 1 else ""
    again = f", the first of {quantity(picture.launches, 'launch')}"
    return f"{picture.kernel}, {quantity(picture.units, picture.unit)}{grid}{again * (picture.launches > 1)}"


def subject(drawn: Map) -> str:
    """x, y loaded; out stored"""
    by_way: dict[str, list[str]] = {}
    for name, way in drawn.ways:
        by_way.setdefault(way, []).append(name)
    return "; ".join(f"{', '.join(dict.fromkeys(names))} {way}" for way, names in by_way.items())


def size(drawn: Map) -> str:
    """1,000 elements, or 64 x 48, or 2 x 4 x 4"""
    if drawn.rows == 1:
        return quantity(drawn.cols, "element")
    return " x ".join(f"{length:,}" for length in drawn.shape or (drawn.rows, drawn.cols))


def label(drawn: Map, cells: Cells, line: int, grouped: bool = False) -> str:
    """Where a line of cells begins: element 64, row 8, or, of more axes, "1,0". grouped: 1,024 for 1024."""
    index = drawn.index(cells.label(line)) if drawn.rows > 1 else (cells.label(line),)
    return f"{index[0]:,}" if grouped and len(index) == 1 else ",".join(map(str, index))


def facts(drawn: Map, cells: Cells, unit: str) -> list[str]:
    """How many touch an element, what nobody touches, and what a cell stands for."""
    low, high = drawn.by()
    span = f"{low:,} to {quantity(high, unit)}" if low < high else quantity(low, unit)
    said = [f"by {span} each"]
    if untouched := drawn.untouched():
        said.append(f"{untouched:,} of {drawn.rows * drawn.cols:,} by nobody")
    if cells.height * cells.width > 1:
        stands_for = cells.width if cells.wrapped else f"{cells.height} x {cells.width}"
        said.append(f"a cell: {stands_for} elements")
        if cells.sampled:
            said.append("shown: the first of them")
    return said


def legend(picture: Touches, everything: Sequence[Cells]) -> list[tuple[str, str]]:
    """Signs and what they mean, of those that occur; the sign of single programs is ""."""
    who = {each for cells in everything for each in cells.who.ravel().tolist()}
    alone = sorted(each for each in who if each >= 0)
    said = []
    if alone:
        names = [f"{letter(each)} {place(each, picture.grid)}" for each in alone[:NAMED]]
        more = " ..." if len(alone) > NAMED else ""
        repeat = f"; letters repeat after {len(LETTERS)}" if alone[-1] >= len(LETTERS) else ""
        said.append(("", f"{picture.unit}: {', '.join(names)}{more}{repeat}"))
    shared = any((cells.followed & (cells.who == SEVERAL)).any() for cells in everything)
    if shared:
        said.append((FOLLOWED, f"{_name(picture.followed, picture)}, as an example, and other {picture.unit}s"))
    if any((~cells.followed & (cells.who == SEVERAL)).any() for cells in everything):
        said.append((OTHERS, f"several {picture.unit}s{' without it' * shared}"))
    if NOBODY in who:
        said.append((NONE, "nobody"))
    return said


def _name(program: int, picture: Touches) -> str:
    """C 2: its letter, and where it stands; where letters repeat, its place alone tells who it is."""
    where = place(program, picture.grid)
    return f"{letter(program)} {where}" if picture.units <= len(LETTERS) else where


def alike(requests: Sequence[Request]) -> list[list[Request]]:
    """Requests that ask for the same places of different arrays, drawn together."""
    groups: dict[tuple, list[Request]] = {}
    for each in requests:
        groups.setdefault((each.space, each.who, each.cost, each.least, each.lanes, each.addresses), []).append(each)
    return list(groups.values())


def verdict(group: Sequence[Request]) -> str:
    """load of x, store of out: 32 sectors each, 4 would do (warp 0 of block 3)"""
    first = group[0]
    asked = ", ".join(f"{each.kind} of {each.array}" for each in group)
    spare = f", {first.least} would do" if first.least < first.cost else ""
    return f"{asked}: {quantity(first.cost, first.unit)}{' each' * (len(group) > 1)}{spare} ({first.who})"


def lanes(numbers: Sequence[int]) -> str:
    """0-7, or 0,2,4"""
    pieces: list[list[int]] = []
    numbers = sorted(set(numbers))
    for number in numbers:
        if pieces and number == pieces[-1][-1] + 1:
            pieces[-1].append(number)
        else:
            pieces.append([number])
    return ",".join(str(piece[0]) if len(piece) == 1 else f"{piece[0]}-{piece[-1]}" for piece in pieces)


def distance(request: Request) -> str:
    """a sector every 256 bytes, where they lie apart"""
    numbers = list(request.pieces())
    steps = {after - before for before, after in zip(numbers, numbers[1:])}
    if len(steps) == 1 and (step := steps.pop()) > 1:
        return f"a sector every {step * SECTOR:,} bytes"
    return "" if steps <= {1} else "with gaps between"
