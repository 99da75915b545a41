"""Kernels and small helpers for the snippets; `cuda` is put in by whoever runs them."""

import collections
import enum
import warnings

import numpy as np

cuda = None
Colour = enum.IntEnum("Colour", "RED GREEN")
Pair = collections.namedtuple("Pair", "first second")


def fill(out, value):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = value


def number(out):
    i = cuda.grid(1)
    if i < out.size:
        row = i // out.shape[1]
        column = i % out.shape[1]
        out[row, column] = i


def count_up(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


def copies(out, x):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


def copies_pair(out, pair):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pair[0][i] + pair[1][i]


def adds_pair(out, pair):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pair[0] + pair[1]


def halves(out, value):
    out[0] = value // 2


def squares(out, value):
    out[0] = value * value


def ignores(out, value):
    out[0] = 1


def returns(out):
    out[0] = 1
    return 5


def has_default(out, value=4.0):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


def has_several(*arrays):
    arrays[0][0] = 1
    arrays[1][1] = 2


def meets(out):
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = 1
    cuda.cg.this_grid().sync()


def block_size(out):
    if cuda.grid(1) == 0:
        out[0] = cuda.blockDim.x


def some_shared(out):
    tile = cuda.shared.array(20000, np.int8)
    tile[cuda.threadIdx.x] = 1
    if cuda.threadIdx.x == 0:
        out[0] = tile[0]


def twice(x):
    return 2 * x


def calls(kernel):
    def calling(out):
        kernel(out, 2.0)

    return calling


def applies(function):
    def applying(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = function(out[i])

    return applying


def launches(kernel):
    def launching(out):
        kernel[1, 1](out, 2.0)

    return launching


def read_only():
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


class Foreign:
    """An array of another library: known by its interface alone."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def warned(call):
    """Categories of the warnings that a call gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(each.category.__name__, str(each.message)) for each in caught]
