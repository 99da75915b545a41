"""Kernels in CUDA C++ with their inputs, and what NumPy makes of the same; for a simulated GPU and a real one."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tools.tests.sim.cupy_raw import sources


@dataclass(frozen=True)
class Case:
    """One launch. kernel: its name or name expression. shared: bytes of dynamic shared memory. tolerance: absolute.

    arguments: NumPy arrays, which are copied to the device, and NumPy scalars; the last array is the result, and
    `expected` what it holds then. constants: what goes into the module's variables before.
    """

    kernel: str
    code: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple
    expected: np.ndarray
    shared: int = 0
    tolerance: float = 0.0
    constants: dict[str, np.ndarray] = field(default_factory=dict)

    def run(self, cupy, module) -> np.ndarray:
        """The result, with this CuPy, real or simulated. module: of `all_of_them`."""
        for name, values in self.constants.items():
            cupy.ndarray(values.shape, values.dtype, module.get_global(name))[...] = cupy.asarray(values)
        arguments = [cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in self.arguments]
        module.get_function(self.kernel)(self.grid, self.block, tuple(arguments), shared_mem=self.shared)
        return cupy.asnumpy([each for each in arguments if isinstance(each, cupy.ndarray)][-1])


def all_of_them(cupy):
    """One module with all kernels."""
    code = "\n".join(dict.fromkeys(case.code for case in cases()))
    return cupy.RawModule(code=code, name_expressions=[case.kernel for case in cases() if "<" in case.kernel])


def random(*shape: int, dtype=np.float32) -> np.ndarray:
    """The same numbers for the same shape and type, wherever and whenever."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng([11, *shape, dtype.num])
    return (rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, 64, shape)).astype(dtype)


def cases() -> Iterator[Case]:
    """In the order in which they are launched under the profiler."""
    for make in (
        vector_add,
        strided_copy,
        vector_copy,
        transposes,
        tree_sum,
        shuffle_sum,
        histogram,
        tiled_matmul,
        register_tiled_matmul,
        stencil,
        softmax,
        scan,
        halves,
        filtered,
        compacted,
        sparse_rows,
        largest,
        pairs,
    ):
        yield from make()


def vector_add() -> Iterator[Case]:
    n = 10_000
    x, y = random(n), random(n)[::-1].copy()
    yield Case("vector_add", sources.VECTOR_ADD, (40,), (256,), (x, y, np.int32(n), np.zeros(n, np.float32)), x + y)


def strided_copy() -> Iterator[Case]:
    x = random(8192)
    yield Case(
        "strided_copy", sources.STRIDED_COPY, (4,), (128,), (x, np.int32(7), np.zeros(512, np.float32)), x[::7][:512]
    )


def vector_copy() -> Iterator[Case]:
    x = random(4096)
    yield Case("vector_copy", sources.VECTOR_COPY, (8,), (128,), (x, np.zeros(4096, np.float32)), x)


def transposes() -> Iterator[Case]:
    x = random(96, 128)
    for padding in (0, 1):
        yield Case(
            f"transpose<{padding}>",
            sources.TRANSPOSE,
            (4, 3),
            (32, 8),
            (x, np.int32(96), np.int32(128), np.zeros((128, 96), np.float32)),
            x.T,
        )


def tree_sum() -> Iterator[Case]:
    x = random(2048)
    yield Case(
        "tree_sum",
        sources.TREE_SUM,
        (8,),
        (256,),
        (x, np.zeros(8, np.float32)),
        x.reshape(8, 256).sum(1),
        shared=1024,
        tolerance=1e-4,
    )


def shuffle_sum() -> Iterator[Case]:
    x = random(10_007)
    yield Case(
        "shuffle_sum",
        sources.SHUFFLE_SUM,
        (6,),
        (192,),
        (x, np.int32(x.size), np.zeros(1, np.float32)),
        x.sum(dtype=np.float64, keepdims=True),
        tolerance=1e-2,
    )


def histogram() -> Iterator[Case]:
    x = random(5000, dtype=np.int32)
    yield Case(
        "histogram",
        sources.HISTOGRAM,
        (5,),
        (160,),
        (x, np.int32(x.size), np.zeros(64, np.uint32)),
        np.bincount(x, minlength=64).astype(np.uint32),
    )


def tiled_matmul() -> Iterator[Case]:
    a, b = random(50, 70), random(70, 40)
    yield Case(
        "tiled_matmul",
        sources.TILED_MATMUL,
        (3, 4),
        (16, 16),
        (a, b, np.int32(50), np.int32(40), np.int32(70), np.zeros((50, 40), np.float32)),
        a @ b,
        tolerance=1e-4,
    )


def register_tiled_matmul() -> Iterator[Case]:
    a, b = random(64, 48), random(48, 64)
    yield Case(
        "register_tiled_matmul<32, 16, 4>",
        sources.REGISTER_TILED_MATMUL,
        (2, 2),
        (8, 8),
        (a, b, np.int32(64), np.int32(48), np.zeros((64, 64), np.float32)),
        a @ b,
        tolerance=1e-4,
    )


def stencil() -> Iterator[Case]:
    x = random(45, 70)
    padded = np.pad(x, 1)
    neighbours = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    yield Case(
        "stencil",
        sources.STENCIL,
        (5, 6),
        (16, 8),
        (x, np.int32(45), np.int32(70), np.zeros_like(x)),
        neighbours - 4 * x,
        tolerance=1e-5,
    )


def softmax() -> Iterator[Case]:
    x = random(13, 100)
    powers = np.exp(x - x.max(1, keepdims=True))
    yield Case(
        "softmax",
        sources.SOFTMAX,
        (4,),
        (32, 4),
        (x, np.int32(13), np.int32(100), np.zeros_like(x)),
        powers / powers.sum(1, keepdims=True),
        tolerance=1e-6,
    )


def scan() -> Iterator[Case]:
    x = random(512, dtype=np.int32)
    yield Case(
        "scan",
        sources.SCAN,
        (4,),
        (128,),
        (x, np.zeros(512, np.int32)),
        np.cumsum(x.reshape(4, 128), axis=1, dtype=np.int32).ravel(),
    )


def halves() -> Iterator[Case]:
    x, y = random(1024, dtype=np.float16), random(1024).astype(np.float16)[::-1].copy()
    yield Case(
        "halves",
        sources.HALVES,
        (4,),
        (128,),
        (np.float32(1.5), x.view(np.int32), y.view(np.int32)),
        (np.float64(1.5) * x + y).astype(np.float16).view(np.int32),
    )


def filtered() -> Iterator[Case]:
    x, weights = random(300), random(7)
    padded = np.pad(x, 3)
    yield Case(
        "filtered",
        sources.FILTERED,
        (3,),
        (128,),
        (x, np.int32(300), np.zeros(300, np.float32)),
        np.convolve(padded, weights[::-1], "valid"),
        tolerance=1e-5,
        constants={"weights": weights},
    )


def compacted() -> Iterator[Case]:
    x = random(256, dtype=np.int32)
    kept = np.full((8, 32), -1, np.int32)
    for row, values in zip(kept, x.reshape(8, 32)):
        row[: (values % 3 == 0).sum()] = values[values % 3 == 0]
    yield Case("compacted", sources.COMPACTED, (2,), (128,), (x, np.full(256, -1, np.int32)), kept.ravel())


def sparse_rows() -> Iterator[Case]:
    lengths = random(100, dtype=np.int32) % 20
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns, values, x = random(starts[-1], dtype=np.int32), random(starts[-1]), random(64)
    products = values * x[columns]
    sums = np.array([products[first:last].sum(dtype=np.float64) for first, last in zip(starts, starts[1:])])
    yield Case(
        "sparse_rows",
        sources.SPARSE_ROWS,
        (4,),
        (32,),
        (starts, columns, values, x, np.int32(100), np.zeros(100, np.float32)),
        sums,
        tolerance=1e-4,
    )


def largest() -> Iterator[Case]:
    x = random(1000, dtype=np.int32)
    best = max((int(value), 999 - place) for place, value in enumerate(x))
    yield Case(
        "largest",
        sources.LARGEST,
        (4,),
        (256,),
        (x, np.int32(1000), np.zeros(1, np.uint64)),
        np.array([best[0] << 32 | best[1]], np.uint64),
    )


def pairs() -> Iterator[Case]:
    x = random(96, 4)
    yield Case("pairs", sources.PAIRS, (3,), (32,), (x, np.zeros((96, 4), np.float32)), x[:, ::-1] * 2)
