"""Runs a kernel's statements for all threads at once.

Branches and loops are masks: statements run for the threads that are there, and nothing that the others do can show.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from tools.sim import floats
from tools.sim.counters import Counts
from tools.sim.cupy.kernels import calls, tree
from tools.sim.cupy.kernels.evaluation import Evaluation, Indexer, Variable
from tools.sim.cupy.kernels.raw import Raw
from tools.sim.cupy.kernels.refusal import Code

ROUNDS = 1_000_000  # of a loop, after which it is taken for endless
DEPTH = 32  # of calls of device functions


class Machine(Evaluation):
    """functions: the __device__ functions that the code may call, by name."""

    def __init__(
        self,
        code: Code,
        threads: int,
        names: Mapping[str, Variable | Raw | Indexer],
        named_types: Mapping[str, np.dtype],
        functions: Mapping[str, tree.Function] = {},
    ):
        super().__init__(code, threads, names, named_types)
        self._functions, self._depth, self._everywhere = functions, 0, False
        self._broken = self._returned = self._nobody = np.zeros(threads, bool)
        self._result: Variable | None = None

    @contextmanager
    def counted(self, arithmetic: Counts) -> Iterator[None]:
        """What is done inside in float64, and converted, is added to these counts."""
        who = floats.Floats(lambda: None, lambda: int(np.count_nonzero(self.mask)), lambda _: arithmetic)
        with floats.counted_by(who):
            yield
        who.finish()

    def check(self, statement: tree.Node) -> None:
        """Raise for what the compiler would refuse, also where no thread of this launch comes."""
        alone = {name: each.without_threads() for name, each in self.scopes[0].items()}
        machine = Machine(self.code, 1, alone, self.named_types, self._functions)
        machine.mask, machine._everywhere = machine._nobody, True
        machine.run(statement)

    def run(self, statement: tree.Node) -> None:
        """Execute a statement."""
        if self._everywhere or self.mask.any():
            getattr(self, f"_run_{type(statement).__name__.lower()}")(statement)

    def _run_evaluate(self, node: tree.Evaluate) -> None:
        call = node.expression
        if isinstance(call, tree.Call) and call.function in calls.ATOMIC:
            self._update(call)
        else:
            self.value(call)

    def _run_several(self, node: tree.Several) -> None:
        for each in node.statements:
            self.run(each)

    def _run_block(self, node: tree.Block) -> None:
        self.scopes.append({})
        for each in node.statements:
            self.run(each)
        self.scopes.pop()

    def _run_declare(self, node: tree.Declare) -> None:
        if node.name in self.scopes[-1]:
            raise self.code.wrong(node.line, f"{node.name!r} is declared twice.")
        if node.value is None:
            empty = np.zeros(self.threads, self.dtype(node.line, node.type))
            self.scopes[-1][node.name] = Variable(empty, written=self._nobody)
        else:
            value = self.value(node.value)
            value = value if node.type == "auto" else self.converted(node.line, value, self.dtype(node.line, node.type))
            self.scopes[-1][node.name] = Variable(value)

    def _run_if(self, node: tree.If) -> None:
        here, condition = self.mask, self.truth(node.condition)
        self.mask = here & condition
        self.run(node.yes)
        left = self.mask
        self.mask = here & ~condition
        if node.no is not None:
            self.run(node.no)
        self.mask = left | self.mask

    def _run_loop(self, node: tree.Loop) -> None:
        here, outside = self.mask, self._broken
        self._broken = self._nobody
        self.scopes.append({})
        if node.begin is not None:
            self.run(node.begin)
        running, asked = here, not node.once
        for _ in range(ROUNDS):
            if asked and node.condition is not None:
                self.mask = running
                running = running & self.truth(node.condition)
            if not running.any() and not self._everywhere:
                break
            asked, self.mask = True, running
            self.run(node.body)
            self.mask = running = running & ~self._broken & ~self._returned
            if node.step is not None and (running.any() or self._everywhere):
                self.value(node.step)
            if self._everywhere:
                break
        else:
            raise self.code.wrong(node.line, f"This loop does not end: threads still run after {ROUNDS:,} rounds.")
        self.scopes.pop()
        self.mask, self._broken = here & ~self._returned, outside

    def _run_jump(self, node: tree.Jump) -> None:
        if node.word == "break":
            self._broken = self._broken | self.mask
        self.mask = self._nobody

    def _run_return(self, node: tree.Return) -> None:
        if self._result is not None and node.value is not None:
            self.assign(node.line, "the result", self._result, self.value(node.value))
        self._returned = self._returned | self.mask
        self.mask = self._nobody

    def _value_call(self, node: tree.Call):
        if node.function not in self._functions:
            return super()._value_call(node)
        function = self._functions[node.function]
        if len(node.arguments) != len(function.parameters):
            raise self.code.wrong(
                node.line, f"{function.name} takes {len(function.parameters)} arguments, not {len(node.arguments)}."
            )
        if self._depth == DEPTH:
            raise self.code.unknown(node.line, "functions that call themselves")
        arguments = {
            name: Variable(self.converted(node.line, self.value(argument), self.dtype(node.line, type)))
            for argument, (type, name) in zip(node.arguments, function.parameters)
        }
        return self._inside(function, arguments)

    def _inside(self, function: tree.Function, arguments: dict[str, Variable]):
        """The value that a __device__ function returns."""
        kept = self.scopes, self.mask, self._returned, self._result
        empty = None if function.type == "void" else np.zeros(self.threads, self.dtype(function.line, function.type))
        self.scopes, self._returned, self._depth = [arguments], self._nobody, self._depth + 1
        self._result = None if empty is None else Variable(empty)
        self.run(function.body)
        value = None if empty is None else self._result.value
        self.scopes, self.mask, self._returned, self._result = kept
        self._depth -= 1
        return value

    def _update(self, node: tree.Call) -> None:
        """An atomic function. The threads take turns."""
        target, *values = node.arguments
        if not (
            isinstance(target, tree.Unary)
            and target.operator == "&"
            and isinstance(target.operand, tree.Element)
            and len(values) == 1
        ):
            raise self.code.unknown(node.line, f"{node.function} of anything but &array[index] and a value")
        raw, index = self.element(target.operand)
        raw.update(self.code, node.line, calls.ATOMIC[node.function], index, self.value(values[0]), self.mask)
