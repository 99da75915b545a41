"""What comes together in an operation: constants, arguments, indices. One thread computes each element."""

import numpy as np

from tools.gpu import cuda
from tools.tests.sim.cuda.arithmetic.case import FLOAT32, FLOAT64, INT32, THREADS, UINT64, given

HALF, TENTH, RADIUS = 0.5, 0.1, 3


# Constants ---------------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def a_constant_that_float32_holds(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0


@given(FLOAT32, FLOAT32)
def a_whole_constant(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2


@given(FLOAT32, FLOAT32)
def a_constant_that_float32_rounds(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 0.1


@given(FLOAT32, FLOAT32)
def a_global_constant(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * HALF


@given(FLOAT32, FLOAT32)
def a_global_constant_that_float32_rounds(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * TENTH


@given(FLOAT32, FLOAT32)
def computed_from_constants(x, out):
    i = cuda.grid(1)
    out[i] = x[i] / (2 * RADIUS + 1)


@given(FLOAT32, FLOAT32)
def negative_constant(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * -2.0


@given(FLOAT32, FLOAT32)
def quotient_of_one(x, out):
    i = cuda.grid(1)
    out[i] = 1 / x[i]


@given(FLOAT32, FLOAT32)
def a_constant_in_float32(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * np.float32(0.1)


@given(FLOAT32, FLOAT32)
def a_constant_alone(x, out):
    i = cuda.grid(1)
    out[i] = 0.1


@given(FLOAT32)
def updated_by_a_constant(out):
    i = cuda.grid(1)
    out[i] *= 0.5


@given(FLOAT32)
def updated_by_one_that_float32_rounds(out):
    i = cuda.grid(1)
    out[i] -= 0.1


# Several steps -----------------------------------------------------------------------------------


@given(FLOAT32, FLOAT32)
def two_operations(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0 + 1.0


@given(FLOAT32, FLOAT32)
def two_operations_by_way_of_a_variable(x, out):
    i = cuda.grid(1)
    y = x[i] * 2.0
    out[i] = y + 1.0


@given(FLOAT32, FLOAT32)
def each_rounded_before_the_next(x, out):
    i = cuda.grid(1)
    y = np.float32(x[i] * 2.0)
    out[i] = y + np.float32(1)


@given(FLOAT32, FLOAT32)
def stored_twice(x, out):
    i = cuda.grid(1)
    y = x[i] * 2.0
    out[i] = y
    out[i + THREADS] = y


@given(FLOAT32, FLOAT32)
def the_other_sign(x, out):
    i = cuda.grid(1)
    out[i] = -(x[i] * 2.0)


@given(FLOAT32, FLOAT32)
def the_mean_of_two(x, out):
    i = cuda.grid(1)
    out[i] = (x[i] + x[i + 1]) / 2


@given(FLOAT32, FLOAT32)
def one_narrow_one_wide(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0 + x[i + 1]


@given(FLOAT32, FLOAT64)
def stored_in_float64(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0


@given(FLOAT64, FLOAT32)
def loaded_in_float64(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * np.float32(2)


@given(FLOAT64, FLOAT64)
def copied_in_float64(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


# Arguments and indices ---------------------------------------------------------------------------


@given(2.5, FLOAT32, FLOAT32)
def an_argument_in_float64(a, x, out):
    i = cuda.grid(1)
    out[i] = a * x[i]


@given(np.float32(2.5), FLOAT32, FLOAT32)
def an_argument_in_float32(a, x, out):
    i = cuda.grid(1)
    out[i] = a * x[i]


@given(2.5, FLOAT32, FLOAT32)
def an_argument_that_is_rounded_first(a, x, out):
    i = cuda.grid(1)
    out[i] = np.float32(a) * x[i]


@given(2, FLOAT32, FLOAT32)
def a_whole_argument(a, x, out):
    i = cuda.grid(1)
    out[i] = a * x[i]


@given(FLOAT32, FLOAT32)
def an_index(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * i


@given(FLOAT32, FLOAT32)
def an_index_in_float32(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * np.float32(i)


@given(FLOAT32, FLOAT32)
def the_length_of_an_array(x, out):
    i = cuda.grid(1)
    out[i] = x[i] / x.size


@given(INT32, FLOAT32)
def a_quotient_of_whole_numbers(x, out):
    i = cuda.grid(1)
    out[i] = x[i] / (i + 1)


@given(INT32, INT32)
def a_floor_quotient_of_whole_numbers(x, out):
    i = cuda.grid(1)
    out[i] = x[i] // (i + 1)


@given(INT32, FLOAT32)
def a_whole_number_stored_as_a_float(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@given(FLOAT32, INT32)
def a_float_stored_as_a_whole_number(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@given(UINT64, INT32)
def signed_and_unsigned_compared(x, out):
    i = cuda.grid(1)
    if x[i] > i:
        out[i] = i
