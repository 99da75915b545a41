"""Banks: how many wavefronts the shared-memory requests of a warp take, and how many of them are conflicts.

Everywhere: addresses are bytes, an integer array [..., 32] with one row for each request of a warp, aligned to size;
mask is bool [..., 32], the active lanes (None: all); size is the bytes of one lane's access: 1, 2, 4, 8 or 16; kind
is "load", "store" or "atomic".
"""

import numpy as np

from tools.models.units import BANKS, WARP, WORD

ROW = BANKS * WORD  # bytes of a wavefront: a word from each bank
SIZES, KINDS = (1, 2, 4, 8, 16), ("load", "store", "atomic")
NONE = np.iinfo(np.int64).max  # in place of the word of a lane that is not active


def wavefronts(addresses: np.ndarray, size: int, mask: np.ndarray | None = None, kind: str = "load") -> np.ndarray:
    """How many wavefronts each request takes: int64 [...], 0 where no lane is active.

    Nsight Compute: l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld, _st and _atom.
    """
    return count(addresses, size, mask, kind)[0]


def conflicts(addresses: np.ndarray, size: int, mask: np.ndarray | None = None, kind: str = "load") -> np.ndarray:
    """How many wavefronts each request takes beyond one for each of its groups of lanes: int64 [...].

    Nsight Compute: l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld, _st and _atom.
    """
    return count(addresses, size, mask, kind)[1]


def conflict_degree(stride: int, itemsize: int) -> int:
    """How many times as long a load takes when lane i reads element i * stride, beside one without conflicts."""
    total, extra = count(np.arange(WARP) * stride * itemsize, itemsize)
    return int(total // (total - extra))


def count(
    addresses: np.ndarray, size: int, mask: np.ndarray | None = None, kind: str = "load"
) -> tuple[np.ndarray, np.ndarray]:
    """Wavefronts and conflicts of each request, two arrays int64 [...].

    A wavefront takes one word from each bank, and all lanes of a group that want it have it (CUDA C++ Programming
    Guide, Shared Memory); of an atomic operation, it serves one lane at each bank. ValueError for other kinds, sizes.
    """
    if size not in SIZES or kind not in KINDS:
        raise ValueError(
            f"a request is a load, store or atomic of 1, 2, 4, 8 or 16 bytes a lane,\nnot a {kind} of {size}"
        )
    addresses = np.asarray(addresses, np.int64)
    active = np.ones(addresses.shape, bool) if mask is None else np.broadcast_to(mask, addresses.shape)
    shape, addresses, active = addresses.shape[:-1], addresses.reshape(-1, WARP), active.reshape(-1, WARP)
    together = lanes_together(addresses, size, active, kind)
    total, groups = np.zeros((2, len(addresses)), np.int64)
    for width in np.unique(together):
        rows = together == width if (together != width).any() else ...
        each = _of_groups(addresses[rows].reshape(-1, width), size, active[rows].reshape(-1, width), kind)
        each = each.reshape(-1, WARP // width)
        total[rows], groups[rows] = each.sum(-1), np.count_nonzero(each, axis=-1)
    return total.reshape(shape), (total - groups).reshape(shape)


def same_word(addresses: np.ndarray, size: int, mask: np.ndarray | None = None) -> np.ndarray:
    """How many of the conflicts of each atomic no other place in memory would save: int64 [...].

    The lanes that update one word go one after the other, so a group takes a wavefront for each lane of the word that
    most of its lanes want.
    """
    addresses = np.asarray(addresses, np.int64)
    active = np.ones(addresses.shape, bool) if mask is None else np.broadcast_to(mask, addresses.shape)
    width, words = min(WARP, ROW // size), addresses // max(WORD, size)
    ordered = np.sort(np.where(active, words, NONE).reshape(-1, width), axis=-1)
    place = np.cumsum(np.diff(ordered, axis=-1, prepend=ordered[:, :1]) != 0, axis=-1)  # of a word among those of a row
    cells = (np.arange(len(ordered))[:, None] * width + place)[ordered != NONE]
    most = np.bincount(cells, minlength=ordered.size).reshape(-1, width).max(-1)
    return np.maximum(most - 1, 0).reshape(-1, WARP // width).sum(-1).reshape(addresses.shape[:-1])


def lanes_together(addresses: np.ndarray, size: int, active: np.ndarray, kind: str) -> np.ndarray:
    """How many neighbouring lanes share wavefronts, for each request: 32, 16 or 8; int64 [rows].

    A wavefront carries 128 bytes: lanes of 8 bytes are served by halves of a warp, of 16 bytes by quarters. Twice
    as many are served together in a load where each lane n wants what lane n ^ 1 wants, or each what n ^ 2 wants,
    throughout the warp; a lane that is not active wants what any other does. The exception is NVIDIA's word for
    compute capability 7.x (Developer Forums, "Unexpected shared memory bank conflict", 2019). It explains every
    request measured on an H200 (tools/tests/models/requests_h200.json); for other chips it is assumed.
    """
    width = min(WARP, ROW // size)
    together = np.full(len(addresses), width)
    if kind == "load" and width < WARP:
        together[_paired(addresses, active, 1) | _paired(addresses, active, 2)] *= 2
    return together


def _paired(addresses: np.ndarray, active: np.ndarray, distance: int) -> np.ndarray:
    """Whether lanes n and n ^ distance want the same, throughout each row."""
    pairs = -1, WARP // (2 * distance), 2, distance
    (one, other), (first, second) = (np.moveaxis(rows.reshape(pairs), 2, 0) for rows in (addresses, active))
    return ~((one != other) & first & second).any((1, 2))


def _of_groups(addresses: np.ndarray, size: int, active: np.ndarray, kind: str) -> np.ndarray:
    """Wavefronts of groups of lanes, one group a row: int64 [rows]. What one lane wants is one word, if a wide one."""
    word = max(4, size)
    words, banks = addresses // word, ROW // word
    low = np.where(active, words, NONE).min(-1)
    high = np.where(active, words, -1).max(-1)
    total = (low <= high).astype(np.int64)
    crowded = total > 0 if kind == "atomic" else high - low >= banks
    if crowded.any():
        total[crowded] = _busiest(words[crowded], active[crowded], banks, kind)
    return total


def _busiest(words: np.ndarray, active: np.ndarray, banks: int, kind: str) -> np.ndarray:
    """How many wavefronts the busiest bank of each row needs: int64 [rows]."""
    ordered = np.sort(np.where(active, words, NONE), axis=-1)
    served = ordered != NONE
    if kind != "atomic":
        served[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    cells = (np.arange(len(words))[:, None] * banks + ordered % banks)[served]
    return np.bincount(cells, minlength=len(words) * banks).reshape(-1, banks).max(-1)
