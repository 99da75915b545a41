"""The arrays that a kernel sees: each access is checked, counted and remembered for the search for races."""

import math
from dataclasses import dataclass

import numpy as np

from tools.sim.cuda import operations
from tools.sim.cuda.faults import Unknown, learner_spot

SIGNED = np.dtype(np.int64)
VERBS = {"load": "loads", "store": "stores", "atomic": "updates"}


@dataclass(frozen=True)
class GlobalArray:
    """An array argument: NumPy's view of its memory, and where a GPU would have it (bytes)."""

    name: str
    array: np.ndarray
    address: int
    read_only: bool = False


class Storage:
    """Memory that one or several arrays lie in.

    flat: its elements, one copy after another where each block (shared) or each lane (local) has its own.
    shape: of the array that it is; size: elements in a copy; start: the place of its first element.
    address: of flat[0], in bytes; pitch: from there to flat[1]. watched: look for races.
    set: which elements hold a value; None: all do. fields: of an array of records, each as a storage.
    """

    def __init__(self, name: str, kind: str, flat: np.ndarray, shape: tuple[int, ...], *, address: int = 0,
                 start: int = 0, watched: bool = False, empty: bool = False):
        self.name, self.kind, self.flat, self.shape = name, kind, flat, shape
        self.size = math.prod(shape)
        self.address, self.start = address, start
        self.pitch = flat.strides[0]
        self.fields: dict[str, Storage] = {}
        self.watched = watched
        self.set = np.zeros(flat.size, bool) if empty else None
        self.changed = False
        self.owners, self.first_owner = None, 1  # for Races

    def field(self, name: str) -> "Storage":
        """One field of all records."""
        if name not in (self.flat.dtype.names or ()):
            raise TypeError(f"The records of {self.name} have no field {name!r}.")
        if name not in self.fields:
            offset = self.flat.dtype.fields[name][1]
            field = Storage(f"{self.name}.{name}", self.kind, self.flat[name], self.shape,
                            address=self.address + offset, watched=self.watched)
            field.set, field.size = self.set, self.size
            self.fields[name] = field
        return self.fields[name]

    def element(self, key: int) -> str:
        """element 5, or element [1, 2]"""
        offset = key % self.size if self.kind in ("shared", "local") else key
        index = np.unravel_index(offset, self.shape) if len(self.shape) > 1 else (offset,)
        return f"element {list(map(int, index)) if len(index) > 1 else int(index[0])} of {self.name}"

    def keys(self, lanes, offsets):
        """Where in `flat` the active lanes find their elements. offsets: one for each lane, or one for all."""
        active = lanes.indices
        if np.ndim(offsets) and active is not None:
            offsets = offsets[active]
        if self.kind == "shared":
            block = lanes.block_of if active is None else lanes.block_of[active]
            return block * self.size + offsets
        if self.kind == "local":
            return (np.arange(lanes.count) if active is None else active) * self.size + offsets
        return offsets


class Array:
    """What a kernel can index. shape: NumPy integers; strides: in elements; start: offset of its first element.

    Where a view differs between lanes (x[i] of a matrix), shape and start hold vectors.
    """

    def __init__(self, lanes, storage: Storage, shape: tuple, strides: tuple, start=0, read_only: bool = False):
        self.lanes, self.storage = lanes, storage
        self.shape, self.strides, self.start = shape, strides, start
        self.read_only = read_only

    name = property(lambda self: self.storage.name)
    kind = property(lambda self: self.storage.kind)
    dtype = property(lambda self: self.storage.flat.dtype)
    ndim = property(lambda self: np.int64(len(self.shape)))

    @property
    def size(self):
        product = np.int64(1)
        for length in self.shape:
            product = product * length
        return product

    def __len__(self) -> int:
        return int(self.shape[0])

    def _no_number(self, *other):
        raise TypeError(f"{self.name} is an array, and a kernel computes with its elements: {self.name}[i].")

    __eq__ = __ne__ = __bool__ = _no_number
    __hash__ = object.__hash__

    def field(self, name: str) -> "Array":
        """One field of an array of records."""
        return Array(self.lanes, self.storage.field(name), self.shape, self.strides, self.start, self.read_only)

    # What kernels do to it -----------------------------------------------------------------------

    def load(self, index):
        """The elements, one for each lane; a view of the array when the index leaves dimensions open."""
        view = self._view(index)
        if view is not None:
            return view
        offsets = self.locate(index, "loads")
        if self.dtype.names:
            return Record(self, offsets)
        self.touch(offsets, "load")
        return self.read(offsets)

    def store(self, index, value) -> None:
        if self.read_only:
            raise self._fault("read_only", "stores to {name}, which is constant.", "Where should the result go?")
        if self._view(index) is not None:
            raise Unknown("Only one element can be assigned at a time here. A GPU may know more.")
        offsets = self.locate(index, "stores")
        self.touch(offsets, "store")
        self.write(offsets, value)

    # Piece by piece, for atomics -----------------------------------------------------------------

    def locate(self, index, verb: str = "updates"):
        """Offset of each lane's element in the storage, in elements; one number when it is the same for all.

        Raises Fault when an active lane leaves the array.
        """
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != len(self.shape):
            raise TypeError(f"{self.name} has {len(self.shape)} dimensions; {len(index)} indices were given.")
        offsets = self.start
        for axis, (position, length, stride) in enumerate(zip(index, self.shape, self.strides)):
            position = self._checked(position, length, axis, index, verb)
            offsets = offsets + (position if stride == 1 else position * stride)
        return offsets

    def touch(self, offsets, operation: str) -> None:
        """Count an access ("load", "store", "atomic") of the active lanes, and check what can be wrong with it."""
        storage, lanes, spot = self.storage, self.lanes, learner_spot()
        if storage.address % storage.flat.dtype.alignment:
            raise self._fault("misaligned", f"{VERBS[operation]} {self.dtype} elements of {{name}}, which begins at "
                              "an address\nthat is no multiple of their size.", "Which offset was it cut out at?")
        keys = storage.keys(lanes, offsets)
        lanes.counting.access(spot, lanes, storage, keys, operation)
        if storage.set is not None:
            self._know_values(keys, operation)
        if storage.watched:
            lanes.races.access(spot, storage, self._several(keys), operation)

    def read(self, offsets):
        """The elements at these offsets: a vector, or one value for all lanes."""
        lanes, storage = self.lanes, self.storage
        keys = storage.keys(lanes, offsets)
        values = storage.flat[keys]
        if not np.ndim(keys) or lanes.indices is None:
            return values
        every = np.zeros(lanes.count, values.dtype)
        every[lanes.indices] = values
        return every

    def write(self, offsets, values) -> None:
        """Store converted values. Where lanes write to the same place, the last one stays."""
        lanes, storage = self.lanes, self.storage
        values = operations.convert(values, storage.flat.dtype)
        if np.ndim(values) and lanes.indices is not None:
            values = values[lanes.indices]
        keys = storage.keys(lanes, offsets)
        if not np.ndim(keys) and np.ndim(values):
            values = values[-1]
        storage.flat[keys] = values
        storage.changed = True

    def storage_and_keys(self, offsets) -> tuple[np.ndarray, np.ndarray]:
        """The elements of the storage, and where each lane's is; lanes that are not active have 0."""
        keys = np.zeros(self.lanes.count, np.int64)
        mine = self.storage.keys(self.lanes, offsets)
        keys[slice(None) if self.lanes.indices is None else self.lanes.indices] = mine
        self.storage.changed = True
        return self.storage.flat, keys

    # Checks --------------------------------------------------------------------------------------

    def _checked(self, position, length, axis: int, index: tuple, verb: str):
        """One index of each lane as int64; what is outside is a fault, unless no active lane asks for it."""
        if isinstance(position, np.ndarray):
            if position.dtype != SIGNED:
                position = self._whole(position)
            outside = (position.view(np.uint64) >= np.uint64(length)) if not np.ndim(length) else (
                (position < 0) | (position >= length))
            if not outside.any():
                return position
            wrong = outside & self.lanes.mask
            if wrong.any():
                raise self._outside(wrong, length, axis, index, verb)
            return np.where(outside, 0, position)
        position = self._whole(position)
        if -int(np.max(length)) <= position < 0 and not np.ndim(length):
            return position + length  # one number for all, as in x[-1]: from the end, as Python counts
        wrong = self.lanes.mask & ((position < 0) | (position >= length))
        if wrong.any():
            raise self._outside(wrong, length, axis, index, verb)
        return position

    def _whole(self, position):
        if position.dtype.kind not in "iub":
            raise TypeError(f"An index of {self.name} is {position.dtype}, not a whole number.\n"
                            "Numba refuses that. Is a / meant to be a //?")
        return position.astype(np.int64)

    def _outside(self, wrong: np.ndarray, length, axis: int, index: tuple, verb: str):
        lane = int(np.flatnonzero(wrong)[0])
        place = tuple(int(self.lanes.spread(each)[lane]) for each in index)
        length = int(self.lanes.spread(length)[lane])
        shown = place[0] if len(place) == 1 else list(place)
        extent = f"it has {length}" if len(place) == 1 else f"axis {axis} has {length}"
        if place[axis] < 0:
            return self._fault("negative_index", f"{verb} element {shown} of {{name}}; {extent}.",
                               "A computed index below 0 counts from the end in Numba, leaves the array in C++.",
                               wrong, place)
        return self._fault("out_of_bounds", f"{verb} element {shown} of {{name}}; {extent}.",
                           "Which threads have an element? The others must not touch the array.", wrong, place)

    def _know_values(self, keys, operation: str) -> None:
        """Loads and updates need a value; stores bring one."""
        storage = self.storage
        if operation != "store":
            lacking = ~storage.set[keys]
            if lacking.any():
                wrong = np.zeros(self.lanes.count, bool)
                wrong[slice(None) if self.lanes.indices is None else self.lanes.indices] = lacking
                key = int(self._several(keys)[np.flatnonzero(self._several(lacking))[0]])
                raise self._fault("uninitialised", f"reads {storage.element(key)},\nto which nothing was stored.",
                                  "Which thread should fill it, and has it done so by now?", wrong, key % storage.size)
        storage.set[keys] = True

    def _several(self, keys) -> np.ndarray:
        """A number for each active lane, where one was enough for all."""
        return keys if np.ndim(keys) else np.full(self.lanes.active, keys)

    def _fault(self, kind: str, what: str, question: str, wrong=None, index=None):
        return self.lanes.fault(kind, what.format(name=self.name), question, lanes=wrong, array=self.name, index=index)

    # Views ---------------------------------------------------------------------------------------

    def _view(self, index) -> "Array | None":
        """The array that x[2:], x[i] of a matrix or x[...] stand for; None when the index names one element."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) == len(self.shape) and not any(isinstance(each, slice) for each in index):
            return None
        if len(index) > len(self.shape):
            return None  # locate says so
        shape, strides, start = [], [], self.start
        index += (slice(None),) * (len(self.shape) - len(index))
        for axis, (each, length, stride) in enumerate(zip(index, self.shape, self.strides)):
            if isinstance(each, slice):
                begin, length, step = self._bounds(each, length)
                shape.append(length)
                strides.append(stride * step)
                start = start + begin * stride
            else:
                start = start + self._checked(each, length, axis, index[axis:axis + 1], "takes") * stride
        return Array(self.lanes, self.storage, tuple(shape), tuple(strides), start, self.read_only)

    def _bounds(self, piece: slice, length) -> tuple:
        """First index, length and step of a slice, with Python's rules."""
        step = 1 if piece.step is None else int(piece.step)
        if step < 1:
            raise Unknown("The simulator knows slices with a positive step only. A GPU knows others.")
        begin, end = (_clipped(bound, length, default)
                      for bound, default in ((piece.start, np.int64(0)), (piece.stop, length)))
        return begin, np.maximum(0, -(-(end - begin) // step)), step


class Record:
    """points[i] of an array of records: nothing is read before a field is asked for."""

    def __init__(self, array: Array, offsets):
        self.array, self.offsets = array, offsets

    def load(self, name: str):
        field = self.array.field(name)
        field.touch(self.offsets, "load")
        return field.read(self.offsets)

    def store(self, name: str, value) -> None:
        field = self.array.field(name)
        field.touch(self.offsets, "store")
        field.write(self.offsets, value)



def _clipped(bound, length, default):
    if bound is None:
        return default
    return np.clip(np.where(bound < 0, bound + length, bound), 0, length)[()]
