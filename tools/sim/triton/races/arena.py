"""Room for addresses that are kept until somebody asks for them, used anew by every launch.

An array of its own for each would cost more than the access: memory that no one has touched yet is slow.
"""

import numpy as np

CHUNK = 1 << 20  # elements
CHUNKS = 4

_chunks: list[np.ndarray] = []


class Arena:
    """Copies of arrays of addresses, uint64, one after another, as many as fit."""

    def __init__(self) -> None:
        self._chunk = self._used = 0

    def keep(self, addresses: np.ndarray) -> np.ndarray | None:
        """A copy that stays until `clear`; None where there is no room for it."""
        if self._used + addresses.size > CHUNK:
            self._chunk, self._used = self._chunk + 1, 0
        if self._chunk == CHUNKS or addresses.size > CHUNK:
            return None
        if self._chunk == len(_chunks):
            _chunks.append(np.empty(CHUNK, np.uint64))
        kept = _chunks[self._chunk][self._used : self._used + addresses.size]
        kept[:] = addresses
        self._used += addresses.size
        return kept

    def clear(self) -> None:
        """There is room again; nobody needs the copies any more."""
        self._chunk = self._used = 0
