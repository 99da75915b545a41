"""The partitions of a Gluon kernel, run line by line in the model of ring_model.py. Given; nothing to write."""

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from triton.runtime.jit import JITFunction
from week2.katas.gluon_gemm.ring_model import CONSUMERS, ORDERS, PRODUCER, Barrier, Place, Run


class Group:
    """What gl.allocate_shared_memory makes: .index(i) is one of its places or barriers."""

    def __init__(self, name: str, members: list) -> None:
        self.name, self.members = name, members

    def index(self, i: int) -> Any:
        return self.members[i] if 0 <= i < len(self.members) else Nowhere(self.name, len(self.members), i)


class Nowhere:
    """What .index makes of a number that is too small or too large: harmless until it is used."""

    def __init__(self, name: str, length: int, i: int) -> None:
        self.__dict__["text"] = f"{name} has {length} places: .index({i}) is none of them."

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(self.text)


class Box:
    """A descriptor: box by box of an array, with zeros beyond its edges."""

    def __init__(self, name: str, array: np.ndarray, shape: tuple, itemsize: int) -> None:
        self.name, self.array, self.shape, self.itemsize = name, array, shape, itemsize

    def at(self, row: int, col: int) -> np.ndarray:
        box = np.zeros(self.shape)
        part = self.array[row:row + self.shape[0], col:col + self.shape[1]]
        box[:part.shape[0], :part.shape[1]] = part
        return box


class Names(SimpleNamespace):
    """A module of Gluon, with what this kata needs of it."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"The model knows nothing called {name}: the lesson's names will do.")


class Corners(Box):
    """A descriptor whose boxes say where they begin."""

    def at(self, row: int, col: int) -> Any:
        return row, col


def run_linear(x: np.ndarray, weight: np.ndarray, roles: tuple, tile: tuple[int, int, int], stages: int, programs: int,
               bytes: int, itemsize: int) -> tuple[np.ndarray, int, int]:
    """x @ weight.T by producer and consumer, one program after the other, the workers in every order.

    Also the most products that a consumer had in flight at once, and the most stages on their way at once.
    """
    first, products, copies = None, 0, 0
    for order in ORDERS:
        out = np.full((len(x), len(weight)), np.nan)
        for program in range(programs):
            run = Run(order)
            shared = _shared(run, tile, stages)
            boxes = Box("x", x, (tile[0] // 2, tile[2]), itemsize), Box("weight", weight, tile[1:], itemsize)
            produces, consumes = (_in_model(run, role, out, (program, programs)) for role in roles)
            shape = len(x), len(weight), x.shape[1]
            workers = {PRODUCER: _call(produces, *boxes, *shared, *shape, *tile, stages, bytes)}
            for half, name in enumerate(CONSUMERS):
                places = *shared[:2], Group("out_places", [0, 1]), *shared[2:]
                workers[name] = _call(consumes, "out", *places, *shape, half, "LAYOUT", *tile, stages)
            run.go(workers)
            _nothing_left(run)
            products, copies = max(products, run.most_products), max(copies, run.most_copies)
        first = out if first is None else first
        if not np.array_equal(first, out, equal_nan=True):
            return out, products, copies
    return first, products, copies


def run_producer(producer: Any, shape: tuple[int, int, int], tile: tuple[int, int, int], stages: int,
                 program: tuple[int, int], bytes: int, itemsize: int) -> tuple[list[tuple], int]:
    """Where the three boxes of each step begin, as right consumers find them, the workers in every order.

    Also the most stages that were on their way at once.
    """
    m, n, k = shape
    tiles = -(-m // tile[0]) * -(-n // tile[1])
    steps = len(range(program[0], tiles, program[1])) * -(-k // tile[2])
    found: list[tuple] = []
    copies = 0
    for order in ORDERS:
        run = Run(order)
        run.question = "This consumer is the model's, and waits as it should. What is copied, where to, and when?"
        shared = _shared(run, tile, stages)
        boxes = Corners("x", None, (tile[0] // 2, tile[2]), itemsize), Corners("weight", None, tile[1:], itemsize)

        def consume(half, shared=shared):
            x_slots, weight_slots, full, empty = shared
            seen = []
            for i in range(steps):
                full.index(i % stages).wait(i // stages % 2)
                seen.append((x_slots.index(i % stages * 2 + half).use(), weight_slots.index(i % stages).use()))
                empty.index(i % stages).arrive()
            return seen

        produces = _in_model(run, producer, np.zeros(0), program)
        workers = {PRODUCER: _call(produces, *boxes, *shared, *shape, *tile, stages, bytes)}
        workers |= {name: _call(consume, half) for half, name in enumerate(CONSUMERS)}
        results = run.go(workers)
        _nothing_left(run)
        copies = max(copies, run.most_copies)
        found = [(upper, lower, weight) for (upper, weight), (lower, _) in zip(*(results[name] for name in CONSUMERS))]
    return found, copies


def _call(function: Callable, *args: Any) -> Callable:
    return lambda: function(*args)


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
        raise RuntimeError(f"At the end {left[0].what} lies in {left[0].name}, and nobody has used it.")


def _in_model(run: Run, function: Any, out: np.ndarray, program: tuple[int, int]) -> Callable:
    """The function behind a Gluon one, with the model in place of Gluon."""
    names = {**function.fn.__globals__, "_towards_zero": _towards_zero, "_rest": _rest}
    for name, value in list(names.items()):
        if isinstance(value, JITFunction):
            names[name] = _plain(value, names)

    def copy(desc, coord, barrier, place):
        row, col = (int(i) for i in coord)
        if desc.shape != place.shape:
            raise RuntimeError(f"A box of {desc.name} has {desc.shape[0]} x {desc.shape[1]} elements, {place.name} has "
                               f"{place.shape[0]} x {place.shape[1]}.")
        what = f"{desc.name}[{row}:{row + desc.shape[0]}, {col}:{col + desc.shape[1]}]"
        place.fill(what, desc.at(row, col), desc.shape[0] * desc.shape[1] * desc.itemsize, barrier)

    def arrive(barrier, *, count=1, pred=True):
        if pred:
            barrier.arrive()

    def multiply(a, b, acc, *, use_acc=True, is_async=False):
        left, right = (getattr(p, "place", p) for p in (a, b))
        values = [p.place.use().T if getattr(p, "turned", False) else p.use() for p in (a, b)]
        if values[0].shape[1] != values[1].shape[0]:
            raise RuntimeError("{} x {} elements times {} x {}: does b have to be turned, by .permute((1, 0))?".format(
                *values[0].shape, *values[1].shape))
        mine = run.products[run.now]
        mine.append((left, right))
        run.most_products = max(run.most_products, len(mine))
        if not is_async:
            mine.clear()
        run.pause()
        return values[0] @ values[1] + (acc if use_acc else 0)

    def wait(number=0, deps=None):
        if not deps:
            raise RuntimeError("warpgroup_mma_wait needs deps=(acc,): what the products in flight add to.")
        mine = run.products[run.now]
        del mine[:max(0, len(mine) - number)]
        run.pause()
        return deps[0] if len(deps) == 1 else tuple(deps)

    def store(acc, out_desc, out_tile, row, col):
        if run.products[run.now]:
            raise RuntimeError(f"{run.now} stores its sums while one of its products is in flight.")
        if CONSUMERS[out_tile] != run.now:
            raise RuntimeError(f"{run.now} stores through out_places.index({out_tile}), {CONSUMERS[out_tile]}'s place.")
        part = out[row:row + acc.shape[0], col:col + acc.shape[1]]
        if not np.isnan(part).all():
            raise RuntimeError(f"{run.now} stores its sums at row {row}, column {col}, where others are stored.")
        part[:] = acc[:part.shape[0], :part.shape[1]] + 0.0  # a sum that begins with 0 is no -0.0

    names.update(
        store_half=store, warpgroup_mma=multiply, warpgroup_mma_wait=wait, fence_async_shared=lambda: None,
        tma=Names(async_copy_global_to_shared=copy, store_wait=lambda pendings: None),
        mbarrier=Names(
            wait=lambda barrier, phase, pred=True: barrier.wait(phase) if pred else None,
            expect=lambda barrier, bytes, pred=True: barrier.expect(bytes) if pred else None, arrive=arrive),
        gl=Names(
            program_id=lambda axis: (program[0], 0, 0)[axis], num_programs=lambda axis: (program[1], 1, 1)[axis],
            cdiv=lambda a, b: -(-a // b),
            zeros=lambda shape, dtype, layout: np.zeros(shape), static_range=range, float32="float32",
            constexpr=object))
    return _plain(function, names)


def _plain(function: Any, names: dict) -> Callable:
    return FunctionType(_code_of(function.fn), names, function.fn.__name__, function.fn.__defaults__)


@functools.cache
def _code_of(plain: Callable) -> CodeType:
    """Its code, in which // and % of negative numbers are those of a GPU: rounded towards 0."""
    lines, first = inspect.getsourcelines(plain)
    tree = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)
    definition = tree.body[0]
    definition.decorator_list = []
    definition.args.defaults = []
    for argument in definition.args.args:
        argument.annotation = None
    inner: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(_AsOnAGPU().visit(tree)), plain.__code__.co_filename, "exec"), inner)
    return inner[plain.__name__].__code__


class _AsOnAGPU(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = {ast.FloorDiv: "_towards_zero", ast.Mod: "_rest"}.get(type(node.op))
        call = ast.Call(ast.Name(name or "", ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node) if name else node


def _towards_zero(a: int, b: int) -> int:
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def _rest(a: int, b: int) -> int:
    return a - b * _towards_zero(a, b)
