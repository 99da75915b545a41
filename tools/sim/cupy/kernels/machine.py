"""The state of a kernel's code while it runs for all threads at once: names, types, and the threads that are here.

Branches and loops are masks: statements run for the threads that are there, and nothing that the others do can show.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.sim import faults, floats
from tools.sim.counters import Counts
from tools.sim.cupy.arrays.casts import convert
from tools.sim.cupy.kernels import operators, types
from tools.sim.cupy.kernels.raw_arrays import Raw
from tools.sim.cupy.kernels.refusal import Code

CONSTANTS: dict[str, np.generic] = {  # that CuPy's headers declare
    "M_PI": np.float64(np.pi),
    "CUDART_INF": np.float64(np.inf),
    "CUDART_INF_F": np.float32(np.inf),
    "CUDART_NAN": np.float64(np.nan),
    "CUDART_NAN_F": np.float32(np.nan),
    **{f"FLT_{name}": getattr(np.finfo(np.float32), of) for name, of in (("MAX", "max"), ("MIN", "tiny"))},
    **{f"DBL_{name}": getattr(np.finfo(np.float64), of) for name, of in (("MAX", "max"), ("MIN", "tiny"))},
    "FLT_EPSILON": np.finfo(np.float32).eps,
    "DBL_EPSILON": np.finfo(np.float64).eps,
}
ELSEWHERE = {  # that other headers of C++ would
    "INFINITY": "CUDART_INF_F",
    "NAN": "CUDART_NAN_F",
    "HUGE_VAL": "CUDART_INF",
    "M_E": "2.718281828459045",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    **dict.fromkeys(("PI", "pi"), "M_PI"),
}
PYTHON = {
    **{"True": "true", "False": "false", "None": "a number"},
    **dict.fromkeys(("np", "math"), "its functions without a prefix, as exp(x)"),
}


@dataclass(frozen=True)
class Indexer:
    """The number of elements, which the code knows as _ind.size()."""

    size: int

    def without_threads(self) -> "Indexer":
        return self


@dataclass
class Variable:
    """written: the threads that gave it its value; None: nobody asks. fresh: had it none before?"""

    value: Any  # a number of NumPy, or an array with an element for each thread
    constant: bool = False
    written: np.ndarray | None = None
    fresh: bool = True

    def without_threads(self) -> "Variable":
        """Another one of this type."""
        return Variable(np.zeros(1, self.value.dtype), self.constant)


Held = Variable | Raw | Indexer


class Machine:
    """code: for messages. threads: how many. names: the variables and raw arrays that the code finds.

    named_types: dtypes by names such as T. functions: the __device__ functions that the code may call.
    mask: the threads that are here now. everywhere: run also what no thread comes to.
    """

    def __init__(
        self,
        code: Code,
        threads: int,
        names: Mapping[str, Held],
        named_types: Mapping[str, np.dtype],
        functions: Mapping[str, Any] = {},
    ) -> None:
        self.code, self.threads, self.named_types, self.functions = code, threads, named_types, functions
        self.scopes: list[dict[str, Held]] = [dict(names)]
        self.mask, self.nobody = np.ones(threads, bool), np.zeros(threads, bool)
        self.broken = self.returned = self.nobody
        self.result: Variable | None = None  # of the function that runs
        self.depth, self.everywhere = 0, False

    @contextmanager
    def counted(self, arithmetic: Counts) -> Iterator[None]:
        """Add to these counts the float64 operations and conversions inside."""
        spot = faults.Spot("", 0, self.code.kernel)
        who = floats.Floats(lambda: spot, lambda: int(np.count_nonzero(self.mask)), lambda _: arithmetic)
        with floats.counted_by(who):
            yield
        who.finish()

    def for_nobody(self) -> "Machine":
        """Another one with the same names, in which every statement runs, and changes and counts nothing."""
        alone = {name: each.without_threads() for name, each in self.scopes[0].items()}
        machine = Machine(self.code, 1, alone, self.named_types, self.functions)
        machine.mask, machine.everywhere = machine.nobody, True
        return machine

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A scope: names that are declared inside are known there only."""
        self.scopes.append({})
        yield
        self.scopes.pop()

    def dtype(self, line: int, name: str) -> np.dtype:
        """The type that a name stands for."""
        found = self.named_types.get(name) or types.named(name)
        if found is None:
            raise self.code.wrong(line, f"A value cannot have the type {name!r} here.")
        return found

    def find(self, line: int, name: str) -> Held:
        """The variable, raw array or constant of this name."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in CONSTANTS:
            return Variable(floats.constant(CONSTANTS[name]), constant=True)
        if name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            raise self.code.unknown(line, name, "The index of an element is i; for blocks, use a RawKernel.")
        instead = f" CuPy's headers do not: write {ELSEWHERE[name]}." if name in ELSEWHERE else ""
        instead = f" C++ has {PYTHON[name]}." if name in PYTHON else instead
        raise self.code.wrong(line, f"The name {name!r} is not declared.{instead}")

    def assign(self, line: int, name: str, variable: Held | None, value: Any) -> Any:
        """Store in a variable, for the threads that are here; gives the value in the variable's type."""
        if not isinstance(variable, Variable) or variable.constant:
            raise self.code.wrong(line, f"{name!r} cannot be changed: it is an input, or has no index.")
        value = self.converted(line, value, variable.value.dtype)
        variable.value = value if self.mask.all() else floats.chosen(self.mask, value, variable.value)
        if variable.written is not None:
            variable.written = variable.written | self.mask
        return value

    def converted(self, line: int, value: Any, dtype: np.dtype) -> Any:
        """The value in another type, as an assignment gives it."""
        if value.dtype.kind == "c" and dtype.kind != "c":
            raise self.code.wrong(line, f"A complex number becomes no {dtype} by itself: which part is meant?")
        return floats.cast(value, convert(np.asarray(value), dtype))

    def fitting(self, line: int, what: str, function: Callable, *arguments: Any) -> Any:
        """The result of a function of C++. what: names it, where C++ has none for such operands."""
        try:
            return function(*arguments)
        except operators.Unfit:
            kinds = " and ".join(str(each.dtype) for each in arguments if not isinstance(each, str))
            instead = " It combines bits; a square is x * x, any power pow(x, y)." if what == "^" else ""
            raise self.code.wrong(line, f"C++ has no {what} for {kinds}.{instead}") from None
