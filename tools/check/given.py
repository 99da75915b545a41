"""Behaviour that a test hands to a lesson: objects built where it runs, which come back as it leaves them.

clock = fake_clock([0.5, 0.1, 0.1])
assert_matches(lesson.measure, clock.work, clock, oracle=...)
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tools.wire import builder


class FakeClock:
    """A clock that stands still but for `work`, which takes the next of `durations` seconds, or the last."""

    def __init__(self, durations: list[float]):
        self.durations = list(durations)
        self.now = 5.0  # not 0: a lesson that forgets to read the start of an interval shows
        self.calls = 0  # of work
        self.readings = 0  # of the clock

    def __call__(self) -> float:
        """The time in seconds."""
        self.readings += 1
        return self.now

    def work(self, *args: object) -> object:
        """Take as long as it is said to, and return the first argument (None without one)."""
        self.now += self.durations[min(self.calls, len(self.durations) - 1)]
        self.calls += 1
        return args[0] if args else None

    def __repr__(self) -> str:
        return f"fake_clock({self.durations})"

    def state(self) -> dict:
        return {"now": self.now, "calls": self.calls, "readings": self.readings}

    def restore(self, state: dict) -> None:
        self.now, self.calls, self.readings = state["now"], state["calls"], state["readings"]


@builder
def fake_clock(durations: list[float]) -> FakeClock:
    """A clock whose time passes only while its `work` is called: durations[i] seconds in call i."""
    return FakeClock(durations)


@dataclass
class Notes:
    """A record of what was done with a watched array: one, shared with all its parts."""

    products: list = field(default_factory=list)
    sizes: list = field(default_factory=list)
    made: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    numbers_read: int = 0


class Watched(np.ndarray):
    """An array that notes what is done with it or with any part of it."""

    def __array_finalize__(self, parent: np.ndarray | None) -> None:
        self.notes: Any = getattr(parent, "notes", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple = (), **kwargs: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        self._note(name, inputs, into_out=bool(out), is_product=ufunc.signature is not None)
        kwargs = {key: _plain(value) for key, value in kwargs.items()}  # where= may be a part of it
        if out:
            kwargs["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        self.notes.sizes.append(int(np.size(result)))
        self.notes.made.append((name, int(np.size(result)), str(getattr(result, "dtype", ""))))
        return self._handed_out(result, out)

    def _handed_out(self, result: Any, out: tuple = ()) -> Any:
        """What the lesson gets of a result."""
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in PRODUCTS:
            return self._handed_out(super().__array_function__(function, types, args, kwargs))
        into_out = kwargs.get("out") is not None or function is np.dot and len(args) > 2
        self._note(function.__name__, args[:2] if function is np.dot else args, into_out, is_product=True)
        return self._handed_out(function(*map(_plain, args), **{name: _plain(each) for name, each in kwargs.items()}))

    def _note(self, name: str, inputs: tuple, into_out: bool, is_product: bool) -> None:
        self.notes.calls.append(f"{name} into out" if into_out else name)
        if is_product:
            self.notes.products.append(tuple(np.shape(each) for each in inputs if isinstance(each, np.ndarray)))

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        self.notes.numbers_read += not isinstance(part, np.ndarray)
        return part

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other, out=out)

    def state(self) -> dict:
        return asdict(self.notes)

    def restore(self, state: dict) -> None:
        vars(self.notes).update(state)


class Followed(Watched):
    """A watched array whose results are watched too, with the same notes."""

    def _handed_out(self, result: Any, out: tuple = ()) -> Any:
        if out:
            return out[0] if len(out) == 1 else out
        if type(result) is not np.ndarray:
            return result
        result = result.view(Followed)
        result.notes = self.notes
        return result


PRODUCTS = (np.dot, np.inner, np.vdot, np.tensordot, np.einsum)  # beside ufuncs that have a signature, such as matmul


def _plain(value: object) -> Any:
    return value.view(np.ndarray) if isinstance(value, Watched) else value


@builder
def watched(array: np.ndarray) -> Watched:
    """A copy of `array` whose `notes` tell what is done with it: seen.notes.products, for example.

    products: the shapes of each matrix product it was part of, in order. sizes: how many elements came out of each
    operation on it (a ufunc: +, *, @, np.abs, a sum, ...). made: of each such operation its name, how many elements
    came out, and their dtype. calls: NumPy's name of each operation or product, with "into out" where it was given
    out. numbers_read: how often a single number was taken out of it.
    What comes out is a plain array, which nobody watches; nor is a copy into another array.
    """
    return _noting(array, Watched)


@builder
def followed(array: np.ndarray) -> Followed:
    """A copy of `array` that is watched, and with it all that NumPy makes of it: seen.notes.made, for example.

    What is not followed: single numbers, and a plain array that is made of it by np.array or np.asarray.
    """
    return _noting(array, Followed)


def _noting(array: np.ndarray, kind: type) -> Any:
    copy: Any = np.array(array).view(kind)
    copy.notes = Notes()
    return copy
