"""Elements that were never written, and the launch that should have: no programs, too few, a store that is not reached;
and what was read before it had arrived."""

from math import prod
from typing import Any

import numpy as np

from tools.check.diagnosis.numbers import differ
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.sim import tables
from tools.sim.counters import Counters
from tools.words import listed


def never_launched(symptoms: Symptoms) -> Cause | None:
    counters = _of_what_is_missing(symptoms)
    if counters is None or counters.launches:
        return None
    return cause("never_launched", "No kernel was launched.", "Which line launches yours?")


def no_programs(symptoms: Symptoms) -> Cause | None:
    counters = _of_what_is_missing(symptoms)
    if counters is None or not counters.launches or counters.programs:
        return None
    kernel = counters.launches[0].kernel
    return cause(
        "no_programs",
        f"{kernel} was launched with a grid of no programs at all.",
        "How many blocks does it take to cover everything?",
    )


def store_not_reached(symptoms: Symptoms) -> Cause | None:
    """A store in a loop that takes no turn: the sum over an axis of no length has no terms, or a number is 0."""
    counters = _of_what_is_missing(symptoms)
    if counters is None or not counters.programs or counters.bytes_stored or symptoms.source is None:
        return None
    longer = tuple(_not_empty(arg) for arg in symptoms.args)
    more = symptoms.counters_of(*longer)
    launches = more.launches if more else ()
    store = next((line for launch in launches for line in launch.lines if line.kind == "store"), None)
    if store is None or (loop := symptoms.source.loop_around(store.line)) is None:
        return None
    empty = [f"{name} = 0" for name in _names_of_empty_axes(symptoms)]
    turns = [f"{name} = 0" for name, arg in zip(symptoms.names, symptoms.args) if _is_zero(arg)]
    when = f"No store for {listed([*empty, *turns])}" if empty or turns else "Nothing is stored"
    what = "sum of no terms" if empty or not turns else "result of no turns"
    return cause(
        "store_not_reached",
        f"{when}: line {store.line} stores inside the loop of line {loop.lineno}.",
        f"What is the {what}, and where is it stored?",
    )


def _not_empty(arg: Any) -> Any:
    """The same array with one element along each axis that has none; 1 for the number 0."""
    if _is_zero(arg):
        return 1
    if not isinstance(arg, np.ndarray) or arg.size:
        return arg
    return np.ones([max(1, length) for length in arg.shape], arg.dtype)


def _is_zero(arg: object) -> bool:
    return type(arg) is int and arg == 0


def _names_of_empty_axes(symptoms: Symptoms) -> list[str]:
    return [
        axes[axis]
        for name, arg in zip(symptoms.names, symptoms.args)
        if isinstance(arg, np.ndarray)
        for axis, length in enumerate(arg.shape)
        if not length
        if (axes := symptoms.axes.get(name)) and axis < len(axes)
    ]


def nothing_stored(symptoms: Symptoms) -> Cause | None:
    counters = _of_what_is_missing(symptoms)
    if counters is None or not counters.programs or counters.bytes_stored or counters.bytes_atomic:
        return None
    kernel = counters.launches[-1].kernel
    return cause(
        "nothing_stored",
        f"{kernel} ran in {tables.programs(counters)} and stored nothing.",
        f"Which {'threads does the guard' if counters.warps else 'positions does the mask'} let through? "
        "Is any store reached?",
    )


def stored_twice(symptoms: Symptoms) -> Cause | None:
    """The kernel stored as many elements as there are, but some into the place of another."""
    counters = _of_what_is_missing(symptoms)
    stores = [line for launch in counters.launches for line in launch.lines if line.kind == "store"] if counters else []
    if len(stores) != 1 or stores[0].counts.accesses != symptoms.missing.size or symptoms.missing.all():
        return None
    places = int(np.count_nonzero(~symptoms.missing))
    seen = f"Line {stores[0].line} stored {symptoms.missing.size} elements into {tables.quantity(places, 'place')}."
    return cause("stored_twice", seen, "Which of them share a place?")


def left_out_of_a_store(symptoms: Symptoms) -> Cause | None:
    """Elements for which something was loaded: the store's own mask, or what is around it, left them out."""
    counters, source = _of_what_is_missing(symptoms), symptoms.source
    if counters is None or source is None or symptoms.missing.ndim > 1 or symptoms.missing.all():
        return None
    lines = [line for launch in counters.launches for line in launch.lines]
    stores = [line for line in lines if line.kind == "store"]
    once = [line for line in lines if line.kind == "load" and not source.loops_around(line.line, heads=True)]
    size = symptoms.missing.size
    load = next((line for line in once if line.counts.accesses == size), None)
    if load is None or len(stores) != 1 or not _right_where_stored(symptoms):
        return None
    stored = f"Line {stores[0].line} stored {np.count_nonzero(~symptoms.missing)} of {size} elements"
    of_threads = "For which elements is that store reached?"
    of_masks = "Which elements does the mask of that store leave out?"
    return cause(
        "left_out_of_a_store",
        f"{stored}, not element {np.argmax(symptoms.missing)}; line {load.line} loaded {size}.",
        of_threads if counters.warps else of_masks,
    )


def tail_not_stored(symptoms: Symptoms) -> Cause | None:
    counters = _of_what_is_missing(symptoms)
    if counters is None or not counters.bytes_stored:
        return None
    missing = symptoms.missing.reshape(-1)
    stored = int(np.count_nonzero(~missing))
    if missing[:stored].any():
        return None
    worker = "thread" if counters.warps else "program"
    ran = f"{tables.programs(counters)} stored {stored} of {missing.size} elements, none from element {stored} on."
    block = _block(symptoms)
    if not counters.warps and counters.programs * block >= missing.size:
        ran = f"{tables.programs(counters)} stored {stored} of {missing.size} elements; block is {block}."
        return cause("tail_not_stored", ran, "How large is a block there? Which positions does the mask let through?")
    if counters.programs == 1 and (tile := _tile(symptoms)) >= missing.size:
        ran = f"1 program stored {stored} of {missing.size} elements; its tile has {tile}."
        return cause("tail_not_stored", ran, "Which rows and columns does the mask let through?")
    if counters.warps and symptoms.missing.ndim > 1:
        return cause("tail_not_stored", ran, "Which rows and columns of the result does each block store?")
    return cause("tail_not_stored", ran, f"Which elements are each {worker}'s own, and how many {worker}s is that?")


def _block(symptoms: Symptoms) -> int:
    """The elements of a block, where the call was given their number; 0 else."""
    block = symptoms.keywords.get("block")
    return block if type(block) is int else 0


def _tile(symptoms: Symptoms) -> int:
    """The elements of a tile, where the call was given its sides; 0 else."""
    sides = [symptoms.keywords.get(name) for name in ("tile_m", "tile_n")]
    return prod(side if type(side) is int else 0 for side in sides)


def head_not_stored(symptoms: Symptoms) -> Cause | None:
    """Elements before the first block, of one row of them."""
    counters = _of_what_is_missing(symptoms)
    if counters is None or symptoms.missing.ndim > 1:
        return None
    missing = symptoms.missing.reshape(-1)
    first = int(np.argmin(missing))
    if not first or missing[first:].any():
        return None
    lines = [line for launch in counters.launches for line in launch.lines]
    loaded_all = any(line.counts.accesses >= missing.size for line in lines if line.kind == "load")
    if loaded_all and _right_where_stored(symptoms):
        return None  # the first block may well begin with element 0, where something is loaded for it
    return cause(
        "head_not_stored",
        f"Nothing was stored before element {first}.",
        "With which element does the first block begin?",
    )


def downloads_under_way(symptoms: Symptoms) -> Cause | None:
    """Copies to the host that go on while the host does, which never waited for the GPU."""
    if not symptoms.comparable or symptoms.source is None or symptoms.source.asks_whether_done:
        return None
    counters = symptoms.counters
    if counters is None or not counters.transfers.downloads or counters.transfers.synchronizations:
        return None
    downloads = counters.transfers.downloads
    copies = f"{tables.quantity(downloads, 'download')} {'was' if downloads == 1 else 'were'}"
    return cause(
        "not_arrived",
        f"{copies} under way, and the host waited for nothing.",
        "Which line waits until what it reads has arrived?",
    )


def row_not_stored(symptoms: Symptoms) -> Cause | None:
    """Whole rows that a masked store left out, for what an argument holds there."""
    counters = _of_what_is_missing(symptoms)
    if counters is None or not counters.bytes_stored or symptoms.missing.ndim < 2:
        return None
    rows = symptoms.missing.reshape(len(symptoms.missing), -1)
    stores = {line.source for launch in counters.launches for line in launch.lines if line.kind == "store"}
    if (rows.any(1) != rows.all(1)).any() or not all("mask=" in source for source in stores):
        return None
    for name, arg in zip(symptoms.names, symptoms.args):
        if isinstance(arg, np.ndarray) and arg.shape == (len(rows),) and arg.dtype.kind in "iu":
            odd = np.unique(arg[rows.all(1)])
            if odd.size and not np.isin(odd, arg[~rows.all(1)]).any():
                row = int(np.argmax(rows.all(1)))
                return cause(
                    "row_not_stored",
                    f"Row {row} was never written: {name} holds {arg[row]} there.",
                    "Which positions does the mask of that store let through?",
                )
    return None


def _right_where_stored(symptoms: Symptoms) -> bool:
    """Is every element right that was written?"""
    got, want, stored = symptoms.here.got, symptoms.here.want, ~symptoms.missing
    if got is None or want is None or got.shape != stored.shape or want.shape != stored.shape:
        return False
    return not differ(got[stored], want[stored], symptoms.slack)


def _of_what_is_missing(symptoms: Symptoms) -> Counters | None:
    """The counters of the call, where elements were never written and a kernel should have."""
    return None if symptoms.missing is None else symptoms.counters
