"""Correct kernels whose threads work alone: maps, gathers, ragged loops, device functions, local arrays."""

from functools import partial

import numpy as np

from tools.sim import cuda
from tools.tests.sim.cuda.corpus.case import Case, correct

CASES: list[Case] = []
case = partial(correct, CASES)
DEGREE = 5


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@case(vector_add, 4, 256)
def _(rng):
    x, y = rng.random((2, 1000), np.float32)
    return (x, y, np.empty_like(x)), {"out": x + y}


@cuda.jit
def saxpy(a, x, y):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        y[i] = a * x[i] + y[i]


@case(saxpy, 2, 96, rtol=1e-6)
def _(rng):
    x, y = rng.random((2, 1000), np.float32)
    return (np.float32(2.5), x, y.copy()), {"y": np.float32(2.5) * x + y}


@cuda.jit
def clamp(x, low, high, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    if x[i] < low:
        out[i] = low
        return
    out[i] = high if x[i] > high else x[i]


@case(clamp, 3, 100)
def _(rng):
    x = rng.standard_normal(257)
    return (x, -0.5, 0.75, np.empty_like(x)), {"out": x.clip(-0.5, 0.75)}


@cuda.jit
def mandelbrot(out, limit):
    column, row = cuda.grid(2)
    rows, columns = out.shape
    if row < rows and column < columns:
        c_re, c_im = -2.0 + 3.0 * column / columns, -1.5 + 3.0 * row / rows
        re = im = 0.0
        turns = 0
        while re * re + im * im <= 4.0 and turns < limit:
            re, im = re * re - im * im + c_re, 2.0 * re * im + c_im
            turns += 1
        out[row, column] = turns


@case(mandelbrot, (3, 4), (16, 8))
def _(rng):
    rows, columns, limit = 30, 41, 40
    wanted = np.zeros((rows, columns), np.int32)
    for row, column in np.ndindex(rows, columns):
        c, z = complex(-2.0 + 3.0 * column / columns, -1.5 + 3.0 * row / rows), 0j
        while z.real * z.real + z.imag * z.imag <= 4.0 and wanted[row, column] < limit:
            z = complex(z.real * z.real - z.imag * z.imag + c.real, 2.0 * z.real * z.imag + c.imag)
            wanted[row, column] += 1
    return (np.empty_like(wanted), limit), {"out": wanted}


@cuda.jit
def collatz(start, steps):
    i = cuda.grid(1)
    if i < start.size:
        n, count = start[i], 0
        while True:
            if n == 1:
                break
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[i] = count


@case(collatz, 2, 64)
def _(rng):
    start = np.arange(1, 101)
    wanted = []
    for n in start.tolist():
        path = [n]
        while path[-1] != 1:
            path.append(path[-1] // 2 if path[-1] % 2 == 0 else 3 * path[-1] + 1)
        wanted.append(len(path) - 1)
    return (start, np.zeros_like(start)), {"steps": np.array(wanted)}


@cuda.jit
def polynomial(x, coefficients, out):
    i = cuda.grid(1)
    if i < x.size:
        powers = cuda.local.array(DEGREE, np.float64)
        powers[0] = 1.0
        for k in range(1, DEGREE):
            powers[k] = powers[k - 1] * x[i]
        total = 0.0
        for k in range(DEGREE):
            total += coefficients[k] * powers[k]
        out[i] = total


@case(polynomial, 2, 50, rtol=1e-12)
def _(rng):
    x, coefficients = rng.standard_normal(77), rng.standard_normal(DEGREE)
    return (x, coefficients, np.empty_like(x)), {"out": np.polynomial.polynomial.polyval(x, coefficients)}


@cuda.jit
def add_halves(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@case(add_halves, 3, 33)
def _(rng):
    x, y = rng.standard_normal((2, 90)).astype(np.float16)
    return (x, y, np.empty_like(x)), {"out": x + y}


@cuda.jit
def gather_rows(table, rows, out):
    column, i = cuda.grid(2)
    if i < rows.size and column < table.shape[1]:
        out[i, column] = table[rows[i], column]


@case(gather_rows, (2, 5), (32, 4))
def _(rng):
    table, rows = rng.random((11, 50), np.float32), rng.integers(0, 11, 17)
    return (table, rows, np.empty((17, 50), np.float32)), {"out": table[rows]}


@cuda.jit
def copy_cube(x, out):
    i, j, k = cuda.grid(3)
    if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
        out[i, j, k] = x[i, j, k]


@case(copy_cube, (2, 3, 4), (4, 2, 2))
def _(rng):
    x = rng.random((7, 5, 6), np.float32)
    return (x, np.empty_like(x)), {"out": x}


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit(device=True)
def huber(x):
    if abs(x) < 1.0:
        return 0.5 * square(x)
    return abs(x) - 0.5


@cuda.jit
def losses(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = huber(x[i])


@case(losses, 2, 64, rtol=1e-12)
def _(rng):
    x = 2 * rng.standard_normal(100)
    return (x, np.empty_like(x)), {"out": np.where(abs(x) < 1, x**2 / 2, abs(x) - 0.5)}


@cuda.jit
def double_in_place(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@case(double_in_place, 2, 40)
def _(rng):
    x = cuda.mapped_array(70, np.int64)
    x[:] = np.arange(70)
    return (x,), {"x": 2 * np.arange(70)}


@cuda.jit
def subtract(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] - y[i]


@case(subtract, 1, 64)
def _(rng):
    x, y = cuda.pinned_array(60, np.float32), cuda.pinned_array(60, np.float32)
    x[:], y[:] = rng.random((2, 60), np.float32)
    return (x, y, np.empty(60, np.float32)), {"out": np.array(x) - np.array(y)}
