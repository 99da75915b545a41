"""The symptoms that a failed check hands to the recognisers, and the one way in which they test a claim."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tools.check.diagnosis.budget import Budget
from tools.check.diagnosis.numbers import bits, copied, differ, excess, number, rms, slack_of, varied
from tools.check.diagnosis.source import Source
from tools.check.patience import SLOW_REPEAT, allowed
from tools.sim.counters import Counters
from tools.worker import OwnTimeOfAll

ENOUGH_BITS = 24  # a claim that agrees by luck once in 2**24 may be made: two float32 numbers, say
FURTHER = (1, 2, 3, 5, 8)  # how far the arguments of further calls lie away; brute-force oracles are slow
PLAIN = (np.ndarray, int, float, str, tuple, type(None))
SLOW_ELEMENTS = 250_000  # a call with more is not repeated with other arguments


class Call(NamedTuple):
    """One call: its arguments, what came back and what was wanted, both by `number`."""

    args: tuple
    got: Any  # an array; None where nothing came back, or no number
    want: Any


@dataclass(frozen=True, eq=False)
class Symptoms:
    """All that is known about one discrepancy. Arrays are NumPy arrays, and none of them is ever written to.

    kind: the kind of discrepancy (compare.Discrepancy), or "refusal".
    got, want: what came back, and what was wanted (in float64 unless the check is exact).
    wrong: compare's mask of the wrong elements; of those that were never written, if that is its kind.
    args, names: the arguments as they were before the call, and their names. keywords: those given by name.
    used: the given objects (clocks) among the arguments as the call left them, by name.
    oracle: gives the wanted value for other arguments; again: calls the lesson once more. Both take keywords that
        replace those of the call, and may raise.
    parts: gives the terms of the wanted value, by name, for other arguments; for a row of numbers a row of terms.
    repeats: asks whether the same call gives the same again.
    outcome: what else the call did (error, seconds).
    tolerance: the check's (tolerances.errors); 0 where equal means equal.
    dtype: the one that was wanted, of an array.
    count: gives the counters of one more call, for a lesson with kernels. May raise.
    source: the lesson's text, where there is one. budget: what further calls may take.
    is_of_tests: was the result made by a helper of the tests, out of what the lesson gave?
    gradient_of: the argument whose gradient this is; gradients: the wanted ones of all. d_out is the last of args then.
    """

    kind: str
    got: Any = None
    want: Any = None
    wrong: Any = None
    args: tuple = ()
    names: tuple[str, ...] = ()
    keywords: dict = field(default_factory=dict)
    used: dict = field(default_factory=dict)
    oracle: Callable | None = None
    again: Callable | None = None
    parts: Callable | None = None
    repeats: Callable[[], bool] = lambda: True
    outcome: Any = None
    tolerance: float = 0.0
    dtype: str | None = None
    count: Callable | None = None
    source: Source | None = None
    budget: Budget = field(default_factory=Budget)
    is_of_tests: bool = False
    gradient_of: str = ""
    gradients: dict = field(default_factory=dict)

    @cached_property
    def here(self) -> Call:  # the one that failed
        return Call(self.args, number(self.got), number(self.want))

    @cached_property
    def slack(self) -> float:
        """Relative distance at which a claim still holds: rounding in the dtype, or the check's tolerance."""
        if all(array is not None and array.dtype.kind == "i" for array in (self.here.got, self.here.want)):
            return 0.0
        dtypes = [np.float64, getattr(self.got, "dtype", None), self.dtype]
        return max(self.tolerance, *(slack_of(dtype) for dtype in dtypes if dtype is not None))

    @cached_property
    def comparable(self) -> bool:
        """Both are numbers, or arrays of numbers, of one shape; some of them are wrong."""
        got, want = self.here.got, self.here.want
        return self.kind == "values" and got is not None and want is not None and got.shape == want.shape

    @cached_property
    def missing(self) -> Any:
        """Mask of the elements that were never written, if that is its kind."""
        return self.wrong if self.kind == "never_written" else None

    @cached_property
    def excess(self) -> np.ndarray:
        """How many times what rounding explains each element is off. Only where `comparable`."""
        return excess(self.here.got, self.here.want, self.slack)

    @cached_property
    def largest_error(self) -> float:
        """The largest distance, relative to rms(want). Only where `comparable`."""
        distance = np.abs(self.here.got - self.here.want)
        return float(np.nanmax(distance, initial=0.0)) / max(rms(self.here.want), 1e-300)

    @cached_property
    def finite(self) -> bool:
        """Neither NaN nor infinity in what came back or what was wanted. Only where `comparable`."""
        return bool(np.isfinite(self.here.got).all() and np.isfinite(self.here.want).all())

    @property
    def axes(self) -> dict[str, tuple[str, ...]]:
        """The names of the axes of each array argument, as far as the lesson's text tells."""
        return self.source.axes if self.source else {}

    @property
    def constants(self) -> list[int]:
        """The whole numbers to which the lesson's text gives names."""
        return self.source.constants if self.source else []

    @cached_property
    def counters(self) -> Counters | None:
        """The counters of one more call (tools.sim.counters), or None."""
        return self.counters_of(*self.args)

    def counters_of(self, *args: Any) -> Counters | None:
        """The same with other arguments."""
        return self.budget.call(self.count, *args) if self.count else None

    def name_of(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else f"argument {index + 1}"

    def ask(self, *args: Any, **keywords: Any) -> Any:
        """The oracle's answer for other arguments, as a number; None if it refuses or has worked enough."""
        if self.oracle is None:
            return None
        allowed = self.budget.may_ask(sum(arg.size for arg in args if isinstance(arg, np.ndarray)))
        return number(self.budget.call(self.oracle, *args, **keywords)) if allowed else None

    def parts_of(self, args: tuple, place: int) -> dict[str, float] | None:
        """The terms of the wanted number at this place of the result; None where they have no names."""
        if self.parts is None:
            return None
        try:
            found = self.parts(*args)
            found = found[place] if isinstance(found, (tuple, list)) else found
        except Exception:
            return None
        return found if isinstance(found, dict) else None

    def call_again(self, *args: Any, **keywords: Any) -> Any:
        """The answer of one more call of the lesson, which gets copies; or None."""
        copies = [copied(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        return self.budget.call(self.again, *copies, **keywords) if self.again else None

    @cached_property
    def repeated(self) -> bool:
        """Whether the same call gives the same again, as far as can be told."""
        return self.budget.call(self.repeats) is not False

    def compare(self, args: tuple, **keywords: Any) -> Call:
        """One more call with other arguments, and what is wanted of it; none is made where the oracle refuses them."""
        want = self.ask(*args, **keywords)
        got = number(self.call_again(*args, **keywords)) if want is not None or self.oracle is None else None
        return Call(args, got, want)

    def is_right(self, call: Call) -> bool | None:
        """Whether a further call gave what was wanted; None where there is no telling."""
        if call.want is None:
            return None
        same = call.got is not None and call.got.shape == call.want.shape
        return same and not differ(call.got, call.want, self.slack)

    def instead(self, call: Call) -> "Symptoms":
        """Those of a further call whose values are wrong, in place of the one that failed; it is not made again."""
        same = call.got is not None and call.want is not None and call.got.shape == call.want.shape
        wrong = excess(call.got, call.want, self.slack) > 1 if same else None
        found = Symptoms("values", call.got, call.want, wrong, call.args, self.names, oracle=self.oracle)
        return replace(found, tolerance=self.tolerance, dtype=self.dtype)

    def holds(self, claim: Callable[[Call], Any]) -> bool:
        """Whether `claim(call)` is what came back: every element, and too telling for luck.

        Elements where the claim and the wanted value agree tell nothing. One number, or a few small whole
        ones, tell little, so the claim is then tested on a few more calls.
        """
        total = 0.0
        for call in self.calls:
            said = None if call.got is None else claim(call)
            if said is None or np.shape(said) != call.got.shape:
                return False
            said = said if getattr(said, "dtype", None) in (np.int64, np.float64) else number(said)
            if said is None or differ(call.got, said, self.slack):
                return False
            total += self.telling_bits(said, call.want)
            if total >= ENOUGH_BITS and call.got.size > 1:
                return True
        return total >= ENOUGH_BITS

    def holds_in_zeros(self, claim: Callable[[Call], Any]) -> bool:
        """The same where all that is wrong is zero: each zero says little, several with the rest right enough."""
        said, got = claim(self.here), self.here.got
        if said is None or said.shape != got.shape or differ(got, said, self.slack):
            return False
        told = self.telling(said, self.here.want)[self.wrong]  # not of zeros that differ in their signs
        return bool(told.all() and np.count_nonzero(self.wrong) >= 4 and not got[self.wrong].any() and got.any())

    def telling(self, said: np.ndarray, want: np.ndarray | None) -> np.ndarray:
        """Mask of the elements of `said` that are not what is wanted there."""
        if want is None or want.shape != said.shape:
            return np.ones(said.shape, bool)
        return excess(said, want, 2 * self.slack) > 1

    def telling_bits(self, said: np.ndarray, want: np.ndarray | None) -> float:
        return bits(said, self.telling(said, want), self.slack)

    @property
    def calls(self) -> Iterator[Call]:
        """The failed call, then calls with other plain numbers."""
        yield self.here
        yield from self.elsewhere

    @cached_property
    def elsewhere(self) -> list[Call]:
        """A few more calls with other numbers; none if the oracle answers the same to all of them."""
        if self.oracle is None or self.again is None or self.is_slow:
            return []
        if not all(isinstance(arg, PLAIN) for arg in self.args):
            return []  # a clock or a cache may not take another call
        calls = []
        for step in FURTHER:
            call = self.compare(tuple(varied(arg, step * (2 * i + 3)) for i, arg in enumerate(self.args)))
            if call.got is not None and call.want is not None and call.got.shape == call.want.shape:
                calls.append(call)
        constant = all(np.array_equal(call.want, self.here.want) for call in calls)
        return [] if constant else calls

    @cached_property
    def is_slow(self) -> bool:
        """Whether further calls of the lesson would keep the learner waiting. The first one may have warmed up."""
        if self.elements > SLOW_ELEMENTS:
            return True
        if getattr(self.outcome, "seconds", 0) <= allowed(SLOW_REPEAT):
            return False
        clock = OwnTimeOfAll()
        self.call_again(*self.args)
        return clock.lap() > allowed(SLOW_REPEAT)

    @property
    def elements(self) -> int:  # in all array arguments together
        return sum(arg.size for arg in self.args if isinstance(arg, np.ndarray))
