"""cuda.libdevice: NVIDIA's library of functions by name, as far as they are simulated.

Arguments are converted to the types that libdevice declares: float32 where the name ends in f. A GPU's results may
differ in the last bits. The functions that begin with fast_ are accurate here, and approximate on a GPU.
"""

import math
from collections.abc import Callable

import numpy as np

from tools.sim import floats
from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.cuda.numbers import mathematics
from tools.sim.cuda.numbers.fused import multiply_add, rounded_once
from tools.sim.cuda.numbers.signatures import converted
from tools.sim.cuda.run.intrinsic import Intrinsic, intrinsic


def _ties_outwards(x):
    """The nearest whole number; of two, the one further from 0."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)[()]


def _chosen_bytes(x, y, selector):
    """The four lower hexadecimal digits of `selector` name a byte each: 0 to 3 of x, 4 to 7 of y."""
    both = x.view(np.uint32) | y.view(np.uint32).astype(np.uint64) << np.uint64(32)
    digits = [selector.view(np.uint32) >> np.uint32(4 * place) & np.uint32(7) for place in range(4)]
    chosen = [both >> 8 * digit.astype(np.uint64) & np.uint64(255) for digit in digits]
    return sum(byte << np.uint64(8 * place) for place, byte in enumerate(chosen)).astype(np.int32)


# Of float64, and with an f behind the name of float32. First those that Python's module math has, too.
KNOWN = tuple(
    """
    acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fmod
    hypot lgamma log log10 log1p log2 nextafter pow remainder sin sinh sqrt tan tanh trunc
    """.split()
)
PAIRS = "atan2 copysign fmax fmin fmod hypot nextafter pow remainder".split()
REAL = {
    **{name: mathematics.meaning(getattr(math, name)) for name in KNOWN},
    "tgamma": mathematics.meaning(math.gamma),
    "cbrt": rounded_once(np.cbrt),
    "exp10": rounded_once(lambda x: 10.0**x),
    "rsqrt": rounded_once(lambda x: 1 / np.sqrt(x)),
    "rcbrt": rounded_once(lambda x: 1 / np.cbrt(x)),
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": _ties_outwards,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fma": multiply_add,
}
REAL["sincos"] = lambda x: (REAL["sin"](x), REAL["cos"](x))
FAST = ("cosf", "exp10f", "expf", "log10f", "log2f", "logf", "powf", "sincosf", "sinf", "tanf")
OTHER = {  # types of the arguments, meaning
    "fast_fdividef": ("float32 float32", np.divide),
    "fadd_rn": ("float32 float32", np.add),
    "dadd_rn": ("float64 float64", np.add),
    "fmul_rn": ("float32 float32", np.multiply),
    "dmul_rn": ("float64 float64", np.multiply),
    "fdiv_rn": ("float32 float32", np.divide),
    "ddiv_rn": ("float64 float64", np.divide),
    "fsub_rn": ("float32 float32", np.subtract),
    "saturatef": ("float32", lambda x: np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1))),  # NaN becomes 0
    "float_as_int": ("float32", lambda x: x.view(np.int32)),
    "int_as_float": ("int32", lambda x: x.view(np.float32)),
    "double_as_longlong": ("float64", lambda x: x.view(np.int64)),
    "longlong_as_double": ("int64", lambda x: x.view(np.float64)),
    "byte_perm": ("int32 int32 int32", _chosen_bytes),
    "mulhi": ("int32 int32", lambda x, y: (x * y.astype(np.int64) >> 32).astype(np.int32)),
    "abs": ("int32", np.abs),
    "llabs": ("int64", np.abs),
    "max": ("int32 int32", np.maximum),
    "llmax": ("int64 int64", np.maximum),
    "min": ("int32 int32", np.minimum),
    "llmin": ("int64 int64", np.minimum),
}
FREE = ("double_as_longlong", "longlong_as_double", "fabs", "copysign")  # other bits, or the same with another name


def _rows():
    """Name, types of the arguments, meaning."""
    for name, meaning in REAL.items():
        count = 3 if name == "fma" else 2 if name in PAIRS else 1
        yield name, ("float64",) * count, meaning
        yield f"{name}f", ("float32",) * count, meaning
        if f"{name}f" in FAST:
            yield f"fast_{name}f", ("float32",) * count, meaning
    for name, (types, meaning) in OTHER.items():
        yield name, tuple(types.split()), meaning


def _function(name: str, types: tuple[str, ...], meaning: Callable) -> Intrinsic:
    full = f"cuda.libdevice.{name}"

    def function(*values):
        if len(values) != len(types):
            raise Refused(f"{full} takes {len(types)} argument{'s' * (len(types) > 1)}, not {len(values)}.")
        values = [converted(full, (kind,), value)[0] for kind, value in zip(types, values)]
        result = meaning(*values)
        return floats.called(result, values, free=name in FREE)

    return intrinsic(function, name=full)


FUNCTIONS = {name: _function(name, types, meaning) for name, types, meaning in _rows()}
globals().update(FUNCTIONS)  # in this file, they hide abs, max, min, pow and round of Python

NOT_SIMULATED = set(
    """
brev brevll clz clzll cospi cospif double2hiint double2loint erfcinv erfcinvf erfcx erfcxf erfinv erfinvf fdim fdimf ffs
ffsll finitef frexp frexpf hadd half2float hiloint2double ilogb ilogbf isfinited isinfd isinff isnand isnanf j0 j0f j1
j1f jn jnf ldexp ldexpf llrint llrintf llround llroundf logb logbf modf modff mul24 mul64hi normcdf normcdff normcdfinv
normcdfinvf popc popcll powi powif remquo remquof rhadd sad scalbn scalbnf signbitd signbitf sincospi sincospif sinpi
sinpif uhadd ullmax ullmin umax umin umul24 umul64hi umulhi urhadd usad y0 y0f y1 y1f yn ynf
""".split()
)


def __getattr__(name: str):
    if name in NOT_SIMULATED or name.endswith(("_rd", "_rn", "_ru", "_rz")):
        raise Unknown(f"cuda.libdevice.{name} works on a GPU; this simulator does not know it.")
    raise AttributeError(f"cuda.libdevice has no {name}.")
