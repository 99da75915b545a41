"""cupy.linalg: NumPy's functions as a library's work (cuSOLVER).

A singular matrix gives NaN, not an error: the host does not look.
"""

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.dispatch.calls import call
from tools.sim.cupy.dispatch.signatures import table
from tools.sim.cupy.functions import products

ANY = """
    norm(x, ord=None, axis=None, keepdims=False)
"""
MATRICES = """
    cholesky(a)
    cond(x, p=None)
    lstsq(a, b, rcond=None)
    matrix_power(M, n)
    matrix_rank(M, tol=None)
    pinv(a, rcond=1e-15)
    qr(a, mode='reduced')
    svd(a, full_matrices=True, compute_uv=True)
"""
SQUARE = """
    det(a)
    eigh(a, UPLO='L')
    eigvalsh(a, UPLO='L')
    inv(a)
    slogdet(a)
    solve(a, b)
"""


def _function(name: str, bind: Any, matrices: bool = True, square: bool = False) -> Any:
    function = getattr(np.linalg, name)

    def checked(*args: Any, **named: Any) -> Any:
        first, *_ = bind(*args, **named).values()
        if matrices:
            _check(first, square)
        return call(f"linalg.{name}", *args, function=lambda *plain: _solved(function, *plain, **named))

    return checked


def _check(a: Any, square: bool) -> None:
    if not isinstance(a, ndarray):
        raise LinAlgError("cupy.linalg only supports cupy.ndarray")
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if a.dtype == np.float16:
        raise TypeError("float16 is unsupported in linalg")


def _solved(function: Any, *args: Any, **named: Any) -> Any:
    try:
        return function(*args, **named)
    except LinAlgError as error:
        if "ingular" not in str(error):
            raise
        return np.full(np.shape(args[-1]), np.nan, np.result_type(*args, np.float32))


matmul = products.matmul
globals().update(
    {
        name: _function(name, bind, matrices=text is not ANY, square=text is SQUARE)
        for text in (ANY, MATRICES, SQUARE)
        for name, bind in table(text)
    }
)


def __getattr__(name: str) -> None:
    if name in ("cross", "eig", "eigvals", "matrix_transpose", "tensorinv", "tensorsolve"):
        raise NotImplementedError(f"cupy.linalg.{name} is not part of the simulated CuPy. Run this on a GPU.")
    raise AttributeError(f"module 'cupy.linalg' has no attribute {name!r}")
