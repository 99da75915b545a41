"""The arrays that a kernel sees: each access is checked, counted and remembered for the search for races."""

from typing import Any, NoReturn

import numpy as np

from tools.sim import trace
from tools.sim.cuda.faults import Fault, Unknown, learner_spot
from tools.sim.cuda.memory import tracing
from tools.sim.cuda.memory.indices import bounds_of_slice, checked, complete
from tools.sim.cuda.memory.lanes import Lanes
from tools.sim.cuda.memory.storage import Storage
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.numbers.promotion import Value

VERBS = {"load": "loads", "store": "stores", "atomic": "updates"}


class Array:
    """An array as a kernel indexes it. shape: NumPy integers; strides: in elements; start: offset of its first element.

    Where a view differs between lanes (x[i] of a matrix), shape and start hold vectors.
    """

    def __init__(
        self, lanes: Lanes, storage: Storage, shape: tuple, strides: tuple, start: Any = 0, read_only: bool = False
    ) -> None:
        self.lanes, self.storage = lanes, storage
        self.shape, self.strides, self.start = shape, strides, start
        self.read_only = read_only

    name = property(lambda self: self.storage.name)
    kind = property(lambda self: self.storage.kind)
    dtype = property(lambda self: self.storage.flat.dtype)
    ndim = property(lambda self: np.int64(len(self.shape)))

    @property
    def size(self) -> Any:
        product = np.int64(1)
        for length in self.shape:
            product = product * length
        return product

    def __len__(self) -> int:
        return int(self.shape[0])

    def _no_number(self, *other: object) -> NoReturn:
        raise TypeError(f"{self.name} is an array, and a kernel computes with its elements: {self.name}[i].")

    __eq__ = __ne__ = __bool__ = _no_number
    __hash__ = object.__hash__
    __iter__ = None  # or Python would take __getitem__ for one

    def field(self, name: str) -> "Array":
        """One field of an array of records."""
        return Array(self.lanes, self.storage.field(name), self.shape, self.strides, self.start, self.read_only)

    # What kernels do to it -----------------------------------------------------------------------

    def load(self, index: Any) -> Any:
        """The elements, one for each lane; a view of the array when the index leaves dimensions open."""
        if isinstance(index, str):
            return self.field(index)
        view = self._view(index)
        if view is not None:
            return view
        offsets = self.locate(index, "loads")
        if self.dtype.names:
            return Record(self, offsets)
        self.touch(offsets, "load")
        return self.read(offsets)

    def store(self, index: Any, value: Any) -> None:
        if self.read_only:
            raise self.is_read_only("stores to")
        if self._view(index) is not None:
            raise Unknown("The simulator assigns one element at a time. A GPU may know more.", "Write a loop.")
        if self.dtype.names:
            raise Unknown("The simulator assigns no whole records. A GPU may run it.", "Assign field by field.")
        if getattr(value, "dtype", None) is None or isinstance(value, Array):
            if value is None:
                raise TypeError(
                    f"None was to be stored to an element of {self.name}. Which function gave it, without a return?"
                )
            raise TypeError(f"An element of {self.name} is a number, and no other thing can be stored to it.")
        offsets = self.locate(index, "stores")
        self.touch(offsets, "store", value)
        self.write(offsets, value)

    # Piece by piece, for atomics -----------------------------------------------------------------

    def locate(self, index: Any, verb: str = "updates") -> Any:
        """Offset of each lane's element in the storage, in elements; one number when it is the same for all.

        Raises Fault when an active lane leaves the array.
        """
        index = complete(index, len(self.shape))
        if len(index) != len(self.shape):
            axes = f"{len(self.shape)} dimension{'s' * (len(self.shape) != 1)}"
            given = "1 index was" if len(index) == 1 else f"{len(index)} indices were"
            raise TypeError(f"{self.name} has {axes}; {given} given.")
        offsets = self.start
        for axis, (position, length, stride) in enumerate(zip(index, self.shape, self.strides)):
            position = checked(self, position, length, axis, index, verb)
            offsets = offsets + (position if stride == 1 else position * stride)
        return offsets

    def touch(self, offsets: Any, operation: str, values: Any = None) -> None:
        """Count an access ("load", "store", "atomic") of the active lanes, and check what can be wrong with it.

        values: that are stored, if they matter to the search for races.
        """
        storage, lanes, spot = self.storage, self.lanes, learner_spot()
        if storage.address % storage.flat.dtype.alignment:
            raise self.fault(
                "misaligned",
                f"{VERBS[operation]} {self.dtype} elements of {{name}}, which begins at "
                "an address\nthat is no multiple of their size.",
                "Which offset was it cut out at?",
            )
        keys = storage.keys(lanes, offsets)
        lanes.counting.access(spot, lanes, storage, keys, operation)
        if trace.listener is not None:
            tracing.tell(spot, lanes, storage, self._several(keys), operation)
        if storage.set is not None:
            self._know_values(keys, operation)
        if storage.watched:
            lanes.races.access(spot, storage, self._several(keys), operation, values)

    def read(self, offsets: Any) -> Value:
        """The elements at these offsets: a vector, or one value for all lanes."""
        lanes, storage = self.lanes, self.storage
        keys = storage.keys(lanes, offsets)
        values = storage.flat[keys]
        if not np.ndim(keys) or lanes.indices is None:
            return values
        every = np.zeros(lanes.count, values.dtype)
        every[lanes.indices] = values
        return every

    def write(self, offsets: Any, values: Any) -> None:
        """Store converted values. Where lanes write to the same place, the last one stays."""
        lanes, storage = self.lanes, self.storage
        values = operations.cast(values, storage.flat.dtype)
        if np.ndim(values) and lanes.indices is not None:
            values = values[lanes.indices]
        keys = storage.keys(lanes, offsets)
        if not np.ndim(keys) and np.ndim(values):
            values = values[-1]
        lanes.overwrites(storage, keys)
        storage.flat[keys] = values
        storage.changed = True

    def storage_and_keys(self, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
        """The elements of the storage, and where each lane's is; lanes that are not active have 0."""
        keys = np.zeros(self.lanes.count, np.int64)
        mine = self.storage.keys(self.lanes, offsets)
        keys[slice(None) if self.lanes.indices is None else self.lanes.indices] = mine
        self.lanes.overwrites(self.storage, mine)
        self.storage.changed = True
        return self.storage.flat, keys

    # In a debugger; a kernel's own x[i] is rewritten to load and store --------------------------------

    def __getitem__(self, index: Any) -> Any:
        """The elements as the watched thread would find them: neither counted nor checked for races."""
        seen = self.lanes.seen(self)
        if seen is None:
            raise TypeError(f"{self.name}[i] differs between threads: with cuda.debug(block=0, thread=5): follows one.")
        return seen[index]

    def __repr__(self) -> str:
        seen = self.lanes.seen(self)
        if seen is None:
            return f"<{self.name}: {self.kind} {self.dtype} array>"
        values = np.array2string(seen, max_line_width=70, threshold=16)
        return f"<{self.name}: {self.kind} {self.dtype} {seen.shape}>" + ("\n" if "\n" in values else " ") + values

    # Checks --------------------------------------------------------------------------------------

    def is_read_only(self, verb: str) -> Fault:
        why = "constant" if self.kind == "constant" else "read-only"
        return self.fault("read_only", f"{verb} {{name}}, which is {why}.", "Where should the result go?")

    def _know_values(self, keys: Any, operation: str) -> None:
        """Loads and updates need a value; stores bring one."""
        storage = self.storage
        assert storage.set is not None
        if operation != "store":
            lacking = ~storage.set[keys]
            if lacking.any():
                wrong = np.zeros(self.lanes.count, bool)
                wrong[slice(None) if self.lanes.indices is None else self.lanes.indices] = lacking
                key = int(self._several(keys)[np.flatnonzero(self._several(lacking))[0]])
                known, question = storage.unfilled(key, self.lanes)
                raise self.fault(
                    "uninitialised",
                    f"reads {storage.element(key)},\nto which nothing was stored{storage.stored_beside(key)}.\n{known}",
                    question,
                    wrong,
                    key % storage.size,
                )
        storage.set[keys] = True

    def _several(self, keys: Any) -> np.ndarray:
        """A number for each active lane, where one was enough for all."""
        return keys if np.ndim(keys) else np.full(self.lanes.active, keys)

    def fault(self, kind: str, what: str, question: str, wrong: np.ndarray | None = None, index: Any = None) -> Fault:
        return self.lanes.fault(kind, what.format(name=self.name), question, lanes=wrong, array=self.name, index=index)

    # Views ---------------------------------------------------------------------------------------

    def _view(self, index: Any) -> "Array | None":
        """The array that x[2:], x[i] of a matrix or x[...] stand for; None when the index names one element."""
        index = complete(index, len(self.shape))
        if len(index) == len(self.shape) and not any(isinstance(each, slice) for each in index):
            return None
        if len(index) > len(self.shape):
            return None  # locate says so
        shape, strides, start = [], [], self.start
        index += (slice(None),) * (len(self.shape) - len(index))
        for axis, (each, length, stride) in enumerate(zip(index, self.shape, self.strides)):
            if isinstance(each, slice):
                begin, length, step = bounds_of_slice(each, length)
                shape.append(length)
                strides.append(stride * step)
                start = start + begin * stride
            else:
                start = start + checked(self, each, length, axis, index[axis : axis + 1], "takes") * stride
        return Array(self.lanes, self.storage, tuple(shape), tuple(strides), start, self.read_only)


class Record:
    """points[i] of an array of records: nothing is read before a field is asked for."""

    def __init__(self, array: Array, offsets: Any) -> None:
        self.array, self.offsets = array, offsets

    def load(self, name: str) -> Any:
        field = self.array.field(name)
        field.touch(self.offsets, "load")
        return field.read(self.offsets)

    def store(self, name: str, value: Any) -> None:
        field = self.array.field(name)
        field.touch(self.offsets, "store")
        field.write(self.offsets, value)
