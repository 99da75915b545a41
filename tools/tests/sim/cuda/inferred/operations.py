"""Variables that hold results of calls."""

import math

import numpy as np

from tools.tests.sim.cuda import inferred
from tools.tests.sim.cuda.inferred import typed

cuda = inferred.cuda


@typed
def atomics(n, I, U, F):
    x = cuda.atomic.add(I, 0, 1)
    if n > 2:
        x = cuda.atomic.max(F, 0, 2.0)
    y = x
    z = cuda.atomic.cas(U, 0, 1, 2)


@typed
def warps(n, F):
    x = cuda.ballot_sync(0xFFFFFFFF, n > 2)
    if n > 2:
        x = cuda.shfl_down_sync(0xFFFFFFFF, F[0], 1)
    y = x
    a, b = cuda.match_all_sync(0xFFFFFFFF, n)
    z = cuda.syncthreads_count(n)
    v = cuda.activemask()


@typed
def bits(n, I):
    a = cuda.popc(n)
    b = cuda.clz(I[0])
    c = cuda.ffs(n)
    d = cuda.brev(n)
    x = I[0]
    if n > 2:
        x = n
    y = cuda.clz(x)
    z = cuda.clz(I[0] if n > 2 else n)


@typed
def places(n):
    a = cuda.grid(1)
    b, c = cuda.grid(2)
    d = cuda.threadIdx.x
    e = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    f = cuda.gridsize(1)
    x = 1
    if cuda.threadIdx.x == 0:
        x = cuda.laneid
    y = x
    z = 1
    if cuda.blockDim.x == 32:
        z = 2.5
    v = z


@typed
def shared_and_local_arrays(n, F):
    s = cuda.shared.array(8, np.int16)
    m = cuda.local.array((2, 2), np.float64)
    x = s[0]
    if n > 2:
        x = m[0, 1]
    y = x
    for k in range(n):
        row = m[k]
        z = row[0]


@typed
def numbers(n, F):
    a = min(n, F[0])
    b = max(n, 2)
    c = abs(F[0])
    d = int(F[0])
    e = round(F[0])
    f = math.sqrt(n)
    g = math.sqrt(F[0])
    h = divmod(n, 3)
    i = F[0] ** 2
    j = np.float32(3) * n
    k = n / 2
    m = n // 2
    p = F.shape
    q = F.size


@typed
def half_and_complex_numbers(n, H, C):
    x = H[0]
    y = x * 2
    z = x + H[1]
    if n > 1:
        x = n
    y = x
    v = C[0]
    if n > 2:
        v = 2.5
    w = v.real
    a = abs(v)


@typed
def several_values(n, F):
    a, (b, c) = n, (F[0], True)
    (d, e), f = (1, 2.5), n
    a = b = n * 2.0


@cuda.jit(device=True)
def one_of(a, b):
    if a > 2:
        return a
    if a > 1:
        return b
    return 1


@cuda.jit(device=True)
def in_either_order(a, b):
    if a > 2:
        return a, b
    return b, a


@cuda.jit(device=True)
def perhaps(a):
    if a > 2:
        return a


@cuda.jit(device=True)
def out_of_a_loop(a):
    while True:
        a = a + 1
        if a > 5:
            return np.float32(a)
        if a < -3:
            return a


@cuda.jit(device=True)
def one_of_two_arrays(a, x, y):
    if a > 2:
        return x
    return y


@typed
def device_functions(n, I, F, F2):
    a = one_of(n, F[0])
    b = one_of(I[0], I[1])
    c = one_of(np.uint8(1), np.uint64(2))
    d, e = in_either_order(n, F[0])
    x = in_either_order(I[0], n)
    f = perhaps(n)
    g = perhaps(F[0]) + 1
    h = out_of_a_loop(n)
    y = one_of_two_arrays(n, F, F2)
    z = y[0]


@cuda.jit(device=True)
def plus_if_there(a, x):
    y = a
    if x is not None:
        y = y + x[0]
    return y


@typed
def nothing_as_an_argument(n, F):
    a = plus_if_there(n, None)
    b = plus_if_there(n, F)
