"""What a failed check hands to the recognisers, and the one way in which they test a claim against it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tools.check.diagnosis.numbers import bits, differ, excess, is_float, number, rms, slack_of

ENOUGH_BITS = 24  # a claim that agrees by luck once in 2**24 may be made: two float32 numbers, say
FURTHER = (1, 2, 3, 5, 8)  # how far the arguments of further calls lie away; brute-force oracles are slow
PLAIN = (np.ndarray, int, float, str, tuple, type(None))
SLOW_SECONDS, SLOW_ELEMENTS = 0.2, 250_000  # a call beyond these is not repeated with other arguments
ORACLE_ELEMENTS = 4_500_000  # arguments that the oracle may be handed for one diagnosis, all calls together


class Case(NamedTuple):
    """One call: its arguments, what came back and what was wanted, both by `number`."""

    args: tuple
    got: np.ndarray | None
    want: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about one wrong result. Arrays are NumPy arrays, and none of them is ever written to.

    got, want: what came back, and what was wanted (in float64 unless the check is exact).
    args, names: the arguments as they were before the call, and their names.
    oracle: gives the wanted value for other arguments; again: calls the lesson once more. Both may raise.
    poison: True for each element of got that was never written, where that is known.
    outcome: what else the call did (changed, alias, same_object, seconds).
    tolerance: the check's, relative to rms(want); 0 when exact; None where unknown.
    dtype: the one that was wanted, where that is known.
    device: (of the result, of the arguments), where they differ.
    count: gives the counters of one more call, for a lesson with kernels. May raise.
    """

    got: object
    want: object
    args: tuple = ()
    names: tuple[str, ...] = ()
    oracle: Callable | None = None
    again: Callable | None = None
    poison: np.ndarray | None = None
    outcome: object = None
    tolerance: float | None = None
    dtype: object = None
    device: tuple[str, str] | None = None
    count: Callable | None = None

    @cached_property
    def here(self) -> Case:
        """The call that failed."""
        return Case(self.args, number(self.got), number(self.want))

    @cached_property
    def wanted_dtype(self):
        """dtype that the result should have: as told, else that of the wanted array or of the arguments.

        None where that is open too: results of 16-bit arguments are often wanted in float32.
        """
        if self.dtype is not None:
            return np.dtype(self.dtype)
        if not isinstance(self.want, (np.ndarray, np.generic)):
            return None
        floats = {arg.dtype for arg in self.args if isinstance(arg, np.ndarray) and is_float(arg.dtype)}
        if self.want.dtype != np.float64 or not floats:
            return self.want.dtype
        return floats.pop() if len(floats) == 1 and floats <= {np.dtype("f4"), np.dtype("f8")} else None

    @cached_property
    def slack(self) -> float:
        """Relative distance at which a claim still holds: rounding in the dtype, or the check's tolerance."""
        dtypes = [getattr(self.got, "dtype", None), self.wanted_dtype]
        slacks = [slack_of(dtype) for dtype in dtypes if dtype is not None]
        if any(array is not None and array.dtype.kind != "i" for array in (self.here.got, self.here.want)):
            slacks.append(slack_of(np.float64))
        return max([self.tolerance or 0.0, *slacks])

    @cached_property
    def comparable(self) -> bool:
        """Both are numbers of one shape."""
        got, want = self.here.got, self.here.want
        return got is not None and want is not None and got.shape == want.shape

    @cached_property
    def excess(self) -> np.ndarray:
        """How many times its limit each element is off. Only where `comparable`."""
        tolerance = self.slack if self.tolerance is None else self.tolerance
        return excess(self.here.got, self.here.want, tolerance)

    @cached_property
    def wrong(self) -> np.ndarray:
        """Mask of the wrong elements. Only where `comparable`."""
        return self.excess > 1

    @cached_property
    def largest_error(self) -> float:
        """The largest distance, relative to rms(want). Only where `comparable`."""
        distance = np.abs(self.here.got - self.here.want)
        return float(np.nanmax(distance, initial=0.0)) / max(rms(self.here.want), 1e-300)

    @cached_property
    def finite(self) -> bool:
        """Neither NaN nor infinity in what came back or what was wanted. Only where `comparable`."""
        return bool(np.isfinite(self.here.got).all() and np.isfinite(self.here.want).all())

    @cached_property
    def all_right(self) -> bool:
        """Every value is right, so that something else made the check fail."""
        return self.comparable and not self.wrong.any()

    @cached_property
    def counters(self):
        """The counters of one more call (tools.sim.counters), or None."""
        try:
            return self.count and self.count()
        except Exception:
            return None

    @cached_property
    def _purse(self) -> list[int]:
        """Elements that the oracle may still be handed."""
        return [ORACLE_ELEMENTS]

    def name_of(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else f"argument {index + 1}"

    def ask(self, *args):
        """The oracle's answer for other arguments, as a number; None if it refuses or has worked enough."""
        if self.oracle is None:
            return None
        self._purse[0] -= 100 + sum(arg.size for arg in args if isinstance(arg, np.ndarray))
        if self._purse[0] < 0:
            return None
        try:
            return number(self.oracle(*map(self.widen, args)))
        except Exception:
            return None

    def widen(self, arg):
        """A float array in float64, unless the check is exact: the form in which the oracle takes it."""
        exact = getattr(self.want, "dtype", np.dtype(np.float64)) != np.float64
        if exact or not isinstance(arg, np.ndarray) or not is_float(arg.dtype):
            return arg
        return arg.astype(np.float64)

    def call_again(self, *args):
        """What one more call of the lesson returns, or None. It gets copies."""
        if self.again is None:
            return None
        try:
            return self.again(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args))
        except Exception:
            return None

    def holds(self, claim: Callable[[Case], object]) -> bool:
        """Whether `claim(case)` is what came back: every element, and too telling for luck.

        Elements where the claim and the wanted value agree tell nothing. One number, or a few small whole
        ones, tell little, so the claim is then tested on a few more calls.
        """
        total = 0.0
        for case in self.cases:
            said = None if case.got is None else claim(case)
            if said is None or np.shape(said) != case.got.shape:
                return False
            said = said if getattr(said, "dtype", None) in (np.int64, np.float64) else number(said)
            if said is None or differ(case.got, said, self.slack):
                return False
            total += self.telling_bits(said, case.want)
            if total >= ENOUGH_BITS and case.got.size > 1:
                return True
        return total >= ENOUGH_BITS

    def telling(self, said, want) -> np.ndarray:
        """Mask of the elements of `said` that are not what is wanted there."""
        if want is None or want.shape != said.shape:
            return np.ones(said.shape, bool)
        return excess(said, want, 2 * self.slack) > 1

    def telling_bits(self, said, want) -> float:
        return bits(said, self.telling(said, want), self.slack)

    @property
    def cases(self) -> Iterator[Case]:
        """The failed call, then calls with other plain numbers."""
        yield self.here
        yield from self.elsewhere

    @cached_property
    def elsewhere(self) -> list[Case]:
        """A few more calls with other numbers; none if the oracle answers the same to all of them."""
        if self.oracle is None or self.again is None or self.is_slow:
            return []
        if not all(isinstance(arg, PLAIN) for arg in self.args):
            return []  # a clock or a cache may not take another call
        cases = []
        for step in FURTHER:
            args = tuple(varied(arg, step * (2 * i + 3)) for i, arg in enumerate(self.args))
            case = Case(args, number(self.call_again(*args)), self.ask(*args))
            if case.got is not None and case.want is not None and case.got.shape == case.want.shape:
                cases.append(case)
        constant = all(np.array_equal(case.want, self.here.want) for case in cases)
        return [] if constant else cases

    @property
    def is_slow(self) -> bool:
        """Whether further calls of the lesson would keep the learner waiting."""
        return getattr(self.outcome, "seconds", 0) > SLOW_SECONDS or self.elements > SLOW_ELEMENTS

    @property
    def elements(self) -> int:
        """In all array arguments together."""
        return sum(arg.size for arg in self.args if isinstance(arg, np.ndarray))


def varied(value, by: int):
    """Another value that is legal where `value` is: numbers some way off, those of a tuple too, array elements moved.

    Arrays of floats also shrink unevenly, and in others half of the elements repeat, so that no sum is kept.
    """
    if type(value) in (int, float):
        return value + by if isinstance(value, int) else value * (1 + by / 8)
    if type(value) is tuple:
        return tuple(varied(part, by) for part in value)
    if not isinstance(value, np.ndarray) or value.size < 2:
        return value
    flat = np.roll(value.reshape(-1), by)
    if is_float(value.dtype):
        flat = (flat * np.linspace(0.5, 1, value.size)).astype(value.dtype)
    else:
        flat[:value.size // 2] = flat[-(value.size // 2):]
    return flat.reshape(value.shape)
