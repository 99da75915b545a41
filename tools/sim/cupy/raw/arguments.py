"""The arguments of a launch: CuPy's rules for what becomes which C++ value, and where the arrays among them lie."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.sim.cupy.arrays.ndarray import address, ndarray
from tools.sim.cupy.device.memory import MemoryPointer
from tools.sim.cupy.raw.library import Library, Parameter
from tools.words import quantity

SCALARS = {bool: np.bool_, float: np.float64, complex: np.complex128}
IN_CPP = {
    "f8": "a double",
    "f4": "a float",
    "f2": "a half",
    "b1": "a bool",
    "i1": "a char",
    "u1": "an unsigned char",
    "i2": "a short",
    "u2": "an unsigned short",
    "i4": "an int",
    "u4": "an unsigned int",
    "i8": "a long long",
    "u8": "an unsigned long long",
}


@dataclass
class Region:
    """Memory of the host that arguments point to. low, high: of its bytes. address: of low, as a GPU would have it.

    element: bytes. read_only: no argument lets the kernel store there. placed: where the runtime holds it, while a
    launch runs.
    """

    name: str
    low: int
    high: int
    address: int
    element: int
    read_only: bool = False
    placed: int = 0


class Arguments:
    """For one launch. Raises TypeError for what CuPy refuses, or would hand to the kernel as something else."""

    def __init__(
        self, kernel: str, names: Sequence[str], parameters: Sequence[Parameter], values: Sequence[object]
    ) -> None:
        if len(values) != len(parameters):
            raise TypeError(f"{kernel} takes {len(parameters)} arguments, and {len(values)} were given.")
        self.arrays: list[np.ndarray] = []  # as the host sees them
        self.regions: list[Region] = []
        self._values = []
        for number, (parameter, value) in enumerate(zip(parameters, values)):
            name = names[number] if number < len(names) else f"argument {number}"
            self._values.append(self._value(Described(kernel, name, parameter), value))
        self._join()

    def place(self, library: Library) -> Any:
        """Hand the arrays to the runtime; gives what simt_begin takes. The caller keeps the result until then."""
        for region in self.regions:
            region.placed = library.simt_argument(
                region.name.encode(),
                region.low,
                region.high - region.low,
                region.address,
                region.element,
                region.read_only,
            )
            if not region.placed:
                raise MemoryError(f"There is no room for {region.name}, {region.high - region.low:,} bytes.")
        self._buffers = [ctypes.create_string_buffer(self._bytes(value)) for value in self._values]
        return (ctypes.c_void_p * len(self._buffers))(*map(ctypes.addressof, self._buffers))

    def bring_back(self, library: Library) -> None:
        """Copy what the kernel stored into the arrays."""
        for number, region in enumerate(self.regions):
            changed = library.simt_changed(number)
            if changed:
                ctypes.memmove(region.low, changed, region.high - region.low)

    # Values --------------------------------------------------------------------------------------

    def _value(self, parameter: "Described", value: object) -> "np.ndarray | int":
        """A scalar as an array of one element; of what is passed by its address, that address."""
        if value is None:
            return 0
        if isinstance(value, (ndarray, MemoryPointer)):
            return self._pointer(parameter, value)
        if isinstance(value, np.ndarray) and value.size != 1:
            raise TypeError(
                f"{parameter} is given a numpy.ndarray of shape {value.shape}.\nOnly one of size one can "
                "be passed, by value. For a pointer to device memory, pass a cupy.ndarray."
            )
        scalar = value if isinstance(value, np.ndarray) else as_scalar(value)
        parameter.check(scalar)
        return scalar

    def _pointer(self, parameter: "Described", value: ndarray | MemoryPointer) -> int:
        if parameter.kind != "p":
            raise TypeError(f"{parameter} is given an array, and the kernel takes {parameter.in_cpp}.")
        if isinstance(value, MemoryPointer):
            elements, on_device = value.mem.storage, value.mem.ptr
            start = address(elements) + value.ptr - value.mem.ptr
        else:
            parameter.check_elements(value.dtype)
            elements, on_device = value.elements, value.data.ptr
            start = address(elements)
        self.arrays.append(elements)
        low, high = np.lib.array_utils.byte_bounds(elements) if elements.size else (start, start)
        on_device -= address(elements) - low
        self.regions.append(Region(parameter.name, low, high, on_device, elements.itemsize, parameter.read_only))
        return start

    def _join(self) -> None:
        """Let arguments that share bytes share a region."""
        joined: list[Region] = []
        for region in sorted(self.regions, key=lambda region: (region.low, -region.high)):
            if joined and region.low < joined[-1].high:
                joined[-1].high = max(joined[-1].high, region.high)
                joined[-1].read_only &= region.read_only
            else:
                joined.append(region)
        self.regions = joined

    def _bytes(self, value: "np.ndarray | int") -> bytes:
        if isinstance(value, np.ndarray):
            return value.tobytes()
        for region in self.regions:
            if region.low <= value < max(region.high, region.low + 1):
                return (value - region.low + region.placed).to_bytes(8, "little")
        return value.to_bytes(8, "little")


def as_scalar(value: object) -> np.ndarray:
    """A number as CuPy passes it: int64, or uint64 if it must; float64; complex128; bool; or NumPy's own type."""
    if type(value) is int:
        return np.array(value, np.uint64 if value >= 1 << 63 else np.int64)
    if type(value) in SCALARS:
        return np.array(value, SCALARS[type(value)])
    if isinstance(value, np.generic):
        return np.asarray(value)
    raise TypeError(f"Unsupported type {type(value)}")


class Described:
    """A parameter, and how messages call it."""

    def __init__(self, kernel: str, name: str, parameter: Parameter) -> None:
        self.kernel, self.name = kernel, name
        self.kind, self.size = parameter.kind.decode(), parameter.size
        self.element = parameter.element_kind.decode(), parameter.element_size
        self.read_only = parameter.read_only

    def __str__(self) -> str:
        return f"{self.name} of {self.kernel}"

    @property
    def in_cpp(self) -> str:
        if self.kind == "p":
            return "a pointer"
        return IN_CPP.get(f"{self.kind}{self.size}", f"a value of {self.size} bytes")

    def check(self, scalar: np.ndarray) -> None:
        """Refuse a number that the kernel would read as another one. CuPy passes its bytes on as they are."""
        kind, size = scalar.dtype.kind, scalar.itemsize
        if self.kind == "p":
            raise TypeError(
                f"{self} is given a {scalar.dtype}, and the kernel takes a pointer.\n"
                "Pass the array itself: the simulated GPU does not know addresses as numbers."
            )
        if self.kind in "iub" and kind in "iub" and size >= self.size:
            number, bits = int(scalar.reshape(())), 8 * self.size
            if -(1 << bits - 1) <= number < 1 << bits:
                return
            raise TypeError(f"{self} is given {number}, which does not fit: the kernel takes {self.in_cpp}.")
        if size == self.size and self.kind == (kind if self.kind == "f" else "."):
            return
        advice = f" Pass numpy.{np.dtype(f'f{self.size}')}(...)" if self.kind == "f" else ""
        if advice:
            advice += "; what fits each type of the template?" if "<" in str(self) else "."
        passed = (
            f"the first {self.size} bytes, which mean something else there"
            if size >= self.size
            else f"{quantity(size, 'byte')}, and the kernel would read {self.size}"
        )
        raise TypeError(
            f"{self} is given a {scalar.dtype}, and the kernel takes {self.in_cpp}.\nCuPy would pass {passed}.{advice}"
        )

    def check_elements(self, dtype: np.dtype) -> None:
        """Refuse an array whose elements the kernel would read as something else."""
        kind, size = self.element
        same = size == dtype.itemsize and (size == 2 or (kind == "f") == (dtype.kind == "f"))
        if kind in "iufb" and size > 1 and not same:
            raise TypeError(
                f"{self} is given an array of {dtype}, and the kernel takes a pointer to "
                f"{IN_CPP[f'{kind}{size}']}.\nConvert it with astype; if its bytes are meant, use view."
            )
