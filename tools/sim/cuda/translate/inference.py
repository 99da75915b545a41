"""Finds the types of a function's variables from those of its arguments, as Numba's type inference does.

The function runs through all of its ways, and the phis note the types that meet; passes are made until none changes.
In each, a loop has one turn, and a phi at its start knows what came back to it in the pass before. As in Numba, an
operation whose operands' types grow from pass to pass has the unified type of all its results.
"""

import builtins
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tools.sim import floats, trace
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.memory.array import Array, Record
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.run.phi import Phi
from tools.sim.cuda.run.values import NUMBER, Undefined, bounds_of_range, rebuilt, truth, type_of
from tools.sim.cuda.translate.abstract_warps import AbstractWarps, Decided

UNKNOWN = Undefined("a value")  # whose type is not known yet
ZERO, ONE = np.int64(0), np.int64(1)


def infer(version: Any, arguments: tuple) -> None:
    """Set the types of a Version's phis for such arguments, and what else it says of itself.

    Raises Refused, for the first error that is left when all types are known.
    """
    inference = Inference(arguments)
    with trace.heard_by(None), floats.counted_by(None):  # what stands in for the arguments is nobody's array
        while inference.changed:
            inference.begin()
            version.value = inference.found.get(version.result, UNKNOWN)  # for a function that calls itself
            version.run(inference, *inference.arguments)
    if inference.refused:
        raise inference.refused[0]
    version.typed, version.unclear = inference.wider, inference.unclear
    version.value = inference.found.get(version.result, UNKNOWN)


class Inference(AbstractWarps):
    """found: a value of each phi's type. Of one pass: changed: did a type? wider: has an operation the type of an
    earlier pass? refused: what Numba would refuse. unclear: exceptions of which that cannot be said."""

    def __init__(self, arguments: tuple) -> None:
        super().__init__()
        self.operations = _Operations(self)
        self.arguments = [self._stand_in(each) for each in arguments]
        self.found: dict[Phi, object] = {}
        self.changed = True

    def begin(self) -> None:
        super().begin()
        self.changed = self.wider = False
        self.refused: list[Refused] = []
        self.unclear: list[str] = []

    def attempt(self, function: Any, *values: Any, **named: Any) -> Any:
        """function(*values); UNKNOWN if it fails, or while a value is."""
        if any(map(_is_unknown, (*values, *named.values()))):
            return UNKNOWN
        try:
            plain = [np.bool_(each.value) if isinstance(each, Decided) else each for each in values]
            return _alike(function(*plain, **named))
        except TypeError as error:
            self.refused.append(Refused(str(error)))
        except Refused as error:
            self.refused.append(error)
        except Exception as error:  # a thread that comes here will be told
            self.unclear.append(f"{type(error).__name__}: {error}")
        return UNKNOWN

    def _stand_in(self, value: Any) -> Any:
        """A value of the same type."""
        if isinstance(value, tuple):
            return rebuilt(value, map(self._stand_in, value))
        if isinstance(value, Record):
            return Record(self._stand_in(value.array), ZERO)
        if isinstance(value, Array):
            return self.space.array(value.name, value.kind, value.dtype, (1,) * len(value.shape))
        return value.dtype.type(1) if isinstance(value, NUMBER) else value

    # Where ways meet -----------------------------------------------------------------------------

    def meet(self, phi: Phi, *values: Any) -> Any:
        """These values come to a phi. Gives one of its type."""
        for value in values:
            widened = self.attempt(phi.widen, value)
            if widened is not UNKNOWN:
                self.changed |= widened
                self.found[phi] = self.found.get(phi) if value is None else phi.fit(value)
        return self.found.get(phi, UNKNOWN)

    def fit(self, value: Any, phi: Phi) -> Any:
        return self.meet(phi, value)

    def typed(self, value: Any, phi: Phi) -> Any:
        result = self.meet(phi, value)
        self.wider |= not _is_unknown(value) and type_of(result) != type_of(value)
        return result

    def merge(self, here: Any, other: Any, place: Any, phi: Phi) -> Any:
        return self.meet(phi, *[here] * self.active, *[other] * place.reached)

    def turn(self, here: Any, other: Any, place: Any, phi: Phi) -> Any:
        self.meet(phi, *[here] * self.active)
        return other

    def known(self, condition: Any, surely: Any = True) -> Any:
        return Decided(bool(truth(condition))) if surely and not _is_unknown(condition) else condition

    def choose(self, condition: Any, first: Callable, second: Callable, phi: Phi) -> Any:
        ways = (first, second) if not isinstance(condition, Decided) else (first if condition.value else second,)
        return self.meet(phi, *(way() for way in ways))

    def _either(self, left: Any, right: Callable, needed: bool, phi: Phi | None) -> Any:
        if isinstance(left, Decided):
            return right() if left.value == needed else left
        value = right()
        return np.True_ if phi is None else self.meet(phi, left, value)

    def range(self, loop: Any, *bounds: Any) -> Iterator:
        return self.through(self.attempt(lambda *each: bounds_of_range(each)[0], *bounds))

    def elements(self, loop: Any, values: Any) -> Iterator:
        return self.through(self.attempt(self._element, values))

    def _element(self, values: Any) -> Any:
        if isinstance(values, tuple) and len(set(map(type_of, values))) > 1:
            raise Refused("Numba loops over a tuple only if its values are of one type.", "Take them by number: t[0].")
        return super().load(values, ZERO)

    def return_(self, value: Any = None, phi: Phi | None = None) -> None:
        if phi and self.attempt(self._check_returned, value) is not UNKNOWN:
            self.meet(phi, value)
        super().return_()

    def _check_returned(self, value: Any) -> None:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Array) and not any(each is given for given in self.arguments):
                raise Refused(
                    "Numba returns an array only if the function was given it.",
                    "Pass what should be filled, or return the index.",
                )

    def enter(self, program: Any, arguments: Any) -> Any:
        return program.version(arguments).value

    # What may fail -------------------------------------------------------------------------------

    def value(self, thing: Any) -> Any:
        return _alike(super().value(thing))

    def attribute(self, thing: Any, name: str) -> Any:
        return self.attempt(super().attribute, thing, name)

    def load(self, array: Any, index: Any) -> Any:
        if isinstance(array, tuple) and array and isinstance(index, np.integer):
            index = index % len(array)
        return self.attempt(super().load, array, index)

    def store(self, array: Any, index: Any, value: Any) -> None:
        self.attempt(super().store, array, index, value)

    def unpack(self, values: Any, count: int) -> Any:
        if isinstance(values, Array):
            return (self.load(values, ZERO),) * count
        parts = self.attempt(super().unpack, values, count)
        return (UNKNOWN,) * count if parts is UNKNOWN else parts

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        return None if function is builtins.print else self.attempt(super().call, function, *arguments, **named)


class _Operations:
    """The module operations; what fails is unknown."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference

    def __getattr__(self, name: str) -> Any:
        return partial(self._inference.attempt, getattr(operations, name))


def _is_unknown(value: Any) -> bool:
    if isinstance(value, slice):
        value = value.start, value.stop, value.step
    return any(map(_is_unknown, value)) if isinstance(value, tuple) else type(value) is Undefined


def _alike(value: Any) -> Any:
    """A vector as a number: whether lanes differ does not depend on types."""
    if isinstance(value, tuple):
        return rebuilt(value, map(_alike, value))
    return value.dtype.type(1) if isinstance(value, np.ndarray) else value
