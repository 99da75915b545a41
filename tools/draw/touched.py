"""Touches in one launch of a kernel: maps of its arrays, and what its warps ask of memory.

recorder = Recorder()
with heard_by(recorder):   # of tools/sim/trace.py
    lesson.vector_add(x, y)
pictures = recorder.pictures("vector_add, 4,096 float32")
"""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tools.models import banks, sectors
from tools.models.units import BANKS, LINE, SECTOR, WARP, WORD
from tools.sim.faults import Spot, describe
from tools.sim.trace import Access, Memory

PENDING = 1 << 22  # touches that wait until repeated ones are thrown away


@dataclass(frozen=True)
class Map:
    """Arrays that are touched alike. ways: (name, "loaded" | "stored" | "updated"), one for each array and way.

    rows, cols: of all arrays in it; a vector is one row, and of more than two axes the first ones count as rows.
    elements, programs: int64 [n], each pair once: element number row * cols + col is touched by this program.
    shape: of the arrays; () where rows and cols say all.
    """

    ways: tuple[tuple[str, str], ...]
    rows: int
    cols: int
    elements: np.ndarray
    programs: np.ndarray
    shape: tuple[int, ...] = ()

    def index(self, row: int) -> tuple[int, ...]:
        """Where a row begins: one index for each axis but the last."""
        return tuple(map(int, np.unravel_index(row, self.shape[:-1]))) if len(self.shape) > 2 else (row,)

    def by(self) -> tuple[int, int]:
        """The fewest and the most programs that touch an element, of those that any touches."""
        counts = np.bincount(self.elements)
        counts = counts[counts > 0]
        return int(counts.min()), int(counts.max())

    def untouched(self) -> int:
        """Elements that no program touches."""
        return self.rows * self.cols - np.unique(self.elements).size


@dataclass(frozen=True)
class Request:
    """The costliest request of one line: what one warp asks for with one instruction.

    who: "warp 0 of block 3". space: "global", or "shared". kind: load, store or atomic. lanes, addresses: of the
    active ones; addresses in bytes from the line that the array begins in, size bytes at each.
    cost: sectors, or wavefronts of shared memory. least: as many as the same bytes would need side by side,
    or of an atomic those of the lanes that update one word.
    """

    file: str
    line: int
    source: str
    kind: str
    array: str
    space: str
    who: str
    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    size: int
    cost: int
    least: int

    @property
    def unit(self) -> str:
        return "sector" if self.space == "global" else "wavefront"

    def pieces(self) -> dict[int, list[int]]:
        """Which lanes want something of each sector, by the sector's number; in the order of memory."""
        found: dict[int, list[int]] = {}
        for lane, address in sorted(zip(self.lanes, self.addresses), key=lambda each: each[1]):
            for piece in range(address // SECTOR, (address + self.size - 1) // SECTOR + 1):
                found.setdefault(piece, []).append(lane)
        return found

    def words(self) -> list[int]:
        """How many different words are asked of each bank."""
        wanted = {
            word for address in self.addresses for word in range(address // WORD, (address + self.size - 1) // WORD + 1)
        }
        return np.bincount([word % BANKS for word in wanted], minlength=BANKS).tolist()


@dataclass(frozen=True)
class Touches:
    """The picture of one launch. title: function and shape. unit: "program", "block" or "warp": what is lettered.

    grid: of these, as many sizes as are used. followed: the number of the unit that is marked where several touch
    something.
    launches: how many of this kernel and grid the call made; the first is drawn.
    """

    title: str
    kernel: str
    unit: str
    grid: tuple[int, ...]
    units: int
    followed: int
    launches: int
    maps: tuple[Map, ...]
    requests: tuple[Request, ...]


WAYS = {"load": "loaded", "store": "stored", "atomic": "updated"}


class Recorder:
    """Hears what kernels do. Of launches of one kernel with one grid, the first is remembered."""

    def __init__(self) -> None:
        self._launches: dict[tuple, _Launch] = {}
        self._current: _Launch | None = None

    def launch(self, kernel: str, grid: tuple, block: tuple | None) -> None:
        key = kernel, tuple(grid), block
        known = self._launches.setdefault(key, _Launch(*key))
        known.count += 1
        self._current = known if known.count == 1 else None

    def access(self, access: Access) -> None:
        if self._current is not None:
            self._current.access(access)

    def pictures(self, title: str) -> list[Touches]:
        """One for each kernel and grid, in the order of their first launches."""
        return [launch.picture(title) for launch in self._launches.values()]


class _Launch:
    """What is remembered of a launch. pairs: of each array and way, element * units + unit."""

    def __init__(self, kernel: str, grid: tuple, block: tuple | None) -> None:
        self.kernel, self.grid, self.block, self.count = kernel, grid, block, 0
        blocks = prod(grid)
        self.unit = "program" if block is None else "block" if blocks > 1 else "warp"
        self.warps = -(-prod(block or (1,)) // WARP)  # of a block
        self.units = self.warps if self.unit == "warp" else blocks
        self._pairs: dict[tuple[Memory, str], list[np.ndarray]] = {}
        self._requests: dict[tuple[Spot, str, str], Request] = {}

    def access(self, access: Access) -> None:
        if access.memory.space == "global":
            self._touch(access)
        if access.threads is not None:
            self._ask(access)

    def _touch(self, access: Access) -> None:
        unit = access.programs
        if self.unit == "warp":
            assert access.threads is not None
            unit = access.threads // WARP
        elements = places(access.memory, access.addresses)
        inside = elements >= 0
        pairs = self._pairs.setdefault((access.memory, access.kind), [])
        pairs.append(np.unique(elements[inside] * self.units + unit[inside]))
        if sum(each.size for each in pairs) > PENDING:
            pairs[:] = [np.unique(np.concatenate(pairs))]

    def _ask(self, access: Access) -> None:
        assert access.threads is not None
        key = access.spot, access.kind, access.memory.name
        warps, row = np.unique(access.programs * self.warps + access.threads // WARP, return_inverse=True)
        rows, active = np.zeros((warps.size, WARP), np.int64), np.zeros((warps.size, WARP), bool)
        rows[row, access.threads % WARP], active[row, access.threads % WARP] = access.addresses, True
        costs = _cost(access, rows, active)
        worst = int(np.argmax(costs))
        known = self._requests.get(key)
        if known is None or costs[worst] > known.cost:
            self._requests[key] = self._request(
                access, rows[worst], active[worst], int(costs[worst]), int(warps[worst])
            )

    def _request(self, access: Access, addresses: np.ndarray, active: np.ndarray, cost: int, warp: int) -> Request:
        lanes = np.flatnonzero(active)
        asked = addresses[lanes]
        bytes_asked = np.unique(asked).size * access.size
        side_by_side = SECTOR if access.memory.space == "global" else BANKS * WORD
        block, number = divmod(warp, self.warps)
        who = f"warp {number} of block {block}" if prod(self.grid) > 1 else f"warp {number}"
        file, line, source = describe(access.spot)
        start = access.memory.address // LINE * LINE
        return Request(
            file,
            line,
            source,
            access.kind,
            access.memory.name,
            access.memory.space,
            who,
            tuple(lanes.tolist()),
            tuple((asked - start).tolist()),
            access.size,
            cost,
            max(-(-bytes_asked // side_by_side), _least_of_atomic(access, addresses, active, cost)),
        )

    def picture(self, title: str) -> Touches:
        grid = (self.units,) if self.unit == "warp" else self.grid
        used = max([axis for axis, size in enumerate(grid, start=1) if size > 1], default=1)
        requests = sorted(self._requests.values(), key=lambda request: request.line)
        return Touches(
            title,
            self.kernel,
            self.unit,
            tuple(grid[:used]),
            self.units,
            self.units // 2,
            self.count,
            tuple(self._maps()),
            tuple(requests),
        )

    def _maps(self) -> list[Map]:
        """One for all arrays that are touched alike."""
        alike: dict[tuple, Map] = {}
        for (memory, kind), batches in self._pairs.items():
            pairs = np.unique(np.concatenate(batches))
            shape = lengths(memory)
            way, key = (memory.name, WAYS[kind]), (shape, pairs.tobytes())
            if key in alike:
                alike[key] = replace(alike[key], ways=(*alike[key].ways, way))
            elif pairs.size:
                alike[key] = Map((way,), *sizes(memory), pairs // self.units, pairs % self.units, shape)
        return list(alike.values())


def _cost(access: Access, rows: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Sectors or wavefronts of each request."""
    if access.memory.space == "shared":
        return banks.wavefronts(rows, access.size, active, access.kind)
    return (sectors.atomic_sectors if access.kind == "atomic" else sectors.sectors)(rows, access.size, active)


def _least_of_atomic(access: Access, addresses: np.ndarray, active: np.ndarray, cost: int) -> int:
    """The wavefronts of an atomic wherever its words lie: lanes that update one word go one after the other."""
    if access.memory.space != "shared" or access.kind != "atomic":
        return 0
    apart = banks.conflicts(addresses, access.size, active, "atomic") - banks.same_word(addresses, access.size, active)
    return cost - int(apart)


def lengths(memory: Memory) -> tuple[int, ...]:
    """Its shape; an axis that repeats one element in memory has length 1."""
    return tuple(length if stride or length < 2 else 1 for length, stride in zip(memory.shape, memory.strides))


def sizes(memory: Memory) -> tuple[int, int]:
    """Rows and columns of its map."""
    shape = lengths(memory)
    return (prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def places(memory: Memory, addresses: np.ndarray) -> np.ndarray:
    """Number of the element at each address, as a map counts; -1 for what lies between the elements of a view."""
    axes, weight = [], 1
    for length, stride in zip(reversed(memory.shape), reversed(memory.strides)):
        if stride and length > 1:
            axes.append((abs(stride), length, weight, stride < 0))
            weight *= length
    lowest = sum((length - 1) * step for step, length, _, backwards in axes if backwards)
    rest, number = addresses - memory.address + lowest, np.zeros_like(addresses)
    inside: np.ndarray | bool = True
    for step, length, weight, backwards in sorted(axes, reverse=True):
        index, rest = np.divmod(rest, step)
        inside = inside & (index >= 0) & (index < length)
        number += (length - 1 - index if backwards else index) * weight
    return np.where(inside & (rest >= 0) & (rest < memory.itemsize), number, -1)
