"""The record of what a call does: simulators report to it, and tests read it."""

from collections.abc import Iterator
from contextlib import contextmanager

from tools.sim import libraries, trace
from tools.sim.counters import Counters, Launch

_recordings: list[Counters] = []


@contextmanager
def record() -> Iterator[Counters]:
    """Count all that happens inside; the counters are complete when it ends. Recordings may be nested."""
    counters = Counters()
    _recordings.append(counters)
    try:
        with libraries.listed(counters.library_operations, counters.library_float64, counters.library_fills):
            yield counters
    finally:
        _recordings.pop()


@contextmanager
def unrecorded() -> Iterator[None]:
    """What happens inside is on no record: trials, whose figures nobody asked for."""
    hidden = _recordings[:]
    _recordings.clear()
    try:
        with trace.heard_by(None):
            yield
    finally:
        _recordings[:] = hidden


def recording() -> bool:
    """Does anybody count at present?"""
    return bool(_recordings)


def launched(launch: Launch) -> None:
    """A kernel ran."""
    for counters in _recordings:
        counters.add(launch)


def operated(name: str, in_float64: bool) -> None:
    """A library's function worked, as "cupy.matmul". in_float64: with numbers of that type."""
    for counters in _recordings:
        counters.library_operations.append(name)
        if in_float64:
            counters.library_float64.append(name)


def uploaded(size: int) -> None:
    """So many bytes went from the host to the GPU."""
    for counters in _recordings:
        counters.transfers.uploads += 1
        counters.transfers.bytes_uploaded += size


def downloaded(size: int) -> None:
    """So many bytes came from the GPU to the host."""
    for counters in _recordings:
        counters.transfers.downloads += 1
        counters.transfers.bytes_downloaded += size


def copied(size: int) -> None:
    """So many bytes were copied within the GPU's memory."""
    for counters in _recordings:
        counters.transfers.copies += 1
        counters.transfers.bytes_copied += size


def synchronized() -> None:
    """The host waited for the GPU."""
    for counters in _recordings:
        counters.transfers.synchronizations += 1
