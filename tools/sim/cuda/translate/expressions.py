"""Rewrites expressions: operators become those of Numba, and what depends on the lanes is asked of them."""

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from tools.sim import floats
from tools.sim.cuda.faults import Unknown
from tools.sim.cuda.numbers import operations
from tools.sim.cuda.run.values import strong
from tools.sim.cuda.translate.guesses import guesses
from tools.sim.cuda.translate.pruning import Pruning
from tools.sim.cuda.translate.syntax import at, later, name, operate, runtime, stored

_BINARY = "Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitAnd BitOr BitXor".split()
_COMPARISON = "Eq NotEq Lt LtE Gt GtE".split()
_OPERATORS = dict(zip([*_BINARY, *_COMPARISON], operations.BINARY)) | {"Is": "is_", "IsNot": "is_not"}
_OPERATORS |= dict(zip("USub UAdd Invert Not".split(), operations.UNARY))
OPERATOR = {getattr(ast, name): operator for name, operator in _OPERATORS.items()}
COMPUTED = ast.BinOp, ast.UnaryOp
OPERATIONS = *COMPUTED, ast.Call, ast.Attribute, ast.Subscript


class Expressions(ast.NodeTransformer):
    """constants: what the new tree refers to by name. phis: names of such places, and the variable that each is for.

    typed: each operation gets a phi, too, because in Numba its result has one type in all turns of a loop.
    """

    def __init__(self, tree: ast.FunctionDef, typed: bool) -> None:
        self.constants: dict[str, object] = {}
        self.phis: dict[str, str] = {}
        self._pruning, self._typed, self._guesses = Pruning(tree), typed, guesses(tree)
        self._numbers = 0

    def visit(self, node: Any) -> Any:
        new = super().visit(node)
        if isinstance(node, OPERATIONS):
            new = self.typed(new)
        if isinstance(node, COMPUTED) and self._pruning.is_constant(node):
            new = runtime("constant", new)
        return at(new, node) if isinstance(new, ast.expr) else new

    def typed(self, value: ast.expr) -> ast.expr:
        """The result of an operation, in its type."""
        if not self._typed:
            return value
        phi = f"_type_{len(self.phis)}"
        self.phis[phi] = ""
        return runtime("typed", value, name(phi))

    def generic_visit(self, node: ast.AST) -> Any:
        self.unknown(node, f"this construct ({type(node).__name__})")

    # Names and constants -------------------------------------------------------------------------

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value: Any = strong(node.value)
        if value is node.value:  # None, or a text
            return node
        constant = f"{str(value.dtype)}_{len(self.constants)}"
        self.constants[constant] = floats.constant(value)
        return name(constant)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return name(node.id) if node.id in self._pruning.local else runtime("value", name(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if self.is_outside(node):
            return runtime("value", self._dotted(node))
        return runtime("attribute", self.visit(node.value), ast.Constant(node.attr))

    def is_outside(self, node: ast.expr) -> bool:
        """cuda.threadIdx.x, where cuda is no local variable."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self._pruning.local

    def _dotted(self, node: Any) -> ast.expr:
        """cuda.threadIdx.x as it stands: its parts are modules and the like, only the whole is a value."""
        if isinstance(node, ast.Attribute):
            return ast.Attribute(self._dotted(node.value), node.attr, ast.Load())
        return name(node.id)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple(list(map(self.visit, node.elts)), ast.Load())

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        return ast.Slice(*(each and self.visit(each) for each in (node.lower, node.upper, node.step)))

    # Operators -----------------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        method = "guess" if node in self._guesses else "load"
        return runtime(method, self.visit(node.value), self.visit(node.slice))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return operate(OPERATOR[type(node.op)], self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return operate(OPERATOR[type(node.op)], self.visit(node.operand))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._either(node, self.visit, lambda: [name(self.phi())])

    def _either(self, node: ast.BoolOp, visit: Callable, last: Callable[[], list[ast.expr]]) -> ast.expr:
        """and, or, from left to right. last: makes the last arguments."""
        method, (first, *rest) = "and_" if isinstance(node.op, ast.And) else "or_", node.values
        if not rest:
            return visit(first)
        right = self._either(ast.copy_location(ast.BoolOp(node.op, rest), rest[0]), visit, last)
        return at(runtime(method, visit(first), later(right), *last()), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return self._compare(self.visit(node.left), node.ops, node.comparators)

    def _compare(self, left: ast.expr, operators: list, others: list) -> ast.expr:
        """a < b < c: b is evaluated once, and c only for the lanes that still need it."""
        method, right = OPERATOR[type(operators[0])], self.visit(others[0])
        if len(operators) == 1:
            return operate(method, left, right)
        middle = self.new("middle")
        return runtime(
            "and_",
            operate(method, left, ast.NamedExpr(stored(middle), right)),
            later(self._compare(name(middle), operators[1:], others[1:])),
        )

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return runtime(
            "choose",
            self.test(node.test),
            later(self.visit(node.body)),
            later(self.visit(node.orelse)),
            name(self.phi()),
        )

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Name) and node.func.id == "breakpoint":  # stays here, to stop in this frame
            return ast.BoolOp(ast.And(), [runtime("stops"), ast.Call(name("breakpoint"), [], [])])
        function = self._dotted(node.func) if self.is_outside(node.func) else self.visit(node.func)
        call = runtime("call", function, *map(self.visit, node.args))
        call.keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        return call

    # Conditions ----------------------------------------------------------------------------------

    def test(self, node: ast.expr) -> ast.expr:
        """A condition that decides which way to go. Those that Numba decides while it compiles are marked."""
        if isinstance(node, ast.BoolOp):
            return self._either(node, self.test, lambda: [])
        if self._pruning.decides(node):
            return at(runtime("known", self.visit(node)), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return at(operate("not_", self.test(node.operand)), node)
        if parameter := self._pruning.asks_for_nothing(node):
            nothing = ast.Compare(name(parameter), [ast.Is()], [ast.Constant(None)])
            return at(runtime("known", self.visit(node), nothing), node)
        return self.visit(node)

    # What is new ---------------------------------------------------------------------------------

    def new(self, what: str) -> str:
        self._numbers += 1
        return f"_{what}_{self._numbers}"

    def phi(self, variable: str = "") -> str:
        """A place where ways meet that bring values of a variable, or of an expression."""
        made = self.new("phi")
        self.phis[made] = variable
        return made

    def unknown(self, node: Any, what: str) -> NoReturn:
        raise Unknown(f"line {node.lineno}: the simulator does not know {what}. A GPU may run it.")
