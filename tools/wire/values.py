"""A value as a JSON header of tagged lists plus raw buffers, and back."""

import json
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools.wire import dtypes
from tools.wire.arrays import Memory
from tools.wire.frames import MAX_BUFFERS, MAX_BYTES, MAX_HEADER, Malformed
from tools.wire.given import Recipe, recipe_of
from tools.wire.kinds import is_array

MAX_DEPTH = 100  # of containers inside containers
_TEXTS: dict[type, tuple[Callable, Callable]] = {  # types that cross as a text: how it is written and read
    int: (hex, lambda text: int(text, 16)),  # only those that need more than 64 bits
    float: (float.hex, float.fromhex),
    complex: (
        lambda number: f"{number.real.hex()} {number.imag.hex()}",
        lambda text: complex(*map(float.fromhex, text.split())),
    ),
    bytes: (bytes.hex, bytes.fromhex),
    types.EllipsisType: (lambda _: "", lambda _: ...),
}
_CONTAINERS: dict[str, Callable] = {  # what to make of the parts
    "tuple": tuple,
    "list": list,
    "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
    "slice": lambda parts: slice(*parts),
}
_NUMBER_TYPES = {kind.__name__: kind for kind in (bool, int, float, complex)}  # as in dtype=float


@dataclass(frozen=True)
class Handle:
    """Stands for an object that lives where the lesson runs; good for handing back to that lesson."""

    id: int
    type_name: str


class End:
    """One end of a wire: how objects that are no values cross it. Subclasses know more than handles."""

    def refer(self, value: Any) -> list | None:
        """A tag and plain fields that stand for `value`, or None when nothing can."""
        return ["handle", value.id, value.type_name] if type(value) is Handle else None

    def find(self, tag: str, *fields: Any) -> object:
        """What `refer` at the other end stood for. Any exception means that there is no such thing."""
        number, type_name = fields
        if tag != "handle" or type(number) is not int or type(type_name) is not str:
            raise LookupError(f"nothing is called {tag!r}")
        return Handle(number, type_name)

    def build(self, recipe: Recipe) -> object:
        """The given object of that recipe. Only an end that trusts the other may build."""
        raise LookupError("a given object that was never given")


@dataclass
class Packet:
    """A value and what its crossing met: the sender keeps it to read the reply, the receiver to write one."""

    value: Any  # only of a packet that was decoded
    memory: Memory
    given: dict[int, Any] = field(default_factory=dict)  # by number of the instance
    header: bytes = b""
    buffers: list[np.ndarray] = field(default_factory=list)


def encode(value: Any, end: End | None = None, reply_to: Packet | None = None) -> Packet:
    """The packet whose `header` and `buffers` carry `value`.

    reply_to: the request that this answers. What lies in its memory is referred to, and what changed there
        since `reply_to.memory.remember()` goes along.
    Raises TypeError for what cannot cross, ValueError for too much of it.
    """
    packet = _packet_after(reply_to)
    tree = _Encoder(packet, end or End()).tree(value)
    fields, packet.buffers = packet.memory.pack(reply_to.memory if reply_to else Memory())
    packet.header = json.dumps([tree, fields]).encode("ascii")
    size = sum(buffer.nbytes for buffer in packet.buffers)
    if len(packet.header) > MAX_HEADER or len(packet.buffers) > MAX_BUFFERS or size > MAX_BYTES:
        raise ValueError("more than 3 GiB, or millions of parts, cannot cross to another process at once")
    return packet


def decode(header: bytes, buffers: list, end: End | None = None, reply_to: Packet | None = None) -> Packet:
    """The packet that `encode` made elsewhere. A reply also brings what its request carried up to date."""
    packet = _packet_after(reply_to)
    try:
        tree, fields = json.loads(header.decode("ascii"))
        packet.memory.unpack(fields, buffers)
        packet.value = _Decoder(packet, end or End()).value(tree)
    except Exception as fault:  # any, RecursionError too: the header alone decides what happens in here
        raise Malformed(f"{type(fault).__name__}: {fault}") from fault
    return packet


def _packet_after(request: Packet | None) -> Packet:
    """An empty packet that knows what the request's carried."""
    return Packet(None, request.memory.copy(), dict(request.given)) if request else Packet(None, Memory())


class _Encoder:
    def __init__(self, packet: Packet, end: End) -> None:
        self.packet, self.end, self.over_there = packet, end, set(packet.given)

    def tree(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)  # exactly: a subclass may behave as it likes
        if value is None or kind in (bool, str) or (kind is int and abs(value) < 2**63):
            return value
        if depth > MAX_DEPTH:
            raise ValueError(f"a value nested more than {MAX_DEPTH} deep cannot cross to another process")
        if kind in _TEXTS:
            return [kind.__name__, _TEXTS[kind][0](value)]
        if kind in (tuple, list, dict, slice):
            return [kind.__name__, *(self.tree(part, depth + 1) for part in _parts(value))]
        if is_array(value):
            return ["array", self.packet.memory.add(value)]
        tree = _dtype_tree(value) or self._given(value, depth) or self.end.refer(value)
        if tree is None:
            instead = "; a CuPy array can" if hasattr(value, "__cuda_array_interface__") else ""
            raise TypeError(f"an object of type {kind.__name__} cannot cross to another process{instead}")
        return tree

    def _given(self, value: Any, depth: int) -> Any:
        bound = type(value) is types.MethodType
        instance, method = (value.__self__, value.__name__) if bound else (value, None)
        recipe = recipe_of(instance)
        if recipe is None:
            return None
        self.packet.given[recipe.number] = instance
        how = None
        if recipe.number not in self.over_there:
            how = (recipe.module, recipe.name, recipe.args, recipe.kwargs, recipe.number)
        state_and_how = [self.tree(part, depth + 1) for part in (instance.state(), how)]
        return ["given", recipe.number, method, *state_and_how]


def _parts(container: Any) -> Any:
    if type(container) is dict:
        return [part for pair in container.items() for part in pair]
    return (container.start, container.stop, container.step) if type(container) is slice else container


def _dtype_tree(value: Any) -> list | None:
    kind = type(value)
    if isinstance(value, np.generic) and dtypes.scalar_type_name(kind):
        return ["scalar", dtypes.scalar_type_name(kind), value.tobytes().hex()]
    if isinstance(value, np.dtype) and dtypes.dtype_name(value):
        return ["dtype", dtypes.dtype_name(value)]
    if isinstance(value, type) and dtypes.scalar_type_name(value):
        return ["scalar type", dtypes.scalar_type_name(value)]
    if isinstance(value, type) and _NUMBER_TYPES.get(value.__name__) is value:
        return ["type", value.__name__]  # type: ignore[union-attr]
    if (kind.__module__, kind.__name__) == ("torch", "dtype"):
        return ["torch dtype", dtypes.torch_dtype_name(value)]
    return None


def _scalar(dtype: str, bits: str) -> np.generic:
    return np.frombuffer(bytes.fromhex(bits), dtypes.dtype_named(dtype), count=1)[0]


class _Decoder:
    def __init__(self, packet: Packet, end: End) -> None:
        self.packet, self.end = packet, end
        self.read: dict[str, Callable] = {
            **{kind.__name__: read for kind, (_, read) in _TEXTS.items()},
            "array": lambda number: packet.memory.arrays[number],
            "scalar": _scalar,
            "dtype": dtypes.dtype_named,
            "scalar type": lambda name: dtypes.dtype_named(name).type,
            "type": _NUMBER_TYPES.__getitem__,
            "torch dtype": dtypes.torch_dtype_named,
        }

    def value(self, tree: Any, depth: int = 0) -> Any:
        if tree is None or type(tree) in (bool, int, str):
            return tree
        if type(tree) is not list or depth > MAX_DEPTH:
            raise ValueError("not a tagged list")
        tag, *fields = tree
        if tag in _CONTAINERS:
            return _CONTAINERS[tag]([self.value(part, depth + 1) for part in fields])
        if tag == "given":
            return self._given(depth + 1, *fields)
        return self.read[tag](*fields) if tag in self.read else self.end.find(tag, *fields)

    def _given(self, depth: int, number: Any, method: Any, state: Any, how: Any) -> Any:
        if number not in self.packet.given:
            self.packet.given[number] = self.end.build(Recipe(*self.value(how, depth)))
        instance = self.packet.given[number]
        instance.restore(self.value(state, depth))
        if method is None:
            return instance
        if method.startswith("_"):
            raise ValueError("only public methods cross")
        return getattr(instance, method)
