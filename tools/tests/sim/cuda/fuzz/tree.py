"""The syntax of random kernels: what the generator builds, what becomes source text, what the oracle runs.

Each expression carries its Numba type. Nothing is shared with Python's own syntax trees.
"""

from dataclasses import dataclass, field


class Node:
    """Any piece of a kernel."""


# Expressions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression(Node):
    type: str


@dataclass(frozen=True)
class Literal(Expression):
    value: int | float | bool


@dataclass(frozen=True)
class Name(Expression):
    name: str


@dataclass(frozen=True)
class Special(Expression):
    """What every thread knows: "cuda.threadIdx.x", "cuda.laneid"."""

    text: str


@dataclass(frozen=True)
class Extent(Expression):
    """array.shape[axis]; array.size where axis is None."""

    array: str
    axis: int | None


@dataclass(frozen=True)
class Unary(Expression):
    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Compare(Expression):
    """a < b, or a chain such as a <= b < c."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Logic(Expression):
    """operator: "and" or "or"."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Ternary(Expression):
    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Call(Expression):
    """A function of Python, NumPy, math or cuda that asks nobody else: np.int32, min, math.sqrt, cuda.popc."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Apply(Expression):
    """A device function. type: of its result, joined by commas where it is a tuple. arrays: names that it gets."""

    function: "Function"
    arguments: tuple[Expression, ...]
    arrays: tuple[str, ...] = ()


@dataclass(frozen=True)
class Element(Expression):
    array: str
    index: tuple[Expression, ...]


@dataclass(frozen=True)
class Atomic(Expression):
    """cuda.atomic.NAME(array, index, *operands), which gives the old value."""

    name: str
    array: str
    index: tuple[Expression, ...]
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Received(Expression):
    """Within a `Together`, in place of its operation."""


# Statements --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign(Node):
    """name = value. type: the one that the variable has after the block."""

    name: str
    type: str
    value: Expression


@dataclass(frozen=True)
class Unpack(Node):
    """a, b = x, y, or a, b = a device function that returns two."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    value: tuple[Expression, ...] | Apply


@dataclass(frozen=True)
class Augment(Node):
    """target operator= value"""

    target: Name | Element
    operator: str
    value: Expression


@dataclass(frozen=True)
class Store(Node):
    target: Element
    value: Expression


@dataclass(frozen=True)
class Evaluate(Node):
    """A call as a statement."""

    value: Expression


@dataclass(frozen=True)
class Declare(Node):
    """name = cuda.SPACE.array(shape, dtype); dynamic: its size comes with the launch."""

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    dynamic: bool = False


@dataclass(frozen=True)
class If(Node):
    """branches: tests with their bodies, the first by `if`, others by `elif`."""

    branches: tuple[tuple[Expression, tuple[Node, ...]], ...]
    otherwise: tuple[Node, ...] = ()


@dataclass(frozen=True)
class For(Node):
    """for name in range(*arguments); type: of the variable."""

    name: str
    type: str
    arguments: tuple[Expression, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True)
class While(Node):
    """operation: of the warp, performed before each test, where the test holds a `Received`."""

    test: Expression
    body: tuple[Node, ...]
    operation: "Operation | None" = None


@dataclass(frozen=True)
class Jump(Node):
    """break or continue"""

    word: str


@dataclass(frozen=True)
class Return(Node):
    values: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Operation(Node):
    """What several threads do together: "syncthreads", "shfl_sync", ... type: of its result, "" if it has none."""

    name: str
    arguments: tuple[Expression, ...] = ()
    type: str = ""


@dataclass(frozen=True)
class Together(Node):
    """The operation or a device function that holds one, and the statement that uses what each thread got."""

    operation: Operation | Apply
    statement: Node | None = None


# Whole kernels -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function(Node):
    """A device function. parameters: name and type, "array" for one. returns: types of its result."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    returns: tuple[str, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Kernel(Node):
    """constants: of the module. arguments: names with what they are at the launch (arrays, NumPy or Python scalars).

    grid, block: one to three sizes. shared: bytes of dynamic shared memory. number: of which it was made.
    """

    number: int
    functions: tuple[Function, ...]
    arguments: dict
    body: tuple[Node, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int = 0
    constants: dict = field(default_factory=dict)
