"""The programs of a launch: one after another, or in flight together where one may wait for another."""

import os
import random
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from tools.models.chips import chip
from tools.sim.faults import position
from tools.sim.triton import memory
from tools.sim.triton.turns import hooks
from tools.sim.triton.turns.deadlocks import stuck
from tools.sim.triton.turns.schedule import Schedule

GPU = "h100"  # whose room for programs counts
NEAR = 64  # programs that start in any order: a GPU starts them by their number, more or less
LOOP = "again"  # name by which a rewritten kernel asks for the condition of a `while`


def play(
    kernel: Callable, arguments: dict, numbers: list[int], sizes: tuple[int, int, int], warps: int, builder: Any
) -> None:
    """Run every program of a launch. numbers: in the order for programs that run one after another."""

    def resume(number: int) -> None:
        builder.set_grid_idx(*position(number, sizes))
        memory.current.begin(number)

    if not memory.current.races.together:
        for number in numbers:
            resume(number)
            kernel(**arguments)
            memory.current.races.finish()
        return
    seed = os.environ.get("COURSE_SEED", "0")
    starts = _by_start(len(numbers), sizes, seed)
    hooks.current = Schedule(starts, room(warps), seed, lambda number: kernel(**arguments), resume, stuck)
    try:
        hooks.current.run()
    finally:
        hooks.current = None


def room(warps: int) -> int:
    """Most programs of so many warps that can be resident on the GPU at once."""
    limits = chip(GPU)
    one = limits.limits
    return limits.multiprocessors * min(one.blocks, one.warps // max(1, warps))


def _by_start(programs: int, sizes: tuple[int, int, int], seed: str) -> list[int]:
    """Numbers of the programs as they start: the first axis counts fastest, and neighbours in any order."""
    numbers = sorted(range(programs), key=lambda number: position(number, sizes)[::-1])
    mixed, draw = [], random.Random(seed)
    for first in range(0, programs, NEAR):
        near = numbers[first : first + NEAR]
        draw.shuffle(near)
        mixed += near
    return mixed


# Can a program of this kernel wait? --------------------------------------------------------------


def names(kernel: Callable) -> set[str]:
    """The names that a kernel, and the kernels that it calls, use."""
    found: set[str] = set()
    if hasattr(kernel, "__code__"):
        _gather(kernel, found, set())
    return found


def can_wait(names: set[str]) -> bool:
    """Does a kernel of these names look at memory and go round a `while`?"""
    return LOOP in names and any(name == "load" or name.startswith("atomic_") for name in names)


def meets_others(names: set[str]) -> bool:
    """Do its programs count on one another, by atomics or by waiting? Then a few of them are no sample of all."""
    return can_wait(names) or any(name.startswith("atomic_") for name in names)


def _gather(function: Any, names: set[str], seen: set[int]) -> None:
    """Add the names that a function and the kernels that it calls use."""
    if id(function) in seen:
        return
    seen.add(id(function))
    for code in _codes(function.__code__):
        names.update(code.co_names)
    for value in _values(function):
        helper = getattr(value, "rewrite", None)
        own = getattr(value, "fn", value)  # of a helper, the function itself: its wrapper belongs to Triton
        if helper is not None and not getattr(own, "__module__", "").startswith("triton."):
            rewritten = helper()
            if hasattr(rewritten, "__code__"):
                _gather(rewritten, names, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _values(function: Any) -> Iterator[Any]:
    """What the names in a function stand for: globals, names of modules, and names of functions around it."""
    names = [name for code in _codes(function.__code__) for name in code.co_names]
    known = [function.__globals__[name] for name in names if name in function.__globals__]
    yield from known
    for module in known:
        if isinstance(module, ModuleType) and not module.__name__.startswith("triton"):
            yield from (getattr(module, name, None) for name in names)
    for cell in function.__closure__ or ():
        yield cell.cell_contents
