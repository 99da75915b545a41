"""One stretch of memory that arrays look at: found behind the sender's arrays, made anew by the receiver."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools import gpu
from tools.wire.kinds import cupy_of, extent, is_tensor


class _Stretch:
    """Somebody's memory, for np.asarray: the array that this makes keeps `owners` alive."""

    def __init__(self, low: int, size: int, owners: list, writeable: bool) -> None:
        self.owners = owners
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": (size,), "data": (low, not writeable)}


@dataclass
class Region:
    """One stretch of memory from address `low`: a flat uint8 array of NumPy, PyTorch or CuPy.

    device: whose it is, "cpu", "cuda" or "cupy".
    """

    device: str
    low: int
    memory: Any
    before: np.ndarray | None = None  # what it held when `remember` was called

    @property
    def size(self) -> int:
        return self.memory.shape[0]

    def contents(self) -> np.ndarray:
        if self.device == "cpu":
            return self.memory
        return self.memory.get() if self.device == "cupy" else self.memory.cpu().numpy()

    def remember(self) -> None:
        self.before = np.array(self.contents())

    def changed(self) -> bool:
        return self.before is not None and not np.array_equal(self.before, self.contents())

    def overwrite(self, contents: np.ndarray) -> None:
        """Put `contents` into this memory. ValueError when the size differs or the memory is read-only."""
        if contents.shape[0] != self.size:
            raise ValueError("new contents of another size")
        if self.device == "cpu":
            self.memory[...] = contents
        elif self.device == "cupy":
            self.memory.set(contents)
        else:
            self.memory.copy_(sys.modules["torch"].from_numpy(contents))

    def storage(self) -> Any:
        """This memory as a torch storage."""
        memory = sys.modules["torch"].from_numpy(self.memory) if self.device == "cpu" else self.memory
        return memory.untyped_storage()


def received_region(device: str, contents: np.ndarray) -> Region:
    """Memory that holds these bytes. What was CuPy's over there is CuPy's here, where either may be a stand-in."""
    if device == "cpu":
        return Region("cpu", contents.__array_interface__["data"][0], contents)
    if device == "cupy":
        memory = gpu.cupy.asarray(contents)
        return Region(device, memory.data.ptr, memory)
    if device != "cuda":
        raise ValueError(f"unknown device {device!r}")
    import torch

    memory = torch.from_numpy(contents).to(device)
    return Region(device, memory.data_ptr(), memory)


def find_regions(arrays: list) -> list[Region]:
    """The stretches of memory behind `arrays`. Arrays whose memory overlaps share one."""
    merged: list[list] = []
    for device, low, high, array in sorted([(*extent(a), a) for a in arrays], key=lambda found: found[:3]):
        if merged and merged[-1][0] == device and low < merged[-1][2]:
            merged[-1][2] = max(high, merged[-1][2])
            merged[-1][3].append(array)
        else:
            merged.append([device, low, high, [array]])
    return [_found_region(*found) for found in merged]


def _found_region(device: str, low: int, high: int, owners: list) -> Region:
    first = owners[0]
    if device == "cupy":
        start = first.data + (low - first.data.ptr) if low < high else None
        cupy = cupy_of(first)
        assert cupy is not None
        memory = cupy.ndarray((high - low,), np.uint8, start)
    elif device == "cuda":
        torch = sys.modules["torch"]
        memory = torch.empty(0, dtype=torch.uint8, device=first.device).set_(first.untyped_storage())
    elif low == high:
        memory = np.empty(0, np.uint8)
    else:
        memory = np.asarray(_Stretch(low, high - low, owners, any(map(_is_writeable, owners))))
    return Region(device, low, memory)


def _is_writeable(array: Any) -> bool:
    return is_tensor(array) or array.flags.writeable
