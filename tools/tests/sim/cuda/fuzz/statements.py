"""Random statements that each thread executes for itself: assignments, branches, loops, jumps."""

from tools.tests.sim.cuda.fuzz.expressions import TYPES, WIDE, Expressions
from tools.tests.sim.cuda.fuzz.scalars import arithmetic, is_integer, unified
from tools.tests.sim.cuda.fuzz.scope import BLOCK, THREAD, WARP, Scope, Variable
from tools.tests.sim.cuda.fuzz.tree import (
    Assign,
    Augment,
    Binary,
    Call,
    Compare,
    Element,
    Expression,
    For,
    If,
    Jump,
    Literal,
    Logic,
    Name,
    Node,
    Return,
    Store,
    Unpack,
    While,
)

INTEGER_OPERATORS, FLOAT_OPERATORS = ("+", "-", "*", "&", "|", "^"), ("+", "-", "*")


class Statements(Expressions):
    """own: each thread's cells in the output arrays, which nobody else touches.

    may_leave: whether single threads may return early, since no other thread waits for them later.
    """

    def __init__(self, seed: int):
        super().__init__(seed)
        self.own: list[Element] = []
        self.may_leave = False
        self._number = 0

    def new(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}{self._number}"

    # Blocks --------------------------------------------------------------------------------------

    def block(self, scope: Scope, count: int) -> tuple[Node, ...]:
        statements = []
        for _ in range(count):
            statements += self.statement(scope)
        return tuple(statements)

    def statement(self, scope: Scope) -> list[Node]:
        kinds = self.kinds(scope)
        (kind,) = self.rng.choices(list(kinds), list(kinds.values()))
        return kind(scope)

    def kinds(self, scope: Scope) -> dict:
        """What may stand here, with weights."""
        kinds = {self.assign: 5, self.augment: 3, self.unpack: 1}
        if scope.room > 0:
            kinds |= {self.branch: 5, self.for_loop: 2.5, self.while_loop: 1.5, self.widen: 0.7}
        if scope.loop is not None and scope.level >= scope.loop:
            kinds[self.jump] = 2
        if scope.returns is not None:
            kinds[self.leave_function] = 1.5
        elif scope.level == BLOCK or self.may_leave:
            kinds[self.leave] = 0.3
        return kinds

    def inside(self, scope: Scope, level: int, **changes) -> tuple[Node, ...]:
        """A block one level deeper."""
        return self.block(scope.inner(level, **changes), self.rng.choice((1, 1, 2, 3)))

    def some_level(self, scope: Scope) -> int:
        """That of a test: often one that parts the threads which are together here."""
        return min(scope.level, self.rng.choice((THREAD, THREAD, THREAD, WARP, BLOCK, BLOCK)))

    # Assignments ---------------------------------------------------------------------------------

    def assign(self, scope: Scope) -> list[Node]:
        names = scope.assignable()
        if not names or self.chance(0.2):
            return [self.introduce(scope, self.rng.choice((*WIDE, "bool")))]
        name = self.rng.choice(names)
        known = scope.names[name]
        other = [
            each
            for each in TYPES
            if each != known.type and known.type in WIDE and unified(known.type, each) == known.type
        ]
        if other and self.chance(0.12) and scope.room < 3:  # of this type only where the block ends
            value = self.make(self.rng.choice(other), scope, known.level)
            del scope.names[name]
            return [Assign(name, known.type, value)]
        return [Assign(name, known.type, self.make(known.type, scope, known.level))]

    def introduce(self, scope: Scope, type_: str, level: int | None = None) -> Assign:
        """A new variable."""
        level = self.some_level(scope) if level is None else level
        assign = Assign(self.new("v"), type_, self.make(type_, scope, level))
        scope.names[assign.name] = Variable(type_, level)
        return assign

    def widen(self, scope: Scope) -> list[Node]:
        """A variable to which a branch gives a wider type: it is of that type afterwards, whoever went through."""
        type_, name = self.rng.choice(WIDE), self.new("v")
        narrow = [each for each in TYPES if each != type_ and unified(type_, each) == type_]
        start = Assign(name, type_, self.make(self.rng.choice(narrow), scope, THREAD))
        change = Assign(name, type_, self.make(type_, scope.inner(THREAD), THREAD))
        branch = If(((self.test(scope, self.some_level(scope)), (change,)),))
        scope.names[name] = Variable(type_)
        return [start, branch]

    def augment(self, scope: Scope) -> list[Node]:
        if self.own and scope.returns is None and self.chance(0.3):
            target, level = self.rng.choice(self.own), THREAD
        else:
            names = [name for name in scope.assignable() if scope.names[name].type in ("int64", "float32", "float64")]
            if not names:
                return self.assign(scope)
            name = self.rng.choice(names)
            target, level = Name(scope.names[name].type, name), scope.names[name].level
        operator = self.rng.choice(INTEGER_OPERATORS if is_integer(target.type) else FLOAT_OPERATORS)
        types = (
            kin(target.type)
            if isinstance(target, Element)
            else [each for each in TYPES if arithmetic(operator, target.type, each) == target.type]
        )
        return [Augment(target, operator, self.make(self.rng.choice(types), scope, level, 2))]

    def unpack(self, scope: Scope) -> list[Node]:
        """A swap, two values, or what a device function returns."""
        pairs = [
            (a, b) for a in scope.assignable() for b in scope.assignable() if a < b and scope.names[a] == scope.names[b]
        ]
        if pairs and self.chance(0.5):
            a, b = self.rng.choice(pairs)
            type_ = scope.names[a].type
            return [Unpack((a, b), (type_, type_), (Name(type_, b), Name(type_, a)))]
        functions = [each for each in self.callable(scope) if len(each.returns) == 2]
        names = self.new("v"), self.new("v")
        if functions:
            function = self.rng.choice(functions)
            types, value = function.returns, self.apply(function, scope, THREAD, 2)
        else:
            types = self.rng.choice(WIDE), self.rng.choice(WIDE)
            value = tuple(self.make(type_, scope, THREAD, 2) for type_ in types)
        scope.names.update((name, Variable(type_)) for name, type_ in zip(names, types))
        return [Unpack(names, types, value)]

    # Branches and loops --------------------------------------------------------------------------

    def branch(self, scope: Scope) -> list[Node]:
        level = self.some_level(scope)
        count = self.rng.choice((1, 1, 1, 2, 3))
        branches = tuple((self.test(scope, level), self.inside(scope, level)) for _ in range(count))
        return [If(branches, self.inside(scope, level) if self.chance(0.5) else ())]

    def for_loop(self, scope: Scope) -> list[Node]:
        level = self.some_level(scope)
        arguments = self._range(scope, level)
        type_ = "int32" if {argument.type for argument in arguments} == {"int32"} else "int64"
        again = [name for name in scope.assignable() if scope.names[name] == Variable(type_, level)]
        if again and self.chance(0.3):  # its last value is read after the loop
            return [For(self.rng.choice(again), type_, arguments, self.inside(scope, level, loop=level))]
        name, inner = self.new("j"), scope.inner(level, loop=level)
        inner.names[name] = Variable(type_, level, fixed=True)
        return [For(name, type_, arguments, self.block(inner, self.rng.choice((1, 2, 3))))]

    def _range(self, scope: Scope, level: int) -> tuple[Expression, ...]:
        """At most a few turns; upwards or downwards, by a step that is a number or computed."""

        def few(limit: int) -> Expression:
            return Binary("int64", "%", self.make("int64", scope, level, 2), Literal("int64", limit))

        kind = self.rng.random()
        if kind < 0.25:
            return (Literal("int64", self.rng.randint(0, 4)),)
        if kind < 0.45:
            return (few(5),)
        if kind < 0.55:
            return (Call("int32", "np.int32", (few(5),)),)
        start, stop = few(4), Binary("int64", "+", few(5), Literal("int64", 2))
        if kind < 0.7:
            return start, stop
        if kind < 0.85:
            by = Binary("int64", "+", few(3), Literal("int64", 1))
            return start, stop, self.rng.choice((Literal("int64", 2), by))
        down = Literal("int64", -2), Binary("int64", "-", Literal("int64", -1), few(3))
        return stop, start, self.rng.choice((Literal("int64", -1), *down))

    def while_loop(self, scope: Scope) -> list[Node]:
        """Its counter grows at the start of each turn, so that `continue` cannot hold it."""
        level = self.some_level(scope)
        name, inner = self.new("c"), scope.inner(level, loop=level)
        counter, limit = Name("int64", name), self.below(6, scope, level)
        inner.names[name] = Variable("int64", level, fixed=True)
        grow = Augment(counter, "+", Literal("int64", 1))
        start = Assign(name, "int64", Literal("int64", 0))
        if self.chance(0.25):
            stop = If(((Compare("bool", (">",), (counter, limit)), (Jump("break"),)),))
            return [start, While(Literal("bool", True), (grow, stop, *self.block(inner, 2)))]
        test = Compare("bool", ("<",), (counter, limit))
        if self.chance(0.3):
            test = Logic("bool", "and", (test, self.test(scope, level, 1)))
        return [start, While(test, (grow, *self.block(inner, self.rng.choice((1, 2)))))]

    def jump(self, scope: Scope) -> list[Node]:
        word = self.rng.choice(("break", "continue"))
        before = self.block(scope.inner(scope.level), 1) if scope.room > 0 and self.chance(0.3) else ()
        return [If(((self.test(scope, scope.loop), (*before, Jump(word))),))]

    def leave(self, scope: Scope) -> list[Node]:
        """An early return, of a whole block where others wait for its threads later."""
        level = THREAD if self.may_leave else BLOCK
        cell = self.rng.choice(self.own)
        last = Store(cell, self.make(self.rng.choice(kin(cell.type)), scope, THREAD, 2))
        return [If(((self.test(scope, level), (last, Return())),))]

    def leave_function(self, scope: Scope) -> list[Node]:
        return [If(((self.test(scope, THREAD), (self.returned(scope),)),))]

    def returned(self, scope: Scope, exact: bool = False) -> Return:
        """exact: of the very types that are declared; otherwise also of types that unify with them."""
        values = []
        for type_ in scope.returns:
            types = [type_] if exact else [type_, *(each for each in TYPES if unified(type_, each) == type_)]
            values.append(self.make(self.rng.choice(types), scope, THREAD, 2))
        return Return(tuple(values))


def kin(dtype: str) -> list[str]:
    """Types that are stored in an array of this one whatever their value: integers wrap, floats may not fit."""
    return [each for each in TYPES if is_integer(each) or not is_integer(dtype)]
