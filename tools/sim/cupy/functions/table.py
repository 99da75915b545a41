"""The functions that are NumPy's with CuPy's manners: a table of signatures, and what happens to host arrays.

A result that is a view costs nothing; one with memory of its own is on the record as a library operation: how many
kernels CuPy launches for it is not modelled.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim.cupy.arrays.arguments import require
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.dispatch.calls import call, numpy_function
from tools.sim.cupy.dispatch.signatures import table
from tools.sim.cupy.functions.conversion import array

# CuPy leaves these to the method of their first argument, wherever that lies.
FORWARDED = """
    argpartition(a, kth, axis=-1)
    choose(a, choices, out=None, mode='raise')
    trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)
"""
# These give a host array back where they are given one.
ANYWHERE = """
    array_equiv(a1, a2)
    flip(a, axis=None)
    fliplr(a)
    flipud(a)
    matrix_transpose(x, /)
    msort(a)
    partition(a, kth, axis=-1)
    real_if_close(a, tol=100)
    rot90(a, k=1, axes=(0, 1))
    sort_complex(a)
    take_along_axis(a, indices, axis)
    fill_diagonal(a, val, wrap=False)
"""
# The first argument of these must lie on the device.
COMPILED = """
    array_split(ary, indices_or_sections, axis=0)
    dsplit(ary, indices_or_sections)
    expand_dims(a, axis)
    hsplit(ary, indices_or_sections)
    median(a, axis=None, out=None, overwrite_input=False, keepdims=False)
    nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False)
    vsplit(ary, indices_or_sections)
"""
# These upload host arrays and lists by themselves.
UPLOADING = """
    allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)
    append(arr, values, axis=None)
    array_equal(a1, a2, equal_nan=False)
    atleast_1d(*arys)
    atleast_2d(*arys)
    atleast_3d(*arys)
    cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)
    diagflat(v, k=0)
    imag(val)
    in1d(ar1, ar2, assume_unique=False, invert=False)
    isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)
    iscomplex(x)
    isin(element, test_elements, assume_unique=False, invert=False)
    isreal(x)
    ix_(*args)
    pad(array, pad_width, mode='constant', **kwargs)
    real(val)
    tile(A, reps)
    tril(m, k=0)
    triu(m, k=0)
    vander(x, N=None, increasing=False)
"""
# The rest take arrays of the device and numbers.
DEVICE_ONLY = """
    angle(z, deg=False)
    average(a, axis=None, weights=None, returned=False, *, keepdims=False)
    bartlett(M)
    blackman(M)
    broadcast_arrays(*args)
    convolve(a, v, mode='full')
    corrcoef(a, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None)
    correlate(a, v, mode='valid')
    cov(a, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None)
    cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False)
    cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False)
    delete(arr, indices, axis=None)
    diag_indices(n, ndim=2)
    diag_indices_from(arr)
    diff(a, n=1, axis=-1, prepend=None, append=None)
    digitize(x, bins, right=False)
    ediff1d(arr, to_end=None, to_begin=None)
    gradient(f, *varargs, axis=None, edge_order=1)
    hamming(M)
    hanning(M)
    histogram(x, bins=10, range=None, density=False, weights=None)
    histogram2d(x, y, bins=10, range=None, weights=None, density=None)
    histogramdd(sample, bins=10, range=None, weights=None, density=False)
    indices(dimensions, dtype=int)
    interp(x, xp, fp, left=None, right=None, period=None)
    intersect1d(arr1, arr2, assume_unique=False, return_indices=False)
    isneginf(x, out=None)
    isposinf(x, out=None)
    kaiser(M, beta)
    lexsort(keys)
    logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0)
    meshgrid(*xi, **kwargs)
    nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)
    nancumprod(a, axis=None, dtype=None, out=None)
    nancumsum(a, axis=None, dtype=None, out=None)
    packbits(a, axis=None, bitorder='big')
    percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, interpolation=None)
    place(arr, mask, vals)
    polyval(p, x)
    put_along_axis(arr, indices, values, axis)
    putmask(a, mask, values)
    quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False, *, interpolation=None)
    resize(a, new_shape)
    roll(a, shift, axis=None)
    select(condlist, choicelist, default=0)
    setdiff1d(ar1, ar2, assume_unique=False)
    setxor1d(ar1, ar2, assume_unique=False)
    trapezoid(y, x=None, dx=1.0, axis=-1)
    tril_indices(n, k=0, m=None)
    tril_indices_from(arr, k=0)
    trim_zeros(filt, trim='fb')
    triu_indices(n, k=0, m=None)
    triu_indices_from(arr, k=0)
    union1d(arr1, arr2)
    unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True)
    unique_all(x)
    unique_counts(x)
    unique_inverse(x)
    unique_values(x)
    unpackbits(a, axis=None, bitorder='big')
    unravel_index(indices, dims, order='C')
    unwrap(p, discont=None, axis=-1, *, period=6.283185307179586)
"""
# What becomes of a call. parameter, first: name and value of the first argument -------------------


def _forwarded(name: str, parameter: str, first: Any, args: tuple, named: dict) -> Any:
    return getattr(first, name)(*args[1:], **named)


def _anywhere(name: str, parameter: str, first: Any, args: tuple, named: dict) -> Any:
    return call(name, *args, **named) if isinstance(first, ndarray) else numpy_function(name)(*args, **named)


def _compiled(name: str, parameter: str, first: Any, args: tuple, named: dict) -> Any:
    require(parameter, first)
    return call(name, *args, **named)


def _uploading(name: str, parameter: str, first: Any, args: tuple, named: dict) -> Any:
    arrays = 1 if name in ("pad", "tile") else len(args)  # their second argument is about shapes
    uploaded = (array(each) if isinstance(each, (np.ndarray, list)) else each for each in args[:arrays])
    return call(name, *uploaded, *args[arrays:], **named)


def _device_only(name: str, parameter: str, first: Any, args: tuple, named: dict) -> Any:
    return call(name, *args, **named)


def _function(name: str, bind: Callable, answer: Callable) -> Callable:
    def function(*args: Any, **named: Any) -> Any:
        parameter, first = next(iter(bind(*args, **named).items()))
        return answer(name, parameter, first, args, named)

    function.__name__ = function.__qualname__ = name
    return function


functions = {
    name: _function(name, bind, answer)
    for answer, text in (
        (_forwarded, FORWARDED),
        (_anywhere, ANYWHERE),
        (_compiled, COMPILED),
        (_uploading, UPLOADING),
        (_device_only, DEVICE_ONLY),
    )
    for name, bind in table(text)
}
