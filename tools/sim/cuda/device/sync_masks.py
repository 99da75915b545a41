"""Masks of warp functions, which say who takes part: the lanes that one names and that are there.

PTX ISA (shfl.sync, vote.sync, match.sync, bar.warp.sync) and the CUDA C++ Programming Guide: a lane's mask names
the lane itself, and every lane that it names, unless that one has left the kernel, calls the same function with
the same mask. Groups of lanes, each with its own mask, may work side by side. Stricter than a GPU since Volta:
the lanes of one mask must meet in one line of the kernel, not in two calls in two branches.
"""

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.faults import Fault, calling_spot
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.run.warps import Warps
from tools.sim.faults import describe, ranges

LANE = np.arange(WARP, dtype=np.uint32)


def bits(flags: np.ndarray) -> np.ndarray:
    """bool[..., 32] -> uint32[...]: lane 0 in the lowest bit."""
    return np.packbits(flags, axis=-1, bitorder="little").view("<u4")[..., 0]


def alike(values: np.ndarray) -> np.ndarray:
    """[warps, 32] -> uint32[warps, 32]: for each lane, the lanes of its warp that have an equal value."""
    return bits(values[:, :, None] == values[:, None, :])


def members(lanes: Warps, mask: Value) -> np.ndarray:
    """The lanes that work together, for each lane: uint32[warps, 32], or [warps, 1] where each warp has one mask.

    mask: integers, of which the lower 32 bits count. Raises Fault.
    """
    active = lanes.warps(lanes.mask)
    here, gone = bits(active)[:, None], bits(lanes.warps(lanes.returned))[:, None]
    named = _named(lanes.warps(lanes.spread(mask)).astype(np.uint32), active)
    strangers = active & (named >> LANE & 1 == 0)
    if strangers.any():
        raise _not_itself(lanes, named, strangers)
    absent = named & ~here & ~gone
    if absent.any():
        raise _absent(lanes, named, absent, here)
    if named.shape[1] == WARP and (others := named & here & ~alike(named)).any():
        raise _two_masks(lanes, named, others)
    return named & here


def _named(masks: np.ndarray, active: np.ndarray) -> np.ndarray:
    """The masks of active lanes, 0 for all others: uint32[warps, 32], or [warps, 1] where each warp has one."""
    first: np.ndarray = np.take_along_axis(masks, active.argmax(axis=1)[:, None], axis=1)
    if np.all((masks == first) | ~active):
        return first * active.any(axis=1, keepdims=True)
    return masks * active


# What is refused ---------------------------------------------------------------------------------


def _not_itself(lanes: Warps, named: np.ndarray, strangers: np.ndarray) -> Fault:
    lane, mask = _first(strangers, named)
    return lanes.fault(
        "warp_mask",
        f"is not in its own mask.\nIt is lane {lane} of its warp; the mask is {mask:#010x}.",
        "A mask names the lane itself and those it works with. Which lanes come here?",
        lanes=strangers.ravel(),
    )


def _absent(lanes: Warps, named: np.ndarray, absent: np.ndarray, here: np.ndarray) -> Fault:
    callers = lanes.warps(lanes.mask) & (absent != 0)
    _, mask, missing, present = _first(callers, named, absent, here)
    fault = lanes.fault(
        "warp_mask",
        f"names lanes that are not here.\n"
        f"Its mask {mask:#010x} makes it wait for {_names(missing)} of its warp;\n"
        f"only {_names(present)} came.",
        "Which branch keeps them from it, or which loop has fewer turns for them?",
        lanes=callers.ravel(),
    )
    if len(lanes.frames) > 1:  # the branch or loop may be there
        caller = calling_spot()
        fault.add(f"{caller.function} called it in line {caller.line}:  {describe(caller)[2]}")
    return fault


def _two_masks(lanes: Warps, named: np.ndarray, others: np.ndarray) -> Fault:
    lane, mask, differing = _first(others != 0, named, others)
    return lanes.fault(
        "warp_mask",
        f"names lanes that pass other masks.\n"
        f"Lane {lane} of its warp passes {mask:#010x}; {_names(differing)} in it differ.",
        "Lanes that work together pass one mask. Which lanes are they?",
        lanes=(others != 0).ravel(),
    )


def nobody_gives(lanes: Warps, source: np.ndarray, unheard: np.ndarray) -> Fault:
    """The lanes `unheard` (bool[warps, 32]) read from lanes (`source`) that do not take part with them."""
    here, gone, exist = (bits(lanes.warps(each))[:, None] for each in (lanes.mask, lanes.returned, lanes.exists))
    lane, other, *words = _first(unheard, np.broadcast_to(source, unheard.shape), here, gone, exist)
    present, left, existing = (bool(word >> other & 1) for word in words)
    why = (
        "is not in its mask"
        if present
        else "does not exist"
        if not existing
        else "has left the kernel"
        if left
        else "is not here"
    )
    return lanes.fault(
        "shuffle",
        f"reads a value that nobody gives.\n"
        f"Lane {lane} of its warp asks lane {other}, which {why};\n{_names(words[0])} came.",
        "Could all 32 lanes take part, some with a value that changes nothing?"
        if not present
        else "Lanes exchange values within one mask. Which lanes belong together?",
        lanes=unheard.ravel(),
    )


def _first(callers: np.ndarray, *words: np.ndarray) -> tuple[int, ...]:
    """The first of these lanes (bool[warps, 32]): its number in its warp, and what each of `words` has for it."""
    warp, lane = map(int, np.argwhere(callers)[0])
    return lane, *(int(each[warp, lane % each.shape[1]]) for each in words)


def _names(word: int) -> str:
    """lane 5, or lanes 0 to 15, 20"""
    numbers = np.flatnonzero(word >> LANE & 1)
    return f"lane{'s' * (numbers.size > 1)} {ranges(numbers)}"
