"""Barriers, also those that count, syncwarp, and fences: who waits for whom, and whose writes are seen."""

from collections.abc import Callable

import numpy as np

from tools.sim.cuda.device.sync_masks import members
from tools.sim.cuda.numbers.conversion import convert
from tools.sim.cuda.numbers.promotion import Value
from tools.sim.cuda.numbers.signatures import INTEGERS, converted, only
from tools.sim.cuda.run.intrinsic import intrinsic
from tools.sim.cuda.run.warps import current


@intrinsic
def syncthreads() -> None:
    """Wait for all threads of the block; what they wrote before, all see from here on."""
    current().barrier()


@intrinsic
def syncthreads_count(predicate: Value) -> Value:
    """int32: syncthreads, and for how many threads of the block the predicate is not 0."""
    return _counted("syncthreads_count", predicate, lambda true, threads: true)


@intrinsic
def syncthreads_and(predicate: Value) -> Value:
    """int32: syncthreads, and 1 if it is not 0 for any thread, else 0."""
    return _counted("syncthreads_and", predicate, np.equal)


@intrinsic
def syncthreads_or(predicate: Value) -> Value:
    """int32: syncthreads, and 1 if it is not 0 for at least one thread, else 0."""
    return _counted("syncthreads_or", predicate, lambda true, threads: true > 0)


def _counted(name: str, predicate: Value, result: Callable) -> np.ndarray:
    """result(threads of a block for which it is true, threads that are there), for each lane."""
    only(f"cuda.{name}", "predicate", predicate, INTEGERS)
    predicate = convert(predicate, np.dtype(np.int32))
    lanes = current()
    lanes.barrier()
    true, threads = (
        np.count_nonzero(each.reshape(lanes.blocks, -1), axis=1) for each in (lanes.mask & (predicate != 0), lanes.mask)
    )
    return np.repeat(result(true, threads).astype(np.int32), lanes.width)


@intrinsic
def syncwarp(mask: Value = np.int32(-1)) -> None:
    """Wait for the lanes of the mask; what they wrote before, they see of each other from here on."""
    lanes = current()
    (mask,) = converted("cuda.syncwarp", ("int32",), mask)
    lanes.warp_barrier(members(lanes, mask))


@intrinsic
def threadfence() -> None:
    """Whoever on the GPU sees what a thread stores after it, sees also what the thread stored before."""
    current().fence("threadfence")


@intrinsic
def threadfence_system() -> None:
    """The same for the host and other GPUs, too."""
    current().fence("threadfence_system")


@intrinsic
def threadfence_block() -> None:
    """The same for the thread's block only, which here sees every store at once."""
    current().fence("threadfence_block")
