"""What becomes of results: branches, loops, functions, memory. Most kernels execute each instruction once."""

import math

import numpy as np

from tools.gpu import cuda
from tools.tests.sim.cuda.arithmetic.case import FLOAT16, FLOAT32, FLOAT64, INT32, THREADS, given

# Branches ----------------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def compared_with_a_constant(x, out):
    i = cuda.grid(1)
    if x[i] > 1.0:
        out[i] = x[i]


@given(FLOAT32, FLOAT32)
def compared_with_one_that_float32_rounds(x, out):
    i = cuda.grid(1)
    if x[i] > 0.1:
        out[i] = x[i]


@given(FLOAT32, FLOAT32)
def compared_with_an_index(x, out):
    i = cuda.grid(1)
    if x[i] > i:
        out[i] = x[i]


@given(FLOAT32, FLOAT32)
def one_branch_in_float32(x, out):
    i = cuda.grid(1)
    y = x[i]
    if y < 1:
        y = np.float32(0)
    out[i] = y


@given(FLOAT32, FLOAT32)
def one_branch_in_float64(x, out):
    i = cuda.grid(1)
    y = x[i]
    if y < 1:
        y = 0.0
    out[i] = y


@given(FLOAT32, FLOAT32)
def chosen(x, out):
    i = cuda.grid(1)
    out[i] = x[i] if x[i] > 1 else 0


@given(FLOAT32, FLOAT32)
def chosen_and_used(x, out):
    i = cuda.grid(1)
    y = x[i] if x[i] > 1 else 0.0
    out[i] = y * y + 0.5


@given(FLOAT64, FLOAT32)
def a_condition_in_float64(x, out):
    i = cuda.grid(1)
    if x[i]:
        out[i] = 1


# Loops -------------------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def a_sum_that_begins_with_a_float(x, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(8):
        total += x[i + k]
    out[i] = total


@given(FLOAT32, FLOAT32)
def a_sum_that_begins_with_a_whole_number(x, out):
    i = cuda.grid(1)
    total = 0
    for k in range(8):
        total += x[i + k]
    out[i] = total


@given(FLOAT32, FLOAT32)
def a_sum_in_float32(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(8):
        total += x[i + k]
    out[i] = total


@given(FLOAT32, FLOAT32)
def a_maximum_in_a_loop(x, out):
    i = cuda.grid(1)
    best = -math.inf
    for k in range(x.size - i):
        if x[i + k] > best:
            best = x[i + k]
    out[i] = best


# Functions ---------------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def an_exponential(x, out):
    i = cuda.grid(1)
    out[i] = math.exp(x[i])


@given(FLOAT32, FLOAT32)
def a_sigmoid(x, out):
    i = cuda.grid(1)
    out[i] = 1.0 / (1.0 + math.exp(-x[i]))


@given(FLOAT32, FLOAT32)
def a_sigmoid_in_float32(x, out):
    i = cuda.grid(1)
    one = np.float32(1)
    out[i] = one / (one + math.exp(-x[i]))


@given(FLOAT32, FLOAT32)
def a_root_of_a_product(x, out):
    i = cuda.grid(1)
    out[i] = math.sqrt(x[i] * 2.0)


@given(INT32, FLOAT32)
def a_root_of_a_whole_number(x, out):
    i = cuda.grid(1)
    out[i] = math.sqrt(x[i])


@given(FLOAT32, FLOAT32)
def a_maximum_with_a_constant(x, out):
    i = cuda.grid(1)
    out[i] = max(x[i], 0.0)


@given(FLOAT32, FLOAT32)
def clamped(x, out):
    i = cuda.grid(1)
    out[i] = min(max(x[i], -1.0), 1.0)


@given(FLOAT32, FLOAT32)
def clamped_in_float32(x, out):
    i = cuda.grid(1)
    out[i] = min(max(x[i], np.float32(-1)), np.float32(1))


@given(FLOAT32, FLOAT32)
def an_absolute_value(x, out):
    i = cuda.grid(1)
    out[i] = abs(x[i] * 2.0)


@given(FLOAT32, FLOAT32)
def a_square(x, out):
    i = cuda.grid(1)
    out[i] = x[i] ** 2


@given(FLOAT32, FLOAT32)
def a_power_of_a_float(x, out):
    i = cuda.grid(1)
    out[i] = x[i] ** 2.0


@given(FLOAT32, INT32)
def cut_to_a_whole_number(x, out):
    i = cuda.grid(1)
    out[i] = int(x[i])


@given(FLOAT32, FLOAT32)
def made_float64_by_name(x, out):
    i = cuda.grid(1)
    out[i] = np.float64(x[i]) * np.float64(x[i + 1]) + 1


@given(FLOAT32, FLOAT32)
def fused(x, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(x[i], x[i + 1], 1.0)


@cuda.jit(device=True)
def scaled(x, factor):
    return x * factor


@given(FLOAT32, FLOAT32)
def a_device_function(x, out):
    i = cuda.grid(1)
    out[i] = scaled(x[i], 2.0)


@given(FLOAT32, FLOAT32)
def a_device_function_of_an_index(x, out):
    i = cuda.grid(1)
    out[i] = scaled(x[i], i)


# Memory ------------------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def a_tile_in_float64(x, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(THREADS, np.float64)
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[THREADS - 1 - i]


@given(FLOAT32, FLOAT32)
def a_product_with_a_tile_in_float64(x, out):
    i = cuda.grid(1)
    tile = cuda.shared.array(THREADS, np.float64)
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[THREADS - 1 - i] * x[i]


@given(FLOAT32, FLOAT64)
def an_atomic_sum_in_float64(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i])


@given(FLOAT32, FLOAT32)
def an_atomic_sum(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, x[i] * 2.0)


@given(FLOAT16, FLOAT16)
def float16_and_a_constant(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2


@given(FLOAT16, FLOAT32)
def float16_stored_as_float32(x, out):
    i = cuda.grid(1)
    out[i] = x[i]
