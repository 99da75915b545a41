"""The tensors that a call makes, as long as they are alive: how many bytes at most, which, and made by which line.

What counts is the memory behind PyTorch's tensors, each storage once, whoever looks at it. What an operation needs
inside itself is not seen, nor what NumPy allocates.
"""

import functools
import linecache
import os
import sys
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tools.sim import libraries

MOST = 32  # tensors that are told of one moment, the largest ones
FRESH = ("lift_fresh", "lift_fresh_copy")  # operators whose argument, a literal, nobody saw being made

_watching: list["Watch"] = []


class Held(NamedTuple):
    """A tensor that was made. line: of the lesson, 0 where none is at work, as in PyTorch's own backward."""

    bytes: int
    shape: tuple[int, ...]
    dtype: str
    line: int
    source: str
    operation: str


class Moment(NamedTuple):
    """What was alive at one time: bytes of all, and the largest of them first."""

    bytes: int = 0
    tensors: tuple[Held, ...] = ()


class Watch:
    """What is alive of what was made since, in the memory of one kind of device: "cpu" or "cuda".

    files: real paths of the lesson's own.
    """

    def __init__(self, files: Iterable[str], device: str) -> None:
        self.files, self.device = set(files), device
        self.bytes = 0
        self.peak = 0
        self.largest = Held(0, (), "", 0, "", "")
        self.saved: Moment | None = None  # when the forward had ended
        self.each_made: Counter[Held] = Counter()  # how often; those that have ended, too
        self._at_peak: tuple[Held, ...] = ()
        self._living: dict[int, Held] = {}  # by storage
        self._others: set[int] = set()  # storages that were there before, or come from elsewhere
        self._ends: dict[int, weakref.ref] = {}

    def at_peak(self) -> Moment:
        return Moment(self.peak, _largest(self._at_peak))

    def now(self, beside: Any) -> Moment:
        """What is alive beside a result."""
        results = {tensor.untyped_storage()._cdata for tensor in tensors_in(beside)}
        rest = [held for key, held in self._living.items() if key not in results]
        return Moment(sum(held.bytes for held in rest), _largest(rest))

    def know(self, tensor: Any) -> None:
        """Its memory was not made here."""
        self._enter(tensor.untyped_storage(), None)

    def made(self, tensor: Any, operation: str) -> None:
        """An operation returned it: new memory, or a look at memory that is known."""
        storage = tensor.untyped_storage()
        if storage._cdata in self._others or tensor.device.type != self.device:
            return
        known = self._living.get(storage._cdata)
        size = storage.nbytes()
        if known and known.bytes == size:
            return
        line, source = line_of(self.files)
        dtype = str(tensor.dtype).removeprefix("torch.")
        held = Held(size, tuple(tensor.shape), dtype, line, source, operation)
        self.bytes += size - (known.bytes if known else 0)
        self._enter(storage, held)
        self.each_made[held] += 1
        self.largest = max(self.largest, held, key=lambda each: each.bytes)
        if self.bytes > self.peak:
            self.peak, self._at_peak = self.bytes, tuple(self._living.values())

    def _enter(self, storage: Any, held: Held | None) -> None:
        key = storage._cdata
        if held is not None:
            self._living[key] = held
        elif key not in self._living:
            self._others.add(key)
        if key not in self._ends:
            self._ends[key] = weakref.ref(storage, functools.partial(self._ended, key))

    def _ended(self, key: int, _: Any) -> None:
        """Its memory is free again."""
        held = self._living.pop(key, None)
        self.bytes -= held.bytes if held else 0
        self._others.discard(key)
        self._ends.pop(key, None)


_real = functools.cache(os.path.realpath)


def line_of(files: set[str]) -> tuple[int, str]:
    """The line of these files that is at work, and its source; 0 where none is."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in files or _real(file) in files:
            return frame.f_lineno, linecache.getline(file, frame.f_lineno).strip()
        frame = frame.f_back
    return 0, ""


def _largest(held: Iterable[Held]) -> tuple[Held, ...]:
    return tuple(sorted(held, key=lambda each: -each.bytes)[:MOST])


def forward_ended(result: Any) -> None:
    """Where gradients are asked for: the result is there, and what is alive beside it waits for the backward."""
    for watch in _watching:
        watch.saved = watch.now(beside=result)


@contextmanager
def watched(files: Iterable[str], arguments: Any, device: str) -> Iterator[Watch]:
    """What is made inside. It goes on to know what is alive when the block has ended."""
    watch = Watch(files, device)
    for tensor in tensors_in(arguments):
        watch.know(tensor)
    _watching.append(watch)
    try:
        with _mode_type()(watch):
            yield watch
    finally:
        _watching.remove(watch)


def tensors_in(value: Any) -> Iterator[Any]:
    """Those in a nest of lists, tuples and dicts; none by which PyTorch's compiler only finds out shapes."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    else:
        torch = sys.modules["torch"]
        if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout is torch.strided:
            yield value


@functools.cache
def _mode_type() -> type:
    """Made when needed, because its base class comes with PyTorch."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Operations(TorchDispatchMode):
        """Shows a Watch what every operation takes and returns."""

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # to be skipped costs the import of the compiler; see sim/libraries.py

        def __init__(self, watch: Watch) -> None:
            super().__init__()
            self.watch = watch

        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if libraries.silent():
                return function(*args, **kwargs)
            name = function.overloadpacket.__name__
            given = list(tensors_in((args, kwargs)))
            for tensor in given:
                (self.watch.made(tensor, name) if name in FRESH else self.watch.know(tensor))
            result = function(*args, **kwargs)
            for tensor in (*tensors_in(result), *(given if function._schema.is_mutable else ())):
                self.watch.made(tensor, name)
            return result

    return Operations
