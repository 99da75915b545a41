"""Whole random kernels: the shape of the launch, the arguments, device functions, and a body in two parts.

In the first part the threads of a block work together; in the second each may leave when it likes.
"""

import math

import numpy as np

from tools.tests.sim.cuda.fuzz.exchanges import Exchanges, barrier, less, number
from tools.tests.sim.cuda.fuzz.expressions import WIDE
from tools.tests.sim.cuda.fuzz.scope import BLOCK, THREAD, WARP, Array, Scope, Variable
from tools.tests.sim.cuda.fuzz.tree import (
    Assign,
    Binary,
    Declare,
    Element,
    For,
    Function,
    If,
    Kernel,
    Logic,
    Name,
    Node,
    Return,
    Special,
    Store,
    Unary,
    Unpack,
)

BLOCKS = {
    1: ((1,), (7,), (13,), (31,), (32,), (33,), (48,), (64,), (64,), (96,), (128,)),
    2: ((8, 4), (5, 7), (16, 4), (3, 11), (32, 2), (2, 16)),
    3: ((4, 4, 2), (3, 2, 5), (2, 4, 8), (2, 3, 4)),
}
GRIDS = {1: ((1,), (2,), (3,), (4,)), 2: ((1, 2), (2, 2), (3, 1)), 3: ((1, 2, 2), (2, 1, 1), (1, 1, 2))}
MOST_THREADS = 192
SCALARS = {
    "n": lambda rng: rng.randint(-5, 30),
    "m": lambda rng: np.int32(rng.randint(-50, 50)),
    "f": lambda rng: np.float32(rng.uniform(-4, 4)),
    "d": lambda rng: rng.uniform(-4, 4),
    "u": lambda rng: np.uint32(rng.randint(0, 1000)),
}
OUTPUTS = (*WIDE, "int16")
COUNTED = {
    "int32": ("add", "sub", "min", "max", "and_", "or_", "xor"),
    "float32": ("add", "min", "max"),
    "uint32": ("add", "max", "or_", "xor"),
    "int64": ("add", "min", "max", "and_"),
    "float64": ("add", "sub", "min"),
}


def kernel(seed: int) -> Kernel:
    """The kernel of that number."""
    return Maker(seed).kernel()


class Maker(Exchanges):
    """Makes one kernel."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.seed = seed
        self.numbers = np.random.default_rng(seed)
        self.arguments: dict[str, object] = {}
        self.scope = Scope()
        self.dynamic = 0

    def kernel(self) -> Kernel:
        dimensions = self.rng.choice((1, 1, 1, 2, 2, 3))
        self.block_size = self.rng.choice(BLOCKS[dimensions])
        self.threads = math.prod(self.block_size)
        grids = [grid for grid in GRIDS[dimensions] if math.prod(grid) * self.threads <= MOST_THREADS]
        self.grid = self.rng.choice(grids)
        self.together = self.chance(0.7)
        constants = self._constants()
        self._inputs()
        self._device_functions()
        body = tuple(self._body())
        functions = (*self.functions, *self.warp_functions.values())
        return Kernel(self.seed, functions, self.arguments, body, self.grid, self.block_size, self.dynamic, constants)

    # Constants, arguments, device functions ------------------------------------------------------

    def _constants(self) -> dict:
        """Of the module, under names that no other kernel has."""
        constants = {f"K{self.seed}": self.rng.randint(2, 9), f"C{self.seed}": self.rng.choice((0.25, -1.75, 1e-3))}
        for name, value in constants.items():
            self.scope.names[name] = Variable("int64" if type(value) is int else "float64", BLOCK, fixed=True)
        return constants

    def _inputs(self) -> None:
        for name in self.rng.sample(list(SCALARS), self.rng.randint(2, 4)):
            value = self.arguments[name] = SCALARS[name](self.rng)
            type_ = {"n": "int64", "d": "float64"}.get(name) or str(value.dtype)
            self.scope.names[name] = Variable(type_, BLOCK, fixed=True)
        for position in range(self.rng.randint(2, 4)):
            dtype = self.rng.choice((*WIDE, *WIDE, "int8", "uint8", "int16", "uint64"))
            shape = tuple(self.rng.randint(2, 9) for _ in range(self.rng.choice((1, 1, 2, 3))))
            self.arguments[f"a{position}"] = self._values(dtype, shape)
            self.scope.arrays[f"a{position}"] = Array(dtype, shape, BLOCK)

    def _values(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        if dtype.startswith("float"):
            coarse = self.numbers.integers(-32, 32, shape) / 8
            return np.where(self.numbers.random(shape) < 0.5, coarse, self.numbers.uniform(-9, 9, shape)).astype(dtype)
        low = 0 if dtype.startswith("u") else -50
        return self.numbers.integers(low, 100, shape).astype(dtype)

    def _device_functions(self) -> None:
        for _ in range(self.rng.choice((0, 1, 1, 2))):
            returns = tuple(self.rng.choice(WIDE) for _ in range(self.rng.choice((1, 1, 1, 2))))
            self.functions.append(self._device_function(returns))

    def _device_function(self, returns: tuple[str, ...]) -> Function:
        """It may call those made before it, and may read one of the input arrays."""
        names = {"p": self.rng.choice(WIDE)} | {
            f"p{position}": self.rng.choice((*WIDE, "bool")) for position in range(self.rng.randint(0, 2))
        }
        arrays = [name for name in self.scope.arrays if self.chance(0.3)][:1]
        scope = Scope(
            {name: Variable(type_, fixed=name == "p") for name, type_ in names.items()},
            {name: self.scope.arrays[name] for name in arrays},
            THREAD,
            None,
            2,
            returns,
        )
        body = (*self.block(scope, self.rng.randint(2, 4)), self.returned(scope, exact=True))
        parameters = (*((name, "array") for name in arrays), *names.items())
        return Function(f"device_{self.seed}_{len(self.functions)}", parameters, returns, body)

    # The body ------------------------------------------------------------------------------------

    def _body(self) -> list[Node]:
        """Every thread on its own cells: all threads, or, behind a guard, those that have one."""
        start, index = self._position()
        extent = [size * count for size, count in zip(self.block_size, self.grid)][::-1]
        if self.together:
            self._cells(index, extent)
            return start + self._declared() + self._variables() + self._parts(index, extent)
        extent = [max(1, size - self.rng.randint(-2, 5)) for size in extent]
        self._cells(index, extent)
        inside = tuple(less(along, number(size)) for along, size in zip(index, extent))
        inside = Logic("bool", "and", inside) if len(inside) > 1 else inside[0]
        self.scope.level = THREAD
        self.may_leave = True
        rest = self._local() + self._variables() + self._alone(index, extent)
        if self.chance(0.5):
            return start + [If(((Unary("bool", "not", inside), (Return(),)),)), *rest]
        return start + [If(((inside, tuple(rest)),))]

    def _position(self) -> tuple[list[Node], tuple[Name, ...]]:
        """Names for where the thread is, and the index of its own cells."""
        dimensions = len(self.block_size)
        names = ("x", "y", "z")[:dimensions]
        if dimensions > 1:
            position = Special("int64," * dimensions, f"cuda.grid({dimensions})")
            statements = [Unpack(names, ("int64",) * dimensions, position)]
        else:
            statements = [Assign("x", "int64", self.rng.choice((Special("int64", "cuda.grid(1)"), _along("x"))))]
        t = Special("int32", "cuda.threadIdx.x")
        if dimensions > 1:
            t = _row(Special("int32", "cuda.threadIdx.y"), "cuda.blockDim.x", t)
        if dimensions > 2:
            layer = Binary("int64", "*", Special("int32", "cuda.threadIdx.z"), Special("int32", "cuda.blockDim.y"))
            t = Binary("int64", "+", Binary("int64", "*", layer, Special("int32", "cuda.blockDim.x")), t)
        self.t = Name(t.type, "t")
        warp = Assign("w", "int64", Binary("int64", "//", self.t, number(32)))
        for name in names:
            self.scope.names[name] = Variable("int64", THREAD, fixed=True)
        self.scope.names |= {"t": Variable(t.type, THREAD, fixed=True), "w": Variable("int64", WARP, fixed=True)}
        return [*statements, Assign("t", t.type, t), warp], tuple(Name("int64", name) for name in names[::-1])

    def _cells(self, index: tuple[Name, ...], extent: list[int]) -> None:
        """Arrays in which each thread has a cell to use as it likes, and arrays for atomics."""
        for position, types in enumerate((WIDE, OUTPUTS)):
            self.own.append(self._output(f"own{position}", self.rng.choice(types), index, extent))
        for position in range(self.rng.choice((1, 2))):
            dtype = self.rng.choice(list(COUNTED))
            array = Array(dtype, tuple(self.rng.randint(1, 6) for _ in range(self.rng.choice((1, 1, 2)))))
            self.arguments[f"acc{position}"] = np.zeros(array.shape, dtype)
            self.accumulators[f"acc{position}"] = array, self.rng.choice(COUNTED[dtype])

    def _output(self, name: str, dtype: str, index: tuple[Name, ...], extent: list[int]) -> Element:
        self.arguments[name] = np.zeros(extent, dtype)
        return Element(dtype, name, index)

    def _variables(self) -> list[Node]:
        types = [self.rng.choice(WIDE) for _ in range(3)] + ["int64", "float64", "bool"]
        return [self.introduce(self.scope, type_) for type_ in types]

    def _local(self) -> list[Node]:
        """A local array that is filled before it is used."""
        if self.chance(0.6):
            return []
        dtype, size = self.rng.choice(WIDE), self.rng.randint(2, 5)
        self.scope.arrays["local"] = Array(dtype, (size,))
        j = Name("int64", self.new("j"))
        value = self.make(dtype, Scope(dict(self.scope.names)), THREAD, 2)
        fill = For(j.name, "int64", (number(size),), (Store(Element(dtype, "local", (j,)), value),))
        return [Declare("local", "local", dtype, (size,)), fill]

    def _declared(self) -> list[Node]:
        """Shared arrays, one of them perhaps dynamic; and what is needed to meet in global memory."""
        dtype, first = self.rng.choice(WIDE), Name("int64", "first")
        size = math.prod(self.grid) * self.threads
        self.arguments["meeting"] = np.zeros(size, dtype)
        self.scratch = "meeting", Array(dtype, (size,)), first
        self.counters = "counters"
        declared = [Declare("counters", "shared", "int32", (8,)), self._first(first)]
        for position in range(self.rng.choice((1, 2))):
            name, dtype = f"shared{position}", self.rng.choice(WIDE)
            flat = len(self.block_size) == 1 or self.chance(0.5)
            shape = (self.threads,) if flat else self.block_size[::-1]
            axes = "zyx"[-len(shape) :]
            own = (self.t,) if flat else tuple(Special("int32", f"cuda.threadIdx.{axis}") for axis in axes)
            dynamic = flat and not self.dynamic and self.chance(0.3)
            self.dynamic += dynamic * self.threads * np.dtype(dtype).itemsize
            self.shared[name] = Array(dtype, shape), own
            declared.append(Declare(name, "shared", dtype, shape, dynamic))
        return declared + self._local()

    def _first(self, name: Name) -> Assign:
        """The number of the block's first thread in the grid."""
        block = Special("int32", "cuda.blockIdx.x")
        if len(self.grid) > 1:
            block = _row(Special("int32", "cuda.blockIdx.y"), "cuda.gridDim.x", block)
        if len(self.grid) > 2:
            layers = number(self.grid[0] * self.grid[1])
            block = Binary("int64", "+", Binary("int64", "*", Special("int32", "cuda.blockIdx.z"), layers), block)
        return Assign(name.name, "int64", Binary("int64", "*", block, number(self.threads)))

    def _parts(self, index: tuple[Name, ...], extent: list[int]) -> list[Node]:
        """Together; then each as it likes, after which a barrier may still bring together who is left."""
        together = [*self.block(self.scope, self.rng.randint(4, 7)), *self._results(index, extent)]
        self.together, self.may_leave, self.scope.level = False, True, THREAD
        alone = list(self.block(self.scope, self.rng.randint(0, 3)))
        return together + alone + ([barrier()] if self.chance(0.3) else [])

    def _alone(self, index: tuple[Name, ...], extent: list[int]) -> list[Node]:
        return [*self.block(self.scope, self.rng.randint(4, 8)), *self._results(index, extent)]

    def _results(self, index: tuple[Name, ...], extent: list[int]) -> list[Node]:
        """Every variable goes to an output of its own; some are converted on the way."""
        stores = []
        for name, variable in self.scope.names.items():
            if not variable.fixed:
                dtype = "uint8" if variable.type == "bool" else variable.type
                if self.chance(0.15):
                    dtype = {"int64": "int32", "int32": "int16", "float64": "float32"}.get(dtype, dtype)
                cell = self._output(f"out{len(stores)}", dtype, index, extent)
                stores.append(Store(cell, Name(variable.type, name)))
        return stores


def _along(axis: str) -> Binary:
    """blockIdx * blockDim + threadIdx"""
    block, size, thread = (Special("int32", f"cuda.{name}.{axis}") for name in ("blockIdx", "blockDim", "threadIdx"))
    return Binary("int64", "+", Binary("int64", "*", block, size), thread)


def _row(row, width: str, column) -> Binary:
    return Binary("int64", "+", Binary("int64", "*", row, Special("int32", width)), column)
