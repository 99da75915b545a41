"""One use of assert_matches: a function, its arguments as they were before any call, and what is right."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter

import numpy as np

from tools import worker
from tools.check import arrays
from tools.check.compare import Rule

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
REST = Parameter.VAR_POSITIONAL


@dataclass(frozen=True)
class Case:
    """args and kwargs are never handed to anyone: calls and the oracle get copies."""

    function: Callable
    args: tuple
    kwargs: dict
    oracle: Callable
    rule: Rule

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @cached_property
    def arguments(self) -> dict[str, object]:
        """All arguments by parameter name, in order; those that *rest takes are "rest[0]", "rest[1]", ..."""
        names = [name for name, parameter in self._parameters.items() if parameter.kind in POSITIONAL]
        rest = [name for name, parameter in self._parameters.items() if parameter.kind == REST]
        beyond = range(len(self.args) - len(names))
        names += [f"{rest[0] if rest else 'argument'}[{number}]" for number in beyond]
        return dict(zip(names, self.args)) | self.kwargs

    @property
    def takes_out(self) -> bool:
        return "out" in self._parameters

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        try:
            return dict(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):  # some built-in functions have no signature
            return {}

    def call(self, **replaced: object) -> worker.Outcome:
        """Call the function with copies of the arguments, some of them replaced by name."""
        arguments = list((copy.deepcopy(self.arguments) | replaced).items())
        args, kwargs = arguments[:len(self.args)], arguments[len(self.args):]
        return worker.call(self.function, tuple(value for _, value in args), dict(kwargs))

    def wanted(self, args: tuple | None = None) -> object:
        """The oracle's answer for these arguments or others: in float64, or as they are when exact."""
        args, kwargs = copy.deepcopy((self.args if args is None else args, self.kwargs))
        if not self.rule.exact:
            args, kwargs = arrays.change_arrays(arrays.in_float64, (args, kwargs))
        with np.errstate(all="ignore"):
            return self.oracle(*args, **kwargs)
