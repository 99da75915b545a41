"""Memory that a kernel reaches without an argument that says so: addresses read from memory, and arguments that have a
data_ptr() and no more. It is looked for among all tensors that are alive.

Such an address does not say which tensor was meant, so one that strays into another tensor goes unnoticed.
"""

import gc
import sys
from typing import Any

import numpy as np

from tools.sim.triton.arguments import FIRST, WINDOW, Arguments, View

REAL = FIRST << WINDOW  # below it, an address is one of this process


class Living:
    """The tensors in this process's memory, each with its first address and the one after its last."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int, Any]] = []
        torch = sys.modules["torch"]
        kinds: dict[type, bool] = {}
        for each in gc.get_objects():
            kind = type(each)
            if kinds.setdefault(kind, issubclass(kind, torch.Tensor) and kind.__name__ != "FakeTensor"):
                self._add(each)

    def _add(self, tensor: Any) -> None:
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):  # a sparse one has none
            return
        if tensor.device.type == "cpu" and tensor.numel() and storage.nbytes():
            view = View("", tensor, storage.data_ptr())  # real addresses
            self.places.append((view.low, view.high, tensor))

    def at(self, address: int) -> Any:
        """The largest tensor that an address lies in, or None."""
        around = [(high - low, tensor) for low, high, tensor in self.places if low <= address < high]
        return max(around, key=lambda each: each[0])[1] if around else None


def virtual(arguments: Arguments, addresses: np.ndarray, existing: np.ndarray) -> np.ndarray:
    """The addresses with those of this process put into the windows of their tensors, which become arguments.

    existing: those that count; where one lies in no tensor, it stays as it is.
    """
    result, living = addresses.copy(), None
    wanted = existing[existing < REAL]
    while wanted.size:
        known = [view for view in arguments.views if _inside(view, wanted[:1]).any()]
        if not known:
            living = living or Living()
            tensor = living.at(int(wanted[0]))
            if tensor is None:
                return result
            known = [arguments.take(tensor, "a tensor")]
        moved = _inside(known[0], addresses)
        result[moved] = addresses[moved] + known[0].shift
        wanted = wanted[~_inside(known[0], wanted)]
    return result


def _inside(view: View, addresses: np.ndarray) -> np.ndarray:
    """Which of these addresses of the process lie in a view?"""
    low = np.uint64(view.low) - view.shift
    return (addresses >= low) & (addresses < low + np.uint64(view.high - view.low))


def tensor_of(thing: Any) -> Any:
    """The tensor that an argument with a data_ptr() looks at. Raises TypeError if none that is alive."""
    tensor = Living().at(thing.data_ptr())
    if tensor is None:
        raise TypeError(f"A {type(thing).__name__} is given to a kernel; its data_ptr() is in no tensor that is alive.")
    return tensor
