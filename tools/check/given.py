"""Behaviour that a test hands to a lesson: objects built where it runs, which come back as it leaves them.

    clock = fake_clock([0.5, 0.1, 0.1])
    assert_matches(lesson.measure, clock.work, clock, oracle=...)
"""

import numpy as np

from tools.wire import builder


class FakeClock:
    """A clock that stands still but for `work`, which takes the next of `durations` seconds, or the last."""

    def __init__(self, durations: list[float]):
        self.durations = list(durations)
        self.now = 5.0      # not 0: a lesson that forgets to read the start of an interval shows
        self.calls = 0      # of work
        self.readings = 0   # of the clock

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


class Watched(np.ndarray):
    """An array that notes what is done with it or with any part of it: the shapes of every matrix product, and how
    many elements each operation made."""

    def __array_finalize__(self, parent: np.ndarray | None) -> None:
        self.products = getattr(parent, "products", None)  # one list, shared with all parts
        self.sizes = getattr(parent, "sizes", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs, out: tuple = (), **kwargs):
        if ufunc is np.matmul:
            self.products.append(tuple(np.shape(array) for array in inputs))
        plain = [array.view(np.ndarray) if isinstance(array, Watched) else array for array in inputs]
        if out:
            kwargs["out"] = tuple(a.view(np.ndarray) if isinstance(a, Watched) else a for a in out)
        result = getattr(ufunc, method)(*plain, **kwargs)
        self.sizes.append(int(np.size(result)))
        return result

    def __array_function__(self, function, types, args, kwargs):
        if function in (np.dot, np.inner, np.vdot, np.tensordot, np.einsum):
            self.products.append(tuple(np.shape(array) for array in args if isinstance(array, np.ndarray)))
        return super().__array_function__(function, types, args, kwargs)

    def state(self) -> dict:
        return {"products": list(self.products), "sizes": list(self.sizes)}

    def restore(self, state: dict) -> None:
        self.products[:], self.sizes[:] = state["products"], state["sizes"]


@builder
def watched(array: np.ndarray) -> Watched:
    """A copy of `array` whose `products` lists the shapes of each matrix product it was part of, in order.

    Its `sizes` lists how many elements came out of each operation on it (a ufunc: +, *, @, np.abs, a sum, ...).
    What comes out is a plain array, which nobody watches.
    """
    copy = np.array(array).view(Watched)
    copy.products, copy.sizes = [], []
    return copy
