"""Random expressions of a wanted type, from what a scope lets one read."""

import random

from tools.tests.sim.cuda.fuzz.scalars import BITS, arithmetic, is_integer, unified
from tools.tests.sim.cuda.fuzz.scope import THREAD, Scope
from tools.tests.sim.cuda.fuzz.tree import (
    Apply,
    Binary,
    Call,
    Compare,
    Element,
    Expression,
    Extent,
    Function,
    Literal,
    Logic,
    Name,
    Special,
    Ternary,
    Unary,
)

WIDE = ("int64", "int32", "uint32", "float32", "float64")  # the types of variables, besides bool
TYPES = (*WIDE, "int8", "uint8", "int16", "uint64")
DEEPEST = -2
CONSTANTS = ("K", "C")  # names of the module's constants begin so
ORDER = ("<", "<=", ">", ">=", "==", "!=")


def _pairs(result) -> dict[str, list[tuple[str, str]]]:
    """By type: the pairs of operands that give it; those that variables have come more often."""
    pairs = {type_: [] for type_ in TYPES}
    for a in (*WIDE, *WIDE, *TYPES):
        for b in (*WIDE, *WIDE, *TYPES):
            pairs[result(a, b)].append((a, b))
    return pairs


SUMS = _pairs(lambda a, b: arithmetic("+", a, b))
QUOTIENTS = _pairs(lambda a, b: arithmetic("/", a, b))
UNIONS = _pairs(unified)


class Expressions:
    """Every method that makes one takes the scope, the level at which the value must agree, and how deep it may go."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.functions: list[Function] = []

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def make(self, type_: str, scope: Scope, level: int = THREAD, depth: int = 3) -> Expression:
        """An expression of that very type."""
        if depth <= 0 or self.chance(0.15):
            return self.leaf(type_, scope, level, depth)
        if type_ == "bool":
            return self.test(scope, level, depth)
        functions = [each for each in self.callable(scope) if each.returns == (type_,)]
        if functions and level == THREAD and self.chance(0.2):
            return self.apply(self.rng.choice(functions), scope, level, depth - 1)
        return self.rng.choice(self._recipes(type_))(type_, scope, level, depth - 1)

    def leaf(self, type_: str, scope: Scope, level: int, depth: int) -> Expression:
        """A name, an element, a number. Indices may hold elements again, to the depth of DEEPEST."""
        names = scope.readable(type_, level)
        if names and self.chance(0.75):
            return Name(type_, self.rng.choice(names))
        if type_ == "bool":
            return self._comparison(scope, level, 0)
        arrays = [name for name, array in scope.arrays.items() if array.dtype == type_ and array.level >= level]
        if arrays and depth > DEEPEST and self.chance(0.7):
            return self.element(self.rng.choice(arrays), scope, level, depth - 1)
        if type_ == "int32" and self.chance(0.5):
            return Special(
                "int32",
                self.rng.choice(
                    ("cuda.blockIdx.x", "cuda.gridDim.x")
                    if level
                    else ("cuda.threadIdx.x", "cuda.laneid", "cuda.blockIdx.x")
                ),
            )
        if is_integer(type_) and type_ != "int64" and self.chance(0.5):
            return Call(type_, f"np.{type_}", (self.leaf("int64", scope, level, depth - 1),))
        return self.constant(type_)

    def constant(self, type_: str) -> Expression:
        """A literal, within its type's function where no literal has that type."""
        if type_ == "float64":
            return Literal("float64", self.rng.choice((0.5, 1.0, -1.5, 2.5, 0.1, -3.25, 7.0)))
        if type_ == "float32":
            return Call("float32", "np.float32", (self.constant("float64"),))
        low = 0 if type_.startswith("u") else -9
        number = Literal("int64", self.rng.choice((self.rng.randint(low, 20), self.rng.randint(low, 100))))
        return number if type_ == "int64" else Call(type_, f"np.{type_}", (number,))

    # Recipes -------------------------------------------------------------------------------------

    def _recipes(self, type_: str) -> list:
        recipes = [self._sum, self._sum, self._ternary, self._smallest, self._converted]
        if type_ not in ("uint32", "int32", "int8", "uint8", "int16"):  # integer arithmetic gives 64 bits
            recipes += [self._sum, self._quotient, self._remainder, self._power, self._negative]
        if type_ in ("int64", "uint64"):
            recipes += [self._bits, self._shift]
        if type_.startswith("float"):
            recipes += [self._quotient, self._rounded]
        if type_ in ("int32", "uint32", "int64"):
            recipes += [self._counted]
        return recipes

    def _pair(self, pairs: dict, type_: str, scope, level, depth) -> tuple[Expression, Expression]:
        a, b = self.rng.choice(pairs[type_])
        return self.make(a, scope, level, depth), self.make(b, scope, level, depth)

    def _sum(self, type_, scope, level, depth):
        if not SUMS[type_]:
            return self._converted(type_, scope, level, depth)
        operator = self.rng.choice(("+", "+", "-", "*"))
        return Binary(type_, operator, *self._pair(SUMS, type_, scope, level, depth))

    def _quotient(self, type_, scope, level, depth):
        if is_integer(type_):
            return Binary(type_, "//", *self._division(type_, scope, level, depth))
        left, right = self._pair(QUOTIENTS, type_, scope, level, depth)
        return Binary(type_, "/", left, self.constant(right.type) if self.chance(0.7) else right)

    def _remainder(self, type_, scope, level, depth):
        if is_integer(type_):
            return Binary(type_, "%", *self._division(type_, scope, level, depth))
        left, right = self._pair(SUMS, type_, scope, level, depth)
        divisor = Literal("float64", self.rng.choice((0.75, -2.5, 3.0)))
        right = divisor if type_ == "float64" else Call("float32", "np.float32", (divisor,))
        left = left if arithmetic("%", left.type, right.type) == type_ else self.make(type_, scope, level, depth)
        return Binary(type_, self.rng.choice(("%", "//")), left, right)

    def _division(self, type_, scope, level, depth) -> tuple[Expression, Expression]:
        """A dividend and a divisor that is never zero."""
        if type_ == "uint64":
            return self.make("uint32", scope, level, depth), Call("uint32", "np.uint32", (Literal("int64", 7),))
        dividend = self.make(self.rng.choice(("int64", "int32", "uint32", "int16")), scope, level, depth)
        if self.chance(0.6):
            return dividend, Literal("int64", self.rng.choice((2, 3, 5, 8, 10, -3, -7)))
        return dividend, Binary("int64", "|", self.make("int64", scope, level, depth), Literal("int64", 1))

    def _power(self, type_, scope, level, depth):
        if type_ == "uint64":  # an unsigned base with a literal exponent is an int64
            return self._converted(type_, scope, level, depth)
        base = self.make("int32" if type_ == "int64" and self.chance(0.5) else type_, scope, level, depth)
        return Binary(type_, "**", base, Literal("int64", self.rng.choice((2, 3))))

    def _negative(self, type_, scope, level, depth):
        operators = "-~" if is_integer(type_) else "-"
        narrower = {"int64": ("int64", "int32", "int16"), "uint64": ("uint32", "uint8")}.get(type_, (type_,))
        return Unary(type_, self.rng.choice(operators), self.make(self.rng.choice(narrower), scope, level, depth))

    def _bits(self, type_, scope, level, depth):
        return Binary(type_, self.rng.choice("&|^"), *self._pair(SUMS, type_, scope, level, depth))

    def _shift(self, type_, scope, level, depth):
        types = ("int64", "int32") if type_ == "int64" else ("uint32", "uint64")
        left = self.make(self.rng.choice(types), scope, level, depth)
        by = Literal("int64", self.rng.randint(0, 12))
        if self.chance(0.4):
            by = Binary("int64", "&", self.make("int64", scope, level, depth), Literal("int64", 15))
        return Binary(type_, self.rng.choice(("<<", ">>")), left, by)

    def _ternary(self, type_, scope, level, depth):
        test = self.test(scope, level, depth)
        return Ternary(type_, test, *self._pair(UNIONS, type_, scope, level, depth))

    def _smallest(self, type_, scope, level, depth):
        operands = list(self._pair(UNIONS, type_, scope, level, depth))
        if self.chance(0.3):
            operands.append(self.make(type_, scope, level, depth))
        if self.chance(0.3):
            return Call(type_, "abs", (self.make(type_, scope, level, depth),))
        return Call(type_, self.rng.choice(("min", "max")), tuple(operands))

    def _converted(self, type_, scope, level, depth):
        if type_ in ("int64", "float32") and self.chance(0.3):  # int and float keep what is one already
            function = "int" if type_ == "int64" else "float"
            return Call(type_, function, (self.make(type_, scope, level, depth),))
        if is_integer(type_):
            return self._to_integer(type_, scope, level, depth)
        source = self.rng.choice([each for each in TYPES if each != type_])
        function = "float" if type_ == "float64" and is_integer(source) and self.chance(0.4) else f"np.{type_}"
        return Call(type_, function, (self.make(source, scope, level, depth),))

    def _to_integer(self, type_, scope, level, depth):
        floats = scope.readable("float64", level) + scope.readable("float32", level)
        if floats and self.chance(0.3) and BITS[type_] >= 32 and not type_.startswith("u"):
            name = self.rng.choice(floats)
            value, bound = Name(scope.names[name].type, name), Literal("float64", 1000.0)
            inside = Compare("bool", ("<", "<"), (Literal("float64", -1000.0), value, bound))
            function = "int" if type_ == "int64" else f"np.{type_}"
            return Ternary(type_, inside, Call(type_, function, (value,)), self.constant(type_))
        source = self.rng.choice([each for each in (*BITS, "bool") if each != type_])
        return Call(type_, f"np.{type_}", (self.make(source, scope, level, depth),))

    def _rounded(self, type_, scope, level, depth):
        function = self.rng.choice(("math.sqrt", "math.floor", "math.ceil", "math.fabs"))
        operand = self.make(type_, scope, level, depth)
        operand = Call(type_, "abs", (operand,)) if function == "math.sqrt" else operand
        return Call(type_, function, (operand,))

    def _counted(self, type_, scope, level, depth):
        """Bits of an integer."""
        function = self.rng.choice(("popc", "clz", "ffs", "brev") if type_ == "uint32" else ("popc", "clz"))
        of = self.rng.choice(("int32", "uint32")) if function == "ffs" else type_
        return Call(type_, f"cuda.{function}", (self.make(of, scope, level, depth),))

    def callable(self, scope: Scope) -> list[Function]:
        """The device functions whose arrays can be had here."""
        return [
            function
            for function in self.functions
            if all(name in scope.arrays for name, kind in function.parameters if kind == "array")
        ]

    def apply(self, function: Function, scope: Scope, level: int, depth: int) -> Apply:
        """A call with random arguments; its arrays are those of the same name here."""
        arguments = [self.make(kind, scope, level, depth - 1) for _, kind in function.parameters if kind != "array"]
        arrays = tuple(name for name, kind in function.parameters if kind == "array")
        return Apply(",".join(function.returns), function, tuple(arguments), arrays)

    # Tests and places ----------------------------------------------------------------------------

    def test(self, scope: Scope, level: int, depth: int = 2) -> Expression:
        """A bool, most often true for some threads and false for others."""
        kind = self.rng.random()
        if kind < 0.15:
            parts = tuple(self.test(scope, level, depth - 1) for _ in range(self.rng.choice((2, 2, 3))))
            return Logic("bool", self.rng.choice(("and", "or")), parts) if depth > 0 else parts[0]
        if kind < 0.22:
            return Unary("bool", "not", self.test(scope, level, depth - 1))
        if kind < 0.3:
            return self.leaf("bool", scope, level, depth)
        return self._comparison(scope, level, depth)

    def _comparison(self, scope: Scope, level: int, depth: int) -> Compare:
        """Of a value that the compiler cannot know: it would leave out a branch that is never taken, with its types."""
        value, kind = self.unknown(scope, level, depth), self.rng.random()
        if kind < 0.3:
            low, high = self.constant(self.rng.choice(WIDE)), self.constant(self.rng.choice(WIDE))
            return Compare("bool", (self.rng.choice(ORDER[:2]), self.rng.choice(ORDER)), (low, value, high))
        if kind < 0.6 and is_integer(value.type):
            by = self.rng.randint(2, 5)
            rest = Binary("int64", "%", value, Literal("int64", by))
            return Compare("bool", (self.rng.choice(ORDER),), (rest, Literal("int64", self.rng.randrange(by))))
        other = self.make(self.rng.choice(WIDE), scope, level, depth - 2)
        return Compare("bool", (self.rng.choice(ORDER),), (value, other))

    def unknown(self, scope: Scope, level: int, depth: int) -> Expression:
        """A variable or an argument, or a sum that holds one."""
        names = [
            name
            for name, each in scope.names.items()
            if each.level >= level and each.type in WIDE and not name.startswith(CONSTANTS)
        ]
        name = self.rng.choice(names)
        value = Name(scope.names[name].type, name)
        if depth <= 0 or self.chance(0.5):
            return value
        other = self.make(self.rng.choice(WIDE), scope, level, depth - 1)
        operator = self.rng.choice("+-*")
        return Binary(arithmetic(operator, value.type, other.type), operator, value, other)

    def element(self, array: str, scope: Scope, level: int, depth: int = 1) -> Element:
        """Any element of an array."""
        known = scope.arrays[array]
        index = tuple(
            self.below(size, scope, level, depth, Extent("int64", array, axis)) for axis, size in enumerate(known.shape)
        )
        return Element(known.dtype, array, index)

    def below(self, size: int, scope: Scope, level: int, depth: int = 1, extent: Extent | None = None) -> Expression:
        """An index from 0 to size - 1. extent: another way to say the size."""
        value = self.make(self.rng.choice(("int64", "int64", "int32", "uint32")), scope, level, depth)
        limit = extent if extent and self.chance(0.4) else Literal("int64", size)
        return Binary("int64", "%", value, limit)
