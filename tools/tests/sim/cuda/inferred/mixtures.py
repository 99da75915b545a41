"""One type on one way, another one on the other."""

import numpy as np

from tools.tests.sim.cuda.inferred import typed


@typed
def float32_or_a_float_after_an_if(n, F):
    if n > 1:
        x = F[0]
    else:
        x = 0.0
    y = x


@typed
def float32_or_a_float_in_one_expression(n, F):
    x = F[0] if n > 1 else 0.0
    y = x


@typed
def float32_or_a_whole_number_after_an_if(n, F):
    if n > 1:
        x = F[0]
    else:
        x = 0
    y = x


@typed
def float32_or_a_whole_number_in_one_expression(n, F):
    x = F[0] if n > 1 else 0
    y = x


@typed
def float32_or_float32_after_an_if(n, F):
    if n > 1:
        x = F[0]
    else:
        x = np.float32(0)
    y = x


@typed
def float32_or_float32_in_one_expression(n, F):
    x = F[0] if n > 1 else np.float32(0)
    y = x


@typed
def int32_or_a_whole_number_after_an_if(n, I):
    if n > 1:
        x = I[0]
    else:
        x = 0
    y = x


@typed
def int32_or_a_whole_number_in_one_expression(n, I):
    x = I[0] if n > 1 else 0
    y = x


@typed
def int32_or_float32_after_an_if(n, I, F):
    if n > 1:
        x = I[0]
    else:
        x = F[0]
    y = x


@typed
def int32_or_float32_in_one_expression(n, I, F):
    x = I[0] if n > 1 else F[0]
    y = x


@typed
def int16_or_float32_after_an_if(n, S, F):
    if n > 1:
        x = S[0]
    else:
        x = F[0]
    y = x


@typed
def int16_or_float32_in_one_expression(n, S, F):
    x = S[0] if n > 1 else F[0]
    y = x


@typed
def uint8_or_int16_after_an_if(n, B, S):
    if n > 1:
        x = B[0]
    else:
        x = S[0]
    y = x


@typed
def uint8_or_int16_in_one_expression(n, B, S):
    x = B[0] if n > 1 else S[0]
    y = x


@typed
def uint32_or_int32_after_an_if(n, U, I):
    if n > 1:
        x = U[0]
    else:
        x = I[0]
    y = x


@typed
def uint32_or_int32_in_one_expression(n, U, I):
    x = U[0] if n > 1 else I[0]
    y = x


@typed
def uint64_or_float32_after_an_if(n, W, F):
    if n > 1:
        x = W[0]
    else:
        x = F[0]
    y = x


@typed
def uint64_or_float32_in_one_expression(n, W, F):
    x = W[0] if n > 1 else F[0]
    y = x


@typed
def a_truth_or_a_whole_number_after_an_if(n, F):
    if n > 1:
        x = F[0] > 0
    else:
        x = 1
    y = x


@typed
def a_truth_or_a_whole_number_in_one_expression(n, F):
    x = F[0] > 0 if n > 1 else 1
    y = x


@typed
def a_truth_or_a_float_after_an_if(n, F):
    if n > 1:
        x = F[0] > 0
    else:
        x = 1.5
    y = x


@typed
def a_truth_or_a_float_in_one_expression(n, F):
    x = F[0] > 0 if n > 1 else 1.5
    y = x


@typed
def float16_or_float32_after_an_if(n, H, F):
    if n > 1:
        x = H[0]
    else:
        x = F[0]
    y = x


@typed
def float16_or_float32_in_one_expression(n, H, F):
    x = H[0] if n > 1 else F[0]
    y = x


@typed
def float16_or_a_float_after_an_if(n, H):
    if n > 1:
        x = H[0]
    else:
        x = 0.5
    y = x


@typed
def float16_or_a_float_in_one_expression(n, H):
    x = H[0] if n > 1 else 0.5
    y = x


@typed
def complex64_or_float64_after_an_if(n, C, D):
    if n > 1:
        x = C[0]
    else:
        x = D[0]
    y = x


@typed
def complex64_or_float64_in_one_expression(n, C, D):
    x = C[0] if n > 1 else D[0]
    y = x
