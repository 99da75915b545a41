"""Arguments of a launch: their types, what Numba makes of them, and the transfers that host arrays cost.

A host array is copied to the device before the launch and back after it. What lives on the device goes as it is, and
so does an array of another library that has the CUDA array interface. A tensor of the host, as PyTorch's, stands for
one of the device, for that is where a simulated lesson's tensors are.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tools.sim import host, libraries
from tools.sim.cuda.faults import Unknown
from tools.sim.cuda.host import layouts
from tools.sim.cuda.host.arrays import DeviceRecord, device_array, elements_of, on_device
from tools.sim.cuda.host.errors import warn_of_performance
from tools.sim.cuda.memory.storage import GlobalArray
from tools.sim.cuda.types import NUMBERS, Array, Number, Tuple, Type
from tools.sim.device_memory import pointer

NO_ARGUMENTS = (str, bytes, bytearray, memoryview, list, set, slice, type, type(None))  # which Numba has types for
KNOWN = "It knows numbers of at most 8 bytes, complex ones, and records of them."
NOT_SAFE = (("uint8", "float16"), ("uint16", "float32"), ("uint16", "complex64"))  # to Numba; they lose nothing
CONVERSIONS = ("unsafe", "safe", "promote")  # of Numba, the worst first
TAKEN = "A kernel takes arrays, numbers, and tuples of them."


class In:
    """An array that is only copied to the device."""

    copies_in, copies_out = True, False

    def __init__(self, value: np.ndarray) -> None:
        self.value = value


class Out(In):
    """An array that is only copied back."""

    copies_in, copies_out = False, True


class InOut(In):
    """An array that is copied both ways, as one without a hint is."""

    copies_in, copies_out = True, True


# Types -------------------------------------------------------------------------------------------


def typeof(value: object) -> Type:
    """Numba's type of an argument. Raises ValueError, TypeError, NotImplementedError or Unknown for what is none."""
    if isinstance(value, In):
        return typeof(value.value)
    if isinstance(value, tuple):
        return Tuple(map(typeof, value))
    elements = _elements(value)
    return _type_of_number(value) if elements is None else _type_of_array(elements)


def _elements(value: object) -> np.ndarray | None:
    """NumPy's view of an array's memory, wherever that is; None for what is no array."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("Unsupported array type: numpy.ma.MaskedArray.")
    if isinstance(value, (DeviceRecord, np.void)):
        raise Unknown("The simulator does not know a record as an argument.", "An array of one record would do.")
    there = value if isinstance(value, np.ndarray) else on_device(value, sync=False)
    if there is not None:
        return elements_of(there)
    is_tensor = hasattr(value, "numpy") and hasattr(value, "__dlpack__")
    return _elements_of_tensor(value) if is_tensor else None


def _elements_of_tensor(tensor: Any) -> np.ndarray:
    """No work of PyTorch's, as far as a record is concerned."""
    with libraries.unlisted():
        try:
            return tensor.numpy()
        except TypeError:  # as for bfloat16, which NumPy has not
            raise Unknown(f"The simulator does not know tensors of {tensor.dtype}.", KNOWN) from None


def _type_of_array(elements: np.ndarray) -> Array:
    dtype, flags = elements.dtype, elements.flags
    if dtype.hasobject or not dtype.isnative:
        raise TypeError(f"Unsupported array dtype: {dtype}\n{TAKEN}")
    if dtype not in NUMBERS and dtype.names is None:
        raise Unknown(f"The simulator does not know arrays of {dtype}.", KNOWN)
    repeats = 0 in elements.strides and elements.size
    layout = "A" if repeats else "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return Array(NUMBERS.get(dtype) or Type(f"Record({dtype})"), elements.ndim, layout, not flags.writeable)


def _type_of_number(value: Any) -> Number:
    if isinstance(value, np.generic) and value.dtype in NUMBERS:
        return NUMBERS[value.dtype]
    for kind, name in ((bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, kind):
            return NUMBERS[np.dtype("uint64" if name == "int64" and _is_unsigned(value) else name)]
    if isinstance(value, (np.datetime64, np.timedelta64)):
        raise Unknown(f"The simulator does not know arguments of {type(value)}.", KNOWN)
    if isinstance(value, NO_ARGUMENTS):
        raise NotImplementedError(f"{value!r} cannot be the argument of a kernel.\n{TAKEN}")
    raise ValueError(f"Cannot determine Numba type of {type(value)}\n{TAKEN}")


def _is_unsigned(value: Any) -> bool:
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"Int value is too large: {value}")
    return value >= 1 << 63


def best(signatures: Iterable[tuple[Type, ...]], found: Sequence[Type]) -> tuple[Type, ...]:
    """The signature that needs the fewest and safest conversions. Raises TypeError for none, and for several."""
    ranked = [(cost, types) for types in signatures if (cost := _cost(found, types)) is not None]
    shown = ", ".join(map(str, found))
    if not ranked:
        raise TypeError(f"No matching definition for argument type(s) {shown}")
    least = min(cost for cost, _ in ranked)
    equal = [types for cost, types in ranked if cost == least]
    if len(equal) > 1:
        several = "\n".join(f"({', '.join(map(str, types))})" for types in equal)
        raise TypeError(f"Ambiguous overloading for ({shown}): these signatures fit equally well:\n{several}")
    return equal[0]


def _cost(found: Sequence[Type], wanted: Sequence[Type]) -> tuple[int, ...] | None:
    """How many conversions may lose something, how many change the kind, and how many widen; None if one cannot be."""
    cost = [0] * len(CONVERSIONS)
    for one, other in zip(found, wanted, strict=True):
        if isinstance(one, Number) and isinstance(other, Number) and one != other:
            kind = conversion(one.of_numpy, other.of_numpy)
            if kind is None:
                return None
            cost[CONVERSIONS.index(kind)] += 1
        elif not _accepts(other, one):
            return None
    return tuple(cost)


def conversion(one: np.dtype, other: np.dtype) -> str | None:
    """One of CONVERSIONS; None for what has an imaginary part and becomes real."""
    if one.kind == "c" and other.kind != "c":
        return None
    if not np.can_cast(one, other) or (str(one), str(other)) in NOT_SAFE:
        return "unsafe"
    return "promote" if one.kind == other.kind else "safe"


def _accepts(wanted: Type, found: Type) -> bool:
    """Can it be passed as it is?"""
    if isinstance(wanted, Array) and isinstance(found, Array):
        same = (wanted.dtype, wanted.ndim) == (found.dtype, found.ndim)
        return same and wanted.layout in ("A", found.layout)
    return wanted == found


# Values ------------------------------------------------------------------------------------------


class Arguments:
    """Arguments of one launch. values: as the kernel gets them. arrays: NumPy's views of all its memory.

    finish(): what remains to be done when the kernel has run.
    """

    def __init__(self, stream: int) -> None:
        self.values: list = []
        self.arrays: list[np.ndarray] = []
        self._stream = stream
        self._afterwards: list[Callable[[], None]] = []

    def add(self, name: str, value: object, wanted: Type) -> None:
        """The next argument. wanted: the type to pass it as. Raises as `typeof`; ValueError, TypeError."""
        self.values.append(self._converted(name, value, wanted))

    def finish(self) -> None:
        for each in self._afterwards:
            each()

    def _converted(self, name: str, value: Any, wanted: Type) -> Any:
        found = typeof(value)
        if isinstance(found, Tuple) and isinstance(wanted, Tuple) and len(found.types) == len(wanted.types):
            make = getattr(type(value), "_make", tuple)  # a named tuple stays one
            return make(
                self._converted(f"{name}[{place}]", *each) for place, each in enumerate(zip(value, wanted.types))
            )
        if isinstance(wanted, Number):
            return as_number(value, wanted.of_numpy)
        if not _accepts(wanted, found):
            raise TypeError(f"{name} is {found};\nthe signature of the kernel wants {wanted}.")
        array = self._array(name, value if isinstance(value, In) else InOut(value))
        self.arrays.append(array.array)
        return array

    def _array(self, name: str, hint: In) -> GlobalArray:
        there = on_device(hint.value)
        if there is not None:
            return GlobalArray(name, elements_of(there), there.address)
        if isinstance(hint.value, np.ndarray):
            return self._from_host(name, hint.value, hint)
        return _of_tensor(name, hint.value)

    def _from_host(self, name: str, value: np.ndarray, hint: In) -> GlobalArray:
        device, inner, wait = host.device(), layouts.contiguous(value), not self._stream
        made = device_array(value.shape, value.dtype, value.strides)
        if hint.copies_in:
            warn_of_performance(
                "NUMBA_CUDA_WARN_ON_IMPLICIT_COPY",
                "Host array used in CUDA kernel will incur copy overhead to/from device.",
            )
            device.upload(layouts.core(made.elements), inner, self._stream, wait=wait)
        if hint.copies_out:
            target = value if value.flags.writeable else np.empty_like(value)
            self._afterwards.append(partial(device.download, target, made.elements, self._stream, wait=wait))
        return GlobalArray(name, made.elements, made.address, not value.flags.writeable)


def _of_tensor(name: str, tensor: Any) -> GlobalArray:
    """Its storage has one address on the device, as long as the process runs."""
    elements = _elements_of_tensor(tensor)
    offset = tensor.storage_offset() * elements.itemsize if hasattr(tensor, "storage_offset") else 0
    return GlobalArray(name, elements, host.device().memory.adopt(pointer(elements) - offset) + offset)


def as_number(value: Any, dtype: np.dtype) -> Any:
    """A number as a launch passes it: integers wrap, and none is made from a float. Raises TypeError."""
    if dtype.kind in "iu":
        wrapped = operator.index(value) & ((1 << 8 * dtype.itemsize) - 1)
        return np.array(wrapped, f"u{dtype.itemsize}").view(dtype)[()]
    if dtype.kind == "f":
        return dtype.type(float(value))
    return dtype.type(value)
