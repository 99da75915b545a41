"""The statements of a kernel's code, and how they run."""

from dataclasses import dataclass

import numpy as np

from tools.sim.cupy.kernels import calls
from tools.sim.cupy.kernels.expressions import Call, Node
from tools.sim.cupy.kernels.machine import Machine, Variable

ROUNDS = 1_000_000  # of a loop, after which it is taken for endless
DEPTH = 32  # of calls of device functions


@dataclass(frozen=True)
class Statement:
    """Any of them. line: of the code it stands in, counted from 1."""

    line: int

    def run(self, machine: Machine) -> None:
        """Execute it, if a thread is here."""
        if machine.everywhere or machine.mask.any():
            self.execute(machine)

    def execute(self, machine: Machine) -> None:
        raise NotImplementedError

    def check(self, machine: Machine) -> None:
        """Raise for what the compiler would refuse, also where no thread of this launch comes."""
        self.run(machine.for_nobody())


@dataclass(frozen=True)
class Declare(Statement):
    """type: "auto" where the value says it."""

    type: str
    name: str
    value: Node | None

    def execute(self, machine: Machine) -> None:
        if self.name in machine.scopes[-1]:
            raise machine.code.wrong(self.line, f"{self.name!r} is declared twice.")
        if self.value is None:
            empty = np.zeros(machine.threads, machine.dtype(self.line, self.type))
            machine.scopes[-1][self.name] = Variable(empty, written=machine.nobody)
            return
        value = self.value.value(machine)
        if self.type != "auto":
            value = machine.converted(self.line, value, machine.dtype(self.line, self.type))
        machine.scopes[-1][self.name] = Variable(value)


@dataclass(frozen=True)
class Evaluate(Statement):
    expression: Node

    def execute(self, machine: Machine) -> None:
        if isinstance(self.expression, Call) and self.expression.function in calls.ATOMIC:
            self.expression.update(machine)
        else:
            self.expression.value(machine)


@dataclass(frozen=True)
class Several(Statement):
    """Statements that stand as one, as int i = 0, j = 1; unlike a block they open no scope."""

    statements: tuple[Statement, ...]

    def execute(self, machine: Machine) -> None:
        for each in self.statements:
            each.run(machine)


@dataclass(frozen=True)
class Block(Several):
    """{ ... }"""

    def execute(self, machine: Machine) -> None:
        with machine.scope():
            super().execute(machine)


@dataclass(frozen=True)
class If(Statement):
    condition: Node
    yes: Statement
    no: Statement | None

    def execute(self, machine: Machine) -> None:
        here, condition = machine.mask, self.condition.truth(machine)
        machine.mask = here & condition
        self.yes.run(machine)
        left = machine.mask
        machine.mask = here & ~condition
        if self.no is not None:
            self.no.run(machine)
        machine.mask = left | machine.mask


@dataclass(frozen=True)
class Loop(Statement):
    """for (begin; condition; step) body; while has only the middle. once: the condition comes after the body."""

    begin: Statement | None
    condition: Node | None
    step: Node | None
    body: Statement
    once: bool = False

    def execute(self, machine: Machine) -> None:
        here, outside = machine.mask, machine.broken
        machine.broken = machine.nobody
        with machine.scope():
            if self.begin is not None:
                self.begin.run(machine)
            self._turns(machine, here)
        machine.mask, machine.broken = here & ~machine.returned, outside

    def _turns(self, machine: Machine, running: np.ndarray) -> None:
        asked = not self.once
        for _ in range(ROUNDS):
            if asked and self.condition is not None:
                machine.mask = running
                running = running & self.condition.truth(machine)
            if not running.any() and not machine.everywhere:
                return
            asked, machine.mask = True, running
            self.body.run(machine)
            machine.mask = running = running & ~machine.broken & ~machine.returned
            if self.step is not None and (running.any() or machine.everywhere):
                self.step.value(machine)
            if machine.everywhere:
                return
        what = f"This loop does not end: threads still run after {ROUNDS:,} rounds."
        raise machine.code.wrong(self.line, what)


@dataclass(frozen=True)
class Jump(Statement):
    """break or continue"""

    word: str

    def execute(self, machine: Machine) -> None:
        if self.word == "break":
            machine.broken = machine.broken | machine.mask
        machine.mask = machine.nobody


@dataclass(frozen=True)
class Return(Statement):
    value: Node | None

    def execute(self, machine: Machine) -> None:
        if machine.result is not None and self.value is not None:
            machine.assign(self.line, "the result", machine.result, self.value.value(machine))
        machine.returned = machine.returned | machine.mask
        machine.mask = machine.nobody


@dataclass(frozen=True)
class Function:
    """A __device__ function. parameters: (type, name)."""

    line: int
    type: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Block

    def called(self, machine: Machine, line: int, arguments: tuple[Node, ...]) -> np.ndarray | None:
        """The value that it returns."""
        if len(arguments) != len(self.parameters):
            what = f"{self.name} takes {len(self.parameters)} arguments, not {len(arguments)}."
            raise machine.code.wrong(line, what)
        if machine.depth == DEPTH:
            raise machine.code.unknown(line, "functions that call themselves")
        given = {
            name: Variable(machine.converted(line, argument.value(machine), machine.dtype(line, type)))
            for argument, (type, name) in zip(arguments, self.parameters)
        }
        kept = machine.scopes, machine.mask, machine.returned, machine.result
        result = None
        if self.type != "void":
            result = Variable(np.zeros(machine.threads, machine.dtype(self.line, self.type)))
        machine.scopes, machine.returned, machine.result = [{**given}], machine.nobody, result
        machine.depth += 1
        self.body.run(machine)
        machine.scopes, machine.mask, machine.returned, machine.result = kept
        machine.depth -= 1
        return None if result is None else result.value
