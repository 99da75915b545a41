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
    calls: list = field(default_factory=list)
    numbers_read: int = 0


class Watched(np.ndarray):
    """An array that notes what is done with it or with any part of it."""

    def __array_finalize__(self, parent: np.ndarray | None) -> None:
        self.notes: Any = getattr(parent, "notes", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple = (), **kwargs: Any) -> Any:
        self._note(
            ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}",
            inputs,
            into_out=bool(out),
            is_product=ufunc.signature is not None,
        )
        if out:
            kwargs["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        self.notes.sizes.append(int(np.size(result)))
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in PRODUCTS:
            return super().__array_function__(function, types, args, kwargs)
        into_out = kwargs.get("out") is not None or function is np.dot and len(args) > 2
        self._note(function.__name__, args[:2] if function is np.dot else args, into_out, is_product=True)
        return function(*map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})

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


PRODUCTS = (np.dot, np.inner, np.vdot, np.tensordot, np.einsum)  # beside ufuncs that have a signature, such as matmul


def _plain(value: object) -> Any:
    return value.view(np.ndarray) if isinstance(value, Watched) else value


@builder
def watched(array: np.ndarray) -> Watched:
    """A copy of `array` whose `notes` tell what is done with it: seen.notes.products, for example.

    products: the shapes of each matrix product it was part of, in order. sizes: how many elements came out of each
    operation on it (a ufunc: +, *, @, np.abs, a sum, ...). calls: NumPy's name of each operation or product, with
    "into out" where it was given out. numbers_read: how often a single number was taken out of it.
    What comes out is a plain array, which nobody watches; nor is a copy into another array.
    """
    copy = np.array(array).view(Watched)
    copy.notes = Notes()
    return copy
