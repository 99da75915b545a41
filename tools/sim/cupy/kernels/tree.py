"""The parts of a kernel's code once it is read."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Node:
    """Any part. line: of the code it stands in, counted from 1."""

    line: int


# Expressions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number(Node):
    value: np.generic


@dataclass(frozen=True)
class Name(Node):
    name: str


@dataclass(frozen=True)
class Unary(Node):
    """operator: + - ! ~ &"""

    operator: str
    operand: Node


@dataclass(frozen=True)
class Binary(Node):
    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Choice(Node):
    """condition ? yes : no"""

    condition: Node
    yes: Node
    no: Node


@dataclass(frozen=True)
class Assign(Node):
    """target = value, or with an operator: target += value. after: the value is that before it, as in i++."""

    target: Node
    operator: str | None
    value: Node
    after: bool = False


@dataclass(frozen=True)
class Cast(Node):
    type: str
    operand: Node


@dataclass(frozen=True)
class Call(Node):
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Element(Node):
    """array[index]"""

    array: Node
    index: Node


@dataclass(frozen=True)
class Member(Node):
    """whole.name, or whole.name(arguments)"""

    whole: Node
    name: str
    arguments: tuple[Node, ...] | None


# Statements --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Declare(Node):
    """type: "auto" where the value says it."""

    type: str
    name: str
    value: Node | None


@dataclass(frozen=True)
class Evaluate(Node):
    expression: Node


@dataclass(frozen=True)
class Block(Node):
    statements: tuple[Node, ...]


@dataclass(frozen=True)
class Several(Node):
    """Statements that stand as one, as int i = 0, j = 1; unlike a block they open no scope."""

    statements: tuple[Node, ...]


@dataclass(frozen=True)
class If(Node):
    condition: Node
    yes: Node
    no: Node | None


@dataclass(frozen=True)
class Loop(Node):
    """for (begin; condition; step) body; while has only the middle. once: the condition comes after the body."""

    begin: Node | None
    condition: Node | None
    step: Node | None
    body: Node
    once: bool = False


@dataclass(frozen=True)
class Jump(Node):
    """break or continue"""

    word: str


@dataclass(frozen=True)
class Return(Node):
    value: Node | None


@dataclass(frozen=True)
class Function(Node):
    """A __device__ function. parameters: (type, name)."""

    type: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    body: Block
