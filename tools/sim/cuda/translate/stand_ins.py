"""Arrays that have a type and no memory, for runs of a kernel that look for types alone."""

from typing import Any

import numpy as np

from tools.sim.cuda.memory.array import Array
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.space import Space
from tools.sim.cuda.memory.storage import Storage


class NoSpace(Space):
    """Gives arrays that have one element, wherever one looks."""

    def array(self, name: str, kind: str, dtype: np.dtype, shape: tuple[int, ...]) -> Array:
        storage = self._storage(name, dtype, shape, kind)
        return Array(self.lanes, storage, tuple(map(np.int64, shape)), (1,) * len(shape))

    def constant(self, values: np.ndarray) -> Array:
        return self.array("a constant array", "constant", values.dtype, values.shape)

    def captured(self, thing: Any) -> Array:
        return self.array("a device array", "global", thing.dtype, thing.shape)

    def _storage(self, name: str, dtype: np.dtype, shape: tuple[int, ...], kind: str) -> Storage:
        return _Element(name, kind, np.zeros(1, dtype), shape)

    _dynamic_storage = _storage


class _Element(Storage):
    def keys(self, lanes: Lanes, offsets: Any) -> Any:
        return lanes.indices

    def field(self, name: str) -> Storage:
        field = super().field(name)
        return _Element(field.name, field.kind, np.zeros(1, field.flat.dtype), field.shape)


class NoCounting:
    """Takes what would be counted."""

    def access(self, *_: Any) -> None:
        """An access to memory."""
