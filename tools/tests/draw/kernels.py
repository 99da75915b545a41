"""Kernels whose pictures and tables the tests know by heart."""

import numpy as np

from tools.draw.touched import Recorder, Touches
from tools.sim import cuda
from tools.sim.counters import Counters
from tools.sim.recording import record
from tools.sim.trace import heard_by


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def product(a, b, out):
    col, row = cuda.grid(2)
    total = np.float32(0)
    for p in range(a.shape[1]):
        total += a[row, p] * b[p, col]
    out[row, col] = total


@cuda.jit
def down_columns(x, out):
    row, col = cuda.grid(2)
    out[row, col] = x[row, col]


@cuda.jit
def one_bank(out):
    tile = cuda.shared.array((32, 32), np.float32)
    x = cuda.threadIdx.x
    tile[x, 0] = x
    out[x] = tile[x, 0]


@cuda.jit
def along_rows(x, out):
    col, row = cuda.grid(2)
    out[row, col] = x[row, col]


@cuda.jit
def corners(out):
    which, row, col = cuda.threadIdx.x, cuda.blockIdx.y, cuda.blockIdx.x
    out[which, row, col] = which


@cuda.jit
def shifted(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1]


@cuda.jit
def every_other(x, out):
    i = cuda.grid(1)
    if i % 2 == 0:
        out[i] = x[i]
    else:
        out[i] = 0


def pictures(run, title: str = "picture") -> list[Touches]:
    recorder = Recorder()
    with heard_by(recorder):
        run()
    return recorder.pictures(title)


def picture(run, title: str = "picture") -> Touches:
    (only,) = pictures(run, title)
    return only


def counted(run) -> Counters:
    with record() as counters:
        run()
    return counters


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)
