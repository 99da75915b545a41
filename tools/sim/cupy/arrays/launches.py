"""Kernels on the device and on record: what each launch loads and stores, by the addresses that its warps touch."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tools.models import sectors
from tools.models.units import WARP
from tools.sim import recording
from tools.sim.counters import Counts, Launch
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.device import streams
from tools.sim.floats import WIDE

BLOCK = 128  # threads in a block of CuPy's elementwise kernels


@dataclass(frozen=True)
class Picked:
    """The elements that NumPy's index picks, one a thread in C order. shape: of the result."""

    array: ndarray
    index: Any
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.array.itemsize


@dataclass(frozen=True)
class Scattered:
    """The elements at these places of the flattened array. threads: the number of the one that accesses each."""

    array: ndarray
    places: np.ndarray
    threads: np.ndarray

    @property
    def size(self) -> int:
        return self.places.size

    @property
    def nbytes(self) -> int:
        return self.size * self.array.itemsize


Accessed = ndarray | Picked | Scattered
FIGURES = ("bytes_loaded", "bytes_stored", "bytes_atomic")
VERBS = {"load": "loads", "store": "stores", "atomic": "updates"}


def blocks(threads: int) -> tuple[int]:
    """The grid of a kernel with so many threads."""
    return (-(-threads // BLOCK),)


def elementwise(
    kernel: str,
    shape: tuple[int, ...],
    loads: Iterable[ndarray] = (),
    stores: Iterable[ndarray] = (),
    work: Callable[[], None] | None = None,
    arithmetic: Counts | None = None,
) -> None:
    """A kernel with one thread an element of `shape`, in C order; each array is stretched to that shape."""
    loads, stores = ([stretched(array, shape) for array in arrays] for arrays in (loads, stores))
    launch(kernel, blocks(prod(shape)), loads, stores, work=work, arithmetic=arithmetic)


def launch(
    kernel: str,
    grid: tuple[int, ...] = (),
    loads: Iterable[Accessed] = (),
    stores: Iterable[Accessed] = (),
    atomics: Iterable[Accessed] = (),
    work: Callable[[], None] | None = None,
    arithmetic: Counts | None = None,
) -> None:
    """A kernel whose threads access, one after the other, the elements of each of these.

    grid: blocks; () where it is the library's choice. work: writes what it writes to memory that existed before.
    arithmetic: what it does in float64, and converts.
    """
    accesses = list(zip(FIGURES, map(list, (loads, stores, atomics))))
    arrays = [each if isinstance(each, ndarray) else each.array for _, accessed in accesses for each in accessed]

    def run() -> list:
        if work is not None:
            work()
        return accesses

    execute(kernel, grid, arrays, run, arithmetic=arithmetic)


def execute(
    kernel: str,
    grid: tuple[int, ...],
    arrays: list[ndarray],
    run: Callable[[], list],
    stream: Any = None,
    arithmetic: Counts | None = None,
) -> None:
    """A kernel that may touch these arrays. run: does its work, and gives (figure, what was accessed so).

    arithmetic: as of `launch`; `run` may add to it.
    """
    accesses: list[tuple[str, Accessed]] = []

    def all_of_it() -> int:
        accesses.extend((figure, each) for figure, accessed in run() for each in accessed)
        return sum(each.nbytes for _, each in accesses)

    streams.execute(kernel, [array.elements for array in arrays], all_of_it, stream)
    if recording.recording():
        counts = Counts(programs=prod(grid) if grid else 0) + (arithmetic or Counts())
        for figure, each in accesses:
            pieces, lines = touched(figure, each)
            figures: dict[str, Any] = {figure: each.nbytes, "accesses": each.size, "sectors": pieces, "lines": lines}
            counts.include(Counts(**figures))
        recording.launched(Launch(kernel, grid, counts, ()))


def clear(array: ndarray) -> None:
    """Set all bytes to 0: no kernel, but work for the device."""

    def run() -> int:
        array.elements[...] = 0
        return array.nbytes

    if array.size:
        if not streams.captured("memset", [array.elements], lambda: clear(array)):
            streams.execute("memset", [array.elements], run)


def library(name: str, arrays: list[ndarray], work: Callable[[], None] | None = None) -> None:
    """A library's function that reads or writes all of these arrays, as "cupy.matmul"."""

    def run() -> int:
        if work is not None:
            work()
        return sum(array.nbytes for array in arrays)

    streams.execute(name, [array.elements for array in arrays], run)
    recording.operated(name, in_float64=any(array.dtype in WIDE for array in arrays))


# Sectors and lines -------------------------------------------------------------------------------


def touched(figure: str, accessed: Accessed) -> tuple[int, int]:
    """Sectors and lines, summed over the warps: 32 threads each, which access one element after the other in C order.

    figure: how it is accessed. Atomic operations send a sector once for each update that must wait for another.
    """
    if not accessed.size:
        return 0, 0
    rows, mask = _requests(*_addresses(accessed))
    size = accessed.array.itemsize if isinstance(accessed, (Picked, Scattered)) else accessed.itemsize
    count = sectors.atomic_sectors if figure == "bytes_atomic" else sectors.sectors
    return int(count(rows, size, mask).sum()), int(sectors.lines(rows, size, mask).sum())


def _addresses(accessed: Accessed) -> tuple[np.ndarray, np.ndarray]:
    """The address of each element, and the number of the thread that accesses it."""
    if isinstance(accessed, Scattered):
        return addresses(accessed.array)[accessed.places], accessed.threads
    if isinstance(accessed, Picked):
        places = addresses(accessed.array).reshape(accessed.array.shape)[accessed.index]
        return np.broadcast_to(places, accessed.shape).reshape(-1), np.arange(accessed.size)
    return addresses(accessed), np.arange(accessed.size)


def _requests(places: np.ndarray, threads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A row for each warp: the addresses of its 32 threads, and which of them access any."""
    warps, row = np.unique(threads // WARP, return_inverse=True)
    rows, mask = np.zeros((warps.size, WARP), np.int64), np.zeros((warps.size, WARP), bool)
    rows[row, threads % WARP], mask[row, threads % WARP] = places, True
    return rows, mask


def addresses(array: ndarray) -> np.ndarray:
    """The address of each element, in C order."""
    place = np.full(array.shape, array.data.ptr)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides)):
        place += (np.arange(length) * stride).reshape(-1, *(1,) * (array.ndim - axis - 1))
    return place.reshape(-1)


def stretched(array: ndarray, shape: tuple[int, ...]) -> ndarray:
    """The array as if it had this shape; no element is copied."""
    return array if array.shape == shape else on_device(np.broadcast_to(array.elements, shape), array)
