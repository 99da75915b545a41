"""What a random kernel means, thread by thread: its tree is turned into Python closures over plain numbers.

A frame holds what one call of a function knows: its variables by name, and under THREAD the thread that runs it.
Statements that contain others are generators; they hand out each operation that needs other threads, and get back
what came of it.
"""

import math

from tools.tests.sim.cuda.fuzz import tree
from tools.tests.sim.cuda.fuzz.functions import FUNCTIONS, comparable, extreme
from tools.tests.sim.cuda.fuzz.memory import Memory
from tools.tests.sim.cuda.fuzz.scalars import arithmetic, convert, operate, power

THREAD, RECEIVED = object(), object()
STEPS = 3000  # turns of loops that one thread may take
COMPARE = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class Compiler:
    """Makes closures of trees; a device function is compiled once."""

    def __init__(self):
        self._functions: dict[str, object] = {}

    # Statements: each becomes (whether it is a generator, function of the frame). A result other than None is
    # "break", "continue" or the values that a function returns.

    def block(self, statements: tuple[tree.Node, ...]):
        steps = [self._statement(each) for each in statements]

        def run(frame):
            for is_generator, step in steps:
                outcome = (yield from step(frame)) if is_generator else step(frame)
                if outcome is not None:
                    return outcome

        return run

    def _statement(self, node: tree.Node):
        compound = isinstance(node, (tree.If, tree.For, tree.While, tree.Together))
        return compound, getattr(self, f"_{type(node).__name__.lower()}")(node)

    def _assign(self, node: tree.Assign):
        value = self.expression(node.value)

        def step(frame):
            frame[node.name] = convert(node.type, value(frame))

        return step

    def _unpack(self, node: tree.Unpack):
        values = self._tuple(node.value) if isinstance(node.value, tuple) else self.expression(node.value)

        def step(frame):
            for name, type_, value in zip(node.names, node.types, values(frame)):
                frame[name] = convert(type_, value)

        return step

    def _augment(self, node: tree.Augment):
        operands = node.target.type, node.value.type
        new = tree.Binary(arithmetic(node.operator, *operands), node.operator, node.target, node.value)
        if isinstance(node.target, tree.Element):
            return self._store(tree.Store(node.target, new))
        return self._assign(tree.Assign(node.target.name, node.target.type, new))

    def _store(self, node: tree.Store):
        value, index = self.expression(node.value), self._tuple(node.target.index)

        def step(frame):
            new = value(frame)
            frame[node.target.array].write(index(frame), new)

        return step

    def _evaluate(self, node: tree.Evaluate):
        value = self.expression(node.value)

        def step(frame):
            value(frame)

        return step

    def _declare(self, node: tree.Declare):
        def step(frame):
            thread = frame[THREAD]
            owner = thread.block if node.space == "shared" else frame
            if node.space == "local" or node.name not in owner:
                owner[node.name] = Memory(node.name, node.dtype, node.shape)
            frame[node.name] = owner[node.name]

        return step

    def _jump(self, node: tree.Jump):
        return lambda frame: node.word

    def _return(self, node: tree.Return):
        return self._tuple(node.values)

    def _if(self, node: tree.If):
        branches = [(self.expression(test), self.block(body)) for test, body in node.branches]
        otherwise = self.block(node.otherwise)

        def step(frame):
            for test, body in branches:
                if test(frame):
                    return (yield from body(frame))
            return (yield from otherwise(frame))

        return step

    def _for(self, node: tree.For):
        arguments, body = self._tuple(node.arguments), self.block(node.body)

        def step(frame):
            for turn in range(*arguments(frame)):
                frame[THREAD].count()
                frame[node.name] = convert(node.type, turn)
                outcome = yield from body(frame)
                if outcome == "break":
                    return None
                if isinstance(outcome, tuple):
                    return outcome

        return step

    def _while(self, node: tree.While):
        test, body = self.expression(node.test), self.block(node.body)
        operation = self._operation(node.operation) if node.operation else None

        def step(frame):
            while True:
                frame[THREAD].count()
                if operation:
                    frame[RECEIVED] = yield from operation(frame)
                if not test(frame):
                    return None
                outcome = yield from body(frame)
                if outcome == "break":
                    return None
                if isinstance(outcome, tuple):
                    return outcome

        return step

    def _together(self, node: tree.Together):
        operation = self._operation(node.operation)
        inner = self.block((node.statement,) if node.statement else ())

        def step(frame):
            frame[RECEIVED] = yield from operation(frame)
            return (yield from inner(frame))

        return step

    def _operation(self, node: tree.Operation | tree.Apply):
        if isinstance(node, tree.Apply):
            return self._applied(node)
        arguments = self._tuple(node.arguments)

        def step(frame):
            return (yield node, arguments(frame))

        return step

    # Expressions: each becomes a function of the frame.

    def expression(self, node: tree.Expression):
        return getattr(self, f"_{type(node).__name__.lower()}")(node)

    def _tuple(self, nodes: tuple[tree.Expression, ...]):
        parts = [self.expression(node) for node in nodes]
        if len(parts) == 1:
            (only,) = parts
            return lambda frame: (only(frame),)
        return lambda frame: tuple([part(frame) for part in parts])

    def _literal(self, node: tree.Literal):
        return lambda frame: node.value

    def _name(self, node: tree.Name):
        return lambda frame: frame[node.name]

    def _special(self, node: tree.Special):
        return lambda frame: frame[THREAD].knows[node.text]

    def _received(self, node: tree.Received):
        return lambda frame: frame[RECEIVED]

    def _extent(self, node: tree.Extent):
        if node.axis is None:
            return lambda frame: math.prod(frame[node.array].shape)
        return lambda frame: frame[node.array].shape[node.axis]

    def _unary(self, node: tree.Unary):
        operand, type_ = self.expression(node.operand), node.type
        if node.operator == "not":
            return lambda frame: not operand(frame)
        of = node.operand.type  # in which Numba computes before it converts: -np.uint8(3) is 253
        if node.operator == "~":
            return lambda frame: convert(type_, convert(of, ~operand(frame)))
        return lambda frame: convert(type_, convert(of, -operand(frame)))

    def _binary(self, node: tree.Binary):
        left, right, operator = self.expression(node.left), self.expression(node.right), node.operator
        if operator == "**":
            return lambda frame: power(node.type, left(frame), right(frame))
        return lambda frame: operate(operator, node.type, left(frame), right(frame))

    def _compare(self, node: tree.Compare):
        parts = [self.expression(each) for each in node.operands]
        common = [comparable(a.type, b.type) for a, b in zip(node.operands, node.operands[1:])]

        def value(frame):
            left = parts[0](frame)
            for operator, part, type_ in zip(node.operators, parts[1:], common):
                right = part(frame)
                if not COMPARE[operator](*(convert(type_, each) if type_ else each for each in (left, right))):
                    return False
                left = right
            return True

        return value

    def _logic(self, node: tree.Logic):
        parts = [self.expression(each) for each in node.operands]
        pick = all if node.operator == "and" else any
        return lambda frame: pick(part(frame) for part in parts)

    def _ternary(self, node: tree.Ternary):
        test, then, otherwise = map(self.expression, (node.test, node.then, node.otherwise))
        return lambda frame: convert(node.type, then(frame) if test(frame) else otherwise(frame))

    def _element(self, node: tree.Element):
        index = self._tuple(node.index)
        return lambda frame: frame[node.array].read(index(frame))

    def _call(self, node: tree.Call):
        arguments, type_ = self._tuple(node.arguments), node.type
        if node.function in ("min", "max"):
            pick = min if node.function == "min" else max
            return lambda frame: extreme(pick, type_, arguments(frame))
        function = FUNCTIONS.get(node.function, lambda type_, value: value)  # what remains converts
        of = node.arguments[0].type
        return lambda frame: convert(type_, function(of, *arguments(frame)))

    def _atomic(self, node: tree.Atomic):
        index, operands = self._tuple(node.index), self._tuple(node.operands)
        return lambda frame: frame[node.array].update(node.name, index(frame), operands(frame))

    # Device functions ----------------------------------------------------------------------------

    def _apply(self, node: tree.Apply):
        call = self._applied(node)

        def value(frame):
            try:
                next(call(frame))
            except StopIteration as finished:
                return finished.value
            raise AssertionError(f"{node.function.name} asks other threads; it must stand in a Together")

        return value

    def _applied(self, node: tree.Apply):
        """A generator, whose value is the result: a tuple where there are several."""
        function, arguments = node.function, self._tuple(node.arguments)
        if function.name not in self._functions:
            self._functions[function.name] = self.block(function.body)
        body = self._functions[function.name]
        names = [name for name, type_ in function.parameters if type_ != "array"]

        def call(frame):
            inner = {THREAD: frame[THREAD], **dict(zip(names, arguments(frame)))}
            arrays = [name for name, type_ in function.parameters if type_ == "array"]
            inner.update((name, frame[array]) for name, array in zip(arrays, node.arrays))
            values = (yield from body(inner)) or ()
            values = tuple(map(convert, function.returns, values))
            return values[0] if len(values) == 1 else values

        return call
