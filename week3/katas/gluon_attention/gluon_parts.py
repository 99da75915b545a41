"""What Gluon's names stand for in the model: products, waits, softmax and stores. Given; nothing to write."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
from week2.katas.gluon_gemm.ring_model import Barrier, Place
from week2.katas.gluon_gemm.workers import CONSUMERS, Run, line_of_the_lesson

OPERAND = "layout of an operand"


class Names(SimpleNamespace):
    """A module of Gluon, with what this kata needs of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"The model knows nothing called {name}: the lesson's names will do.")


class Pointer:
    """Numbers in global memory: gl.load(pointer + i)."""

    def __init__(self, numbers: list[int], at: int = 0) -> None:
        self.numbers, self.at = numbers, at

    def __add__(self, i: int) -> "Pointer":
        return Pointer(self.numbers, self.at + i)


class Box:
    """A descriptor: box by box of (batches, heads, n, d), with zeros beyond the last row."""

    def __init__(self, name: str, array: Any, rows: int) -> None:
        self.name, self.array, self.rows, self.dtype = name, array, rows, "16 bits"
        self.d = array.shape[3]

    def at(self, batch: int, head: int, row: int) -> Any:
        box = np.zeros((self.rows, self.d))
        part = self.array[batch, head, row:row + self.rows]
        box[:len(part)] = part
        return box


class Corners(Box):
    """A descriptor whose boxes say where they begin."""

    def at(self, batch: int, head: int, row: int) -> Any:
        return batch, head, row


class Waited(Place):
    """A place that is used after a wait at its own barrier; that the engine is quick is luck."""

    def use(self) -> Any:
        me, barrier = self.run.now, self.name.replace("places", "full")
        self.uses = getattr(self, "uses", Counter())
        self.uses[me] += 1
        if self.run.waits[me].count(barrier) < self.uses[me]:
            others = [each for each in self.run.waits[me] if each[:6] == barrier[:6]]
            last = f"It waited last at {others[-1]}: of which tile is that?" if others else "Where is it waited for?"
            what = f"{self.what} in {self.name}" if self.what else self.name
            raise RuntimeError(f"{me} uses {what}, and has not waited for it at {barrier}.\n{last}")
        phase, number = self.run.phases[me, barrier], self.uses[me] - 1
        if phase != number % 2 and me not in self.unread:
            raise RuntimeError(f"{me} uses {self.name} before its tile is there. It waited at {barrier} for phase "
                               f"{phase}, in round {number}.\n"
                               "Of which item is the tile, and which round is that one's?")
        return super().use()


class Source(Waited):
    """A place that a consumer may load into registers."""

    def load(self, layout: Any) -> "Tile":
        return Tile(self.use(), "q", half=True, operand=True)


class Tile:
    """A tile in the registers of one consumer. product: what it is the result of, as long as no wait gave it back.
    keys: of scores and weights, which keys they are of."""

    def __init__(self, value: Any, what: str, product: tuple | None = None, half=False, operand=False, keys="") -> None:
        self.value, self.what, self.product, self.half, self.operand = value, what, product, half, operand
        self.keys = keys
        self.dtype, self.type = ("16 bits" if half else "float32"), SimpleNamespace(layout=OPERAND if operand else "")

    def to(self, dtype: str) -> "Tile":
        return Tile(self.value, self.what, self.product, dtype == "16 bits", self.operand, self.keys)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"The model knows no .{name} of {self.what}: softmax_of, rescaled, .to(dtype) and "
                           "gl.convert_layout will do.")

    def _no(self, *args: Any) -> Any:
        raise RuntimeError(f"The model does no arithmetic with {self.what}: softmax_of and rescaled are given.")

    __mul__ = __rmul__ = __add__ = __sub__ = __truediv__ = __getitem__ = _no


def _rows(keys: str) -> str:
    """4 to 7, of "0, 0, 4:8"."""
    first, last = keys.rpartition(" ")[2].split(":")
    return f"{first} to {int(last) - 1}"


class Parts:
    """A run of the roles of one program.

    seen: softmaxes while a product was in flight and without one, products that ended before they returned, products
    with values that were begun while none was in flight, slots of k and v that a consumer had used and kept while it
    computed a softmax or began a product, and masks behind the first tile of keys.
    """

    def __init__(self, run: Run, out: np.ndarray, lse: np.ndarray, program: int, groups: dict) -> None:
        self.run, self.out, self.lse, self.program, self.groups = run, out, lse, program, groups
        self.used = {name: {"k": [], "v": []} for name in CONSUMERS}  # the slots that are not given back
        self.waited: dict[str, tuple[int, list]] = {}  # the last wait since S began: how many flew, which ended
        self.expected: dict[str, tuple[str, int]] = {}  # by barrier: the last line that expects bytes there, how many
        self.brought: dict[str, tuple[str, int]] = {}  # by barrier: the last copy, how many bytes it brings
        self.seen = {"softmaxes over a product": 0, "softmaxes over none": 0, "products that were waited for": 0,
                     "values begun alone": 0, "slots of k kept in a softmax": 0, "slots of v kept too long": 0,
                     "masks behind the first": 0}

    def names(self) -> dict[str, Any]:
        """What stands behind the names of the lesson."""
        return {
            "warpgroup_mma": self.multiply, "warpgroup_mma_wait": self.wait, "softmax_of": self.softmax_of,
            "rescaled": self.rescaled, "store_tile": self.store_tile, "fence_async_shared": lambda: None,
            "tma": Names(async_copy_global_to_shared=self.copy, store_wait=lambda pendings: None),
            "mbarrier": Names(
                wait=lambda barrier, phase, pred=True: barrier.wait(phase) if pred else None,
                expect=self.expect, arrive=self.arrive),
            "gl": Names(
                program_id=lambda axis: (self.program, 0, 0)[axis], cdiv=lambda a, b: -(-a // b),
                load=lambda pointer: pointer.numbers[pointer.at], static_range=range, constexpr=object,
                float32="float32", zeros=lambda shape, dtype, layout: Tile(np.zeros(shape), "zeros"),
                full=lambda shape, value, *rest: np.full(shape, getattr(value, "value", value)),
                convert_layout=self.convert, SliceLayout=lambda *args: "layout",
                NVMMADistributedLayout=lambda *args: "layout", DotOperandLayout=lambda *args: OPERAND)}

    def convert(self, tile: Tile, layout: str) -> Tile:
        self._landed(tile, "converts")
        return Tile(tile.value, tile.what, None, tile.half, layout == OPERAND, tile.keys)

    def copy(self, desc: Box, coord: Any, barrier: Barrier, place: Place) -> None:
        batch, head, row, col = (int(i) for i in coord)
        if desc.name != place.name[:1]:
            raise RuntimeError(f"A box of {desc.name} is copied into {place.name}.")
        if col:
            raise RuntimeError(f"A box of {desc.name} begins at column {col} of each row, and has all columns: at 0.")
        full = place.name.replace("places", "full")
        if barrier.name != full:
            raise RuntimeError(f"A copy into {place.name} brings its bytes to {barrier.name}.\n"
                               f"Who waits for it at {full}, and for which bytes?")
        what = f"{desc.name}[{batch}, {head}, {row}:{row + desc.rows}]"
        bytes = 2 * desc.rows * desc.d
        self.brought[barrier.name] = f"a box of {desc.rows} x {desc.d}", bytes
        place.fill(what, desc.at(batch, head, row), bytes, barrier)

    def expect(self, barrier: Barrier, bytes: int, pred: Any = True) -> None:
        if pred:
            self.expected[barrier.name] = line_of_the_lesson(), bytes
            barrier.expect(bytes)

    def arrive(self, barrier: Barrier, *, count: int = 1, pred: Any = True) -> None:
        if not pred:
            return
        kind, slot = barrier.name[0], int(barrier.name.split("(")[1][:-1])
        kept = self.used.get(self.run.now, {}).get(kind)
        if kept is not None and barrier.name.startswith(f"{kind}_empty"):
            if slot not in kept:
                raise RuntimeError(f"{self.run.now} gives a slot back at {barrier.name}, and has begun no product with "
                                   f"what lies there.\nWhich slot of {kind} did the product use that has ended?")
            place = self.groups[kind][slot]
            if any(place in pair for pair in self.run.products[self.run.now]):
                gives = f"{self.run.now} gives {place.name} back at {barrier.name}"
                raise RuntimeError(f"{gives} while a product reads it.\n{self._of_the_wait(kind)}")
            kept.remove(slot)
        barrier.arrive()

    def multiply(self, a: Any, b: Any, acc: Any, *, use_acc: Any = True, is_async: bool = False) -> Tile:
        me = self.run.now
        place = getattr(b, "place", b)
        kind = place.name[0]
        if isinstance(a, Tile) and not (a.half and a.operand):
            raise RuntimeError(f"{me} multiplies {a.what}, which are not of 16 bits in the layout of p.\n"
                               "Which given function makes p of them?")
        left = a.value if isinstance(a, Tile) else a.use()
        right = place.use().T if getattr(b, "turned", False) else place.use()
        if left.shape[1] != right.shape[0]:
            raise RuntimeError("{} x {} elements times {} x {}: which of k and v has to be turned, by "
                               ".permute((1, 0))?".format(*left.shape, *right.shape))
        keys = place.what[2:-1]  # "0, 0, 4:8"
        if kind == "v" and isinstance(a, Tile) and a.keys != keys:
            raise RuntimeError(f"{me} multiplies {a.what} of the keys {_rows(a.keys)} with the values {_rows(keys)}.\n"
                               "Of which tile is p, and which tile of v belongs to it?")
        if kind == "v" and not use_acc and acc.value.any():
            raise RuntimeError(f"{me} begins V with use_acc=False, and acc holds the sums of the tiles before.\n"
                               "What becomes of them?")
        if use_acc:
            self._landed(acc, "adds to")
            if acc.value.shape != (left.shape[0], right.shape[1]):
                raise RuntimeError(f"{me} adds a product to {acc.what}: which sums does it belong to?")
        self.used[me][kind].append(self.groups[kind].index(place))
        self.seen["slots of v kept too long"] = max(
            self.seen["slots of v kept too long"], len(self.used[me]["v"]) - (kind == "v"))
        result = left @ right + (acc.value if use_acc else 0)
        if kind == "k":
            self.waited.pop(me, None)
        self.seen["values begun alone"] += kind == "v" and is_async and not self.run.products[me]
        self.run.products[me].append((a if isinstance(a, Place) else None, place))
        product = self.run.products[me][-1]
        if not is_async:
            self.run.products[me].clear()
            self.seen["products that were waited for"] += 1
        self.run.pause()
        product = product if is_async else None
        return Tile(result, "the scores", product, keys=keys) if kind == "k" else Tile(result, "acc", product)

    def wait(self, number: int = 0, deps: Any = None) -> Any:
        if not isinstance(deps, (tuple, list)) or not deps:
            raise RuntimeError("warpgroup_mma_wait needs deps=(s,) or more: what it gives back.")
        mine = self.run.products[self.run.now]
        ended = max(0, len(mine) - number)
        self.waited[self.run.now] = len(mine), mine[:ended]
        del mine[:ended]
        self.run.pause()
        given = tuple(self._given(each) for each in deps)
        return given[0] if len(given) == 1 else given

    def _given(self, each: Any) -> Any:
        if not isinstance(each, Tile):
            return each
        flying = any(each.product is product for product in self.run.products[self.run.now])
        return Tile(each.value, each.what, each.product if flying else None, each.half, each.operand, each.keys)

    def _landed(self, tile: Any, does: str) -> None:
        """An error if the tile is the result of a product that no wait gave back."""
        if not isinstance(tile, Tile) or tile.product is None:
            return
        me = self.run.now
        if any(tile.product is product for product in self.run.products[me]):
            raise RuntimeError(f"{me} {does} {tile.what} while the product is in flight.\n"
                               f"{self._of_the_wait('k' if tile.what == 'the scores' else 'v')}")
        raise RuntimeError(f"{me} {does} {tile.what}, as warpgroup_mma gave them, and not from a wait after it.\n"
                           "Are they among its deps, and do they become what warpgroup_mma_wait returns?")

    def _of_the_wait(self, kind: str) -> str:
        """A question to who takes a product for done that is in flight: S, of kind k, or V."""
        if self.run.now not in self.waited:
            return "Which wait says that the product has ended?"
        flying, ended = self.waited[self.run.now]
        if kind == "k" and any(place.name[0] == "v" for _, place in ended):
            return "The wait before ended V, which was begun before S. Which of the two has to end first?"
        if kind == "k" and flying == 1 and not ended:
            return ("At the wait before, S alone was in flight, and one may be.\n"
                    "Which product has to be begun before that wait?")
        return "Products end in the order in which they were begun: how many may be in flight here?"

    def softmax_of(self, s, m, l, row, col, n_k, scale, CAUSAL, MASK) -> tuple:
        me = self.run.now
        self._landed(s, "computes the softmax of")
        flying = bool(self.run.products[me])
        self.seen["softmaxes over a product" if flying else "softmaxes over none"] += 1
        self.seen["slots of k kept in a softmax"] = max(self.seen["slots of k kept in a softmax"],
                                                        len(self.used[me]["k"]))
        self.seen["masks behind the first"] += bool(flying and MASK)
        scores, cols = s.value, col + np.arange(s.value.shape[1])
        if MASK:
            rows = row + np.arange(len(scores))
            scores = np.where((cols < n_k) & ((cols <= rows[:, None]) | (not CAUSAL)), scores, -np.inf)
        m_new = np.maximum(m, scores.max(1) * scale)
        weights = np.exp2(scores * scale - m_new[:, None])
        alpha = np.exp2(m - m_new)
        self.run.pause()
        return Tile(weights, "the weights", keys=s.keys), alpha, m_new, l * alpha + weights.sum(1)

    def rescaled(self, acc: Tile, factor: np.ndarray) -> Tile:
        self._landed(acc, "rescales")
        return Tile(acc.value * factor[:, None], "acc")

    def store_tile(self, acc, m, l, out_desc, out_place, lse_ptr, n_q, batch, head, heads, row) -> None:
        self._landed(acc, "stores")
        rows = slice(row, min(row + len(l), n_q))
        with np.errstate(divide="ignore"):
            lse = (m + np.log2(l)) / np.log2(np.e)
        part = acc.value / np.where(l == 0, 1, l)[:, None]
        self.out[batch, head, rows] = part[:max(0, n_q - row)]
        self.lse[batch, head, rows] = lse[:max(0, n_q - row)]
