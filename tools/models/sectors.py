"""Sectors and lines: what the loads, stores and atomic operations of a warp touch of global memory.

Everywhere: addresses are bytes, an integer array [..., 32] with one row for each request of a warp; mask is bool
[..., 32], the active lanes (None: all); size is the bytes of one lane's access, 1 to 16, at any alignment.
"""

import numpy as np

from tools.models.units import LINE_BITS, SECTOR_BITS

ABSENT = 1 << 62  # in place of the address of a lane that is not active


def sectors(addresses: np.ndarray, size: int, mask: np.ndarray | None = None) -> np.ndarray:
    """How many sectors each request touches: int64 [...], 0 where no lane is active.

    Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_ld and _st.
    """
    return _distinct(_pieces(addresses, size, mask, SECTOR_BITS), SECTOR_BITS)


def lines(addresses: np.ndarray, size: int, mask: np.ndarray | None = None) -> np.ndarray:
    """How many lines each request touches: int64 [...], 0 where no lane is active."""
    return _distinct(_pieces(addresses, size, mask, LINE_BITS), LINE_BITS)


def atomic_sectors(addresses: np.ndarray, size: int, mask: np.ndarray | None = None) -> np.ndarray:
    """How many sectors each request of an atomic operation sends: int64 [...]. Addresses are aligned to size.

    A sector goes out once for each update of the element in it that most lanes update. That is not documented;
    Nsight Compute counts so on an H200 (l1tex__t_sectors_pipe_lsu_mem_global_op_atom and _red), but one more where
    lanes reach 20 and more sectors and some of them meet.
    """
    bits = size.bit_length() - 1
    elements = _pieces(addresses, size, mask, bits)
    runs = np.flatnonzero(_begins(elements))  # of lanes with one element; rows laid end to end
    updates, values, rows = np.diff(runs, append=elements.size), elements.ravel()[runs], runs // elements.shape[-1]
    updates[values == ABSENT >> bits] = 0
    begins = np.flatnonzero(_begins(rows) | _begins(values >> SECTOR_BITS - bits))
    most = np.maximum.reduceat(updates, begins) if begins.size else updates
    sent = np.bincount(rows[begins], most, minlength=elements[..., 0].size)
    return sent.astype(np.int64).reshape(elements.shape[:-1])


def efficiency(addresses: np.ndarray, size: int, mask: np.ndarray | None = None) -> float:
    """Of the bytes of all touched sectors, the share that some lane asks for; 1.0 if nothing is touched."""
    moved = sectors(addresses, size, mask).sum() << SECTOR_BITS
    asked = _distinct(_pieces(addresses, size, mask, 0), 0).sum()
    return float(asked / moved) if moved else 1.0


def _pieces(addresses: np.ndarray, size: int, mask: np.ndarray | None, bits: int) -> np.ndarray:
    """The pieces of 2**bits bytes that each row touches, in order, some several times; those of ABSENT are last."""
    if not 1 <= size <= 16:
        raise ValueError(f"an access has 1 to 16 bytes, not {size}")
    addresses = np.asarray(addresses, np.int64)
    if mask is not None and not mask.all():
        addresses = np.where(mask, addresses, ABSENT)
    offsets = _offsets(addresses, size, 1 << bits)
    by_offset = [addresses + offset >> bits for offset in offsets]
    pieces = by_offset[0] if len(by_offset) == 1 else np.concatenate(by_offset, axis=-1)
    in_order = not (pieces[..., 1:] < pieces[..., :-1]).any()
    return pieces if in_order else np.sort(pieces, axis=-1)


def _offsets(addresses: np.ndarray, size: int, piece: int) -> list[int]:
    """Bytes of an access that lie in all pieces it touches. The first alone will do where the last is in its piece,
    as it surely is when adding size - 1 carries no bit."""
    carries = np.bitwise_or.reduce(addresses, axis=None) & (size - 1)
    return sorted({*range(0, size, piece), size - 1}) if carries or size > piece else [0]


def _begins(ordered: np.ndarray) -> np.ndarray:
    """Where a value differs from the one before it; the first of a row does."""
    begins = np.empty(ordered.shape, bool)
    begins[..., :1] = True
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=begins[..., 1:])
    return begins


def _distinct(ordered: np.ndarray, bits: int) -> np.ndarray:
    """How many different pieces stand in each row; those of ABSENT do not count."""
    return np.count_nonzero(_begins(ordered) & (ordered < ABSENT >> bits), axis=-1)
