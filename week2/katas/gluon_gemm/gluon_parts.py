"""What Gluon's names stand for in the model: copies, barriers, products and stores. Given; nothing to write."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from week2.katas.gluon_gemm.ring_model import Barrier, Place
from week2.katas.gluon_gemm.workers import CONSUMERS, Run, line_of_the_lesson

BACK = "Does acc become what warpgroup_mma_wait returns?"


class Names(SimpleNamespace):
    """A module of Gluon, with what this kata needs of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"The model knows nothing called {name}: the lesson's names will do.")


class Sums:
    """The sums of one consumer, and what it did with them."""

    def __init__(self) -> None:
        self.of_product: Any = None  # what the last product gave: it may be in flight, so a wait has to give it back
        self.early: Any = None  # what a wait gave back while a product was in flight: good for the next product alone
        self.begun: Any = None  # the sums of this tile that the last wait gave back
        self.stored: Any = None  # those that were stored last
        self.stored_at = (-1, -1)  # row and column
        self.corner: tuple[int, int] | None = None  # the rows at which boxes of this tile begin: of x, of weight
        self.kept: list[str] = []  # the empty barriers of slots that products used, and that are not given back
        self.given: dict[str, str] = {}  # by empty barrier: the line that gave its slot back
        self.store_under_way = self.waited_for_store = False


class Parts:
    """A run of the roles of one program. out: the whole result. stores: where halves of tiles are stored in it.

    seen: the most products that a consumer had in flight at once, the most slots that one kept while it stored, and
    how often one waited for its store before it began the next product.
    """

    def __init__(self, run: Run, out: np.ndarray, program: tuple[int, int], stores: list) -> None:
        self.run, self.out, self.program, self.stores = run, out, program, stores
        self.sums = {name: Sums() for name in CONSUMERS}
        self.begins: dict[str, int] = {}  # by place: the row at which its box begins
        self.seen = {"products in flight": 0, "slots kept while storing": 0, "waits for a store": 0}

    def names(self) -> dict[str, Any]:
        """What stands behind the names of the lesson."""
        number, programs = self.program
        return {
            "store_half": self.store_half, "warpgroup_mma": self.multiply, "warpgroup_mma_wait": self.wait,
            "fence_async_shared": lambda: None,
            "tma": Names(async_copy_global_to_shared=self.copy, store_wait=self.store_wait),
            "mbarrier": Names(
                wait=lambda barrier, phase, pred=True: barrier.wait(phase) if pred else None,
                expect=lambda barrier, bytes, pred=True: barrier.expect(bytes) if pred else None, arrive=self.arrive),
            "gl": Names(
                program_id=lambda axis: (number, 0, 0)[axis], num_programs=lambda axis: (programs, 1, 1)[axis],
                cdiv=lambda a, b: -(-a // b), zeros=lambda shape, dtype, layout: np.zeros(shape), static_range=range,
                float32="float32", constexpr=object)}

    def copy(self, desc: Any, coord: Any, barrier: Barrier, place: Place) -> None:
        row, col = (int(i) for i in coord)
        if desc.shape != place.shape:
            raise RuntimeError(f"A box of {desc.name} has {desc.shape[0]} x {desc.shape[1]} elements, {place.name} has "
                               f"{place.shape[0]} x {place.shape[1]}.")
        what = f"{desc.name}[{row}:{row + desc.shape[0]}, {col}:{col + desc.shape[1]}]"
        self.begins[place.name] = row
        place.fill(what, desc.at(row, col), desc.shape[0] * desc.shape[1] * desc.itemsize, barrier)

    def arrive(self, barrier: Barrier, *, count: int = 1, pred: Any = True) -> None:
        if pred:
            if self.run.now in self.sums and barrier.name.startswith("empty"):
                self._give_back(barrier.name)
            barrier.arrive()

    def _give_back(self, empty: str) -> None:
        me = self.run.now
        sums = self.sums[me]
        flying = [left.what for left, right in self.run.products[me] if _empty_of(right) == empty]
        if flying:
            raise RuntimeError(f"{me} gives a slot back at {empty} while its product of {flying[0]}, which lies there, "
                               "is in flight.\nWhich product has surely ended here, and which slot did that use?")
        if not sums.corner and not sums.kept:
            raise RuntimeError(f"{me} gives a slot back at {empty}, and has begun no product " +
                               ("since it stored a tile" if sums.stored is not None else "yet") +
                               ".\nIs there a slot to give back, and which steps does this tile have?")
        if empty in sums.given and empty not in sums.kept:
            raise RuntimeError(f"{me} gives a slot back at {empty} again, and has used nothing there since.\n"
                               f"{sums.given[empty]}the first time. At which steps is there a slot to give back?")
        if empty not in sums.kept:
            raise RuntimeError(f"{me} gives a slot back at {empty}, and has used nothing there.\n"
                               "Which slot has it used that is not given back yet, if there is one?")
        sums.kept.remove(empty)
        sums.given[empty] = line_of_the_lesson()

    def multiply(self, a: Any, b: Any, acc: Any, *, use_acc: Any = True, is_async: bool = False) -> Any:
        me = self.run.now
        sums, mine = self.sums[me], self.run.products[me]
        if acc is sums.of_product:
            raise RuntimeError(f"{me} adds to sums that come from warpgroup_mma, and not from a wait after it.\n{BACK}")
        left, right = (getattr(p, "place", p) for p in (a, b))
        corner = self.begins.get(left.name, 0), self.begins.get(right.name, 0)
        if use_acc and acc is sums.stored and corner == sums.stored_at:
            raise RuntimeError(f"{me} adds to sums of this tile that it has stored.\n"
                               "After which step is the sum of a tile complete?")
        if use_acc and acc is sums.stored:
            raise RuntimeError(f"{me} adds to sums that it has stored: to those of the tile before.\n"
                               "At which step is use_acc false?")
        if not use_acc and acc is sums.begun:
            raise RuntimeError(f"{me} begins its sums anew, and those that it has are not stored.\n"
                               "At which step is use_acc false?")
        values = [p.place.use().T if getattr(p, "turned", False) else p.use() for p in (a, b)]
        if values[0].shape[1] != values[1].shape[0]:
            raise RuntimeError("{} x {} elements times {} x {}: does b have to be turned, by .permute((1, 0))?".format(
                *values[0].shape, *values[1].shape))
        if is_async:
            mine.append((left, right))
            self.seen["products in flight"] = max(self.seen["products in flight"], len(mine))
        else:
            mine.clear()
        self.seen["waits for a store"] += sums.waited_for_store
        sums.store_under_way = sums.waited_for_store = False
        sums.kept.append(_empty_of(right))
        sums.corner = corner
        result = values[0] @ values[1] + (acc if use_acc else 0)
        sums.of_product, sums.begun = (result, None) if is_async else (None, result)
        self.run.pause()
        return result

    def wait(self, number: int = 0, deps: Any = None) -> Any:
        if not isinstance(deps, (tuple, list)) or not deps:
            raise RuntimeError("warpgroup_mma_wait needs deps=(acc,): what the products in flight add to.")
        mine = self.run.products[self.run.now]
        del mine[:max(0, len(mine) - number)]
        self.run.pause()
        given = tuple(each.view() for each in deps)
        sums = self.sums[self.run.now]
        if deps[0] is sums.of_product or deps[0] is sums.begun:
            sums.begun = given[0]
        if deps[0] is sums.stored:
            sums.stored = given[0]
        sums.early = given[0] if mine else sums.early
        return given[0] if len(given) == 1 else given

    def store_half(self, acc: Any, out_desc: Any, out_place: int, row: int, col: int) -> None:
        me = self.run.now
        sums = self.sums[me]
        if self.run.products[me]:
            raise RuntimeError(f"{me} stores its sums while one of its products is in flight.\n"
                               "How many may be when a tile is stored?")
        if CONSUMERS[out_place] != me:
            raise RuntimeError(f"{me} stores through out_places.index({out_place}), {CONSUMERS[out_place]}'s place.")
        if acc is sums.of_product or acc is sums.early:
            raise RuntimeError(f"{me} stores sums that do not come from its last wait.\n{BACK}")
        if sums.corner is None:
            raise RuntimeError(f"{me} stores a tile, and has begun no product of it.\nWhich steps does a tile have?")
        if (row, col) != sums.corner:
            raise RuntimeError("{} stores its sums at row {}, column {}. They are those of x from row {} and of weight "
                               "from row {}.\nWhere does that half of a tile begin in out, in elements?".format(
                                   me, row, col, *sums.corner))
        if (row, col) in self.stores:
            raise RuntimeError(f"{me} stores its sums at row {row}, column {col} once more.\n"
                               "After which step is the sum of a tile complete, and whose tile is it?")
        self.stores.append((row, col))
        sums.stored_at = row, col
        part = self.out[row:row + acc.shape[0], col:col + acc.shape[1]]
        part[:] = acc[:part.shape[0], :part.shape[1]] + 0.0  # a sum that begins with 0 is no -0.0
        self.seen["slots kept while storing"] = max(self.seen["slots kept while storing"], len(sums.kept))
        sums.begun, sums.stored, sums.store_under_way, sums.corner = None, acc, True, None

    def store_wait(self, pendings: int) -> None:
        sums = self.sums[self.run.now]
        sums.waited_for_store |= sums.store_under_way


def _empty_of(weight: Place) -> str:
    return weight.name.replace("weight_slots", "empty")
