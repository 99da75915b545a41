"""Arrays on the wire: the stretches of memory that a message's arrays look at, and how each looks at them.

Memory travels, not elements: strides, offsets and sharing between two arguments survive, and what a lesson
writes beside a view comes back too. Nothing that arrives is believed: bounds are checked, dtypes looked up.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools import gpu
from tools.wire.dtypes import dtype_name, dtype_named, torch_dtype_name, torch_dtype_named
from tools.wire.frames import MAX_BYTES
from tools.wire.kinds import address, cupy_of, extent, is_tensor, reach
from tools.wire.regions import Region, find_regions, received_region


@dataclass
class Memory:
    """The arrays of one message and the regions behind them. A reply starts from those of its request."""

    arrays: list = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def copy(self) -> "Memory":
        return Memory(list(self.arrays), list(self.regions))

    def add(self, array: Any) -> int:
        """The number of `array` in this message; the very same object keeps its number."""
        if is_tensor(array) and (array.is_conj() or array.is_neg()):
            array = array.resolve_conj().resolve_neg()  # their memory does not hold their values
        for number, known in enumerate(self.arrays):
            if known is array:
                return number
        self.arrays.append(array)
        return len(self.arrays) - 1

    def remember(self) -> None:
        """Note what all regions hold now; `pack` sends those that changed since."""
        for region in self.regions:
            region.remember()

    def pack(self, known: "Memory") -> tuple[dict, list[np.ndarray]]:
        """Header fields and buffers for all that the other side lacks, which holds `known`."""
        added = self.arrays[len(known.arrays) :]
        new = find_regions([array for array in added if self._region_behind(array) is None])
        self.regions += new
        changed = [number for number, region in enumerate(known.regions) if region.changed()]
        fields = {
            "regions": [region.device for region in new],
            "changed": changed,
            "arrays": [self._describe(array) for array in added],
        }
        return fields, [region.contents() for region in [*new, *(known.regions[n] for n in changed)]]

    def unpack(self, fields: dict, buffers: list[np.ndarray]) -> None:
        """Take in what `pack` made on the other side. Any exception means that it was malformed."""
        devices, changed, known = fields["regions"], fields["changed"], list(self.regions)
        if len(buffers) != len(devices) + len(changed):
            raise ValueError("not as many buffers as regions")
        self.regions += [received_region(device, contents) for device, contents in zip(devices, buffers)]
        self.arrays += [_rebuild(self.regions, *description) for description in fields["arrays"]]
        for number, contents in zip(changed, buffers[len(devices) :]):
            known[number].overwrite(contents)

    def _region_behind(self, array: Any) -> int | None:
        device, low, high = extent(array)
        for number, region in enumerate(self.regions):
            if region.device == device and region.low <= low and high <= region.low + region.size:
                return number
        return None

    def _describe(self, array: Any) -> list:
        number: Any = self._region_behind(array)
        place = [number, address(array) - self.regions[number].low if math.prod(array.shape) else 0]
        shape = list(array.shape)
        if is_tensor(array):
            strides = [stride * array.itemsize for stride in array.stride()]
            return ["torch", torch_dtype_name(array.dtype), shape, strides, *place, array.requires_grad]
        kind, flag = ("cupy", None) if cupy_of(array) else ("numpy", array.flags.writeable)
        return [kind, dtype_name(array.dtype), shape, list(array.strides), *place, flag]


def _rebuild(
    regions: list[Region], kind: Any, dtype: Any, shape: Any, strides: Any, number: Any, offset: Any, flag: Any
) -> Any:
    """The array that `_describe` described. ValueError when it would look beside its region."""
    region = regions[number]
    dtype = torch_dtype_named(dtype) if kind == "torch" else dtype_named(dtype)
    _check_bounds(shape, strides, offset, dtype.itemsize, region.size)
    if kind == "torch":
        return _rebuild_tensor(region, dtype, shape, strides, offset, flag)
    if kind == "cupy":
        return gpu.cupy.ndarray(shape, dtype, region.memory.data + offset, strides)
    array = np.ndarray(shape, dtype, buffer=region.memory, offset=offset, strides=strides)
    if flag is False:
        array.flags.writeable = False
    return array


def _rebuild_tensor(region: Region, dtype: Any, shape: Any, strides: Any, offset: Any, requires_grad: Any) -> Any:
    import torch

    if any(step % dtype.itemsize for step in [*strides, offset]):
        raise ValueError("a tensor whose elements straddle each other")
    strides = [step // dtype.itemsize for step in strides]
    tensor = torch.empty(0, dtype=dtype, device=region.device)
    tensor.set_(region.storage(), offset // dtype.itemsize, shape, strides)
    return tensor.requires_grad_() if requires_grad is True else tensor


def _check_bounds(shape: Any, strides: Any, offset: Any, itemsize: Any, size: Any) -> None:
    if not all(type(n) is int for n in [*shape, *strides, offset]) or min([*shape, offset]) < 0:
        raise ValueError("a shape of something else than whole numbers")
    if len(shape) != len(strides) or math.prod(shape) * itemsize > MAX_BYTES:
        raise ValueError("a shape that no array here has")
    low, high = reach(shape, strides, itemsize)
    if math.prod(shape) and (offset + low < 0 or offset + high > size):
        raise ValueError("an array that reaches beyond its memory")
