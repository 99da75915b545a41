"""The stand-in for CuPy where there is no GPU: its names and its rules, with NumPy's arithmetic.

    import tools.sim.cupy as cp

An array of the device is no NumPy array, and becomes none unasked; what crosses between host and device, each launch
and each wait is on the record (tools.sim.recording). Names that CuPy has and the stand-in lacks say so; names that
CuPy lacks are missing here too. Floating-point results may differ from a GPU's in their last bits, random numbers do.

Rooms import from those on their left: device, arrays, dispatch, functions; kernels and raw stand on arrays. The files
beside them are CuPy's own modules (cuda, cupyx, fft, ...), `methods`, which completes the array, and `names`.
"""

import importlib
from typing import Any

from tools.sim.cupy import names as _names

__version__ = "14.2.0"  # whose rules these are
globals().update(_names.public)


def __getattr__(name: str) -> Any:
    if name in _names.MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _names.LATER:
        return getattr(importlib.import_module(f"{__name__}.{_names.LATER[name]}"), name)
    if name in _names.NOT_SIMULATED:
        raise NotImplementedError(
            f"cupy.{name} is not part of the simulated CuPy.\nUse another of CuPy's functions, or run this on a GPU."
        )
    raise AttributeError(f"module 'cupy' has no attribute {name!r}")
