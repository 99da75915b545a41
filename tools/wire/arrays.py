"""Arrays on the wire: the stretches of memory that a message's arrays look at, and how each looks at them.

Memory travels, not elements: strides, offsets and sharing between two arguments survive, and what a lesson
writes beside a view comes back too. Nothing that arrives is believed: bounds are checked, dtypes looked up.
"""

import math
import sys
from dataclasses import dataclass, field

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tools.wire.dtypes import dtype_name, dtype_named, torch_dtype_name, torch_dtype_named
from tools.wire.frames import MAX_BYTES


def is_tensor(value) -> bool:
    """True for a plain torch tensor with strides. Never imports torch: without it nothing is a tensor."""
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor and value.layout is torch.strided


def is_array(value) -> bool:
    """True for what crosses as an array: a NumPy array of numbers, or a tensor in CPU or CUDA memory."""
    if is_tensor(value):
        return value.device.type in ("cpu", "cuda")
    return type(value) is np.ndarray and dtype_name(value.dtype) is not None


# One stretch of memory ---------------------------------------------------------------------------

class _Stretch:
    """Somebody's memory, for np.asarray: the array that this makes keeps `owners` alive."""

    def __init__(self, low: int, size: int, owners: list, writeable: bool):
        self.owners = owners
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (size,), "data": (low, not writeable),
        }


@dataclass
class Region:
    """One stretch of memory from address `low`: a flat uint8 NumPy array, or a flat uint8 tensor on a GPU."""

    device: str
    low: int
    memory: object
    before: np.ndarray | None = None  # what it held when `remember` was called

    @property
    def size(self) -> int:
        return self.memory.shape[0]

    def contents(self) -> np.ndarray:
        return self.memory if self.device == "cpu" else self.memory.cpu().numpy()

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
        else:
            self.memory.copy_(sys.modules["torch"].from_numpy(contents))

    def storage(self):
        """This memory as a torch storage."""
        memory = sys.modules["torch"].from_numpy(self.memory) if self.device == "cpu" else self.memory
        return memory.untyped_storage()


def _received_region(device: str, contents: np.ndarray) -> Region:
    if device == "cpu":
        return Region("cpu", contents.__array_interface__["data"][0], contents)
    if device != "cuda":
        raise ValueError(f"unknown device {device!r}")
    import torch

    memory = torch.from_numpy(contents).to(device)
    return Region(device, memory.data_ptr(), memory)


def _found_region(device: str, low: int, high: int, owners: list) -> Region:
    if device == "cuda":
        torch = sys.modules["torch"]
        memory = torch.empty(0, dtype=torch.uint8, device=owners[0].device).set_(owners[0].untyped_storage())
    elif low == high:
        memory = np.empty(0, np.uint8)
    else:
        memory = np.asarray(_Stretch(low, high - low, owners, any(map(_is_writeable, owners))))
    return Region(device, low, memory)


def _find_regions(arrays: list) -> list[Region]:
    """The stretches of memory behind `arrays`. Arrays whose memory overlaps share one."""
    merged = []
    for device, low, high, array in sorted([(*_extent(a), a) for a in arrays], key=lambda found: found[:3]):
        if merged and merged[-1][0] == device and low < merged[-1][2]:
            merged[-1][2] = max(high, merged[-1][2])
            merged[-1][3].append(array)
        else:
            merged.append([device, low, high, [array]])
    return [_found_region(*found) for found in merged]


def _extent(array) -> tuple[str, int, int]:
    """Device, first address and end of the memory behind an array: all of what it is a view of."""
    if is_tensor(array):
        storage = array.untyped_storage()
        return array.device.type, storage.data_ptr(), storage.data_ptr() + storage.nbytes()
    low, high = byte_bounds(array)
    base = array.base
    while base is not None:  # also past the object that as_strided puts between a view and its owner
        if isinstance(base, np.ndarray):
            bounds = byte_bounds(base)
            low, high = min(low, bounds[0]), max(high, bounds[1])
        base = getattr(base, "base", None)
    return "cpu", low, high


def _address(array) -> int:
    if is_tensor(array):  # data_ptr() of an empty tensor is 0, whatever its offset
        return array.untyped_storage().data_ptr() + array.storage_offset() * array.itemsize
    return array.__array_interface__["data"][0]


def _is_writeable(array) -> bool:
    return is_tensor(array) or array.flags.writeable


# The arrays of one message -----------------------------------------------------------------------

@dataclass
class Memory:
    """The arrays of one message and the regions behind them. A reply starts from those of its request."""

    arrays: list = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    def copy(self) -> "Memory":
        return Memory(list(self.arrays), list(self.regions))

    def add(self, array) -> int:
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
        added = self.arrays[len(known.arrays):]
        new = _find_regions([array for array in added if self._region_behind(array) is None])
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
        self.regions += [_received_region(device, contents) for device, contents in zip(devices, buffers)]
        self.arrays += [_rebuild(self.regions, *description) for description in fields["arrays"]]
        for number, contents in zip(changed, buffers[len(devices):]):
            known[number].overwrite(contents)

    def _region_behind(self, array) -> int | None:
        device, low, high = _extent(array)
        for number, region in enumerate(self.regions):
            if region.device == device and region.low <= low and high <= region.low + region.size:
                return number
        return None

    def _describe(self, array) -> list:
        number = self._region_behind(array)
        place = [number, _address(array) - self.regions[number].low if math.prod(array.shape) else 0]
        shape = list(array.shape)
        if is_tensor(array):
            strides = [stride * array.itemsize for stride in array.stride()]
            return ["torch", torch_dtype_name(array.dtype), shape, strides, *place, array.requires_grad]
        return ["numpy", dtype_name(array.dtype), shape, list(array.strides), *place, array.flags.writeable]


def _rebuild(regions: list[Region], kind, dtype, shape, strides, number, offset, flag):
    """The array that `_describe` described. ValueError when it would look beside its region."""
    region = regions[number]
    dtype = torch_dtype_named(dtype) if kind == "torch" else dtype_named(dtype)
    _check_bounds(shape, strides, offset, dtype.itemsize, region.size)
    if kind == "torch":
        return _rebuild_tensor(region, dtype, shape, strides, offset, flag)
    array = np.ndarray(shape, dtype, buffer=region.memory, offset=offset, strides=strides)
    if flag is False:
        array.flags.writeable = False
    return array


def _rebuild_tensor(region: Region, dtype, shape, strides, offset, requires_grad):
    import torch

    if any(step % dtype.itemsize for step in [*strides, offset]):
        raise ValueError("a tensor whose elements straddle each other")
    strides = [step // dtype.itemsize for step in strides]
    tensor = torch.empty(0, dtype=dtype, device=region.device)
    tensor.set_(region.storage(), offset // dtype.itemsize, shape, strides)
    return tensor.requires_grad_() if requires_grad is True else tensor


def _check_bounds(shape, strides, offset, itemsize, size) -> None:
    if not all(type(n) is int for n in [*shape, *strides, offset]) or min([*shape, offset]) < 0:
        raise ValueError("a shape of something else than whole numbers")
    if len(shape) != len(strides) or math.prod(shape) * itemsize > MAX_BYTES:
        raise ValueError("a shape that no array here has")
    steps = [stride * (length - 1) for stride, length in zip(strides, shape)]
    low = offset + sum(step for step in steps if step < 0)
    high = offset + sum(step for step in steps if step > 0) + itemsize
    if math.prod(shape) and (low < 0 or high > size):
        raise ValueError("an array that reaches beyond its memory")
