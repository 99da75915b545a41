"""A raw argument: the kernel's code picks its elements itself, and every pick is checked and counted."""

import os
from typing import Any

import numpy as np

from tools.sim import faults, floats
from tools.sim.cupy.arrays.casts import convert
from tools.sim.cupy.arrays.launches import VERBS, Scattered
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.kernels.refusal import Code

ROOM = os.path.dirname(faults.__file__) + os.sep  # the simulators' own files


def fault(
    code: Code, line: int, kind: str, what: str, question: str, array: str | None = None, operation: str | None = None
) -> faults.Fault:
    """A fault of a kernel, raised where the learner calls it."""
    spot = faults.spot(faults.innermost(lambda file: file.startswith(ROOM)))
    return faults.Fault(spot, kind, f"{code.place(line)}\n{what}", question, array=array, operation=operation)


class Raw:
    """array: of the device. loads, stores, atomics: what the threads did to it."""

    def __init__(self, name: str, array: ndarray, constant: bool) -> None:
        self.name, self.array, self.constant = name, array, constant
        self._flat = array.elements.reshape(-1) if array.elements.flags.c_contiguous else array.elements.flat
        self.done: dict[str, list[Scattered]] = {"load": [], "store": [], "atomic": []}

    def without_threads(self) -> "Raw":
        """The same array for nobody: no access to it is counted."""
        return Raw(self.name, self.array, self.constant)

    def load(self, code: Code, line: int, index: Any, mask: np.ndarray) -> np.ndarray:
        """The elements at these places, for the threads of the mask."""
        places = self._places("load", code, line, index, mask)
        values = np.zeros(mask.size, self.array.dtype)
        values[mask] = self._flat[places]
        return values

    def store(self, code: Code, line: int, index: Any, value: np.ndarray, mask: np.ndarray) -> None:
        """Put values there, which have the array's type."""
        places = self._places("store", code, line, index, mask)
        stored = np.broadcast_to(value, mask.shape)[mask]
        self._flat[places] = stored
        lost = np.flatnonzero((self._flat[places] != stored) & (stored == stored))
        if lost.size:
            raise self._race(code, line, places, mask, int(lost[0]))

    def update(self, code: Code, line: int, function: np.ufunc, index: Any, value: Any, mask: np.ndarray) -> None:
        """The threads change the elements one after the other."""
        places = self._places("atomic", code, line, index, mask)
        value = floats.cast(value, convert(np.asarray(value), self.array.dtype))
        floats.called(self._flat[:1], [value])
        values = np.broadcast_to(value, mask.shape)[mask]
        whole = self.array.elements.reshape(-1)
        function.at(whole, places, values)
        self._flat[...] = whole

    def _places(self, operation: str, code: Code, line: int, index: Any, mask: np.ndarray) -> np.ndarray:
        """The place of each thread of the mask. Raises Fault for one that the array does not have."""
        if self.constant and operation != "load":
            raise code.wrong(line, f"{self.name!r} is an input, which a kernel cannot change.")
        places = np.broadcast_to(index, mask.shape)[mask].astype(np.int64)
        outside = (places < 0) | (places >= self.array.size)
        if outside.any():
            first = int(np.argmax(outside))
            raise fault(
                code,
                line,
                "out_of_bounds",
                f"Thread {np.flatnonzero(mask)[first]} {VERBS[operation]} element {places[first]} of "
                f"{self.name!r}, which has {self.array.size}; {int(outside.sum())} threads do so.",
                "Which threads must not come here? A GPU would use the memory of somebody else.",
                self.name,
                operation,
            )
        self.done[operation].append(Scattered(self.array, places, np.flatnonzero(mask)))
        return places

    def _race(self, code: Code, line: int, places: np.ndarray, mask: np.ndarray, lost: int) -> faults.Fault:
        threads = np.flatnonzero(mask)
        other = np.flatnonzero(places == places[lost])[-1]
        return fault(
            code,
            line,
            "race",
            f"Threads {threads[lost]} and {threads[other]} store different values in element "
            f"{places[lost]} of {self.name!r}.",
            "They run at the same time, so either may come last. Is an atomicAdd meant?",
            self.name,
            "store",
        )
