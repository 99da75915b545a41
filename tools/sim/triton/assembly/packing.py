"""Elements in registers: several that are shorter than 32 bits share one, the first in the lowest bits."""

import numpy as np


def _sharing(dtype: np.dtype, pack: int) -> int:
    """How many elements a register holds."""
    return max(1, min(4 // dtype.itemsize, pack))


def registers(dtype: np.dtype, pack: int) -> int:
    """How many hold `pack` elements."""
    return pack // _sharing(dtype, pack)


def packed(values: np.ndarray, pack: int) -> list[np.ndarray]:
    """The registers of one argument, as uint64, one number for each run. values: flat; the last run is filled up."""
    size, together = values.itemsize, _sharing(values.dtype, pack)
    bits = np.ascontiguousarray(values).view(f"u{size}").astype(np.uint64)
    bits = np.pad(bits, (0, -len(bits) % pack)).reshape(-1, pack // together, together)
    shifts = np.arange(together, dtype=np.uint64) * np.uint64(8 * size)
    whole = np.bitwise_or.reduce(bits << shifts, axis=-1)
    return list(whole.T)


def unpacked(made: list[np.ndarray], dtype: np.dtype, pack: int) -> np.ndarray:
    """The flat elements of one output."""
    size, together = dtype.itemsize, _sharing(dtype, pack)
    shifts = np.arange(together, dtype=np.uint64) * np.uint64(8 * size)
    bits = np.stack(made, axis=1)[:, :, None] >> shifts
    return bits.astype(f"u{size}").view(dtype).ravel()
