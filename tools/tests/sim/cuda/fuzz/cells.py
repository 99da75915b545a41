"""Random statements that change memory without waiting for anybody: own cells, local arrays, atomics."""

from tools.tests.sim.cuda.fuzz.scalars import is_integer
from tools.tests.sim.cuda.fuzz.scope import THREAD, Array, Scope, Variable
from tools.tests.sim.cuda.fuzz.statements import Statements, kin
from tools.tests.sim.cuda.fuzz.tree import Assign, Atomic, Augment, Call, Evaluate, Expression, Node, Store

COMMUTING = ("add", "sub", "min", "max", "and_", "or_", "xor")  # whose end does not depend on the order


class Cells(Statements):
    """accumulators: arrays that atomics change, each with the one operation that is used on it."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.accumulators: dict[str, tuple[Array, str]] = {}

    def kinds(self, scope: Scope) -> dict:
        kinds = super().kinds(scope)
        if scope.returns is None:
            kinds |= {self.store: 2, self.count: 1, self.exchange_own: 1.2}
        return kinds

    def store(self, scope: Scope) -> list[Node]:
        """To an own cell, or to a local array."""
        local = [name for name in scope.arrays if name.startswith("local")]
        cell = self.rng.choice(self.own)
        if local and self.chance(0.5):
            cell = self.element(self.rng.choice(local), scope, THREAD)
        if self.chance(0.3):
            return [Augment(cell, "+", self.make(self.rng.choice(kin(cell.type)), scope, THREAD, 2))]
        return [Store(cell, self.make(self.rng.choice(kin(cell.type)), scope, THREAD))]

    def count(self, scope: Scope) -> list[Node]:
        """An atomic whose result nobody looks at."""
        name = self.rng.choice(list(self.accumulators))
        array, operation = self.accumulators[name]
        index = tuple(self.below(size, scope, THREAD) for size in array.shape)
        return [Evaluate(Atomic(array.dtype, operation, name, index, (self.exact(array.dtype, operation, scope),)))]

    def exact(self, dtype: str, operation: str, scope: Scope) -> Expression:
        """A value to which atomics in any order give the same."""
        if not is_integer(dtype) and operation in ("add", "sub"):  # whole numbers add up without rounding
            return Call(dtype, f"np.{dtype}", (self.below(9, scope, THREAD),))
        return self.make("int64" if is_integer(dtype) and self.chance(0.3) else dtype, scope, THREAD, 2)

    def exchange_own(self, scope: Scope) -> list[Node]:
        """An atomic on the own cell; what was there is looked at."""
        cell = self.rng.choice([each for each in self.own if each.type != "int16"])
        operations = COMMUTING + ("exch", "cas") if is_integer(cell.type) else ("add", "sub", "min", "max")
        operation = self.rng.choice(operations)
        operands = tuple(self.make(cell.type, scope, THREAD, 2) for _ in range(1 + (operation == "cas")))
        if operation == "cas" and self.chance(0.6):
            operands = (cell, operands[1])
        old = Atomic(cell.type, operation, cell.array, cell.index, operands)
        name = self.new("v")
        scope.names[name] = Variable(cell.type)
        return [Assign(name, cell.type, old)]
