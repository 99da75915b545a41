"""count: what a call does to memory, the same on every machine because a GPU is never asked, unless it is told to."""

import inspect
from collections.abc import Callable
from typing import NamedTuple

from tools import gpu
from tools.check import arrays, notes
from tools.check.arrays import Array
from tools.check.case import copied
from tools.check.profiler import measured
from tools.check.text import call_lines
from tools.sim import tables
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.sim.trace import Listener, heard_by
from tools.worker import Died, OwnTimeOfAll, RemoteFunction, lesson_of, name_of


def count(function: Callable, *args: object, profiler: bool = False, **kwargs: object) -> Counters:
    """The counters of function(*args, **kwargs), called with copies of the arguments and with simulated kernels.

    Tensors are copied to CPU memory, and CuPy's arrays become arrays of its stand-in.
    profiler: run it on the GPU instead, under Nsight Compute, whose figures come under the same names. No source lines
        are told then, and to read what the profiler does not tell raises NotCounted. NoProfiler where it cannot run.

    Raises what the function raises, as a call would.
    """
    handed = args, kwargs
    args, kwargs = copied(handed)
    if profiler:
        figures = measured(function, args, kwargs)
        notes.taken.append(f"{tables.quantity(len(figures.launches), 'launch')} measured by Nsight Compute")
        return figures
    clock = OwnTimeOfAll()
    counters = _count(function, args, kwargs)
    counters.call = Call(function, args=handed[0], keywords=handed[1], seconds=clock.lap())  # type: ignore[attr-defined]
    notes.taken.append(_in_short(counters))
    return counters


class Call(NamedTuple):
    """The call that counters are of, to be made again where a failure is explained; seconds: own time that it took."""

    function: Callable
    args: tuple
    keywords: dict[str, object]
    seconds: float

    @property
    def lines(self) -> list[str]:
        """The call as a failure shows it: vector_add(x: float32[5120], y: float32[5120], block=512)."""
        arguments = inspect.signature(self.function).bind(*self.args, **self.keywords).arguments
        return call_lines(name_of(self.function), arguments)

    @property
    def longest(self) -> int:
        """The longest axis of an array among its arguments; 0 without one."""
        given = arrays.all_arrays((self.args, self.keywords))
        return max([length for array in given for length in array.shape], default=0)

    def counted(self, **replaced: object) -> Counters | None:
        """The counters of the same call with other keywords; None if that cannot be done."""
        try:
            return _count(self.function, *copied((self.args, self.keywords | replaced)))
        except Exception:  # whatever the lesson raises then is no matter
            return None

    def made_again(self, listener: Listener) -> bool:
        """Make the same call once more, with this one listening. False if that cannot be done."""
        if isinstance(self.function, RemoteFunction) or gpu.card():
            return False
        args, keywords = copied((self.args, self.keywords))
        try:
            with record(), heard_by(listener):
                self.function(*args, **keywords)
        except Exception:  # whatever the lesson raises then is no matter
            return False
        return True


def _in_short(counters: Counters) -> str:
    ran = tables.programs(counters) if counters.programs else tables.quantity(len(counters.launches), "launch")
    moved = counters.transfers
    crossed = {"bytes uploaded": moved.bytes_uploaded, "bytes downloaded": moved.bytes_downloaded}
    return ", ".join(
        [
            ran,
            f"{counters.bytes:,} bytes",
            f"{counters.sectors:,} sectors",
            *(f"{size:,} {what}" for what, size in crossed.items() if size),
        ]
    )


def _count(function: Callable, args: tuple, kwargs: dict) -> Counters:
    if not (isinstance(function, RemoteFunction) or gpu.card()):
        with record() as counters:
            function(*args, **kwargs)
        return counters
    moved: dict[int, Array] = {}
    args, kwargs = arrays.change_arrays(lambda array: on_cpu(array, moved), (args, kwargs))
    plain = lesson_of(function, "interpret").ask("count", name_of(function), args, kwargs).result()
    try:
        return Counters.from_plain(plain)
    except ValueError:
        raise Died("something else than counters came out of the lesson's process") from None


def on_cpu(array: Array, moved: dict[int, Array]) -> Array:
    """The same view of a copy of a tensor's memory; `moved` holds the memory that was copied before."""
    if not arrays.is_tensor(array) or array.device.type == "cpu":
        return array
    storage = array.untyped_storage()
    if storage.data_ptr() not in moved:
        moved[storage.data_ptr()] = storage.cpu()
    view = array.new_empty(0, device="cpu")
    return view.set_(moved[storage.data_ptr()], array.storage_offset(), array.shape, array.stride())
