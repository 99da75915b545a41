"""count: what a call does to memory, the same on every machine because a GPU is never asked."""

import sys
from collections.abc import Callable
from pathlib import Path

from tools import gpu
from tools.check import arrays, notes
from tools.check.case import copied
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.worker import Died, Lesson, RemoteFunction, lesson_at


def count(function: Callable, *args: object, **kwargs: object) -> Counters:
    """The counters of function(*args, **kwargs), called with copies of the arguments in CPU memory.

    Raises what the function raises, as a call would.
    """
    counters = _count(function, *copied((args, kwargs)))
    programs = f"{counters.programs} program{'s' * (counters.programs != 1)}"
    notes.taken.append(f"{programs}, {counters.bytes:,} bytes, {counters.sectors:,} sectors")
    return counters


def _count(function: Callable, args: tuple, kwargs: dict) -> Counters:
    if not (isinstance(function, RemoteFunction) or gpu.card()):
        with record() as counters:
            function(*args, **kwargs)
        return counters
    moved = {}
    args, kwargs = arrays.change_arrays(lambda array: on_cpu(array, moved), (args, kwargs))
    plain = simulated(function).ask("count", function.__name__, args, kwargs).result()
    try:
        return Counters.from_plain(plain)
    except ValueError:
        raise Died("something else than counters came out of the lesson's process") from None


def simulated(function: Callable) -> Lesson:
    """The process in which the lesson of this function runs without a GPU."""
    if not isinstance(function, RemoteFunction):
        file = sys.modules[function.__module__].__file__
    elif function.lesson.mode == "interpret":
        return function.lesson
    else:
        file = function.lesson.file
    return lesson_at(function.__module__, Path(file).resolve(), "interpret")


def on_cpu(array: object, moved: dict[int, object]) -> object:
    """The same view of a copy of a tensor's memory; `moved` holds the memory that was copied before."""
    if not arrays.is_tensor(array) or array.device.type == "cpu":
        return array
    storage = array.untyped_storage()
    if storage.data_ptr() not in moved:
        moved[storage.data_ptr()] = storage.cpu()
    view = array.new_empty(0, device="cpu")
    return view.set_(moved[storage.data_ptr()], array.storage_offset(), array.shape, array.stride())
