"""The partitions of a Gluon kernel, run line by line in the model of ring_model.py. Given; nothing to write."""

from collections.abc import Callable
from typing import Any

import numpy as np
from week2.katas.gluon_gemm.gluon_parts import Parts
from week2.katas.gluon_gemm.gluon_source import plain
from week2.katas.gluon_gemm.ring_model import Barrier, Place
from week2.katas.gluon_gemm.workers import CONSUMERS, ORDERS, PRODUCER, Run


class Group:
    """What gl.allocate_shared_memory makes: .index(i) is one of its places or barriers."""

    def __init__(self, name: str, members: list) -> None:
        self.name, self.members = name, members

    def index(self, i: int) -> Any:
        return self.members[i] if 0 <= i < len(self.members) else Nowhere(self.name, len(self.members), i)


class Nowhere:
    """What .index makes of a number that is too small or too large: harmless until it is used."""

    def __init__(self, name: str, length: int, i: int) -> None:
        self.__dict__["text"] = (f"{name}.index({i}): the numbers there are 0 to {length - 1}.\n"
                                 "At which length does the number go round, and who gives that?")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(self.text)


class Box:
    """A descriptor: box by box of an array, with zeros beyond its edges."""

    def __init__(self, name: str, array: Any, shape: tuple, itemsize: int) -> None:
        self.name, self.array, self.shape, self.itemsize = name, array, shape, itemsize

    def at(self, row: int, col: int) -> Any:
        box = np.zeros(self.shape)
        part = self.array[row:row + self.shape[0], col:col + self.shape[1]]
        box[:part.shape[0], :part.shape[1]] = part
        return box


class Corners(Box):
    """A descriptor whose boxes say where they begin."""

    def at(self, row: int, col: int) -> Any:
        return row, col


def run_linear(x: np.ndarray, weight: np.ndarray, roles: tuple, tile: tuple[int, int, int], stages: int, programs: int,
               bytes: int, itemsize: int) -> tuple[np.ndarray, dict[str, int]]:
    """x @ weight.T by producer and consumer, one program after the other, the workers in every order.

    Also the most that was seen of what Parts looks at, and the most stages on their way at once.
    """
    first, most = None, {}
    shape = len(x), len(weight), x.shape[1]
    for order in ORDERS:
        out = np.full(shape[:2], np.nan)
        stores: list[tuple[int, int]] = []
        for program in range(programs):
            run = Run(order)
            run.about_a_deadlock = _asking(run, shape, tile, stages, (program, programs))
            parts, shared = Parts(run, out, (program, programs), stores), _shared(run, tile, stages)
            boxes = Box("x", x, (tile[0] // 2, tile[2]), itemsize), Box("weight", weight, tile[1:], itemsize)
            produces, consumes = (plain(role, parts.names()) for role in roles)
            workers = {PRODUCER: _call(produces, *boxes, *shared, *shape, *tile, stages, bytes)}
            for half, name in enumerate(CONSUMERS):
                places = *shared[:2], Group("out_places", [0, 1]), *shared[2:]
                workers[name] = _call(consumes, "out", *places, *shape, half, "LAYOUT", *tile, stages)
            run.go(workers)
            _nothing_left(run)
            seen = parts.seen | {"stages on their way": run.most_copies}
            most = {name: max(number, most.get(name, 0)) for name, number in seen.items()}
        _all_stored(stores, shape, tile)
        first = out if first is None else first
        if not np.array_equal(first, out, equal_nan=True):
            return out, most
    return first, most


def run_producer(producer: Any, shape: tuple[int, int, int], tile: tuple[int, int, int], stages: int,
                 program: tuple[int, int], bytes: int, itemsize: int) -> tuple[list[tuple], int]:
    """Where the three boxes of each step begin, as right consumers find them, the workers in every order.

    Also the most stages that were on their way at once.
    """
    tiles, steps = _work(shape, tile, program)
    found: list[tuple] = []
    copies = 0
    for order in ORDERS:
        run = Run(order)
        run.question = "This consumer is the model's, and waits as it should. What is copied, where to, and when?"
        run.about_a_deadlock = _asking(run, shape, tile, stages, program)
        shared = _shared(run, tile, stages)
        boxes = Corners("x", None, (tile[0] // 2, tile[2]), itemsize), Corners("weight", None, tile[1:], itemsize)

        def consume(half, shared=shared):
            x_slots, weight_slots, full, empty = shared
            seen = []
            for i in range(tiles * steps):
                full.index(i % stages).wait(i // stages % 2)
                seen.append((x_slots.index(i % stages * 2 + half).use(), weight_slots.index(i % stages).use()))
                empty.index(i % stages).arrive()
            return seen

        produces = plain(producer, Parts(run, np.zeros(0), program, []).names())
        workers = {PRODUCER: _call(produces, *boxes, *shared, *shape, *tile, stages, bytes)}
        workers |= {name: _call(consume, half) for half, name in enumerate(CONSUMERS)}
        results = run.go(workers)
        _nothing_left(run)
        copies = max(copies, run.most_copies)
        found = [(upper, lower, weight) for (upper, weight), (lower, _) in zip(*(results[name] for name in CONSUMERS))]
    return found, copies


def _call(function: Callable, *args: Any) -> Callable:
    return lambda: function(*args)


def _work(shape: tuple[int, int, int], tile: tuple[int, int, int], program: tuple[int, int]) -> tuple[int, int]:
    """The tiles of a program, and the steps of each."""
    down, across, steps = (-(-length // part) for length, part in zip(shape, tile))
    return len(range(program[0], down * across, program[1])), steps


def _shared(run: Run, tile: tuple[int, int, int], stages: int) -> tuple[Group, Group, Group, Group]:
    """x_slots, weight_slots, full and empty."""
    tile_m, tile_n, tile_k = tile
    return (
        Group("x_slots", [Place(run, f"x_slots.index({i})", (CONSUMERS[i % 2],), (tile_m // 2, tile_k))
                          for i in range(2 * stages)]),
        Group("weight_slots", [Place(run, f"weight_slots.index({i})", CONSUMERS, (tile_n, tile_k))
                               for i in range(stages)]),
        Group("full", [Barrier(run, f"full.index({i})", (PRODUCER,)) for i in range(stages)]),
        Group("empty", [Barrier(run, f"empty.index({i})", CONSUMERS) for i in range(stages)]))


def _nothing_left(run: Run) -> None:
    left = [place for place in run.places if place.unread or place.arriving]
    if left:
        some = left[0].unread and left[0].unread != set(left[0].readers)
        who = f"{min(left[0].unread)} has not" if some else "nobody has"
        raise RuntimeError(f"At the end {left[0].what} lies in {left[0].name}, and {who} used it.\n"
                           f"{left[0].line}it was copied there. Is that a step of the product, and who leaves it out?")


def _all_stored(stores: list[tuple[int, int]], shape: tuple[int, int, int], tile: tuple[int, int, int]) -> None:
    for row in range(0, shape[0], tile[0] // 2):
        for col in range(0, shape[1], tile[1]):
            if (row, col) not in stores:
                raise RuntimeError(f"At the end nothing is stored at row {row}, column {col}, where "
                                   f"{CONSUMERS[row // (tile[0] // 2) % 2]}'s half of a tile begins.\n"
                                   "How often does a consumer store?")


def _asking(run: Run, shape: tuple[int, int, int], tile: tuple[int, int, int], stages: int,
            program: tuple[int, int]) -> Callable[[], list[str]]:
    """What a deadlock may come from, where the waits until then show it."""
    tiles, steps = _work(shape, tile, program)

    def ask() -> list[str]:
        """The first that is seen."""
        for name, barrier in ((PRODUCER, "empty"), *((name, "full") for name in CONSUMERS)):
            slots = [f"{barrier}.index({i % stages})" for i in range(steps)]
            waits = [wait for wait in run.waits[name] if wait.startswith(barrier)]
            if len(waits) > tiles * steps:
                return [f"Program {program[0]} of {program[1]} has {tiles * steps} steps, and {name} has waited "
                        f"{len(waits)} times at {barrier}.", "Which tiles does it take?"]
            if name == PRODUCER and run.has_ended(name) and len(waits) < tiles * steps:
                edge = any(length % part for length, part in zip(shape, tile))
                return ["m, n, k = {}, {}, {} in tiles of {} x {}, steps of {}: {} for program {} of {}, and the "
                        "producer made {}.".format(*shape, *tile, tiles * steps, *program, len(waits)),
                        "What of a last box that reaches beyond an edge?" if edge else "Which tiles does it take?"]
            if steps % stages and waits[:steps] == slots and waits[steps:steps + 1] == slots[:1]:
                return [f"After its first tile of {steps} steps {name} begins at {slots[0]} again.",
                        "Which slot comes next in the ring?"]
        return []
    return ask
