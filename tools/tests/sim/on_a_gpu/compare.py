"""Results of two machines side by side."""

import numpy as np


def outcome(pairs: list[tuple[str, np.ndarray, np.ndarray]]) -> dict:
    """pairs: what it is, simulated, real; of one dtype and size. NaN equals NaN."""
    said = [f"{name}: {text}" for name, ours, theirs in pairs if (text := difference(ours, theirs))]
    return {"outcome": "differs", "how": "; ".join(said)} if said else {"outcome": "equal"}


def difference(ours: np.ndarray, theirs: np.ndarray) -> str:
    """How far they are apart; nothing where they are equal."""
    ours, theirs = ours.reshape(-1), theirs.reshape(-1)
    if ours.dtype.kind in "biu" or ours.dtype.names:
        wrong = np.flatnonzero(ours != theirs)
        return wrong.size and _shown(wrong, ours, theirs) or ""
    a, b = ours.astype(np.complex128), theirs.astype(np.complex128)
    wrong = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
    if not wrong.size:
        return ""
    with np.errstate(all="ignore"):
        apart = np.abs(a[wrong] - b[wrong])
        relative = apart / np.maximum(np.abs(a[wrong]), 1e-300)
    worst = wrong[[np.nanargmax(relative)]]
    return (
        f"{_shown(wrong, ours, theirs)}; at most {np.nanmax(apart):.2g}, relative {np.nanmax(relative):.2g}, "
        f"{_shown(worst, ours, theirs).partition('first ')[2]}"
    )


def _shown(wrong: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> str:
    first = wrong[0]
    return f"{wrong.size} of {ours.size}, first [{first}] {ours[first]!s} here {theirs[first]!s} there"
