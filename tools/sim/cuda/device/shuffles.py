"""Exchange between the lanes of a warp without memory: shuffles, votes and matches.

Names, arguments and types are those of numba-cuda 0.30; what happens is what the PTX ISA says of the instructions
behind them (shfl.sync, vote.sync, match.sync). They order no memory: only cuda.syncwarp and the barriers do.
"""

from collections.abc import Callable

import numpy as np

from tools.models.units import WARP
from tools.sim.cuda.device.sync_masks import LANE, alike, bits, members, nobody_gives
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.numbers.signatures import INTEGERS, converted, only
from tools.sim.cuda.run.intrinsic import intrinsic
from tools.sim.cuda.run.warps import current

WORDS = ("int32", "int64", "uint32", "uint64")  # types of masks and offsets
VALUES = ("int32", "int64", "float32", "float64")  # of what a warp exchanges or compares


# Shuffles ----------------------------------------------------------------------------------------


@intrinsic
def shfl_sync(mask: Value, value: Value, src_lane: Value) -> Value:
    """The value of lane src_lane % 32: of this argument, as of the others, the hardware reads five bits."""
    return _shuffle("shfl_sync", mask, value, "src_lane", src_lane, lambda lane, offset: offset)


@intrinsic
def shfl_up_sync(mask: Value, value: Value, delta: Value) -> Value:
    """The value of the lane that is delta % 32 lower; a lane's own where there is none."""
    return _shuffle("shfl_up_sync", mask, value, "delta", delta, np.subtract)


@intrinsic
def shfl_down_sync(mask: Value, value: Value, delta: Value) -> Value:
    """The value of the lane that is delta % 32 higher; a lane's own where there is none."""
    return _shuffle("shfl_down_sync", mask, value, "delta", delta, np.add)


@intrinsic
def shfl_xor_sync(mask: Value, value: Value, lane_mask: Value) -> Value:
    """The value of lane laneid ^ (lane_mask % 32)."""
    return _shuffle("shfl_xor_sync", mask, value, "lane_mask", lane_mask, np.bitwise_xor)


def _shuffle(name: str, mask: Value, value: Value, argument: str, offset: Value, partner: Callable) -> Value:
    """partner(lane, offset): the lane that is read; a lane reads itself when that lies outside its warp."""
    only(f"cuda.{name}", "mask", mask, WORDS)
    only(f"cuda.{name}", "value", value, VALUES)
    only(f"cuda.{name}", argument, offset, WORDS)
    lanes = current()
    together = members(lanes, mask)
    source = partner(LANE, np.reshape(offset, (-1, WARP) if np.ndim(offset) else (1, 1)).astype(np.int64) % WARP)
    source = np.where((source >= 0) & (source < WARP), source, LANE)  # [warps, 32], or [1, 32] if it is one for all
    unheard = lanes.warps(lanes.mask) & (together >> source & 1 == 0)
    if unheard.any():
        raise nobody_gives(lanes, source, unheard)
    return lanes.warps(lanes.spread(value))[np.arange(lanes.count // WARP)[:, None], source].ravel()


# Votes -------------------------------------------------------------------------------------------


@intrinsic
def all_sync(mask: Value, predicate: Value) -> Value:
    """bool: is the predicate true (not 0) for all lanes?"""
    votes, together = _vote("all_sync", mask, predicate)
    return _each(votes == together)


@intrinsic
def any_sync(mask: Value, predicate: Value) -> Value:
    """bool: is it true for at least one?"""
    votes, _ = _vote("any_sync", mask, predicate)
    return _each(votes != 0)


@intrinsic
def eq_sync(mask: Value, predicate: Value) -> Value:
    """bool: is it true for all, or for none?"""
    votes, together = _vote("eq_sync", mask, predicate)
    return _each((votes == together) | (votes == 0))


@intrinsic
def ballot_sync(mask: Value, predicate: Value) -> Value:
    """int32: a bit for each lane for which it is true."""
    votes, _ = _vote("ballot_sync", mask, predicate)
    return _each(votes.astype(np.int32))


def _vote(name: str, mask: Value, predicate: Value) -> tuple[np.ndarray, np.ndarray]:
    """The lanes for which it is true, and those that vote: as `members`."""
    only(f"cuda.{name}", "mask", mask, WORDS)
    only(f"cuda.{name}", "predicate", predicate, (*INTEGERS, "bool"))
    lanes = current()
    together = members(lanes, mask)
    return bits(lanes.warps(lanes.mask & (predicate != 0)))[:, None] & together, together


# Matches -----------------------------------------------------------------------------------------


@intrinsic
def match_any_sync(mask: Value, value: Value) -> Value:
    """int32: a bit for each lane with the same value, bit for bit."""
    same, _ = _match("match_any_sync", mask, value)
    return _each(same.astype(np.int32))


@intrinsic
def match_all_sync(mask: Value, value: Value) -> tuple[np.ndarray, np.ndarray]:
    """(int32, bool): if all have the same value, a bit for each of them and True; else 0 and False."""
    same, together = _match("match_all_sync", mask, value)
    agree = same == together
    return _each(np.where(agree, together, 0).astype(np.int32)), _each(agree)


def _match(name: str, mask: Value, value: Value) -> tuple[np.ndarray, np.ndarray]:
    """The lanes with the same value, and those that compare: as `members`."""
    lanes = current()
    (mask,) = converted(f"cuda.{name}", ("int32",), mask)
    (value,) = converted(f"cuda.{name}", VALUES, value)
    together = members(lanes, mask)
    patterns = lanes.spread(value.view(f"int{8 * value.itemsize}"))
    return alike(lanes.warps(patterns)) & together, together


# Who is here -------------------------------------------------------------------------------------


@intrinsic
def activemask() -> Value:
    """uint32: a bit for each lane of the warp that is active."""
    lanes = current()
    return _each(bits(lanes.warps(lanes.mask))[:, None])


@intrinsic
def lanemask_lt() -> Value:
    """uint32: a bit for each lane with a lower number."""
    return _each(np.broadcast_to((np.uint32(1) << LANE) - np.uint32(1), (current().count // WARP, WARP)))


def _each(values: np.ndarray) -> np.ndarray:
    """One for each lane, of [warps, 32] or [warps, 1]."""
    return np.broadcast_to(values, (values.shape[0], WARP)).ravel()
