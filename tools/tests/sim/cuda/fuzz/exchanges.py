"""Random statements in which threads depend on each other, free of races by construction.

Whatever is read from others was written to the writer's own cell before a barrier, and is not written again before
the next one.
"""

from tools.tests.sim.cuda.fuzz.cells import Cells
from tools.tests.sim.cuda.fuzz.scalars import arithmetic
from tools.tests.sim.cuda.fuzz.scope import BLOCK, THREAD, WARP, Array, Scope, Variable
from tools.tests.sim.cuda.fuzz.tree import (
    Apply,
    Assign,
    Atomic,
    Augment,
    Binary,
    Call,
    Compare,
    Element,
    Evaluate,
    Expression,
    Function,
    If,
    Literal,
    Name,
    Node,
    Operation,
    Received,
    Return,
    Store,
    Together,
    Unpack,
    While,
)

ALL_LANES = Literal("int64", 0xFFFFFFFF)
SHUFFLED = ("int32", "int64", "float32", "float64")


def number(value: int) -> Literal:
    return Literal("int64", value)


def less(a: Expression, b: Expression) -> Compare:
    return Compare("bool", ("<",), (a, b))


def barrier(name: str = "syncthreads") -> Together:
    return Together(Operation(name))


class Exchanges(Cells):
    """threads: in a block. t: number of the thread in its block, where the kernel has it.

    shared: arrays of one cell for each thread, with the index of the own one. scratch: such an array in global memory,
    and the number of the block's first cell. counters: a shared array for atomics.
    together: whether all threads of a block are still there, as an exchange needs.
    """

    def __init__(self, seed: int):
        super().__init__(seed)
        self.threads = 0
        self.t: Expression | None = None
        self.shared: dict[str, tuple[Array, tuple[Expression, ...]]] = {}
        self.counters: str | None = None
        self.scratch: tuple[str, Array, Expression] | None = None
        self.warp_functions: dict[str, Function] = {}
        self.together = False

    def kinds(self, scope: Scope) -> dict:
        kinds = super().kinds(scope)
        if not self.together or scope.returns is not None:
            return kinds
        if scope.level == BLOCK:
            kinds |= {
                self.through_shared: 4,
                self.through_global: 1,
                self.shared_counters: 1.2,
                self.tree: 0.8,
                self.sync: 0.4,
                self.block_vote: 3.5,
            }
        if scope.level >= WARP:
            kinds |= {self.within_warp: 1, self.shuffle: 3, self.vote: 2.5, self.match: 1.2, self.leader: 1}
            if scope.room > 0:
                kinds |= {self.while_any: 1, self.branch_on_vote: 1}
            if self.lanes_there() == 32:
                kinds[self.warp_total] = 0.8
        return kinds

    # Through memory ------------------------------------------------------------------------------

    def through_shared(self, scope: Scope) -> list[Node]:
        name = self.rng.choice(list(self.shared))
        array, own = self.shared[name]
        write = Store(Element(array.dtype, name, own), self.make(array.dtype, scope, THREAD))
        inner = scope.inner(THREAD, loop=None)
        inner.arrays[name] = array
        read = self.introduce_from(scope, self.element(name, inner, THREAD))
        meanwhile = self.block(inner, self.rng.choice((0, 0, 1)))
        for name in scope.names.keys() - inner.names.keys():  # what is no longer to be read there, is not here either
            del scope.names[name]
        return [write, barrier(), read, *meanwhile, barrier()]

    def introduce_from(self, scope: Scope, value: Expression, level: int = THREAD) -> Assign:
        """A new variable with this value."""
        assign = Assign(self.new("v"), value.type, value)
        scope.names[assign.name] = Variable(value.type, level)
        return assign

    def through_global(self, scope: Scope) -> list[Node]:
        """Threads of a block may also meet in global memory; the first cell of the block is number `first`."""
        name, array, first = self.scratch
        own = Element(array.dtype, name, (Binary("int64", "+", first, self.t),))
        other = Element(array.dtype, name, (Binary("int64", "+", first, self.below(self.threads, scope, THREAD)),))
        write = Store(own, self.make(array.dtype, scope, THREAD))
        return [write, barrier(), self.introduce_from(scope, other), barrier()]

    def within_warp(self, scope: Scope) -> list[Node]:
        """Through shared memory, with barriers of the warp only."""
        flat = [name for name, (array, _) in self.shared.items() if len(array.shape) == 1]
        if not flat or self.threads % 32 and self.threads > 32:
            return self.shuffle(scope)
        name = self.rng.choice(flat)
        array, own = self.shared[name]
        start = Binary("int64", "*", Binary("int64", "//", self.t, number(32)), number(32))
        index = Binary("int64", "+", start, self.below(min(self.threads, 32), scope, THREAD))
        write = Store(Element(array.dtype, name, own), self.make(array.dtype, scope, THREAD))
        read = self.introduce_from(scope, Element(array.dtype, name, (index,)))
        return [write, barrier("syncwarp"), read, barrier("syncwarp")]

    def shared_counters(self, scope: Scope) -> list[Node]:
        """Zeroed, changed by atomics of all threads, read by all."""
        name, size = self.counters, min(self.threads, 8)
        own, other = Element("int32", name, (self.t,)), Element("int32", name, (self.below(size, scope, THREAD),))
        operation = self.rng.choice(("add", "sub", "min", "max", "or_", "xor"))
        index = (self.below(size, scope, THREAD),)
        update = Evaluate(Atomic("int32", operation, name, index, (self.exact("int32", operation, scope),)))
        zero = If(((less(self.t, number(size)), (Store(own, number(0)),)),))
        maybe = If(((self.test(scope, THREAD), (update,)),)) if self.chance(0.5) else update
        return [zero, barrier(), maybe, barrier(), self.introduce_from(scope, other), barrier()]

    def tree(self, scope: Scope) -> list[Node]:
        """A reduction: half of the threads add the other half's cells, then a quarter."""
        flat = [name for name, (array, _) in self.shared.items() if len(array.shape) == 1]
        if not flat or self.threads & (self.threads - 1):
            return self.through_shared(scope)
        name = self.rng.choice(flat)
        array, own = self.shared[name]
        mine, k = Element(array.dtype, name, own), Name("int64", self.new("k"))
        partner = Element(array.dtype, name, (Binary("int64", "+", self.t, k),))
        step = If(((less(self.t, k), (Augment(mine, "+", partner),)),))
        turn = (step, barrier(), Augment(k, "//", number(2)))
        write = Store(mine, self.make(array.dtype, scope, THREAD, 2))
        first = Element(array.dtype, name, (number(0),))
        return [
            write,
            barrier(),
            Assign(k.name, "int64", number(self.threads // 2)),
            While(less(number(0), k), turn),
            self.introduce_from(scope, first, BLOCK),
            barrier(),
        ]

    def sync(self, scope: Scope) -> list[Node]:
        return [barrier()]

    def block_vote(self, scope: Scope) -> list[Node]:
        operation = Operation(
            f"syncthreads_{self.rng.choice(('count', 'and', 'or'))}",
            (Call("int32", "np.int32", (self.test(scope, THREAD),)),),
            "int32",
        )
        return [Together(operation, self.introduce_from(scope, Received("int32"), BLOCK))]

    # Within a warp -------------------------------------------------------------------------------

    def lanes_there(self) -> int:
        """How many lanes every warp of the block has."""
        return self.threads % 32 or 32

    def shuffle(self, scope: Scope) -> list[Node]:
        type_, all_there = self.rng.choice(SHUFFLED), self.lanes_there() == 32
        name = self.rng.choice(("shfl_sync", "shfl_up_sync", *["shfl_down_sync", "shfl_xor_sync"] * all_there))
        if name == "shfl_sync":
            along = self.given("int32", self.below(self.lanes_there(), scope, THREAD))
        else:  # each lane by the same distance, as is usual, or by its own
            level = THREAD if self.chance(0.2) else WARP
            along = number(2 ** self.rng.randrange(5))
            if self.chance(0.5):
                along = self.given("int32", self.below(32, scope, level))
        value = self.given(type_, self.make(type_, scope, THREAD, 2))
        operation = Operation(name, (ALL_LANES, value, along), type_)
        received = Received(type_)
        if self.chance(0.5):
            received = Binary(arithmetic("+", type_, type_), "+", received, self.make(type_, scope, THREAD, 1))
        return [Together(operation, self.introduce_from(scope, received))]

    def given(self, type_: str, value: Expression) -> Call:
        """To an operation of the warp. Numba looks at the type before it is sure of it, unless it is said so."""
        return Call(type_, f"np.{type_}", (value,))

    def vote(self, scope: Scope) -> list[Node]:
        name = self.rng.choice(("ballot_sync", "ballot_sync", "any_sync", "all_sync", "eq_sync"))
        type_ = "int32" if name == "ballot_sync" else "bool"
        operation = Operation(name, (ALL_LANES, self.test(scope, THREAD)), type_)
        received = Received(type_)
        if name == "ballot_sync" and self.chance(0.5):
            received = Call("int32", "cuda.popc", (received,))
        return [Together(operation, self.introduce_from(scope, received, WARP))]

    def match(self, scope: Scope) -> list[Node]:
        if self.chance(0.6):
            operation = Operation(
                "match_any_sync", (ALL_LANES, self.given("int32", self.below(5, scope, THREAD))), "int32"
            )
            return [Together(operation, self.introduce_from(scope, Received("int32")))]
        level = self.rng.choice((THREAD, WARP))
        operation = Operation(
            "match_all_sync", (ALL_LANES, self.given("int64", self.below(4, scope, level))), "int32,bool"
        )
        names = self.new("v"), self.new("v")
        scope.names.update({names[0]: Variable("int32", WARP), names[1]: Variable("bool", WARP)})
        return [Together(operation, Unpack(names, ("int32", "bool"), Received("int32,bool")))]

    def leader(self, scope: Scope) -> list[Node]:
        """A ballot, then a branch whose lanes are those of the ballot: the first of them gives its value to all."""
        test = self.introduce_from(scope, self.test(scope, THREAD))
        taken = self.introduce(scope, self.rng.choice(SHUFFLED), THREAD)
        chosen, mask = Name("bool", test.name), Name("int32", self.new("m"))
        ballot = Together(
            Operation("ballot_sync", (ALL_LANES, chosen), "int32"), Assign(mask.name, "int32", Received("int32"))
        )
        first = Binary("int64", "-", Call("uint32", "cuda.ffs", (mask,)), number(1))
        value = self.given(taken.type, self.make(taken.type, scope, THREAD, 2))
        shuffle = Operation("shfl_sync", (mask, value, first), taken.type)
        take = Together(shuffle, Assign(taken.name, taken.type, Received(taken.type)))
        return [test, taken, ballot, If(((chosen, (take, Together(Operation("syncwarp", (mask,))))),))]

    def while_any(self, scope: Scope) -> list[Node]:
        """A loop that the warp leaves together."""
        name, inner = self.new("c"), scope.inner(WARP, loop=WARP)
        counter = Name("int64", name)
        inner.names[name] = Variable("int64", WARP, fixed=True)
        going_on = less(counter, self.below(5, scope, THREAD))
        return [
            Assign(name, "int64", number(0)),
            While(
                Received("bool"),
                (Augment(counter, "+", number(1)), *self.block(inner, 1)),
                Operation("any_sync", (ALL_LANES, going_on), "bool"),
            ),
        ]

    def branch_on_vote(self, scope: Scope) -> list[Node]:
        operation = Operation(self.rng.choice(("any_sync", "all_sync")), (ALL_LANES, self.test(scope, THREAD)), "bool")
        return [Together(operation, If(((Received("bool"), self.inside(scope, WARP)),)))]

    def warp_total(self, scope: Scope) -> list[Node]:
        """A device function in which the lanes of a warp work together."""
        type_ = self.rng.choice(("int64", "float32", "float64"))
        function = self.warp_functions.setdefault(type_, warp_total(type_))
        total = Apply(type_, function, (self.make(type_, scope, THREAD, 2),))
        return [Together(total, self.introduce_from(scope, Received(type_)))]


def warp_total(type_: str) -> Function:
    """What every lane gets: the sum over the warp."""
    value, distance = Name(type_, "value"), Name("int64", "distance")
    shuffle = Operation("shfl_xor_sync", (ALL_LANES, value, distance), type_)
    turn = Together(shuffle, Augment(value, "+", Received(type_))), Augment(distance, "//", number(2))
    body = Assign("distance", "int64", number(16)), While(less(number(0), distance), turn), Return((value,))
    return Function(f"warp_total_{type_}", (("value", type_),), (type_,), body)
