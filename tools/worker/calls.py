"""Calling a function, here or in a lesson's process, with one account of what the call did."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools import gpu
from tools.wire import cupy_of, extent, is_array, is_tensor
from tools.worker.deadlines import NoAnswer
from tools.worker.lesson import RemoteFunction
from tools.worker.origin import module_of
from tools.worker.own_time import OwnTimeOfAll
from tools.worker.raised import Raised, raised_from

_SHARING_WORK = 10**6  # steps; whether two strided arrays share an element can take exponentially many

# Exceptions that are not the lesson's, though they rise through it: NoAnswer comes from a function of this
# process that called one of a lesson's. Whoever drives this process may add what ends a whole run.
passing: set[type[BaseException]] = {NoAnswer}


@dataclass(frozen=True)
class Outcome:
    """What one call did, wherever it ran.

    value: what came back, None when it raised. error: what it raised.
    changed: copies of those array arguments, by name, whose elements are not what they were.
    alias: name of the array argument that the value is (same_object) or shares memory with.
    printed: the last 2000 characters that it printed; "" for a call in this process.
    seconds: own time that it took, however busy the machine.
    """

    value: object
    error: Raised | None
    changed: dict[str, object]
    alias: str | None
    same_object: bool
    printed: str
    seconds: float


def call(function: Callable, args: tuple = (), kwargs: dict | None = None) -> Outcome:
    """Call `function` with the caller's own arrays, which it may change.

    Raises Died and TooSlow, and TypeError for arguments that cannot cross to a lesson's process.
    """
    kwargs = kwargs or {}
    arrays = _array_arguments(function, args, kwargs)
    before = {name: _elements(array) for name, array in arrays.items()}
    clock = OwnTimeOfAll()
    value, error, printed = _answer(function, args, kwargs)
    seconds = clock.lap()
    changed = {name: _copy(array) for name, array in arrays.items() if not _equal(before[name], _elements(array))}
    return Outcome(value, error, changed, *_alias(value, arrays), printed, seconds)


def repeat(function: Callable, args: tuple, kwargs: dict, times: int) -> None:
    """Call a function of this process `times` times, and wait for the GPU if it is in use."""
    for _ in range(times):
        function(*args, **kwargs)
    cuda: Any
    torch, cupy, cuda = map(sys.modules.get, ("torch", "cupy", "numba.cuda"))
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    elif gpu.card() and (cupy or cuda):  # each waits for all work of the GPU, whoever gave it
        cupy.cuda.Device().synchronize() if cupy else cuda.synchronize()


class Prepared:
    """One call whose arguments already lie where it runs, so that `run` can be timed from outside."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    def run(self, times: int) -> None:
        """Make the call `times` times, waiting for a GPU in use. Raises what the function raises."""
        repeat(self.function, self.args, self.kwargs, times)

    def close(self) -> None:
        """Let go of the arguments there."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class _PreparedThere(Prepared):
    """A prepared call in a lesson's process."""

    def __init__(self, function: RemoteFunction, args: tuple, kwargs: dict) -> None:
        super().__init__(function, args, kwargs)
        self._lesson = function.lesson
        self._send()

    def _send(self) -> None:
        self._number = self._lesson.ask("prepare", self.function.__name__, self.args, self.kwargs).result()
        self._start = self._lesson.starts

    def run(self, times: int) -> None:
        if not self._is_there():
            self._send()  # the process that held the arguments has died since
        self._lesson.ask("run", self._number, times).result()

    def close(self) -> None:
        if self._is_there():
            self._lesson.ask("forget", self._number).result()

    def _is_there(self) -> bool:
        return self._lesson.running and self._start == self._lesson.starts


def prepare(function: Callable, args: tuple = (), kwargs: dict | None = None) -> Prepared:
    """Bring the arguments of a call to where it runs. For timing: no value and no change comes back."""
    kind: Callable[..., Prepared] = _PreparedThere if isinstance(function, RemoteFunction) else Prepared
    return kind(function, args, kwargs or {})


def _answer(function: Callable, args: tuple, kwargs: dict) -> tuple[object, Raised | None, str]:
    """Value, error, and what was printed."""
    if isinstance(function, RemoteFunction):
        answer = function.ask(args, kwargs)
        return answer.value, answer.error, answer.printed
    try:
        return function(*args, **kwargs), None, ""
    except tuple(passing):
        raise
    except (Exception, SystemExit) as error:  # not KeyboardInterrupt: here that is the learner's Ctrl-C
        return None, getattr(error, "raised", None) or raised_from(error, _files_of(function)), ""


def _files_of(function: Callable) -> list[str]:
    """That of its module; of a test's own function also those of the modules beside it: it may call the lesson."""
    module = sys.modules.get(module_of(function))
    others = [value for value in vars(module).values() if inspect.ismodule(value)] if module else []
    beside = [each for each in others if _folder(each) and _folder(each) == _folder(module)]
    return list(filter(None, (getattr(each, "__file__", None) for each in [module, *beside])))


def _folder(module: Any) -> str:
    return module.__name__.rpartition(".")[0]


# Arrays before and after -------------------------------------------------------------------------


def _array_arguments(function: Callable, args: tuple, kwargs: dict) -> dict[str, object]:
    """The arrays among the arguments: "a", "out", or "parts[1]" inside a container."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # it shows no signature, or the call is about to fail
        bound = {f"argument {number}": value for number, value in enumerate(args, start=1)} | kwargs
    return {place: array for name, value in bound.items() for place, array in _arrays_in(value, name)}


def _arrays_in(value: Any, place: str) -> Iterator[tuple[str, object]]:
    if is_array(value):
        yield place, value
    elif type(value) in (tuple, list, dict):
        for key, part in value.items() if type(value) is dict else enumerate(value):
            yield from _arrays_in(part, f"{place}[{key!r}]")


def _elements(array: Any) -> Any:
    """A copy of the elements in row-major order as bytes, so that NaN equals itself."""
    if is_tensor(array):
        flat = _copy(array).resolve_conj().resolve_neg().contiguous().flatten()
        return flat.view(sys.modules["torch"].uint8) if flat.numel() else flat  # of none, strides may be 0
    return np.array(array.get() if cupy_of(array) else array, order="C").reshape(-1).view(np.uint8)


def _copy(array: Any) -> Any:
    return array.detach().clone() if is_tensor(array) else array.copy()


def _equal(before: Any, after: Any) -> bool:
    return sys.modules["torch"].equal(before, after) if is_tensor(before) else np.array_equal(before, after)


def _alias(value: Any, arrays: dict[str, object]) -> tuple[str | None, bool]:
    """The argument that an array in `value` is or shares memory with, and whether it is the very object."""
    results = [result for _, result in _arrays_in(value, "value")]
    for related in (lambda result, array: result is array), _share_memory:
        for name, array in arrays.items():
            if any(related(result, array) for result in results):
                return name, related is not _share_memory
    return None, False


def _share_memory(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    if is_tensor(first):
        start = first.untyped_storage().data_ptr()
        return start != 0 and start == second.untyped_storage().data_ptr()
    if cupy_of(first):
        (_, low, high), (_, other_low, other_high) = extent(first), extent(second)
        return low < other_high and other_low < high
    try:
        return np.shares_memory(first, second, max_work=_SHARING_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
