"""Operators, and what is put together of values: tuples, lists, texts."""

import numpy as np

from tools.tests.sim.cuda.language.verdicts import cuda, refused, runs, unknown

WEIGHTS = (0.25, 0.5, 0.25)
LIST = [1.0, 2.0]
DICT = {"a": 1}
CONSTANTS = np.arange(4, dtype=np.float32)


@runs
def arithmetic(a, n):
    a[0] = (n + 1) * 2 - n // 3 % 4 / 5**2 + (n << 1 | n >> 1 & 3 ^ n) + -n + ~n


@runs
def chained_comparison(a):
    i = cuda.threadIdx.x
    if 0 <= i < 3 and not i == 2:
        a[i] = 1


@runs
def conditional_expression(a):
    a[0] = 1 if a[1] > 0 else 2.5


@runs
def and_of_numbers(a):
    a[0] = a[1] and a[2] or 3


@runs
def is_none(a):
    if a is None:
        return
    a[0] = 1


@runs
def largest_integers(a):
    a[0] = 18446744073709551615 - 9223372036854775807


@runs
def complex_numbers(a):
    z = 1 + 2j
    a[0] = abs(z * z)


@refused
def integer_of_65_bits(a):
    a[0] = 18446744073709551616


@refused
def matrix_product(m):
    m[0, 0] = (m @ m)[0, 0]


@unknown
def lambda_expression(a):
    increment = lambda x: x + 1  # noqa: E731
    a[0] = increment(a[1])


@unknown
def assignment_expression(a):
    i = (j := cuda.grid(1))
    a[i] = j


@unknown
def search_in_a_tuple(a):
    if cuda.threadIdx.x in (1, 2, 3):
        a[0] = 1


@unknown
def search_in_vain(a):
    if cuda.threadIdx.x not in (1, 2, 3):
        a[0] = 1


@runs
def tuples(a):
    pair = 1.0, 2.0
    x, y = pair
    (x, y), z = (y, x), 3
    [u, v] = pair + (z,) == (1.0, 2.0, 3), 1
    a[0], a[1] = a[1], a[0]
    a[2] = pair[1] + pair[-1] + len(pair) + x + y + u + v


@runs
def global_tuple(a):
    a[0] = WEIGHTS[1]


@runs
def global_array(a):
    a[0] = CONSTANTS[1]


@runs
def attributes_of_arrays(a):
    a[0] = a.shape[0] + a.size + a.ndim + len(a)


@refused
def list_display(a):
    values = [1.0, 2.0]
    a[0] = values[0]


@refused
def list_that_grows(a):
    values = []
    values.append(a[0])
    a[0] = values[0]


@refused
def list_comprehension(a):
    values = [i for i in range(3)]
    a[0] = values[0]


@refused
def set_display(a):
    values = {1, 2}
    a[0] = len(values)


@refused
def set_comprehension(a):
    values = {i for i in range(3)}
    a[0] = len(values)


@refused
def dict_display(a):
    values = {1: 2}
    a[0] = values[1]


@refused
def dict_comprehension(a):
    values = {i: i for i in range(3)}
    a[0] = values[0]


@refused
def generator_expression(a):
    a[0] = sum(i for i in range(3))


@refused
def starred_assignment(a):
    x, *others = 1, 2, 3
    a[0] = x


@refused
def global_list(a):
    a[0] = LIST[0]


@refused
def global_dict(a):
    a[0] = DICT["a"]


@refused
def global_array_that_is_stored_to(a):
    CONSTANTS[1] = a[0]


@refused
def dimension_that_is_set(a):
    cuda.blockDim.x = 3


@runs
def print_numbers(a):
    print("thread", cuda.threadIdx.x, a[0])


@refused
def print_with_a_separator(a):
    print(a[0], sep=",")


@refused
def print_of_an_f_string(a):
    print(f"x is {a[0]}")


@refused
def percent_format(a):
    print("x is %f" % a[0])


@refused
def format_method(a):
    print("x is {}".format(a[0]))


@refused
def text_of_a_number(a):
    print(str(a[0]), repr(a[0]))
