"""Fields of structs in memory, in both orders: which of them a warp is sent that wants only some."""

import numpy as np

from tools.draw.explore.page import ROOM, TOP, of, page
from tools.draw.svg import MARGIN, Canvas, colour
from tools.models.units import SECTOR, WARP

ITEM = 4  # bytes of a field
IN_SECTOR = SECTOR // ITEM
ACROSS, LINE = 8, 22  # sectors in a line of the picture; pixels from one line to the next


def structs(fields: int, wanted: int, first: int = 0) -> str:
    """What a warp is sent whose lane i wants fields 0 to wanted - 1 of struct first + i, 4 bytes each.

    Above, the fields of a struct lie together; below, the same field of all 64 structs.
    """
    wanted, count = min(wanted, fields), 2 * WARP
    own = first + np.arange(WARP)
    orders = {
        "array of structs": lambda struct, field: struct * fields + field,
        "struct of arrays": lambda struct, field: field * count + struct,
    }
    sent = {name: _sectors([place(own, field) for field in range(wanted)]) for name, place in orders.items()}
    asked = ITEM * WARP * wanted
    among, apart = (SECTOR * len(numbers) for numbers in sent.values())
    canvas = page(
        f"{of(wanted, 'field')} of {fields}, of structs {first} to {first + WARP - 1}",
        f"{asked} bytes are wanted; an array of structs sends {among}, a struct of arrays {apart}",
    )
    top: float = TOP + 12
    for name, place in orders.items():
        owners = {int(place(struct, field)): (struct, field) for struct in range(count) for field in range(fields)}
        canvas.text(MARGIN, top, f"{name}: {of(len(sent[name]), 'sector')}", "soft")
        top = _memory(canvas, top + 10, owners, sent[name], set(own.tolist()), wanted)
    return canvas.finish(top)


def _sectors(places: list[np.ndarray]) -> set[int]:
    """The numbers of the sectors in which these elements lie."""
    return {int(place) // IN_SECTOR for request in places for place in request}


def _memory(canvas: Canvas, top: float, owners: dict, sent: set[int], own: set[int], wanted: int) -> float:
    """One cell for each element, in the order of memory. Gives the top of what comes below."""
    width = ROOM / ACROSS
    cell = (width - 4) / IN_SECTOR
    for number, (struct, field) in sorted(owners.items()):
        sector, inside = divmod(number, IN_SECTOR)
        line, col = divmod(sector, ACROSS)
        if struct in own and field < wanted:
            kind, word = colour(field), "wanted"
        else:
            kind, word = ("shared", "sent, not wanted") if sector in sent else ("empty", "not sent")
        left = MARGIN + col * width + inside * cell
        canvas.rect(left, top + line * LINE, cell - 1, LINE - 6, kind, f"struct {struct}, field {field}: {word}")
    lines = -(-len(owners) // (ACROSS * IN_SECTOR))
    return top + lines * LINE + 24
