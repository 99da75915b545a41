"""The roles of the kernel, run line by line in the model of week 2's ring_model.py. Given; nothing to write."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from week2.katas.gluon_gemm.gluon_model import Group
from week2.katas.gluon_gemm.gluon_source import plain
from week2.katas.gluon_gemm.ring_model import Barrier
from week2.katas.gluon_gemm.workers import CONSUMERS, ORDERS, PRODUCER, Run
from week3.katas.gluon_attention.gluon_parts import Box, Corners, Parts, Pointer, Source, Waited
from week3.katas.gluon_attention.tile_plan import plan

ROWS = 2  # queries of a consumer of the model
SOME = ORDERS[::5]  # each worker is first in one of these at least
TASKS = {"copy_tile": 3, "overlapped_step": 4}


class Shaped(Group):
    """A group of places, which knows its shape."""

    def __init__(self, name: str, members: list, *shape: int) -> None:
        super().__init__(name, members)
        self.shape = len(members), *shape


def role(function: Any, gap: Any, names: dict) -> Callable:
    """The function behind a Gluon one. Raises NotImplementedError while `pass` stands in the gap that it calls."""
    if _is_to_be_written(gap.fn):
        name = gap.fn.__name__
        raise NotImplementedError(f"week3/katas/gluon_attention task {TASKS[name]}: {name}")
    return plain(function, names)


@functools.cache
def _is_to_be_written(function: Callable) -> bool:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Pass) for node in ast.walk(tree))


class Program:
    """One program of the kernel: its shared memory, its work, and what it has seen."""

    def __init__(self, order: tuple, shapes: tuple, causal: bool, keys: int, stages: int, program: int, programs: int,
                 out: np.ndarray, lse: np.ndarray) -> None:
        (batches, heads, n_q, d), (_, kv_heads, n_k, _) = shapes
        self.run, self.causal, self.group = Run(order), causal, heads // kv_heads
        tiles_down = -(-n_q // (2 * ROWS))
        starts, numbers = (each.tolist() for each in plan(
            batches * heads, n_q, n_k, 2 * ROWS, keys, causal, programs, torch.device("cpu")))
        self.work = Pointer(starts), Pointer(numbers), tiles_down, heads, n_q, n_k
        self.tiles = numbers[starts[program]:starts[program + 1]]
        run = self.run
        q = [Source(run, f"q_places.index({c})", (name,), (ROWS, d)) for c, name in enumerate(CONSUMERS)]
        k, v = ([Waited(run, f"{x}_places.index({i})", CONSUMERS, (keys, d)) for i in range(stages)] for x in "kv")
        self.places = (Shaped("q_places", q, ROWS, d), Shaped("k_places", k, keys, d), Shaped("v_places", v, keys, d),
                       Group("out_places", [0, 1]))
        of_q = [Group(f"q_{kind}", [Barrier(run, f"q_{kind}.index({c})", ((PRODUCER,) if kind == "full" else (name,)))
                                    for c, name in enumerate(CONSUMERS)]) for kind in ("full", "empty")]
        of_kv = [Group(f"{x}_{kind}", [Barrier(run, f"{x}_{kind}.index({i})",
                                               (PRODUCER,) if kind == "full" else CONSUMERS) for i in range(stages)])
                 for x in "kv" for kind in ("full", "empty")]
        self.barriers = *of_q, *of_kv
        self.parts = Parts(run, out, lse, program, {"k": k, "v": v})
        self.stages = stages
        ends = [min(n_k, (number % tiles_down + 1) * 2 * ROWS) if causal else n_k for number in self.tiles]
        self.steps = [-(-end // keys) for end in ends]  # tiles of keys of each tile of queries
        self.produced = False

    def go(self, workers: dict[str, Callable]) -> dict:
        def produce() -> None:
            workers[PRODUCER]()
            self.produced = True

        self.run.about_a_deadlock = self._clue
        results = self.run.go({**workers, PRODUCER: produce})
        if left := [place for place in self.run.places if place.unread or place.arriving]:
            raise RuntimeError(f"At the end {left[0].what} lies in {left[0].name}, and nobody has used it.\n"
                               f"{left[0].line}it was copied there.")
        return results

    def _clue(self) -> list[str]:
        """A line about a deadlock, of what was seen until then; or none."""
        barriers = {barrier.name: barrier for group in self.barriers for barrier in group.members}
        places = {place.name: place for place in self.run.places}
        for name in barriers.keys() & self.parts.expected.keys() & self.parts.brought.keys():
            (line, expected), (box, brought) = self.parts.expected[name], self.parts.brought[name]
            if barriers[name].bytes and expected != brought:
                return [f"{line}{expected} bytes are expected, and {box} brings {brought}, 2 an element."]
        at, *of_consumers = ((self.run.waits[name] or [""])[-1] for name in (PRODUCER, *CONSUMERS))
        keys = [barriers[name] for name in of_consumers if name.startswith("k_full")]
        if not self.produced and "empty" in at and not places[at.replace("empty", "places")].what:
            return ["Nothing was copied there yet. At a new barrier a wait for phase 1 passes, one for 0 does not."]
        if not self.produced and self.stages > 1 and any(
                at == key.name.replace("k_full", "v_empty") and key.left for key in keys):
            return ["Consumers give v back once k of two tiles on is there. Does the producer ask for k first?"]
        waits = max(sum(name.startswith("k_full") for name in self.run.waits[who]) for who in CONSUMERS)
        if keys and self.produced and waits > sum(self.steps):
            return [f"There are {sum(self.steps)} tiles of keys, and this is wait {waits} for one. Is there another?"]
        return self._of_a_phase() or self._of_a_slot(at)

    def _of_a_phase(self) -> list[str]:
        """A consumer that waits for the phase of another round."""
        for who in CONSUMERS:
            full = (self.run.waits[who] or [""])[-1]
            number = self.run.waits[who].count(full) - 1
            if full[:6] in ("k_full", "v_full") and self.run.phases[who, full] != number % 2:
                return [f"This is round {number} at {full}, whose phase is {number % 2}.",
                        "Of which item is the round taken, and which item is waited for?"]
        return []

    def _of_a_slot(self, at: str) -> list[str]:
        """A slot that the producer waits for, and that consumers have used and kept."""
        slot = at.partition("(")[2][:-1]
        if "empty" in at and all(int(slot) in self.parts.used[who].get(at[0], []) for who in CONSUMERS):
            return [f"Both consumers have used {at.replace('empty', 'places')}. Where do they arrive at {at}?"]
        return []


def run_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool, scale: float, roles: tuple, keys: int,
                  stages: int, programs: int) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """(out, lse, seen) by producer and consumer, one program after the other, the workers in five orders.

    Also the most that was seen of what Parts looks at.
    """
    first, most = None, {}
    for order in SOME:
        out, lse = np.full(q.shape, np.nan), np.full(q.shape[:3], np.nan)
        for number in range(programs):
            program = Program(order, (q.shape, k.shape), causal, keys, stages, number, programs, out, lse)
            boxes = Box("q", q, ROWS), Box("k", k, keys), Box("v", v, keys)
            produce, consume = (role(*each, program.parts.names()) for each in roles)
            shared = program.places, program.barriers, program.work
            workers = {PRODUCER: lambda: produce(*boxes, *shared, program.group, causal)}
            for c, name in enumerate(CONSUMERS):
                workers[name] = lambda c=c: consume((boxes[0], None), *shared, scale * np.log2(np.e), c, causal, True)
            program.go(workers)
            most = {name: max(seen, most.get(name, 0)) for name, seen in program.parts.seen.items()}
        first = (out, lse) if first is None else first
        if not all(np.array_equal(*pair, equal_nan=True) for pair in zip(first, (out, lse))):
            return out, lse, most
    return *first, most


def run_producer(producer: tuple, shapes: tuple, causal: bool, keys: int, stages: int, program: int, programs: int
                 ) -> tuple[list[tuple], int]:
    """Where the boxes of each step of k and v begin, as right consumers find them, the workers in five orders.

    Also the most boxes of k and v that were on their way at once. With 2 stages or more consumers give v back when the
    next keys are there, as the kernel's do; with 1 stage they would wait for ever, and give it back before.
    """
    found: list[tuple] = []
    copies = 0
    for order in SOME:
        one = Program(order, shapes, causal, keys, stages, program, programs, np.zeros(0), np.zeros(0))
        one.run.question = "This consumer is the model's, and waits as it should. What is copied, where to, and when?"

        def consume(c, one=one):
            q_full, q_empty, k_full, k_empty, v_full, v_empty = one.barriers
            q_places, k_places, v_places, _ = one.places
            keys_seen, values_seen, i = [], [], 0

            def wait(full, i):
                full.index(i % stages).wait(i // stages % 2)

            def use_values(i):
                wait(v_full, i)
                values_seen.append(v_places.index(i % stages).use())

            for turn, steps in enumerate(one.steps):
                q_full.index(c).wait(turn % 2)
                q_places.index(c).use()
                q_empty.index(c).arrive()
                wait(k_full, i)
                for step in range(steps):
                    keys_seen.append(k_places.index(i % stages).use())
                    if step:
                        use_values(i - 1)
                    k_empty.index(i % stages).arrive()
                    if step and stages == 1:
                        v_empty.index(0).arrive()
                    if step + 1 < steps:
                        wait(k_full, i + 1)
                    if step and stages > 1:
                        v_empty.index((i - 1) % stages).arrive()
                    i += 1
                use_values(i - 1)
                v_empty.index((i - 1) % stages).arrive()
            return list(zip(keys_seen, values_seen))

        shape_q, shape_k = (np.broadcast_to(0, shape) for shape in shapes)
        boxes = Corners("q", shape_q, ROWS), Corners("k", shape_k, keys), Corners("v", shape_k, keys)
        produce = role(*producer, one.parts.names())
        workers = {PRODUCER: lambda: produce(*boxes, one.places, one.barriers, one.work, one.group, causal)}
        workers |= {name: lambda c=c: consume(c) for c, name in enumerate(CONSUMERS)}
        found = one.go(workers)[CONSUMERS[0]]
        copies = max(copies, one.run.most_copies)
    return found, copies
