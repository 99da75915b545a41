"""Operations of a kernel in float64, and numbers that it converts: counted while the kernel runs.

Types say it, but for what compilers save (LLVM's InstCombine, and NVVM's, which is made from it). An operation on
numbers that float32 holds, of which only the rounding to float32 is asked for, they do in float32: that is all of
`out[i] = x[i] * 2.0`. So what such a value cost is owed, and paid when the value is used in another way.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from tools.sim.counters import Counts
from tools.sim.faults import Spot

FLOAT32, FLOAT64, COMPLEX128 = map(np.dtype, ("float32", "float64", "complex128"))
WIDE = (FLOAT64, COMPLEX128)
REMEMBERED = 32  # values that may still turn out to be float32

current: "Floats | None" = None  # of the kernel that runs now

_constants: dict[tuple, np.generic] = {}
_known: set[int] = set()  # their ids: they live as long as the process


@contextmanager
def counted_by(who: "Floats | None") -> Iterator[None]:
    """Inside, this one counts; None: nobody."""
    global current
    before, current = current, who
    try:
        yield
    finally:
        current = before


def operated(result: Any, operands: tuple, inside: np.dtype, reducible: bool) -> Any:
    """An operation of the kernel gave this: see Floats.operated."""
    return result if current is None else current.operated(result, operands, inside, reducible)


def cast(value: Any, result: Any) -> Any:
    """The kernel converted one to the other, if they are of different types; gives what to go on with."""
    if current is None:
        return result
    return value if value.dtype == result.dtype else current.cast(value, result)


def called(result: Any, arguments: Iterable, free: bool = False) -> Any:
    """A function of the kernel gave this; gives what to go on with. free: it changes a sign at most."""
    if current is None:
        return result
    if free:
        current.use(*arguments)
        return result
    return current.called(result, arguments)


def same(value: Any, result: Any) -> Any:
    """The kernel changed at most the sign of the value; gives what to go on with."""
    if current is None or value.dtype != result.dtype:
        return cast(value, result)
    if is_constant(value):
        return _known_too(result)
    current.select(result, value)
    return result


def chosen(mask: np.ndarray, here: Any, other: Any) -> Any:
    """`here` for the elements of the mask, `other` for the rest."""
    result = np.where(mask, here, other)
    if result.dtype is FLOAT64 and current is not None:
        current.select(result, here, other)
    return result


def note(float64: int, conversions: int) -> None:
    """A step of the kernel does so many of each in every lane."""
    if current is not None:
        current.note(float64, conversions)


def constant(value: np.generic) -> np.generic:
    """The one object that stands for a number that a compiler knows."""
    key = value.dtype, value.tobytes()  # 0.0 and -0.0 are two
    if key not in _constants:
        _constants[key] = value
        _known.add(id(value))
    return _constants[key]


def is_constant(value: object) -> bool:
    return id(value) in _known


def _known_too(result: Any) -> Any:
    """What is computed from constants alone."""
    return result if np.ndim(result) else constant(result[()])


def converts(old: np.dtype, new: np.dtype) -> bool:
    """Is there an instruction that makes such a number into the other? Whole numbers become others at no cost."""
    if "b" in (old.kind, new.kind) or "f" not in (old.kind, new.kind) and "c" not in (old.kind, new.kind):
        return False
    return _real(old) != _real(new)


def _real(dtype: np.dtype) -> np.dtype:
    """That of the parts of a complex number."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


class Debt:
    """What an operation or a conversion costs, if it is done at all."""

    def __init__(self, spot: Spot, float64: int, conversions: int) -> None:
        self.spot, self.float64, self.conversions = spot, float64, conversions
        self.paid = False


class Value(NamedTuple):
    """A value in float64 that a compiler may do without. exact: float32 holds each of its numbers."""

    value: object
    exact: bool
    debts: tuple[Debt, ...]


class Floats:
    """spot: where the kernel is. active: for how many lanes or elements it runs. line: the figures of a spot."""

    def __init__(self, spot: Callable[[], Spot], active: Callable[[], int], line: Callable[[Spot], Counts]) -> None:
        self._spot, self._active, self._line = spot, active, line
        self._values: dict[int, Value] = {}
        self._explained: set[int] = set()  # those of them that became float32, or part of another one

    def operated(self, result: Any, operands: tuple, inside: np.dtype, reducible: bool = False) -> Any:
        """An operation in the type `inside` gave this; gives what to go on with.

        reducible: a compiler may do it in float32. A comparison gives bool.
        """
        if all(map(is_constant, operands)):
            return _known_too(result)
        changed = sum(converts(each.dtype, inside) and not is_constant(each) for each in operands)
        if reducible and inside == FLOAT64 and all(map(self._is_narrow, operands)):
            debts = self._explain(operands)
            if result.dtype == FLOAT64:
                self._remember(result, False, [self._debt(1, changed), *debts])
            return result
        self.use(*operands)
        if changed or inside in WIDE:
            self._pay(self._debt(inside in WIDE, changed))
        return result

    def cast(self, value: Any, result: Any) -> Any:
        """One became the other, of another type."""
        if is_constant(value):
            return _known_too(result)
        if result.dtype.kind == "b" and value.dtype.kind in "fc":
            return self.operated(result, (value,), value.dtype, reducible=True)  # x != 0
        if not converts(value.dtype, result.dtype):
            self.use(value)
        elif (value.dtype, result.dtype) == (FLOAT32, FLOAT64):
            self._remember(result, True, [self._debt(0, 1)])
        elif (value.dtype, result.dtype) == (FLOAT64, FLOAT32) and id(value) in self._values:
            self._explain([value])
        else:
            self.use(value)
            self._pay(self._debt(0, 1))
        return result

    def called(self, result: Any, arguments: Iterable) -> Any:
        """A function gave this."""
        results = result if isinstance(result, tuple) else (result,)
        arguments = [each for each in arguments if isinstance(each, (np.ndarray, np.generic))]
        dtypes = [each.dtype for each in (*results, *arguments) if hasattr(each, "dtype")]
        inside = next((dtype for dtype in dtypes if dtype in WIDE), dtypes[0] if dtypes else FLOAT32)
        given = self.operated(result, tuple(arguments), inside) if arguments else result
        if any(converts(inside, each.dtype) for each in results if hasattr(each, "dtype")):
            self._pay(self._debt(0, 1))
        return given

    def select(self, result: Any, *parts: Any) -> None:
        """Each lane has one of these, all in float64."""
        if all(is_constant(each) or id(each) in self._values for each in parts):
            self._remember(result, all(map(self._is_narrow, parts)), self._explain(parts))
        else:
            self.use(*parts)

    def use(self, *values: Any) -> None:
        """They are used in the type that they have."""
        for each in values:
            if known := self._values.get(id(each)):
                self._pay(*known.debts)

    def settled(self, value: Any) -> Any:
        """A value as of a variable that a loop changes: it is no constant, and nothing that float32 holds."""
        if is_constant(value):
            return value.copy()
        if known := self._values.pop(id(value), None):
            self._pay(*known.debts)
        return value

    def note(self, float64: int, conversions: int) -> None:
        """So many of each in every lane."""
        self._pay(self._debt(float64, conversions))

    def finish(self) -> None:
        """The kernel ends: what is owed is paid, but for values of which it is known what became of them."""
        while self._values:
            self._forget()

    def _is_narrow(self, value: Any) -> bool:
        """Can it come from a float32, or from a constant that float32 holds?"""
        if is_constant(value):
            return value.dtype.kind in "iuf" and np.float64(np.float32(value)) == value
        known = self._values.get(id(value))
        return known.exact if known else value.dtype == FLOAT32

    def _explain(self, values: Iterable) -> list[Debt]:
        """It is known now what becomes of these. Gives what they owe."""
        known = [self._values[id(each)] for each in values if id(each) in self._values]
        self._explained.update(id(each.value) for each in known)
        return [debt for each in known for debt in each.debts]

    def _debt(self, float64: int, conversions: int) -> Debt:
        active = self._active()
        return Debt(self._spot(), float64 * active, conversions * active)

    def _pay(self, *debts: Debt) -> None:
        for debt in debts:
            if not debt.paid and (debt.float64 or debt.conversions):
                counts = self._line(debt.spot)
                counts.float64 += debt.float64
                counts.conversions += debt.conversions
            debt.paid = True

    def _remember(self, value: Any, exact: bool, debts: list[Debt]) -> None:
        self._values[id(value)] = Value(value, exact, tuple(debts))
        if len(self._values) > REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        number = next(iter(self._values))
        known = self._values.pop(number)
        if number not in self._explained:
            self._pay(*known.debts)
        self._explained.discard(number)
