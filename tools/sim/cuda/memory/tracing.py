"""Accesses of the lanes, told to the listener of tools/sim/trace.py."""

import math

import numpy as np

from tools.sim import trace
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.storage import Storage
from tools.sim.faults import Spot

SPACES = "global", "shared"


def tell(spot: Spot, lanes: Lanes, storage: Storage, keys: np.ndarray, operation: str) -> None:
    """An access of the active lanes. keys: element of each, as Storage.keys gives them."""
    if storage.kind not in SPACES:
        return
    active = slice(None) if lanes.indices is None else lanes.indices
    shared = storage.kind == "shared"
    addresses = storage.address + (keys % storage.size if shared else keys) * storage.pitch
    assert trace.listener is not None
    trace.listener.access(
        trace.Access(
            spot,
            operation,
            _memory(storage),
            addresses,
            storage.flat.itemsize,
            lanes.first + lanes.block_of[active],
            lanes.thread[active],
        )
    )


def _memory(storage: Storage) -> trace.Memory:
    strides = storage.strides or [math.prod(storage.shape[axis + 1 :]) for axis in range(len(storage.shape))]
    return trace.Memory(
        storage.name,
        storage.kind,
        tuple(map(int, storage.shape)),
        tuple(int(step) * storage.pitch for step in strides),
        storage.flat.itemsize,
        storage.address + storage.start * storage.pitch,
    )
