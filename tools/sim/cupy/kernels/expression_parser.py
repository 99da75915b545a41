"""Reads a kernel's code: expressions, by the precedence of their operators."""

from tools.sim.cupy.kernels import expressions, types
from tools.sim.cupy.kernels.expressions import Node
from tools.sim.cupy.kernels.refusal import Code
from tools.sim.cupy.kernels.tokens import Token, tokens

LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
ASSIGNMENTS = frozenset("= += -= *= /= %= &= |= ^= <<= >>=".split())
PYTHON = {  # words at which it shows that this was meant for Python
    "if": "\nC++ writes: condition ? one : other, and if (condition) statement.",
    "for": "\nC++ writes: for (int j = 0; j < n; j++) statement.",
    "while": "\nC++ writes: while (condition) statement.",
    "def": "\nThis is Python; the code is C++.",
    "import": "\nThis is Python; the code is C++.",
    "lambda": "\nThis is Python; the code is C++.",
}
CASTS = ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")


class Expressions:
    """code: what is read. types: names that stand for types here, as T, beside C++'s own."""

    def __init__(self, code: Code, names: frozenset[str] = frozenset()) -> None:
        self.code, self.names = code, names
        self._tokens, self._at = tokens(code), 0
        for token in self._tokens:
            if token.text in types.ABSENT:
                raise code.wrong(
                    token.line, f"CuPy's headers do not declare {token.text}: write {types.ABSENT[token.text]}."
                )

    # Word by word --------------------------------------------------------------------------------

    @property
    def now(self) -> Token:
        return self._tokens[self._at]

    def ahead(self, distance: int) -> Token:
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.now
        self._at += token.kind != "end"
        return token

    def at_end(self) -> bool:
        return self.now.kind == "end"

    def accept(self, text: str) -> bool:
        return bool(self.now.text == text and self.take())

    def expect(self, text: str) -> Token:
        if self.now.text != text:
            hint = PYTHON.get(self.now.text) or PYTHON.get(self._tokens[self._at - 1].text, "")
            raise self.code.wrong(
                self.now.line, f"Here {text!r} is missing; {self._found()} stands in its place.{hint}"
            )
        return self.take()

    def expect_name(self) -> str:
        if self.now.kind != "name":
            raise self.code.wrong(self.now.line, f"Here a name is missing; {self._found()} stands in its place.")
        return self.take().text

    def end_statement(self) -> None:
        """A semicolon, or the end of the code, where CuPy adds one."""
        if not self.at_end():
            self.expect(";")

    def _found(self) -> str:
        return repr(self.now.text) if self.now.text else "the end of the code"

    # Types ---------------------------------------------------------------------------------------

    def type_ahead(self, distance: int = 0) -> bool:
        """Does a type begin here?"""
        text = self.ahead(distance).text
        if self.ahead(distance + 1).text == "(" and text not in ("const",):
            return False  # T(x) is a conversion
        return text in ("const", "auto", "void", "complex", "thrust::complex") or self._names_type(text)

    def _names_type(self, text: str) -> bool:
        return text in self.names or text in types.WORDS or types.named(text) is not None

    def type(self) -> str:
        """The type that begins here, as it is written."""
        while self.accept("const"):
            pass
        words = [self.take().text]
        while words[0] in types.WORDS and self.now.text in types.WORDS:
            words.append(self.take().text)
        name = " ".join(words)
        if self.now.text == "<":
            self.take()
            name += f"<{self.type()}>"
            self._close_type()
        while self.accept("const"):
            pass
        if name not in ("auto", "void") and name not in self.names and types.named(name) is None:
            raise self.code.unknown(self.now.line, f"the type {name}")
        return name

    def _close_type(self) -> None:
        """A >, which may be the first half of >>."""
        if self.now.text == ">>":
            self._tokens[self._at] = self.now._replace(text=">")
        else:
            self.expect(">")

    # Expressions ---------------------------------------------------------------------------------

    def expression(self) -> Node:
        found = self.assignment()
        if self.now.text == ",":
            raise self.code.unknown(self.now.line, "the comma between expressions", "Write two statements.")
        return found

    def assignment(self) -> Node:
        target = self._choice()
        if self.now.text not in ASSIGNMENTS:
            return target
        token = self.take()
        return expressions.Assign(token.line, target, token.text[:-1] or None, self.assignment())

    def _choice(self) -> Node:
        condition = self._binary(0)
        if self.now.text != "?":
            return condition
        line = self.take().line
        yes = self.assignment()
        self.expect(":")
        return expressions.Choice(line, condition, yes, self.assignment())

    def _binary(self, level: int) -> Node:
        if level == len(LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.now.text in LEVELS[level]:
            token = self.take()
            left = expressions.Binary(token.line, token.text, left, self._binary(level + 1))
        return left

    def _unary(self) -> Node:
        token = self.now
        if token.text in ("+", "-", "!", "~", "&"):
            self.take()
            return expressions.Unary(token.line, token.text, self._unary())
        if token.text in ("++", "--"):
            self.take()
            return self._step(token, self._unary(), after=False)
        if token.text == "*" and self._tokens[self._at - 1].text == "*":
            raise self.code.wrong(token.line, "C++ has no operator **: a square is x * x, any power pow(x, y).")
        if token.text == "*":
            raise self.code.unknown(token.line, "pointers")
        if token.text == "(" and self.type_ahead(1) and self.ahead(1).text != "(":
            self.take()
            type = self.type()
            self.expect(")")
            return expressions.Cast(token.line, type, self._unary())
        return self._postfix(self._primary())

    def _step(self, token: Token, target: Node, after: bool) -> Node:
        one = expressions.Number(token.line, types.literal("1"))
        return expressions.Assign(token.line, target, token.text[0], one, after)

    def _postfix(self, found: Node) -> Node:
        while True:
            token = self.now
            if self.accept("["):
                found = expressions.Element(token.line, found, self.expression())
                self.expect("]")
            elif self.accept("."):
                name = self.expect_name()
                found = expressions.Member(token.line, found, name, self._arguments() if self.now.text == "(" else None)
            elif token.text in ("++", "--"):
                found = self._step(self.take(), found, after=True)
            else:
                return found

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "number":
            try:
                return expressions.Number(token.line, types.literal(token.text))
            except (ValueError, OverflowError):
                raise self.code.wrong(token.line, f"{token.text} is no number of C++.") from None
        if token.text == "(":
            inside = self.expression()
            self.expect(")")
            return inside
        if token.text in CASTS:
            return self._cast(token)
        if token.kind != "name":
            shown = repr(token.text) if token.text else "the end of the code"
            raise self.code.wrong(token.line, f"Here a value is missing; {shown} stands in its place.")
        return self._named(token)

    def _named(self, token: Token) -> Node:
        """A variable, a call, or a conversion as T(x) or complex<float>(x, y)."""
        if token.text in ("true", "false"):
            return expressions.Number(token.line, types.SIMPLE["bool"](token.text == "true"))
        if self.now.text == "<" and token.text in ("complex", "thrust::complex"):
            self._at -= 1
            return expressions.Call(token.line, self.type(), self._arguments())
        if self.now.text != "(":
            return expressions.Name(token.line, token.text)
        arguments = self._arguments()
        if self._names_type(token.text) and len(arguments) == 1:
            return expressions.Cast(token.line, token.text, arguments[0])
        return expressions.Call(token.line, token.text, arguments)

    def _cast(self, token: Token) -> expressions.Cast:
        if token.text != "static_cast":
            raise self.code.unknown(token.line, token.text)
        self.expect("<")
        type = self.type()
        self.expect(">")
        self.expect("(")
        operand = self.expression()
        self.expect(")")
        return expressions.Cast(token.line, type, operand)

    def _arguments(self) -> tuple[Node, ...]:
        self.expect("(")
        found = []
        while not self.accept(")"):
            found.append(self.assignment())
            if self.now.text != ")":
                self.expect(",")
        return tuple(found)
