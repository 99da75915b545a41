"""One use of assert_matches: a function, its arguments as they were before any call, and what is right."""

import copy
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import Parameter
from typing import Any

import numpy as np

from tools import worker
from tools.check import arrays, tolerances
from tools.check.compare import Rule, leaves
from tools.check.terms import change_terms
from tools.check.tolerances import Tolerance
from tools.wire import Handle
from tools.wire.given import recipe_of

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
REST = Parameter.VAR_POSITIONAL


@dataclass(frozen=True)
class Case:
    """args and kwargs are never handed to anyone: calls and the oracle get copies.

    handed: the args and kwargs that the first call got, as it left them.
    """

    function: Callable
    args: tuple
    kwargs: dict
    oracle: Callable
    rule: Rule
    handed: tuple[tuple, dict] = ((), {})

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @cached_property
    def arguments(self) -> dict[str, object]:
        """All arguments by parameter name, in order; those that *rest takes are "rest[0]", "rest[1]", ..."""
        return self._named(self.args, self.kwargs)

    @property
    def used(self) -> dict[str, object]:
        """The given objects (clocks and the like) among the arguments, as the first call left them."""
        return {name: value for name, value in self._named(*self.handed).items() if recipe_of(value)}

    def _named(self, args: tuple, kwargs: dict) -> dict[str, object]:
        names = [name for name, parameter in self._parameters.items() if parameter.kind in POSITIONAL]
        rest = [name for name, parameter in self._parameters.items() if parameter.kind == REST]
        beyond = range(len(args) - len(names))
        names += [f"{rest[0] if rest else 'argument'}[{number}]" for number in beyond]
        return dict(zip(names, args)) | kwargs

    def with_rules(self, tolerances: Mapping[str, Tolerance]) -> "Case":
        """The same, with a rule for each gradient: it has the dtype of its argument, maybe a tolerance of its own."""
        if unknown := set(tolerances) - {name for name, _ in self.gradients_for.values()}:
            raise ValueError(f"{self.name} returns no gradient of {min(unknown)}, and so needs no tolerance for it")
        rules = {
            part: self.rule.for_dtype(arrays.dtype_name(array.dtype), tolerances.get(name, self.rule.tolerance))
            for part, (name, array) in self.gradients_for.items()
        }
        return replace(self, rule=replace(self.rule, parts=rules))

    @property
    def takes_out(self) -> bool:
        return "out" in self._parameters

    @cached_property
    def gradients_for(self) -> dict[str, tuple[str, Any]]:
        """Of a function that `gradients` made: for each part of its result the argument, its name and itself."""
        if not worker.gives_gradients(self.function):
            return {}
        tensors = [
            (name + place, array)
            for name, value in self.arguments.items()
            for place, array in arrays.places(value)
            if name != worker.GIVEN and arrays.is_tensor(array) and arrays.is_float(array)
        ]
        return {f"result[{number}]": tensor for number, tensor in enumerate(tensors)}

    def called(self, part: str) -> str:
        """A part of the result as failures name it: result[1], or the gradient of weight."""
        return f"the gradient of {self.gradients_for[part][0]}" if part in self.gradients_for else part

    @cached_property
    def holds_lesson_objects(self) -> bool:
        """Is an argument of a class that the lesson defines? It is shared between calls, never copied."""
        kinds = [type(value) for value in self.arguments.values()]
        return any(kind is Handle or kind.__module__ == self.function.__module__ for kind in kinds)

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        try:
            return dict(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):  # some built-in functions have no signature
            return {}

    def call(self, **replaced: object) -> worker.Outcome:
        """Call the function with copies of the arguments, some of them replaced by name."""
        arguments = list((copied(self.arguments) | replaced).items())
        args, kwargs = arguments[: len(self.args)], arguments[len(self.args) :]
        return worker.call(self.function, tuple(value for _, value in args), dict(kwargs))

    def call_in_fresh_memory(self, number: int) -> worker.Outcome:
        """The same call, where memory to which nothing was stored holds this number."""
        args, kwargs = copied((self.args, self.kwargs))
        return worker.call(worker.in_fresh_memory(self.function), args, kwargs | {worker.FRESH: number})

    def wanted(self, args: tuple | None = None, **replaced: object) -> object:
        """The oracle's answer for these arguments or others: in float64, or as they are when exact."""
        return change_terms(lambda terms: terms.total, self._answer(args, replaced))

    def parts(self, *args: object) -> object:
        """The same for other arguments, with the terms of a sum in place of it where the oracle gives them."""
        return change_terms(lambda terms: terms.parts, self._answer(args, {}))

    def _answer(self, args: tuple | None, replaced: dict) -> object:
        args, kwargs = copied((self.args if args is None else args, self.kwargs | replaced))
        if not self.rule.exact:
            args, kwargs = arrays.change_arrays(arrays.in_float64, (args, kwargs))
        with np.errstate(all="ignore"):
            return self.oracle(*args, **kwargs)

    @property
    def exact_args(self) -> tuple:
        """The arguments as the oracle is given them: float arrays in float64. Of gradients, d_out is the last one."""
        arriving = (self.kwargs[worker.GIVEN],) if self.gradients_for else ()
        return arrays.change_arrays(arrays.in_float64, (*self.args, *arriving))

    def oracle_of(self, part: str) -> Callable:
        """The oracle for one part of its result, as `leaves` names it; returns NumPy arrays. For `exact_args`."""

        def oracle(*args: Any) -> np.ndarray:
            want = self.wanted(args[:-1], **{worker.GIVEN: args[-1]}) if self.gradients_for else self.wanted(args)
            right = next(right for name, _, right in leaves(want, want) if name == part)
            return arrays.to_numpy(right) if arrays.is_array(right) else np.asarray(right)

        return oracle

    def cancelled(self, part: str, want: np.ndarray) -> np.ndarray | float:
        """See `tolerances.cancelled`, for one part of the result."""
        return tolerances.cancelled(want, self.exact_args, self.oracle_of(part))


def copied(value: object) -> Any:
    """A nest of tuples, lists and dicts with copies of its arrays and given objects; all else is shared.

    What occurs twice occurs twice in the copy: a clock and its `work` stay together.
    """
    return _copied(value, {})


def _copied(value: Any, memo: dict) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_copied(part, memo) for part in value)
    if isinstance(value, dict):
        return {key: _copied(part, memo) for key, part in value.items()}
    owner = value.__self__ if isinstance(value, types.MethodType) else value
    return copy.deepcopy(value, memo) if arrays.is_array(value) or recipe_of(owner) else value
