"""Atomic updates by many lanes: one after the other, in the order of the lanes. A GPU promises no order at all.

Each function changes `memory` (flat) at `places` (int64[n], n > 0, repeated where lanes meet) and gives what each
lane found there: [n], in memory's dtype. The values have that dtype too, so each update rounds once, as on a GPU.
"""

from collections.abc import Callable

import numpy as np

FEW = 512  # cells: when no more are left, each is finished by itself


def fold(operate: np.ufunc, memory: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """memory[place] = operate(memory[place], value), lane after lane."""
    order, starts, counts = _by_cell(places)
    cells, values = places[order[starts]], values[order]
    now, found, turn = memory[cells], np.empty_like(values), 0
    unfinished = np.arange(cells.size)
    while unfinished.size > FEW:
        lanes = starts[unfinished] + turn
        found[lanes] = now[unfinished]
        now[unfinished] = operate(found[lanes], values[lanes])
        turn += 1
        unfinished = unfinished[counts[unfinished] > turn]
    for cell in unfinished:
        rest = slice(starts[cell] + turn, starts[cell] + counts[cell])
        steps = operate.accumulate(np.append(now[cell], values[rest]), dtype=memory.dtype)
        found[rest], now[cell] = steps[:-1], steps[-1]
    memory[cells] = now
    return _as_they_came(found, order)


def exchange(memory: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """memory[place] = value: each lane finds what the one before it left."""
    order, starts, counts = _by_cell(places)
    cells, values = places[order[starts]], values[order]
    found = np.roll(values, 1)
    found[starts] = memory[cells]
    memory[cells] = values[starts + counts - 1]
    return _as_they_came(found, order)


def one_by_one(step: Callable, memory: np.ndarray, places: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """memory[place] = step(memory[place], *operands of the lane), in Python's numbers."""
    cells, numbers = np.unique(places, return_inverse=True)
    now, found = memory[cells].tolist(), []
    for cell, *own in zip(numbers.tolist(), *(each.tolist() for each in operands)):
        found.append(now[cell])
        now[cell] = step(now[cell], *own)
    memory[cells] = np.array(now, memory.dtype)
    return np.array(found, memory.dtype)


def _by_cell(places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lanes in order of their cells; where each cell's lanes start among them, and how many they are."""
    order = _sorted(places)
    places = places[order]
    starts = np.flatnonzero(np.append(True, places[1:] != places[:-1]))
    return order, starts, np.diff(starts, append=places.size)


def _sorted(places: np.ndarray) -> np.ndarray:
    """argsort(kind="stable"), 16 bits at a time: NumPy counts such short numbers instead of comparing them."""
    places = places - places.min()
    order = np.argsort(places.astype(np.uint16), kind="stable")
    while (places := places >> 16).any():
        order = order[np.argsort(places.astype(np.uint16)[order], kind="stable")]
    return order


def _as_they_came(in_order: np.ndarray, order: np.ndarray) -> np.ndarray:
    result = np.empty_like(in_order)
    result[order] = in_order
    return result
