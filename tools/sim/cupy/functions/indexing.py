"""a[index] and a[index] = value by CuPy's rules: views where NumPy gives views, else one kernel.

Whole numbers are checked; arrays of indices wrap around instead. A mask costs the host a wait: it must know how many
elements there are.
"""

import operator
from functools import partial
from typing import Any

import numpy as np

from tools.sim.cupy.arrays import launches
from tools.sim.cupy.arrays.ndarray import ndarray, on_device
from tools.sim.cupy.device import streams
from tools.sim.cupy.dispatch.ufuncs import copy_elements, ufuncs
from tools.sim.cupy.functions.conversion import array, astype
from tools.sim.cupy.functions.creation import fill
from tools.sim.cupy.functions.views import broadcast_to

WORDS = dict(
    pair.split("=")
    for pair in "add=add sub=subtract max=maximum min=minimum and=bitwise_and or=bitwise_or xor=bitwise_xor".split()
)
ATOMIC = {  # the types that each atomic operation knows
    "add": ("iIlLqQefd", "int32, int64, float16, float32, float64, uint32, uint64 as data type"),
    "sub": ("iI", "int32, uint32, as data type"),
    **dict.fromkeys(("max", "min"), ("iIlLqQfd", "int32, int64, float32, float64, uint32, uint64 as data type")),
    **dict.fromkeys(("and", "or", "xor"), ("iIlLqQ", "int32, int64, uint32, uint64 as data type")),
}


def getitem(a: ndarray, slices: Any) -> ndarray:
    """a[slices]"""
    return pick(a, slices, None)


def pick(a: ndarray, slices: Any, out: ndarray | None) -> ndarray:
    """a[slices]; elements that arrays pick go to `out`, where it is given."""
    index = Index(a, slices)
    if not index.arrays:
        return on_device(a.elements[index.key], a)
    values = np.ascontiguousarray(a.elements[index.key]).reshape(index.shape)
    taken = on_device(values) if out is None else out
    index.count()
    if taken.size:
        kernel = "cupy_getitem_mask" if index.mask else "cupy_take"
        loads: list[launches.Accessed] = [*index.arrays, launches.Picked(a, index.key, index.shape)]
        launches.launch(kernel, index.grid(taken), loads, [taken], work=partial(np.copyto, taken.elements, values))
    return taken


def setitem(a: ndarray, slices: Any, value: Any) -> None:
    """a[slices] = value"""
    if isinstance(value, ndarray):
        while value.ndim and value.shape[0] == 1:
            value = on_device(value.elements[0, ...], value)
    scatter(a, slices, value, "update")


def scatter(a: ndarray, slices: Any, value: Any, operation: str) -> None:
    """Update a[slices] with `value`; each element as often as its index occurs. operation: update, add, ..."""
    index = Index(a, slices)
    if index.arrays:
        _scatter_at(a, index, value, operation)
        return
    target = on_device(a.elements[index.key], a)
    if operation != "update":
        ufuncs[WORDS[operation]](target, value, target)
    elif not isinstance(value, ndarray):
        fill(target, value)
    elif (target.shape, target.strides) != (value.shape, value.strides):
        copy_elements(value, target)
    elif target.data.ptr != value.data.ptr:  # else it is the same array
        if target.elements.flags.c_contiguous and target.dtype == value.dtype:
            streams.copy(target.elements, value.elements)
        else:
            copy_elements(value, target)


def _scatter_at(a: ndarray, index: "Index", value: Any, operation: str) -> None:
    """`scatter` where an array is among the indices."""
    index.count()
    if index.mask and not np.prod(index.shape):
        return
    value = astype(value, a.dtype, copy=None) if isinstance(value, ndarray) else array(value, dtype=a.dtype)
    value = broadcast_to(value, index.shape)
    if operation != "update" and not index.mask and a.dtype.char not in ATOMIC[operation][0]:
        raise TypeError(f"cupy.{WORDS[operation]}.at only supports {ATOMIC[operation][1]}")

    def work() -> None:
        if operation == "update":
            a.elements[index.key] = value.elements
        else:
            with np.errstate(all="ignore"):
                getattr(np, WORDS[operation]).at(a.elements, index.key, value.elements)

    if value.size:
        kernel = f"cupy_scatter_{operation}" + ("_mask" if index.mask else "")
        places, plain = [launches.Picked(a, index.key, index.shape)], operation == "update" or index.mask
        loads = [*index.arrays, value, *(places if index.mask and operation != "update" else ())]
        launches.launch(kernel, index.grid(value), loads, places if plain else (), () if plain else places, work)


class Index:
    """The parts between the brackets, checked against an array.

    key: for NumPy. arrays: those of the device in it. shape: of the elements that it picks. mask: is it one mask,
        and nothing else but slices and numbers?
    """

    def __init__(self, a: ndarray, slices: Any) -> None:
        given = [_part(each) for each in (slices if isinstance(slices, tuple) else (slices,))]
        self.arrays = [each for each in given if isinstance(each, ndarray)]
        used = sum(map(_axes, given))
        if sum(each is Ellipsis for each in given) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        for each in self.arrays:
            if each.dtype.kind not in "biu":
                raise IndexError(
                    f"arrays used as indices must be of integer or boolean type. (actual: {each.dtype.type})"
                )
        if used > a.ndim:
            raise IndexError(f"too many indices for array: array is {a.ndim}-dimensional, but {used} were indexed")
        self.mask = len(self.arrays) == 1 and self.arrays[0].dtype == bool
        self.key = self._key(a, given, a.ndim - used)
        self.shape = np.broadcast_to(np.int8(0), a.shape)[self.key].shape

    def _key(self, a: ndarray, given: list, rest: int) -> tuple:
        """The index in NumPy's terms, with an ellipsis, so that a single element is still an array."""
        key, axis = [], 0
        for each in given:
            key.append(_checked(each, a, axis))
            axis += rest if each is Ellipsis else _axes(each)
        return tuple(key) if any(each is Ellipsis for each in key) else (*key, ...)

    def count(self) -> None:
        """How many elements a mask lets through: the host fetches the number."""
        if any(each.dtype == bool and each.size for each in self.arrays):
            streams.fetch(4)

    def grid(self, threads: ndarray) -> tuple[int]:
        """The blocks of a kernel with a thread for each element; a mask has one for each of its own."""
        size = self.arrays[0].size if self.mask else threads.size
        return launches.blocks(size)


def _part(part: Any) -> Any:
    """One part of an index: None, ..., a slice, a number, or an array of the device."""
    if part is None or part is Ellipsis or isinstance(part, (slice, ndarray)):
        return part
    if np.isscalar(part) and not isinstance(part, (bool, np.bool_)):
        return part
    try:
        made = array(part, copy=None)
    except ValueError:
        if isinstance(part, np.ndarray):
            raise IndexError(
                f"arrays used as indices must be of integer or boolean type (actual: {part.dtype.type})"
            ) from None
        np.asarray(part)
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
            "boolean arrays are valid indices"
        ) from None
    if isinstance(part, (list, tuple)) and not made.size:
        made = astype(made, np.int32)  # no indices, rather than an empty mask
    return made


def _axes(part: Any) -> int:
    """How many axes of the array this part of an index uses up."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, ndarray) and part.dtype == bool else 1


def _checked(part: Any, a: ndarray, axis: int) -> Any:
    """This part of an index for NumPy: slices and numbers in bounds, arrays wrapped around."""
    if isinstance(part, slice):
        return slice(
            *(
                each if each is None else _whole(each, part, name)
                for name, each in (("start", part.start), ("stop", part.stop), ("step", part.step))
            )
        )
    if part is None or part is Ellipsis:
        return part
    if not isinstance(part, ndarray):
        number = int(part)
        if not -a.shape[axis] <= number < a.shape[axis]:
            raise IndexError(f"Index {part} is out of bounds for axis {axis} with size {a.shape[axis]}")
        return number
    if part.dtype != bool:
        return _wrapped(part, a.shape[axis])
    for along, length in enumerate(part.shape, start=axis):
        if length not in (0, a.shape[along]):
            raise IndexError(
                f"boolean index did not match indexed array along dimension {along}; dimension is "
                f"{a.shape[along]} but corresponding boolean dimension is {length}"
            )
    return part.elements if part.size else np.zeros(a.shape[axis : axis + part.ndim], bool)


def _wrapped(indices: ndarray, length: int) -> np.ndarray:
    if length == 0 and indices.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    return indices.elements.astype(np.intp) % max(length, 1)


def _whole(number: Any, part: slice, name: str) -> int:
    try:
        number = operator.index(number) if hasattr(number, "__index__") else int(number)
    except TypeError:
        raise TypeError(f"slice.{name} must be int or None or have __index__ method: {part}") from None
    if name == "step" and number == 0:
        raise ValueError("Slice step must be nonzero.")
    return number
