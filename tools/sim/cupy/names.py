"""The names of the module cupy: what stands behind each, and those that CuPy has but the stand-in lacks."""

from typing import Any

import numpy as np

from tools.sim.cupy import exceptions, methods
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.dispatch import reductions
from tools.sim.cupy.dispatch.signatures import members
from tools.sim.cupy.dispatch.ufuncs import ufunc, ufuncs
from tools.sim.cupy.functions import (
    concatenate,
    conversion,
    creation,
    introspection,
    products,
    selection,
    sorting,
    stacking,
    views,
)
from tools.sim.cupy.functions.table import functions
from tools.sim.cupy.functions.transfers import asnumpy

MODULES = ("cuda", "cupyx", "exceptions", "fft", "linalg", "random", "testing")
LATER = {
    "ElementwiseKernel": "kernels.elementwise",
    "ReductionKernel": "kernels.reduction",
    "RawKernel": "raw",
    "RawModule": "raw",
}  # where they are, imported when they are asked for
NOT_SIMULATED = frozenset(
    """
    DataSource apply_along_axis apply_over_axes asarray_chkfinite asfarray base_repr binary_repr broadcast byte_bounds
    c_ clear_memo disp find_common_type flatiter format_float_positional format_float_scientific format_parser
    fromDlpack from_dlpack frombuffer fromfile fromfunction fromiter fromstring genfromtxt get_array_wrap
    get_default_pinned_memory_pool lib load loadtxt make_aligned_dtype mask_indices memoize mgrid ogrid piecewise poly
    poly1d polyadd polyfit polymul polynomial polysub r_ ravel_multi_index require roots row_stack safe_eval save
    savetxt savez savez_compressed set_string_function show_config typing vectorize who cumproduct fuse
""".split()
)
OF_NUMPY = """
    bool_ byte cdouble complex64 complex128 complexfloating csingle double dtype e euler_gamma finfo float16 float32
    float64 floating generic get_printoptions half iinfo index_exp inexact inf int8 int16 int32 int64 int_ intc integer
    intp isdtype issubdtype iterable long longlong mintypecode nan ndindex newaxis number pi printoptions promote_types
    s_ set_printoptions short signedinteger single typename ubyte uint uint8 uint16 uint32 uint64 uintc uintp ulong
    ulonglong unsignedinteger ushort broadcast_shapes
"""


def _method(name: str) -> Any:
    """CuPy leaves these to the method of their argument, wherever that lies."""

    def function(a: Any, *args: Any, **named: Any) -> Any:
        return getattr(a, name)(*args, **named)

    function.__name__ = function.__qualname__ = name
    return function


public = {
    **members(np, OF_NUMPY),
    **members(exceptions, exceptions.NAMES),
    **{"bool": np.bool_, "float_": np.float64, "singlecomplex": np.complex64},
    **dict.fromkeys(("complex_", "cfloat"), np.complex128),
    **dict.fromkeys(("Inf", "Infinity", "PINF", "infty"), np.inf),
    **dict.fromkeys(("NaN", "NAN"), np.nan),
    **{"NINF": -np.inf, "PZERO": 0.0, "NZERO": -0.0},
    "ndarray": ndarray,
    "ufunc": ufunc,
    **functions,
    **reductions.functions,
    **ufuncs,
    "asnumpy": asnumpy,
    **{name: _method(name) for name in ("ravel", "squeeze", "swapaxes", "diagonal", "transpose")},
    "permute_dims": _method("transpose"),
    **members(
        introspection,
        "array2string array_repr array_str can_cast common_type get_array_module get_default_memory_pool "
        "is_available iscomplexobj isfortran isrealobj isscalar may_share_memory min_scalar_type ndim "
        "result_type shape shares_memory size",
    ),
    **members(conversion, "array asarray asanyarray ascontiguousarray asfortranarray astype copy"),
    **members(
        creation,
        "empty zeros ones full empty_like zeros_like ones_like full_like copyto arange linspace eye identity tri diag",
    ),
    **members(
        selection,
        "where clip around take nonzero argwhere flatnonzero compress extract put repeat bincount searchsorted",
    ),
    **dict.fromkeys(("round", "round_"), selection.around),
    **members(concatenate, "concatenate stack"),
    **members(stacking, "hstack vstack dstack column_stack"),
    "concat": concatenate.concatenate,
    **members(products, "dot matmul vdot inner outer tensordot kron einsum"),
    **members(views, "reshape broadcast_to moveaxis rollaxis split"),
    **members(sorting, "sort argsort"),
    "trapz": functions["trapezoid"],
}
methods.complete()
