"""A lesson."""

import functools

import numpy as np

BLOCK = 4
NAME = "friendly"
SHAPE = (2, 3)
_HIDDEN = 1
seen = []


class Cache:
    def __init__(self):
        self.kept = []


def add(a: np.ndarray, b: "np.ndarray", *, out=None) -> np.ndarray:
    """a + b."""
    if out is None:
        return a + b
    out[...] = a + b
    return out


def first_row(a):
    return a[0]


def either(a, b):
    return b


def parts(a, b):
    return a + 1, b[1:]


def zero(a):
    a[...] = 0


def beside(a):
    a.base.view(np.uint8)[0] = 7


def last_of(*arrays, **more):
    more["c"][0] = 1
    arrays[-1][0] = 1


def into(list_of_arrays):
    list_of_arrays[1][:] = 5


def nan_to_nan(a):
    a[np.isnan(a)] = np.nan


def echo(value):
    return value


def show(*words):
    print(*words)


def missing():
    raise NotImplementedError("week1/day1 task 1: missing")


def looks_up(table, key):
    return table[key]


def deep(n):
    return deep(n - 1) if n else 1 // 0


class OwnError(Exception):
    pass


def own():
    raise OwnError("mine")


def leave():
    raise SystemExit(3)


def new_cache():
    cache = Cache()
    seen.append(cache)
    return cache


def append(cache, value):
    cache.kept.append(value)
    return len(cache.kept)


def last_cache():
    return seen[-1]


def apply(function, *args):
    return function(*args)


def chosen():
    return add


def timed(clock, work):
    start = clock()
    work()
    return clock() - start


@functools.lru_cache
def cached(n):
    return n


def mode():
    import os

    return os.environ.get("TRITON_INTERPRET")


def modules(*names):
    import sys

    return [name in sys.modules for name in names]


def too_deep():
    value = []
    for _ in range(200):
        value = [value]
    return value


def count_calls(a):
    a[0] += 1


def total(a):
    return float(a.sum())
