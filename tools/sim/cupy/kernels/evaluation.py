"""The values of a kernel's expressions, for all threads at once: NumPy numbers, or arrays with one element a thread."""

import builtins
import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tools.sim import floats
from tools.sim.cupy.arrays.casts import convert
from tools.sim.cupy.kernels import arithmetic, calls, tree, types
from tools.sim.cupy.kernels.raw import Raw, fault
from tools.sim.cupy.kernels.refusal import Code

CONSTANTS = {  # that CuPy's headers declare
    "M_PI": np.float64(np.pi),
    "CUDART_INF": np.float64(np.inf),
    "CUDART_INF_F": np.float32(np.inf),
    "CUDART_NAN": np.float64(np.nan),
    "CUDART_NAN_F": np.float32(np.nan),
    "FLT_MAX": np.finfo(np.float32).max,
    "FLT_MIN": np.finfo(np.float32).tiny,
    "FLT_EPSILON": np.finfo(np.float32).eps,
    "DBL_MAX": np.finfo(np.float64).max,
    "DBL_MIN": np.finfo(np.float64).tiny,
    "DBL_EPSILON": np.finfo(np.float64).eps,
}
ELSEWHERE = {  # that other headers of C++ would
    "INFINITY": "CUDART_INF_F",
    "NAN": "CUDART_NAN_F",
    "HUGE_VAL": "CUDART_INF",
    "M_E": "2.718281828459045",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    "PI": "M_PI",
    "pi": "M_PI",
}
PYTHON = {
    "True": "true",
    "False": "false",
    "np": "its functions without a prefix, as exp(x)",
    "math": "its functions without a prefix, as exp(x)",
    "None": "a number",
}


@dataclass(frozen=True)
class Indexer:
    """What the code knows as _ind: the number of elements."""

    size: int

    def without_threads(self) -> "Indexer":
        return self


@dataclass
class Variable:
    """written: the threads that gave it its value; None: nobody asks. fresh: had it none before?"""

    value: np.ndarray | np.generic
    constant: bool = False
    written: np.ndarray | None = None
    fresh: bool = True

    def without_threads(self) -> "Variable":
        """Another one of this type."""
        return Variable(np.zeros(1, self.value.dtype), self.constant)


class Evaluation:
    """code: for messages. threads: how many. names: the variables and raw arrays that the code finds.

    named_types: dtypes by names such as T. mask: the threads that are here now.
    """

    def __init__(
        self, code: Code, threads: int, names: Mapping[str, Variable | Raw], named_types: Mapping[str, np.dtype]
    ):
        self.code, self.threads, self.named_types = code, threads, named_types
        self.scopes: list[dict[str, Variable | Raw]] = [dict(names)]
        self.mask = np.ones(threads, bool)

    def value(self, expression: tree.Node):
        """The value; for threads that are not here it may be anything."""
        return getattr(self, f"_value_{type(expression).__name__.lower()}")(expression)

    def truth(self, condition: tree.Node) -> np.ndarray:
        """For which threads it holds."""
        value = self.value(condition)
        return np.broadcast_to(self._fitting(condition, "as a condition", arithmetic.truth, value), self.mask.shape)

    def dtype(self, line: int, name: str) -> np.dtype:
        """The type that a name stands for."""
        found = self.named_types.get(name) or types.named(name)
        if found is None:
            raise self.code.wrong(line, f"A value cannot have the type {name!r} here.")
        return found

    def find(self, node: tree.Name) -> Variable | Raw:
        """What a name stands for."""
        for scope in reversed(self.scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in CONSTANTS:
            return Variable(floats.constant(CONSTANTS[node.name]), constant=True)
        if node.name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
            raise self.code.unknown(node.line, node.name, "The index of an element is i; for blocks, use a RawKernel.")
        instead = f" CuPy's headers do not: write {ELSEWHERE[node.name]}." if node.name in ELSEWHERE else ""
        instead = f" C++ has {PYTHON[node.name]}." if node.name in PYTHON else instead
        raise self.code.wrong(node.line, f"The name {node.name!r} is not declared.{instead}")

    def assign(self, line: int, name: str, variable: Variable | Raw, value):
        """Store in a variable, for the threads that are here; gives the value in the variable's type."""
        if not isinstance(variable, Variable) or variable.constant:
            raise self.code.wrong(line, f"{name!r} cannot be changed: it is an input, or has no index.")
        value = self.converted(line, value, variable.value.dtype)
        variable.value = value if self.mask.all() else floats.chosen(self.mask, value, variable.value)
        if variable.written is not None:
            variable.written = variable.written | self.mask
        return value

    def converted(self, line: int, value, dtype: np.dtype) -> np.ndarray:
        """The value in another type, as an assignment gives it."""
        if value.dtype.kind == "c" and dtype.kind != "c":
            raise self.code.wrong(line, f"A complex number becomes no {dtype} by itself: which part is meant?")
        return floats.cast(value, convert(np.asarray(value), dtype))

    def _value_number(self, node: tree.Number):
        return floats.constant(node.value)

    def _value_name(self, node: tree.Name):
        variable = self.find(node)
        if not isinstance(variable, Variable):
            raise self.code.unknown(node.line, f"{node.name!r} as a whole")
        if variable.written is not None and variable.fresh and (self.mask & ~variable.written).any():
            raise fault(
                self.code,
                node.line,
                "uninitialised",
                f"{node.name!r} is read before it has a value.",
                "Does every way to this line store something in it first?",
                node.name,
            )
        return variable.value

    def _value_unary(self, node: tree.Unary):
        if node.operator == "&":
            raise self.code.unknown(node.line, "addresses, but for atomic functions")
        return self._fitting(node, node.operator, arithmetic.unary, node.operator, self.value(node.operand))

    def _value_binary(self, node: tree.Binary):
        if node.operator in ("&&", "||"):
            return self._short_circuit(node)
        return self._combined(node, self.value(node.left), self.value(node.right))

    def _short_circuit(self, node: tree.Binary) -> np.ndarray:
        here, left = self.mask, self.truth(node.left)
        self.mask = here & (left if node.operator == "&&" else ~left)
        right = self.truth(node.right)
        self.mask = here
        return left & right if node.operator == "&&" else left | right

    def _combined(self, node: tree.Binary | tree.Assign, left, right):
        """left operator right"""
        zero = arithmetic.divides_by_zero(node.operator, left, right)
        if zero is not None and (zero & self.mask).any():
            raise fault(
                self.code,
                node.line,
                "division",
                f"Thread {int(np.argmax(zero & self.mask))} divides a whole number by 0.",
                "C++ says nothing about the result. Which threads must not come here?",
            )
        if isinstance(node, tree.Assign) and left.dtype.kind == "c" and not types.is_half(right.dtype):
            right = right.astype(left.dtype)
        return self._fitting(node, node.operator, arithmetic.binary, node.operator, left, right)

    def _fitting(self, node: tree.Node, what: str, function, *arguments):
        """What a function of C++ gives. what: says so, where C++ has none for such operands."""
        try:
            return function(*arguments)
        except arithmetic.Unfit:
            kinds = " and ".join(str(each.dtype) for each in arguments if not isinstance(each, str))
            instead = " It combines bits; a square is x * x, any power pow(x, y)." if what == "^" else ""
            raise self.code.wrong(node.line, f"C++ has no {what} for {kinds}.{instead}") from None

    def _value_choice(self, node: tree.Choice) -> np.ndarray:
        here, condition = self.mask, self.truth(node.condition)
        branches = []
        for chosen, branch in ((condition, node.yes), (~condition, node.no)):
            self.mask = here & chosen
            branches.append(self.value(branch))
        self.mask = here
        dtype = self._fitting(node, "choice between values", arithmetic.chosen, *branches)
        return floats.chosen(condition, *(floats.cast(branch, branch.astype(dtype)) for branch in branches))

    def _value_cast(self, node: tree.Cast):
        return self.converted(node.line, self.value(node.operand), self.dtype(node.line, node.type))

    def _value_assign(self, node: tree.Assign):
        if isinstance(node.target, tree.Element):
            raw, index = self.element(node.target)
            before = raw.load(self.code, node.line, index, self.mask) if node.operator else None
        elif isinstance(node.target, tree.Name):
            raw, before = None, self.value(node.target) if node.operator else None
        else:
            raise self.code.wrong(node.line, "Nothing can be stored in what stands on the left.")
        value = self.value(node.value)
        value = self._combined(node, before, value) if node.operator else value
        if raw is not None:
            value = self.converted(node.line, value, raw.array.dtype)
            raw.store(self.code, node.line, index, value, self.mask)
        else:
            value = self.assign(node.line, node.target.name, self.find(node.target), value)
        return before if node.after else value

    def element(self, node: tree.Element) -> tuple[Raw, np.ndarray]:
        """The raw array and the places in it."""
        raw = self.find(node.array) if isinstance(node.array, tree.Name) else None
        if not isinstance(raw, Raw):
            raise self.code.wrong(node.line, "Only a raw argument can have an index.")
        return raw, self.value(node.index)

    def _value_element(self, node: tree.Element) -> np.ndarray:
        raw, index = self.element(node)
        return raw.load(self.code, node.line, index, self.mask)

    def _value_member(self, node: tree.Member):
        whole = self.find(node.whole) if isinstance(node.whole, tree.Name) else None
        if isinstance(whole, (Raw, Indexer)) and node.name == "size" and node.arguments == ():
            return np.int64(whole.array.size if isinstance(whole, Raw) else whole.size)
        if isinstance(whole, Raw) and node.name == "ndim" and node.arguments is None:
            return np.int32(whole.array.ndim)
        if not isinstance(whole, (Raw, Indexer)) and node.name in ("real", "imag") and node.arguments == ():
            return getattr(np, node.name)(self.value(node.whole))
        if isinstance(whole, Variable) and whole.value.dtype.kind in "biuf":
            raise self.code.wrong(
                node.line, f"{node.whole.name!r} is one number here, a {whole.value.dtype}, which has no .{node.name}."
            )
        raise self.code.unknown(node.line, f".{node.name}")

    def _unknown_function(self, node: tree.Call) -> Exception:
        of_python = hasattr(builtins, node.function)
        near = [] if of_python else difflib.get_close_matches(node.function, calls.KNOWN, 1, cutoff=0.8)
        count = len(node.arguments)
        instead = "If CUDA has it, write a RawKernel; if it is yours, define it in the preamble."
        return self.code.unknown(
            node.line,
            f"the function {node.function} of {count} argument{'s' * (count != 1)}",
            f"Is {near[0]} meant?" if near else instead,
        )

    def _value_call(self, node: tree.Call):
        if node.function in calls.ATOMIC:
            raise self.code.unknown(node.line, f"the old value that {node.function} gives")
        given = [self.value(argument) for argument in node.arguments]
        values = list(map(np.asarray, given))
        dtype = types.named(node.function)
        if dtype is not None and dtype.kind == "c" and len(values) in (1, 2):
            return (values[0] if len(values) == 1 else values[0] + 1j * values[1]).astype(dtype)
        try:
            result = calls.call(node.function, values)
        except calls.Ambiguous as error:
            raise self.code.wrong(node.line, error.what) from None
        if result is None:
            raise self._unknown_function(node)
        return floats.called(result, given, free=node.function in calls.FREE)
