"""Random kernels as the text that a learner would write."""

from tools.tests.sim.cuda.fuzz.tree import (
    Apply,
    Assign,
    Atomic,
    Augment,
    Binary,
    Call,
    Compare,
    Declare,
    Element,
    Evaluate,
    Expression,
    Extent,
    For,
    Function,
    If,
    Jump,
    Kernel,
    Literal,
    Logic,
    Name,
    Node,
    Operation,
    Received,
    Return,
    Special,
    Store,
    Ternary,
    Together,
    Unary,
    Unpack,
    While,
)

HEAD = """import math

import numpy as np
from {module} import cuda

"""


def module(kernels: list[Kernel], cuda: str) -> str:
    """A whole file. cuda: the module that lends `cuda`, "tools.sim" or "numba"."""
    return HEAD.format(module=cuda) + "\n\n".join(map(kernel, kernels))


def kernel(made: Kernel) -> str:
    """Its constants, its device functions, and itself: kernel_NUMBER."""
    constants = [f"{name} = {value!r}\n" for name, value in made.constants.items()]
    functions = [_function(each) for each in made.functions]
    signature = f"@cuda.jit\ndef kernel_{made.number}({', '.join(made.arguments)}):\n"
    return "".join(constants) + "\n\n".join(["", *functions, signature + block(made.body)])


def _function(made: Function) -> str:
    parameters = ", ".join(name for name, _ in made.parameters)
    return f"@cuda.jit(device=True)\ndef {made.name}({parameters}):\n{block(made.body)}"


# Statements --------------------------------------------------------------------------------------


def block(statements: tuple[Node, ...], inset: str = "    ") -> str:
    return "".join(lines(each, inset) for each in statements) or f"{inset}pass\n"


def lines(statement: Node, inset: str, received: str = "") -> str:
    """received: text of the operation whose result the statement uses."""

    def text(part: Expression) -> str:
        return expression(part, received)

    match statement:
        case If(branches, otherwise):
            words = ["if", *["elif"] * (len(branches) - 1)]
            parts = [
                f"{inset}{word} {text(test)}:\n{block(body, inset + '    ')}"
                for word, (test, body) in zip(words, branches)
            ]
            return "".join(parts) + (f"{inset}else:\n{block(otherwise, inset + '    ')}" if otherwise else "")
        case For(name, _, arguments, body):
            return f"{inset}for {name} in range({_list(arguments)}):\n{block(body, inset + '    ')}"
        case While(test, body, operation):
            test = expression(test, _operation(operation) if operation else "")
            return f"{inset}while {test}:\n{block(body, inset + '    ')}"
        case Together(operation, None):
            return f"{inset}{_operation(operation)}\n"
        case Together(operation, inner):
            return lines(inner, inset, _operation(operation))
    return f"{inset}{_simple(statement, text)}\n"


def _simple(statement: Node, text) -> str:
    match statement:
        case Assign(name, _, value):
            return f"{name} = {text(value)}"
        case Unpack(names, _, tuple(values)):
            return f"{', '.join(names)} = {', '.join(map(text, values))}"
        case Unpack(names, _, value):
            return f"{', '.join(names)} = {text(value)}"
        case Augment(target, operator, value):
            return f"{text(target)} {operator}= {text(value)}"
        case Store(target, value):
            return f"{text(target)} = {text(value)}"
        case Evaluate(value):
            return text(value)
        case Declare(name, space, dtype, shape, dynamic):
            size = 0 if dynamic else shape if len(shape) > 1 else shape[0]
            return f"{name} = cuda.{space}.array({size}, np.{dtype})"
        case Jump(word):
            return word
        case Return(values):
            return f"return {', '.join(map(text, values))}".rstrip()
    raise TypeError(statement)


def _operation(operation: Operation | Apply) -> str:
    if isinstance(operation, Apply):
        return expression(operation)
    return f"cuda.{operation.name}({_list(operation.arguments)})"


# Expressions -------------------------------------------------------------------------------------


def expression(part: Expression, received: str = "") -> str:
    """Bracketed wherever it is made of parts."""

    def text(inner: Expression) -> str:
        return expression(inner, received)

    match part:
        case Literal(_, value):
            return repr(value) if value is True or value is False or value >= 0 else f"({value!r})"
        case Name(_, name) | Special(_, name):
            return name
        case Received():
            return received
        case Extent(_, array, axis):
            return f"{array}.size" if axis is None else f"{array}.shape[{axis}]"
        case Unary(_, operator, operand):
            return f"({operator}{' ' * (operator == 'not')}{text(operand)})"
        case Binary(_, operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case Compare(_, operators, (first, *others)):
            return f"({text(first)}{''.join(f' {op} {text(each)}' for op, each in zip(operators, others))})"
        case Logic(_, operator, operands):
            return f"({f' {operator} '.join(map(text, operands))})"
        case Ternary(_, test, then, otherwise):
            return f"({text(then)} if {text(test)} else {text(otherwise)})"
    return _call(part, text)


def _call(part: Expression, text) -> str:
    match part:
        case Call(_, function, arguments):
            return f"{function}({', '.join(map(text, arguments))})"
        case Apply(_, function, arguments, arrays):
            return f"{function.name}({', '.join([*arrays, *map(text, arguments)])})"
        case Element(_, array, index):
            return f"{array}[{', '.join(map(text, index))}]"
        case Atomic(_, name, array, index, operands):
            place = ", ".join(map(text, index))
            place = place if len(index) == 1 else f"({place})"
            return f"cuda.atomic.{name}({', '.join([array, place, *map(text, operands)])})"
    raise TypeError(part)


def _list(arguments: tuple[Expression, ...]) -> str:
    return ", ".join(map(expression, arguments))
