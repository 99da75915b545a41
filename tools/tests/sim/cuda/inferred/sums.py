"""Sums and extremes in loops: what they begin with decides, and what is added."""

import math

import numpy as np

from tools.tests.sim.cuda.inferred import cuda, typed


@typed
def sum_of_a_float_and_float32(n, F):
    total = 0.0
    for k in range(n):
        total += F[k]
    y = total


@typed
def sum_of_a_whole_number_and_float32(n, F):
    total = 0
    for k in range(n):
        total += F[k]
    y = total


@typed
def sum_of_a_float32_and_float32(n, F):
    total = np.float32(0)
    for k in range(n):
        total += F[k]
    y = total


@typed
def sum_of_a_float32_and_a_float(n, F):
    total = np.float32(0)
    for k in range(n):
        total += F[k] * 0.5
    y = total


@typed
def sum_of_a_float32_and_float64(n, D):
    total = np.float32(0)
    for k in range(n):
        total += D[k]
    y = total


@typed
def sum_of_a_whole_number_and_int32(n, I):
    total = 0
    for k in range(n):
        total += I[k]
    y = total


@typed
def sum_of_an_int32_and_int32(n, I):
    total = np.int32(0)
    for k in range(n):
        total += I[k]
    y = total


@typed
def sum_of_a_whole_number_and_uint8(n, B):
    total = 0
    for k in range(n):
        total += B[k]
    y = total


@typed
def sum_of_a_uint8_and_uint8(n, B):
    total = np.uint8(0)
    for k in range(n):
        total += B[k]
    y = total


@typed
def sum_of_a_whole_number_and_uint64(n, W):
    total = 0
    for k in range(n):
        total += W[k]
    y = total


@typed
def sum_of_a_uint64_and_uint64(n, W):
    total = np.uint64(0)
    for k in range(n):
        total += W[k]
    y = total


@typed
def sum_of_a_float32_and_int32(n, I):
    total = np.float32(0)
    for k in range(n):
        total += I[k]
    y = total


@typed
def sum_of_a_float32_and_int16(n, S):
    total = np.float32(0)
    for k in range(n):
        total += S[k]
    y = total


@typed
def sum_of_a_float32_and_a_whole_number(n, F):
    total = np.float32(0)
    for k in range(n):
        total += k
    y = total


@typed
def sum_of_a_float16_and_float16(n, H):
    total = np.float16(0)
    for k in range(n):
        total += H[k]
    y = total


@typed
def sum_of_a_whole_number_and_float16(n, H):
    total = 0
    for k in range(n):
        total += H[k]
    y = total


@typed
def sum_of_a_float32_and_float16(n, H):
    total = np.float32(0)
    for k in range(n):
        total += H[k]
    y = total


@typed
def sum_of_a_whole_number_and_complex64(n, C):
    total = 0
    for k in range(n):
        total += C[k]
    y = total


@typed
def a_product_of_float32(n, F):
    total = np.float32(1)
    for k in range(n):
        total *= F[k]
    y = total


@typed
def a_product_with_a_whole_number(n, F):
    total = 1
    for k in range(n):
        total *= F[k]
    y = total


@typed
def a_quotient_of_float32(n, f):
    total = f
    for k in range(n):
        total /= 2
    y = total


@typed
def a_whole_quotient(n, i):
    total = i
    for k in range(n):
        total //= 2
    y = total


@typed
def a_remainder(n, f):
    total = f
    for k in range(n):
        total = total % 2
    y = total


@typed
def a_shifted_number(n, i):
    total = i
    for k in range(n):
        total <<= 1
    y = total


@typed
def a_truth_and_whole_numbers(n, I):
    total = True
    for k in range(n):
        total = total and I[k] > 0
    y = total


@typed
def a_count_of_truths(n, F):
    total = 0
    for k in range(n):
        total += F[k] > 0
    y = total


@typed
def a_mean_in_steps(n, F):
    total = np.float32(0)
    for k in range(n):
        total += (F[k] - total) / (k + 1)
    y = total


@typed
def a_maximum_that_begins_with_minus_infinity(n, F):
    best = -math.inf
    for k in range(n):
        if F[k] > best:
            best = F[k]
    y = best


@typed
def a_maximum_that_begins_with_an_element(n, F):
    best = F[0]
    for k in range(1, n):
        if F[k] > best:
            best = F[k]
    y = best


@typed
def a_maximum_that_begins_with_zero(n, F):
    best = 0
    for k in range(n):
        best = max(best, F[k])
    y = best


@typed
def a_minimum_of_whole_numbers(n, I):
    best = 1000
    for k in range(n):
        best = min(best, I[k])
    y = best


@typed
def two_sums_of_different_types(n, F, D):
    one = np.float32(0)
    other = np.float32(0)
    for k in range(n):
        one += F[k]
        other += D[k]
    y = one + other


@typed
def a_sum_that_is_swapped(n, F):
    one, other = 0, np.float32(1)
    for k in range(n):
        one, other = other, one + F[k]
    y = other


@typed
def a_counter_beside_a_sum(n, F):
    count, total = 0, np.float32(0)
    for k in range(n):
        if F[k] > 0:
            count += 1
            total += F[k]
    mean = total / count


@typed
def a_sum_in_two_loops(n, F):
    total = 0.0
    for j in range(n):
        part = np.float32(0)
        for k in range(n):
            part += F[k]
        total += part
    y = total


@typed
def a_sum_that_is_set_back(n, F):
    total = np.float32(0)
    for k in range(n):
        total += F[k]
        if k > 2:
            total = 0
    y = total


@typed
def a_loop_whose_counter_is_int32(i, F):
    total = np.float32(0)
    for k in range(i):
        total += F[k]
    y = k


@typed
def a_loop_from_int32_to_int64(i, n):
    y = i
    for k in range(i, n):
        y = k


@typed
def a_loop_in_steps_of_a_grid(n, F):
    total = np.float32(0)
    for k in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += F[k]
    y = total
