"""Variables in loops."""

import numpy as np

from tools.tests.sim.cuda.inferred import typed


@typed
def carried_from_turn_to_turn(n, F):
    x = 0
    for k in range(n):
        y = x
        x = x + F[k]
    z = x


@typed
def carried_by_while(n, I):
    x = I[0]
    while x < n:
        x += 1
    y = x


@typed
def a_float_where_it_breaks(n, I):
    x = 0
    for k in range(n):
        if I[k] > 2:
            x = 2.5
            break
        y = x
        x = x + 1
    z = x


@typed
def a_float_where_it_continues(n, I):
    x = I[0]
    for k in range(n):
        y = x
        if I[k] > 2:
            x = 2.5
            continue
        z = x
    v = x


@typed
def a_loop_that_only_a_break_ends(n, W):
    x = 0
    while True:
        x = W[0]
        if n > 2:
            break
        n -= 1
    y = x


@typed
def an_else(n, I):
    x = I[0]
    for k in range(n):
        if I[k] > 2:
            x = I[k] + 1
            break
    else:
        x = 1.5
    y = x


@typed
def a_value_of_the_break_or_of_the_else(n, I, F):
    x = I[0]
    while x < 4:
        x = x + 1
        if x == 3:
            y = F[0]
            break
    else:
        y = x
    z = y


@typed
def loops_in_loops(n, I):
    x = I[0]
    for i in range(n):
        y = x
        for j in range(i):
            y = y + 1
            if y > 4:
                break
        x = y * np.float32(2)
    z = x


@typed
def a_break_out_of_two_loops(n, I, F):
    x = I[0]
    for i in range(n):
        for j in range(n):
            if F[j] > 2:
                x = F[j]
                break
            y = x
        else:
            continue
        break
    z = x


@typed
def a_swap(n, I, F):
    a = I[0]
    b = F[0]
    for k in range(n):
        a, b = b, a
    x = a


@typed
def ranges(n, I):
    for a in range(np.int32(4)):
        pass
    for b in range(I[0], 5):
        pass
    for c in range(I[0], I[1]):
        pass
    for d in range(np.uint64(4)):
        pass
    for e in range(np.uint8(2), np.uint16(5)):
        pass


@typed
def the_loop_variable(n, I):
    k = I[0]
    for k in range(n):
        x = k
    y = k
    k = 2.5
    for k in range(I[1]):
        pass
    z = k


@typed
def loops_over_arrays_and_tuples(n, I, D):
    x = I[0]
    for v in D:
        x = v
    for v in I:
        y = v
    for z in (1, 2, 3):
        x += z
    for a, b in ((1, 2.5), (3, 4.5)):
        x = a


@typed
def nothing_at_first(n, F):
    for k in range(n):
        x = F[k]
        if k > 2:
            y = x
    if n > 100:
        z = y


@typed
def a_difference_of_types_that_have_grown(n, B):
    x = B[0]
    for k in range(n):
        y = x + B[k]
        x = np.int16(k)
    z = x


@typed
def a_shift_of_a_type_that_has_grown(n, U):
    x = U[0]
    for k in range(n):
        y = x >> 1
        if k > 2:
            x = n
    z = y


@typed
def a_sign_of_a_type_that_has_grown(n, U):
    x = U[0]
    for k in range(n):
        y = -x
        x = np.int8(k)
