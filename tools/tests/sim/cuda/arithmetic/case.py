"""How a kernel says what it is launched with."""

import numpy as np

from tools.gpu import cuda

THREADS = 32
FLOAT32, FLOAT64, FLOAT16, INT32, UINT64 = map(np.dtype, ("float32", "float64", "float16", "int32", "uint64"))

KERNELS: dict[str, tuple] = {}  # name -> kernel, arguments


def given(*arguments):
    """Decorator: a kernel, and types of its arguments; other things are arguments themselves."""

    def keep(function):
        made = [
            np.linspace(0.5, 2, 2 * THREADS).astype(each) if isinstance(each, np.dtype) else each for each in arguments
        ]
        KERNELS[function.__name__] = cuda.jit(function), made
        return function

    return keep
