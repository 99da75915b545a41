"""cuda.libdevice: NVIDIA's mathematics by its own names, sinf for float32 and sin for float64.

Arguments become that type first, as in numba-cuda 0.30. Results are rounded once from float64; a GPU's may be some
units in the last place off, those of the fast_ functions more (CUDA C++ Programming Guide, Mathematical Functions).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.conversion import cast
from tools.sim.cuda.numbers.fused import multiply_add
from tools.sim.cuda.numbers.mathematics import ONE_BY_ONE
from tools.sim.cuda.numbers.promotion import FLOAT32, FLOAT64, Value
from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic

UNARY: dict[str, Callable] = {
    **{name: getattr(np, name) for name in "cbrt ceil cos cosh exp exp2 expm1 fabs floor log log10 log1p log2".split()},
    **{name: getattr(np, name) for name in "rint sin sinh sqrt tan tanh trunc".split()},
    **{f"a{name}": getattr(np, f"arc{name}") for name in "cos cosh sin sinh tan tanh".split()},
    **{name: ONE_BY_ONE[name] for name in ("erf", "erfc", "lgamma")},
    "tgamma": ONE_BY_ONE["gamma"],
    "exp10": lambda x: 10.0**x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "sinpi": lambda x: np.sin(np.pi * (x % 2)),
    "cospi": lambda x: np.cos(np.pi * (x % 2)),
    "nearbyint": np.rint,
    "round": lambda x: np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.sign(x), 0.0),
}
BINARY: dict[str, Callable] = {
    "atan2": np.arctan2,
    "copysign": np.copysign,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), np.nan, 0.0)),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "pow": np.power,
    "remainder": ONE_BY_ONE["remainder"],
}
FAST = {f"fast_{name}f": UNARY[name] for name in "cos exp exp10 log log10 log2 sin tan".split()}
FAST2 = {"fast_powf": np.power, "fast_fdividef": np.divide}
INT32 = np.dtype(np.int32)
ROUNDED = {"add": np.add, "div": np.divide, "mul": np.multiply, "sub": np.subtract}  # fadd_rn, dadd_rn


def _function(name: str, compute: Callable, count: int, dtype: np.dtype) -> Intrinsic:
    """cuda.libdevice.name: `compute` on so many numbers in float64, rounded to the type."""

    def function(*values: Value) -> Any:
        if len(values) != count:
            raise Refused(f"cuda.libdevice.{name} takes {count} argument{'s' * (count > 1)}, not {len(values)}.")
        given = [cast(each, dtype) for each in values]
        inside = given if compute is multiply_add else [each.astype(FLOAT64) for each in given]
        return floats.called(np.asarray(compute(*inside)).astype(dtype)[()], given, name.startswith("fabs"))

    return intrinsic(function, name=f"cuda.libdevice.{name}")


def _same_bits(name: str, given: np.dtype, wanted: np.dtype) -> Intrinsic:
    """cuda.libdevice.name: the bits of one number, read as a number of another type; no conversion."""

    def function(value: Value) -> Any:
        return cast(value, given).view(wanted)

    return intrinsic(function, name=f"cuda.libdevice.{name}")


_names: dict[str, Intrinsic] = {
    **{f"{name}f": _function(f"{name}f", each, 1, FLOAT32) for name, each in UNARY.items()},
    **{name: _function(name, each, 1, FLOAT64) for name, each in UNARY.items()},
    **{f"{name}f": _function(f"{name}f", each, 2, FLOAT32) for name, each in BINARY.items()},
    **{name: _function(name, each, 2, FLOAT64) for name, each in BINARY.items()},
    **{name: _function(name, each, 1, FLOAT32) for name, each in FAST.items()},
    **{name: _function(name, each, 2, FLOAT32) for name, each in FAST2.items()},
    **{f"f{name}_rn": _function(f"f{name}_rn", each, 2, FLOAT32) for name, each in ROUNDED.items()},
    **{f"d{name}_rn": _function(f"d{name}_rn", each, 2, FLOAT64) for name, each in ROUNDED.items() if name != "sub"},
    **{name: _function(name, multiply_add, 3, FLOAT32) for name in ("fmaf", "fmaf_rn")},
    **{name: _function(name, multiply_add, 3, FLOAT64) for name in ("fma", "fma_rn")},
    "float_as_int": _same_bits("float_as_int", FLOAT32, INT32),
    "int_as_float": _same_bits("int_as_float", INT32, FLOAT32),
}
globals().update(_names)
