"""Reads a kernel's code: statements. What C++ has beyond this subset is refused by name."""

from functools import lru_cache

from tools.sim.cupy.kernels.expression_parser import Expressions
from tools.sim.cupy.kernels.expressions import Node
from tools.sim.cupy.kernels.refusal import Code
from tools.sim.cupy.kernels.statements import (
    Block,
    Declare,
    Evaluate,
    Function,
    If,
    Jump,
    Loop,
    Return,
    Several,
    Statement,
)

ELSEWHERE = {  # words that begin what an elementwise kernel of the stand-in cannot have
    "goto": "goto",
    "switch": "switch",
    "struct": "structures",
    "class": "classes",
    "template": "templates",
    "using": "using",
    "typedef": "typedef",
    "static": "static variables",
    "__shared__": "shared memory",
    "extern": "extern",
    "asm": "assembly",
    "try": "exceptions",
    "throw": "exceptions",
    "new": "new",
    "delete": "delete",
    "union": "unions",
    "enum": "enum",
    "#": "preprocessor lines",
}
DIRECTIVES = ("define", "undef", "include", "if", "ifdef", "ifndef", "elif", "else", "endif", "pragma", "error", "line")


class Parser(Expressions):
    """code: what is read. types: names that stand for types here, as T, beside C++'s own."""

    def statements(self) -> Several:
        """All of the code: it stands where the parameters and i are declared."""
        found = []
        while not self.at_end():
            found.append(self.statement())
        return Several(1, tuple(found))

    def functions(self) -> dict[str, Function]:
        """All of the code, as definitions of __device__ functions."""
        found = {}
        while not self.at_end():
            function = self._function()
            found[function.name] = function
        return found

    def statement(self) -> Statement:
        token = self.now
        if token.text == "#" and self.ahead(1).text not in DIRECTIVES:
            raise self.code.wrong(token.line, "In C++ a comment begins with //, not with #.")
        if token.text in ELSEWHERE:
            raise self.code.unknown(token.line, ELSEWHERE[token.text])
        reader = {
            "{": self._block,
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "do": self._do,
            "break": self._jump,
            "continue": self._jump,
            "return": self._return,
        }.get(token.text)
        if reader is not None:
            return reader()
        if self.accept(";"):
            return Block(token.line, ())
        simple = self._simple()
        self.end_statement()
        return simple

    def _simple(self) -> Statement:
        """A declaration or an expression, without what ends it."""
        line = self.now.line
        if self.type_ahead():
            return self._declaration()
        return Evaluate(line, self.expression())

    def _declaration(self) -> Statement:
        line, type = self.now.line, self.type()
        found = []
        while True:
            if self.now.text in ("*", "&"):
                raise self.code.unknown(self.now.line, "pointers and references")
            name = self.expect_name()
            if self.now.text == "[":
                raise self.code.unknown(self.now.line, "arrays that a thread has for itself")
            value = None
            if self.accept("="):
                value = self.assignment()
            elif self.accept("("):
                value = self.expression()
                self.expect(")")
            found.append(Declare(line, type, name, value))
            if not self.accept(","):
                return found[0] if len(found) == 1 else Several(line, tuple(found))

    def _block(self) -> Block:
        line = self.expect("{").line
        found = []
        while not self.accept("}"):
            if self.at_end():
                raise self.code.wrong(line, "This brace is never closed.")
            found.append(self.statement())
        return Block(line, tuple(found))

    def _if(self) -> If:
        line = self.expect("if").line
        condition = self._in_parentheses()
        yes = self.statement()
        return If(line, condition, yes, self.statement() if self.accept("else") else None)

    def _for(self) -> Loop:
        line = self.expect("for").line
        self.expect("(")
        begin = None if self.now.text == ";" else self._simple()
        self.expect(";")
        condition = None if self.now.text == ";" else self.expression()
        self.expect(";")
        step = None if self.now.text == ")" else self.expression()
        self.expect(")")
        return Loop(line, begin, condition, step, self.statement())

    def _while(self) -> Loop:
        line = self.expect("while").line
        condition = self._in_parentheses()
        return Loop(line, None, condition, None, self.statement())

    def _do(self) -> Loop:
        line = self.expect("do").line
        body = self.statement()
        self.expect("while")
        condition = self._in_parentheses()
        self.end_statement()
        return Loop(line, None, condition, None, body, once=True)

    def _jump(self) -> Jump:
        token = self.take()
        self.end_statement()
        return Jump(token.line, token.text)

    def _return(self) -> Return:
        line = self.expect("return").line
        value = None if self.now.text in (";", "") else self.expression()
        self.end_statement()
        return Return(line, value)

    def _in_parentheses(self) -> Node:
        self.expect("(")
        inside = self.expression()
        self.expect(")")
        return inside

    def _function(self) -> Function:
        while self.now.text in ("__device__", "inline", "static", "__forceinline__", "__host__"):
            self.take()
        line = self.now.line
        if not self.type_ahead():
            raise self.code.unknown(line, ELSEWHERE.get(self.now.text, "anything but __device__ functions here"))
        type, name = self.type(), self.expect_name()
        self.expect("(")
        parameters = []
        while not self.accept(")"):
            kind = self.type()
            if self.now.text in ("*", "&"):
                raise self.code.unknown(self.now.line, "pointers and references")
            parameters.append((kind, self.expect_name()))
            if self.now.text != ")":
                self.expect(",")
        return Function(line, type, name, tuple(parameters), self._block())


@lru_cache
def statements(code: Code, types: frozenset[str]) -> Several:
    """All of a kernel's code. types: the names that stand for types. Raises for what is no such code."""
    return Parser(code, types).statements()


@lru_cache
def functions(code: Code, types: frozenset[str]) -> dict[str, Function]:
    """The functions that a preamble defines."""
    return Parser(code, types).functions()


@lru_cache
def expression(code: Code, types: frozenset[str]) -> Node:
    """The expression that the code begins with."""
    return Parser(code, types).expression()
