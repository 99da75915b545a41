"""cuda.fp16: half precision by name. Every argument becomes a float16 first, as in numba-cuda 0.30.

Arithmetic and comparisons equal a GPU's to the last bit. Functions such as hexp are rounded once from float64; a
GPU's may differ in the last bit.
"""

from collections.abc import Callable

import numpy as np

from tools.sim.cuda.faults import Refused
from tools.sim.cuda.numbers.fused import multiply_add, rounded_once
from tools.sim.cuda.numbers.promotion import Value, select
from tools.sim.cuda.numbers.signatures import converted
from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic


def _of(count: int, name: str, operate: Callable) -> Intrinsic:
    """cuda.fp16.name: `operate` on so many float16."""

    def function(*values: Value) -> Value:
        if len(values) != count:
            raise Refused(f"cuda.fp16.{name} takes {count} argument{'s' * (count > 1)}, not {len(values)}.")
        return operate(*converted(f"cuda.fp16.{name}", ("float16",), *values))

    return intrinsic(function, name=f"cuda.fp16.{name}")


def _function(name: str, operate: Callable) -> Intrinsic:
    return _of(1, name, rounded_once(operate))


def _larger(a: Value, b: Value) -> Value:
    """A number rather than NaN, and 0.0 rather than -0.0: PTX ISA, max.f16."""
    return select((a == b) & np.signbit(a), b, np.fmax(a, b))


def _smaller(a: Value, b: Value) -> Value:
    return select((a == b) & np.signbit(b), b, np.fmin(a, b))


hadd = _of(2, "hadd", np.add)
hsub = _of(2, "hsub", np.subtract)
hmul = _of(2, "hmul", np.multiply)
hdiv = _of(2, "hdiv", np.divide)
hfma = _of(3, "hfma", multiply_add)
hneg = _of(1, "hneg", np.negative)
habs = _of(1, "habs", np.abs)
hmax = _of(2, "hmax", _larger)
hmin = _of(2, "hmin", _smaller)

heq = _of(2, "heq", np.equal)
hne = _of(2, "hne", lambda a, b: (a < b) | (a > b))  # false for NaN too, unlike a != b
hge = _of(2, "hge", np.greater_equal)
hgt = _of(2, "hgt", np.greater)
hle = _of(2, "hle", np.less_equal)
hlt = _of(2, "hlt", np.less)

hceil = _of(1, "hceil", np.ceil)
hfloor = _of(1, "hfloor", np.floor)
htrunc = _of(1, "htrunc", np.trunc)
hrint = _of(1, "hrint", np.rint)

hsqrt = _function("hsqrt", np.sqrt)
hrsqrt = _function("hrsqrt", lambda x: 1 / np.sqrt(x))
hrcp = _function("hrcp", np.reciprocal)
hexp = _function("hexp", np.exp)
hexp2 = _function("hexp2", np.exp2)
hexp10 = _function("hexp10", lambda x: 10.0**x)
hlog = _function("hlog", np.log)
hlog2 = _function("hlog2", np.log2)
hlog10 = _function("hlog10", np.log10)
hsin = _function("hsin", np.sin)
hcos = _function("hcos", np.cos)
htanh = _function("htanh", np.tanh)
htanh_approx = _function("htanh_approx", np.tanh)
