"""Functions, and the names that they are known by."""

import cmath
import itertools
import math
import operator
import random
from functools import partial

import numpy as np

from tools.tests.sim.cuda.language.verdicts import cuda, refused, runs, unknown

DICT = {"x": 1}


class Settings:
    SIZE = 4


def twice(x):
    return 2 * x


@cuda.jit(device=True)
def half(x, divisor=2):
    return x / divisor


@cuda.jit(device=True)
def first_of(*xs):
    return xs[0]


@cuda.jit(device=True)
def named(x, *, y):
    return x + y


@cuda.jit(device=True)
def options(x, **others):
    return x


@cuda.jit(device=True)
def factorial(n):
    if n < 2:
        return 1
    return n * factorial(n - 1)


@cuda.jit(device=True)
def even(n):
    if n == 0:
        return 1
    return odd(n - 1)


@cuda.jit(device=True)
def odd(n):
    if n == 0:
        return 0
    return even(n - 1)


@runs
def built_in_functions(a):
    q, r = divmod(7, 2)
    a[0] = min(1, 2.5) + max(1, 2, 3) + abs(-1) + round(a[1]) + pow(2, 3) + int(2.5) + float(3) + bool(a[1]) + q + r


@runs
def infinity_by_name(a):
    a[0] = float("inf") + math.inf + np.inf


@runs
def types_as_functions(a):
    a[0] = cuda.float32(1) + np.int32(2.5) + np.float64(3)


@runs
def functions_of_math(a):
    a[0] = math.sqrt(a[1]) + math.floor(2.5) + math.erf(a[2]) + math.pi


@runs
def functions_of_numpy(a):
    a[0] = np.sin(a[1]) + np.log(a[2]) + np.pi


@runs
def device_function(a):
    a[0] = half(a[1]) + half(a[2], 4) + half(a[3], divisor=8)


@runs
def alias_of_a_function(a):
    root = math.sqrt
    a[0] = root(a[1])


@refused
def python_function(a):
    a[0] = twice(a[1])


@refused
def partial_function(a):
    a[0] = partial(max, 1)(a[1])


@refused
def class_as_namespace(a):
    a[0] = Settings.SIZE


@refused
def instance_of_a_class(a):
    settings = Settings()
    a[0] = settings.SIZE


@refused
def keywords_for_max(a):
    a[0] = max(1, 2, key=None)


@refused
def keywords_for_sqrt(a):
    a[0] = math.sqrt(x=2)


@refused
def keywords_for_a_type(a):
    a[0] = np.float32(x=3)


@refused
def keywords_from_a_dict(a):
    a[0] = half(**DICT)


@refused
def undefined_name(a):
    a[0] = nowhere(3)  # noqa: F821


@refused
def misspelt_attribute_of_cuda(a):
    a[0] = cuda.threadidx.x


@refused
def misspelt_function_of_cuda(a):
    cuda.sync_threads()


@refused
def misspelt_axis(a):
    a[0] = cuda.threadIdx.w


@refused
def misspelt_function_of_math(a):
    a[0] = math.squareroot(2)


@refused
def recursion(a):
    a[0] = factorial(3)


@refused
def recursion_by_way_of_another(a):
    a[0] = even(3)


@refused
def call_of_keyword_only(a):
    a[0] = named(a[0], y=1)


@refused
def call_of_many_keywords(a):
    a[0] = options(a[0])


@unknown
def starred_arguments(a):
    pair = (1, 2)
    a[0] = max(*pair)


@unknown
def call_of_many_arguments(a):
    a[0] = first_of(1, 2)


@unknown
def vector_of_four(a):
    v = cuda.float32x4(1, 2, 3, 4)
    a[0] = v.x


@runs
def enumerate_function(a):
    for i, x in enumerate((1.0, 2.0)):
        a[i] = x


@runs
def zip_function(a):
    for x, y in zip((1.0, 2.0), (3.0, 4.0)):
        a[0] += x * y


@unknown
def sum_function(a):
    a[0] = sum((1, 2))


@unknown
def isinstance_function(a):
    if isinstance(a[0], float):
        a[0] = 1


@unknown
def operator_module(a):
    a[0] = operator.add(a[0], a[1])


@unknown
def cmath_module(a):
    a[0] = cmath.exp(1j).real


@unknown
def numpy_function_of_arrays(a):
    a[0] = np.sum(a)


@refused
def factorial_of_math(a):
    a[0] = math.factorial(3)


@refused
def random_module(a):
    a[0] = random.random()


@refused
def random_integer(a):
    a[0] = random.randint(1, 2)


@refused
def random_of_numpy(a):
    a[0] = np.random.random()


@refused
def itertools_module(a):
    for x in itertools.product((1, 2), (3, 4)):
        a[0] += 1
