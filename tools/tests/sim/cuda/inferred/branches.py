"""Variables after branches."""

import numpy as np

from tools.tests.sim.cuda.inferred import typed

YES, NO, SIZE = True, False, 4


@typed
def one_branch(n, F):
    x = 0
    if n > 1:
        x = F[0]
    y = x


@typed
def whole_numbers_without_a_common_type(n, W):
    if n > 1:
        x = W[0]
    else:
        x = 1
    y = x


@typed
def four_branches(n, B, S, F):
    if n > 3:
        x = B[0]
    elif n > 2:
        x = S[0]
    elif n > 1:
        x = F[0]
    else:
        x = True
    y = x


@typed
def the_else_sees_what_was_before(n, I, F):
    x = I[0]
    if n > 2:
        x = F[0]
        y = x
    else:
        z = x
    v = x


@typed
def assigned_again_and_again(n, I):
    x = I[0]
    y = x
    x = 2.5
    z = x
    x = n > 1
    v = x


@typed
def a_way_that_returns(n, I):
    x = I[0]
    if n > 3:
        x = 2.5
        return
    y = x


@typed
def a_parameter(n, i):
    if n > 1:
        i = n
    y = i
    for k in range(n):
        n = n * 0.5
    z = n


@typed
def conditional_expressions(n, F):
    x = F[0] if n > 1 else n
    y = 1 if n else True
    z = F[0] if n > 2 else (1 if n > 1 else 2.5)


@typed
def and_and_or_as_values(n, F, I):
    x = n and F[0]
    y = n > 2 and n < 5
    z = I[0] or n
    v = F[0] or I[0] or n


@typed
def and_and_or_as_conditions(n, F):
    x = 0
    if n > 1 and F[0] > 2 or n < -4:
        x = F[0]
    y = x
    z = 0
    if not (n and F[1]):
        z = F[1]
    v = z


@typed
def tuples(n, I, S):
    x = (I[0], 1)
    if n > 2:
        x = (2.5, S[1])
    a, b = x
    y = x[0]


@typed
def arrays(n, F, F2):
    x = F
    if n > 1:
        x = F2
    y = x[0]


@typed
def what_nobody_reads_need_not_agree(n, F):
    if n > 1:
        x = 1
    else:
        x = F
    x = 2
    for k in range(n):
        y = 1
        z = y
        y = F
        z = y[0]


@typed
def branches_that_are_pruned(n, F):
    x = 2.5
    if YES:
        x = n
    y = 0
    if NO:
        y = 2.5
    if SIZE > 3:
        z = n
    else:
        z = 1.5
    v = n if SIZE == 4 else 2.5
    w = 0
    if not YES:
        w = 1.5
    a = 0
    if NO and n > 2:
        a = 1.5
    b = 0
    if YES or n > 2:
        b = np.float32(1.5)
    y = y
    w = w
    a = a


@typed
def branches_that_look_as_if_they_were_pruned(n, F):
    x = 0
    if SIZE * 2 < 3:
        x = F[0]
    y = x
    z = 0
    if np.pi < 3:
        z = F[0]
    v = z


@typed
def constants_of_the_function(n, F):
    M = 4
    if M > 3:
        x = F[0]
    else:
        x = 2.5
    y = x
    if F.ndim == 1:
        z = n
    else:
        z = 2.5
    v = z
