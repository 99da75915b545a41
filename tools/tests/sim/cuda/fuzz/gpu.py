"""Real numba.cuda, so set up that its floats are those of the oracle.

A GPU's compiler makes one rounding of a * b + c where it may. It may not here: NVVM is told so, and puts it into the
PTX; so no kernel is compiled at link time, where another compiler would not know.
"""

import numpy as np


def mend_numpy() -> None:
    """numba-cuda 0.30 still asks NumPy for what 2.5 has no more."""
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack


def prepare() -> None:
    """To be called before kernels are defined. Silences the warnings about small grids and copies as well."""
    mend_numpy()
    from numba import config
    from numba.cuda import decorators
    from numba.cuda.cudadrv import nvvm

    config.CUDA_LOW_OCCUPANCY_WARNINGS = config.CUDA_WARN_ON_IMPLICIT_COPY = 0
    compile_ir = nvvm.compile_ir

    def compile_without_fma(ir, **options):
        return compile_ir(ir, **options, fma=False)

    nvvm.compile_ir = compile_without_fma
    decorators._have_nvjitlink = lambda: False  # which is what decides about link time, unless a kernel says more
