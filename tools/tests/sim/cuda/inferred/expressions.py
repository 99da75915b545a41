"""Operands and arguments of different types."""

import math

import numpy as np

from tools.tests.sim.cuda.inferred import cuda, typed


@typed
def float32_and_a_float(f):
    y = f * 0.5


@typed
def float32_and_a_whole_number(f):
    y = f * 2


@typed
def float32_and_an_int32(f, i):
    y = f * i


@typed
def float32_and_an_int16(f, s):
    y = f * s


@typed
def float32_and_a_uint8(f, b):
    y = f * b


@typed
def float32_and_a_uint16_constant(f):
    y = f * np.uint16(2)


@typed
def float32_and_float16(f, h):
    y = f * h


@typed
def float16_and_a_whole_number(h):
    y = h * 2


@typed
def int32_and_a_whole_number(i):
    y = i * 2


@typed
def int32_and_int32(i):
    y = i + i


@typed
def uint8_and_uint8(b):
    y = b + b


@typed
def uint32_and_int32(u, i):
    y = u + i


@typed
def uint64_and_a_whole_number(w):
    y = w + 1


@typed
def uint64_and_uint64(w):
    y = w + w


@typed
def a_quotient_of_int32(i):
    y = i / i


@typed
def a_quotient_of_float32_by_a_length(f, F):
    y = f / F.size


@typed
def a_square_of_float32(f):
    y = f**2


@typed
def a_square_by_a_float(f):
    y = f**2.0


@typed
def a_root_of_float32(f):
    y = math.sqrt(f)


@typed
def a_root_of_int32(i):
    y = math.sqrt(i)


@typed
def an_exponential_of_a_product(f):
    y = math.exp(f * 2)


@typed
def a_maximum_of_float32_and_zero(f):
    y = max(f, 0)


@typed
def a_maximum_of_float32_and_float32(f):
    y = max(f, np.float32(0))


@typed
def a_rounded_float32(f):
    y = round(f)


@typed
def an_absolute_int32(i):
    y = abs(i)


@typed
def a_float_of_float32(f):
    y = float(f)


@typed
def a_float_of_int32(i):
    y = float(i)


@typed
def an_int_of_float32(f):
    y = int(f)


@typed
def a_negative_uint8(b):
    y = -b


@typed
def an_inverted_uint8(b):
    y = ~b


@typed
def a_comparison(f, n):
    y = f > n


@typed
def a_floor_of_float32(f):
    y = math.floor(f)


@typed
def a_fused_product(f, d):
    y = cuda.fma(f, f, d)
