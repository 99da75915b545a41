"""Shared and local arrays, and their shapes."""

import numpy as np

from tools.tests.sim.cuda.language.verdicts import cuda, refused, runs

SIZE = 4
SHAPE = (4, 8)


@runs
def shared_array(a):
    tile = cuda.shared.array(32, cuda.float32)
    tile[0] = 1
    a[0] = tile[0]


@runs
def shared_array_by_keywords(a):
    tile = cuda.shared.array(shape=(SIZE, 33), dtype=np.float32)
    tile[0, 0] = 1
    a[0] = tile[0, 0]


@runs
def shared_array_of_a_global_shape(a):
    tile = cuda.shared.array(SHAPE, "float32")
    tile[0, 0] = 1
    a[0] = tile[0, 0]


@runs
def local_array_of_a_local_size(a):
    size = SIZE
    shape = (size, 2 * 4 + 1)
    values = cuda.local.array(shape, cuda.float32)
    values[0, 0] = 1
    a[0] = values[0, 0]


@runs
def shared_array_of_one_length_of_a_shape(a):
    tile = cuda.shared.array(SHAPE[1], cuda.float32)
    tile[0] = 1
    a[0] = tile[0]


@refused
def shared_array_of_a_computed_size(a):
    tile = cuda.shared.array(SIZE * 2, cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_a_computed_shape(a):
    tile = cuda.shared.array((SIZE, SIZE + 1), cuda.float32)
    a[0] = tile[0, 0]


@refused
def local_array_of_a_computed_local_size(a):
    size = SIZE * 2
    values = cuda.local.array(size, cuda.float32)
    a[0] = values[0]


@refused
def shared_array_of_a_parameter(a, n):
    tile = cuda.shared.array(n, cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_a_loop_variable(a):
    for i in range(1, 3):
        tile = cuda.shared.array(i, cuda.float32)
        a[0] = tile[0]


@refused
def shared_array_of_the_length_of_another(a):
    tile = cuda.shared.array(a.shape[0], cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_the_block(a):
    tile = cuda.shared.array(cuda.blockDim.x, cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_a_float(a):
    tile = cuda.shared.array(4.0, cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_a_length_that_a_tuple_brings(m):
    n, k = m.shape
    tile = cuda.shared.array((SIZE, k), cuda.float32)
    m[0, 0] = tile[0, 0]


@refused
def local_array_of_the_length_of_another(a):
    (length,) = a.shape
    values = cuda.local.array(length, cuda.float32)
    a[0] = values[0]


@refused
def shared_array_of_the_second_of_two(a):
    size, length = SIZE, a.shape[0]
    tile = cuda.shared.array((size, length), cuda.float32)
    a[0] = tile[0, 0]


@runs
def shared_array_of_the_first_of_two(a):
    size, length = SIZE, a.shape[0]
    tile = cuda.shared.array(size, cuda.float32)
    tile[0] = length
    a[0] = tile[0]


@refused
def shared_array_of_one_size_or_another(a):
    size = 4
    if a[0] > 0:
        size = 8
    tile = cuda.shared.array(size, cuda.float32)
    a[0] = tile[0]


@refused
def shared_array_of_a_size_that_a_loop_changes(a):
    size = 4
    for _ in range(2):
        size = 8
    tile = cuda.shared.array(size, cuda.float32)
    a[0] = tile[0]


@runs
def shared_array_of_a_size_that_numba_decides(a):
    if SIZE == 4:
        size = 8
    else:
        size = 16
    tile = cuda.shared.array(size, cuda.float32)
    tile[0] = 1
    a[0] = tile[0]


@runs
def shared_array_of_a_chained_assignment(a):
    size = rows = 4
    tile = cuda.shared.array((rows, size), cuda.float32)
    tile[0, 0] = 1
    a[0] = tile[0, 0]


@runs
def shared_array_of_tuples_put_together(a):
    tile = cuda.shared.array((4,) + (8,), cuda.float32)
    tile[0, 0] = 1
    a[0] = tile[0, 0]


@refused
def shared_array_of_a_tuple_and_a_name(a):
    tile = cuda.shared.array((SIZE,) + (8,), cuda.float32)
    a[0] = tile[0, 0]


@runs
def shared_array_of_a_type_with_a_local_name(a):
    kind = np.float32
    tile = cuda.shared.array(4, kind)
    tile[0] = 1
    a[0] = tile[0]


@runs
def shared_array_of_the_type_of_another(a):
    tile = cuda.shared.array(4, a.dtype)
    tile[0] = 1
    a[0] = tile[0]
