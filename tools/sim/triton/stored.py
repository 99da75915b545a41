"""The elements that each configuration of an autotuner stores: with a grid made for another one, some stay out.

Two configurations are compared where their launches had the same grid, and one of them stores all of a tensor. Where
grids differ, each program may have a place of its own to store to; where none stores all, that may be meant. Values
are not compared: sums in another order differ, and nothing here knows by how much they may.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

import numpy as np

from tools.sim import trace
from tools.sim.faults import WIDTH, Fault, spot
from tools.sim.triton import faults, memory
from tools.sim.triton.arguments import View

MAPPED = 8  # elements of a map for each address, at most


@dataclass(eq=False)
class Stores:
    """The last launch that it listened to. complete: did all of its programs run? views: of its arguments.

    atomics: did it update anything?
    """

    complete: bool = True
    grid: tuple[int, int, int] | None = None
    views: list[View] = field(default_factory=list)
    atomics: bool = False
    parts: dict[int, list[np.ndarray]] = field(default_factory=dict)  # by the address of a view
    distinct: dict[int, np.ndarray] = field(default_factory=dict)  # of these, when somebody asks

    def launch(self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None) -> None:
        self.grid, self.views, self.atomics = grid, memory.current.arguments.views, False
        self.parts, self.distinct = {}, {}

    def access(self, access: trace.Access) -> None:
        self.atomics |= access.kind == "atomic"
        if access.kind == "store":
            self.parts.setdefault(access.memory.address, []).append(access.addresses)

    def of(self, view: View) -> np.ndarray:
        """Addresses of the elements of this argument that were stored, in order. Asked for once the launch is over."""
        parts = self.parts.get(view.low, [])
        if parts and view.low not in self.distinct:  # each launch is compared with several
            self.distinct[view.low] = distinct(np.concatenate(parts), view.tensor.element_size())
        return self.distinct.get(view.low, np.empty(0, np.int64))


@dataclass(eq=False)
class Trial:
    """One configuration. name: BLOCK=64. few: of a few programs. run_all: tries it again, with all of its programs."""

    name: str
    few: Stores
    run_all: Callable[[], Stores]

    @cached_property
    def all(self) -> Stores:
        return self.few if self.few.complete else self.run_all()


def distinct(addresses: np.ndarray, size: int) -> np.ndarray:
    """np.unique of addresses of elements of so many bytes. They lie close together: a map is quicker than sorting."""
    first = addresses.min()
    numbers, between = np.divmod(addresses - first, size)
    if between.any() or numbers.max() > MAPPED * numbers.size:
        return np.unique(addresses)
    stored = np.zeros(numbers.max() + 1, bool)
    stored[numbers] = True
    return np.flatnonzero(stored) * size + first


def compare(earlier: list[Trial], new: Trial) -> None:
    """Raise Fault where a grid was not made for the new configuration, or for one of the earlier ones."""
    old = next((each for each in earlier if each.few.grid == new.few.grid), None)  # the others were compared with it
    if old is None or _alike(old.few, new.few):
        return
    if old.all.atomics or new.all.atomics or _alike(old.all, new.all):
        return
    for whole, part in permutations((old, new)):
        for view in whole.all.views:
            if (missed := _missed(view, whole.all, part.all)) is not None:
                raise _fault(view, missed, whole, part)


def _alike(one: Stores, other: Stores) -> bool:
    """Do the same programs store the same elements with both?"""
    return all(np.array_equal(one.of(view), other.of(view)) for view in one.views)


def _missed(view: View, whole: Stores, part: Stores) -> int | None:
    """Where an argument is all stored in `whole`: the first of its elements that is not in `part`."""
    if view.low not in whole.parts:
        return None
    places = np.full(tuple(view.tensor.shape), view.low, np.int64)
    for axis, (length, step) in enumerate(zip(view.tensor.shape, view.tensor.stride())):
        along = np.arange(length, dtype=np.int64) * step * view.tensor.element_size()
        places += along.reshape(-1, *[1] * (view.tensor.dim() - axis - 1))
    places = places.ravel()
    missed = places[~np.isin(places, part.of(view))]
    return int(missed[0]) if missed.size and np.isin(places, whole.of(view)).all() else None


def _fault(view: View, missed: int, whole: Trial, part: Trial) -> Fault:
    grid = whole.all.grid or ()
    used = max([axis for axis, size in enumerate(grid, start=1) if size > 1], default=1)
    lines = [
        f"With {whole.name} all of {view.name} is stored.",
        f"With {part.name} {faults.element(view, missed)} is not.",
        f"The grid was {grid[:used]} with both.",
    ]
    return Fault(
        spot(faults.learner_frame()),
        "other_grid",
        "\n".join(line if len(line) <= WIDTH else line[: WIDTH - 3] + "..." for line in lines),
        "The autotuner may take either config. From whose sizes is the grid computed?",
        array=view.name,
        operation="store",
    )
