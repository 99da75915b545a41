"""The parts of a kernel's expressions, and their values: NumPy numbers, or arrays with one element a thread."""

import builtins
import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cupy.kernels import calls, operators, types
from tools.sim.cupy.kernels.machine import Indexer, Machine, Variable
from tools.sim.cupy.kernels.raw_arrays import Raw, fault
from tools.words import quantity


@dataclass(frozen=True)
class Node:
    """Any part. line: of the code it stands in, counted from 1."""

    line: int

    def value(self, machine: Machine) -> Any:
        """The value; for threads that are not here it may be anything."""
        raise NotImplementedError

    def truth(self, machine: Machine) -> np.ndarray:
        """For which threads it holds."""
        value = machine.fitting(self.line, "as a condition", operators.truth, self.value(machine))
        return np.broadcast_to(value, machine.mask.shape)


@dataclass(frozen=True)
class Number(Node):
    number: np.generic

    def value(self, machine: Machine) -> Any:
        return floats.constant(self.number)


@dataclass(frozen=True)
class Name(Node):
    name: str

    def value(self, machine: Machine) -> Any:
        variable = machine.find(self.line, self.name)
        if not isinstance(variable, Variable):
            raise machine.code.unknown(self.line, f"{self.name!r} as a whole")
        if variable.written is not None and variable.fresh and (machine.mask & ~variable.written).any():
            what = f"{self.name!r} is read before it has a value."
            question = "Does every way to this line store something in it first?"
            raise fault(machine.code, self.line, "uninitialised", what, question, self.name)
        return variable.value


@dataclass(frozen=True)
class Unary(Node):
    """operator: + - ! ~ &"""

    operator: str
    operand: Node

    def value(self, machine: Machine) -> Any:
        if self.operator == "&":
            raise machine.code.unknown(self.line, "addresses, but for atomic functions")
        operand = self.operand.value(machine)
        return machine.fitting(self.line, self.operator, operators.unary, self.operator, operand)


@dataclass(frozen=True)
class Binary(Node):
    operator: str
    left: Node
    right: Node

    def value(self, machine: Machine) -> Any:
        if self.operator not in ("&&", "||"):
            return combined(machine, self.line, self.operator, self.left.value(machine), self.right.value(machine))
        here, left = machine.mask, self.left.truth(machine)
        machine.mask = here & (left if self.operator == "&&" else ~left)
        right = self.right.truth(machine)
        machine.mask = here
        return left & right if self.operator == "&&" else left | right


def combined(machine: Machine, line: int, operator: str, left: Any, right: Any) -> Any:
    """left operator right"""
    zero = operators.divides_by_zero(operator, left, right)
    if zero is not None and (zero & machine.mask).any():
        what = f"Thread {int(np.argmax(zero & machine.mask))} divides a whole number by 0."
        question = "C++ says nothing about the result. Which threads must not come here?"
        raise fault(machine.code, line, "division", what, question)
    return machine.fitting(line, operator, operators.binary, operator, left, right)


@dataclass(frozen=True)
class Choice(Node):
    """condition ? yes : no"""

    condition: Node
    yes: Node
    no: Node

    def value(self, machine: Machine) -> Any:
        here, condition = machine.mask, self.condition.truth(machine)
        branches = []
        for chosen, branch in ((condition, self.yes), (~condition, self.no)):
            machine.mask = here & chosen
            branches.append(branch.value(machine))
        machine.mask = here
        dtype = machine.fitting(self.line, "choice between values", operators.chosen, *branches)
        return floats.chosen(condition, *(floats.cast(branch, branch.astype(dtype)) for branch in branches))


@dataclass(frozen=True)
class Cast(Node):
    type: str
    operand: Node

    def value(self, machine: Machine) -> Any:
        return machine.converted(self.line, self.operand.value(machine), machine.dtype(self.line, self.type))


@dataclass(frozen=True)
class Element(Node):
    """array[index]"""

    array: Node
    index: Node

    def place(self, machine: Machine) -> tuple[Raw, Any]:
        """The raw array and the places in it."""
        raw = machine.find(self.array.line, self.array.name) if isinstance(self.array, Name) else None
        if not isinstance(raw, Raw):
            raise machine.code.wrong(self.line, "Only a raw argument can have an index.")
        return raw, self.index.value(machine)

    def value(self, machine: Machine) -> Any:
        raw, index = self.place(machine)
        return raw.load(machine.code, self.line, index, machine.mask)


@dataclass(frozen=True)
class Assign(Node):
    """target = value, or with an operator: target += value. after: the value is that before it, as in i++."""

    target: Node
    operator: str | None
    operand: Node
    after: bool = False

    def value(self, machine: Machine) -> Any:
        code, line, before = machine.code, self.line, None
        if isinstance(self.target, Element):
            raw, index = self.target.place(machine)
            before = raw.load(code, line, index, machine.mask) if self.operator else None
            value = machine.converted(line, self._operated(machine, before), raw.array.dtype)
            raw.store(code, line, index, value, machine.mask)
        elif isinstance(self.target, Name):
            before = self.target.value(machine) if self.operator else None
            value = self._operated(machine, before)
            variable = machine.find(self.target.line, self.target.name)
            value = machine.assign(line, self.target.name, variable, value)
        else:
            raise code.wrong(line, "Nothing can be stored in what stands on the left.")
        return before if self.after else value

    def _operated(self, machine: Machine, before: Any) -> Any:
        """The value on the right; with an operator, what becomes of the one before."""
        value = self.operand.value(machine)
        if not self.operator:
            return value
        if before.dtype.kind == "c" and not types.is_half(value.dtype):
            value = value.astype(before.dtype)
        return combined(machine, self.line, self.operator, before, value)


@dataclass(frozen=True)
class Member(Node):
    """whole.name, or whole.name(arguments)"""

    whole: Node
    name: str
    arguments: tuple[Node, ...] | None

    def value(self, machine: Machine) -> Any:
        whole = machine.find(self.whole.line, self.whole.name) if isinstance(self.whole, Name) else None
        if isinstance(whole, (Raw, Indexer)) and self.name == "size" and self.arguments == ():
            return np.int64(whole.array.size if isinstance(whole, Raw) else whole.size)
        if isinstance(whole, Raw) and self.name == "ndim" and self.arguments is None:
            return np.int32(whole.array.ndim)
        if not isinstance(whole, (Raw, Indexer)) and self.name in ("real", "imag") and self.arguments == ():
            return getattr(np, self.name)(self.whole.value(machine))
        if isinstance(self.whole, Name) and isinstance(whole, Variable) and whole.value.dtype.kind in "biuf":
            what = f"{self.whole.name!r} is one number here, a {whole.value.dtype}, which has no .{self.name}."
            raise machine.code.wrong(self.line, what)
        raise machine.code.unknown(self.line, f".{self.name}")


@dataclass(frozen=True)
class Call(Node):
    function: str
    arguments: tuple[Node, ...]

    def value(self, machine: Machine) -> Any:
        if self.function in machine.functions:
            return machine.functions[self.function].called(machine, self.line, self.arguments)
        if self.function in calls.ATOMIC:
            raise machine.code.unknown(self.line, f"the old value that {self.function} gives")
        given = [argument.value(machine) for argument in self.arguments]
        values = list(map(np.asarray, given))
        dtype = types.named(self.function)
        if dtype is not None and dtype.kind == "c" and len(values) in (1, 2):
            return (values[0] if len(values) == 1 else values[0] + 1j * values[1]).astype(dtype)
        try:
            result = calls.call(self.function, values)
        except calls.Ambiguous as error:
            raise machine.code.wrong(self.line, error.what) from None
        if result is None:
            raise self._unknown(machine)
        return floats.called(result, given, free=self.function in calls.FREE)

    def _unknown(self, machine: Machine) -> Exception:
        of_python = hasattr(builtins, self.function)
        near = [] if of_python else difflib.get_close_matches(self.function, calls.KNOWN, 1, cutoff=0.8)
        instead = "If CUDA has it, write a RawKernel; if it is yours, define it in the preamble."
        what = f"the function {self.function} of {quantity(len(self.arguments), 'argument')}"
        return machine.code.unknown(self.line, what, f"Is {near[0]} meant?" if near else instead)

    def update(self, machine: Machine) -> None:
        """An atomic function as a statement. The threads take turns."""
        target, *values = self.arguments
        element = target.operand if isinstance(target, Unary) and target.operator == "&" else None
        if not isinstance(element, Element) or len(values) != 1:
            raise machine.code.unknown(self.line, f"{self.function} of anything but &array[index] and a value")
        raw, index = element.place(machine)
        value = values[0].value(machine)
        raw.update(machine.code, self.line, calls.ATOMIC[self.function], index, value, machine.mask)
