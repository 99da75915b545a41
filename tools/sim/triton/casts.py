"""Conversions between number formats as a Hopper GPU carries them out, by the PTX instructions named there.

A narrow float (bfloat16, float8e4nv, float8e5) lives in a NumPy array of the ml_dtypes type of that format.
"""

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import triton.language as tl
from triton._C.libtriton import ir

BF16 = np.dtype(ml_dtypes.bfloat16)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
E5M2 = np.dtype(ml_dtypes.float8_e5m2)

NARROW = {tl.bfloat16: BF16, tl.float8e4nv: E4M3, tl.float8e5: E5M2}
LARGEST = {E4M3: 448.0, E5M2: 57344.0}


def is_float(dtype: np.dtype) -> bool:
    """Also true of the narrow floats, which NumPy itself takes for opaque bytes."""
    return dtype.kind == "f" or dtype in NARROW.values()


def convert(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The same numbers in another format, rounded as the hardware does unless told otherwise."""
    if is_float(values.dtype):
        return nearest(values, dtype) if is_float(dtype) else to_integer(values, dtype)
    if dtype == BF16:
        return nearest(values.astype(np.float64), dtype)  # cvt.rn.bf16.s32 rounds once, not to float32 before
    return values.astype(dtype)


def nearest(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Round to nearest, ties to even. 8-bit formats saturate, infinity too; NaN stays (cvt.rn.satfinite)."""
    if values.dtype == np.float64 and dtype in NARROW.values():
        values = _to_odd(values)
    if dtype in LARGEST:
        values = np.clip(values.astype(np.float32), -LARGEST[dtype], LARGEST[dtype])
    return values.astype(dtype)


def toward_zero(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Cut the digits that do not fit (cvt.rz); what is too large becomes the largest number, infinity stays.

    Raises ValueError for the formats to which the compiler has no such conversion.
    """
    if values.dtype != np.float32 or dtype not in (np.dtype(np.float16), BF16, E5M2):
        raise ValueError('fp_downcast_rounding="rtz" goes from float32 to float16, bfloat16 or float8e5 only')
    return _not_beyond(values, values.astype(dtype))


def to_integer(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Cut the fraction; saturate (cvt.rzi). Eight bits are half of a conversion to 16, so they wrap."""
    register = np.dtype(f"{dtype.kind}2") if dtype.itemsize == 1 else dtype
    bits = 8 * register.itemsize
    limits = np.iinfo(register)
    whole = np.trunc(values.astype(np.float64))
    below, above = whole < limits.min, whole >= 2.0 ** (bits if register.kind == "u" else bits - 1)
    result = np.where(below | above | np.isnan(whole), 0, whole).astype(register)
    result[below], result[above] = limits.min, limits.max
    if values.dtype == np.float64 or bits == 64:
        highest_bit = np.array(1 << (bits - 1), f"u{register.itemsize}")
        result[np.isnan(whole)] = highest_bit.view(register)  # of smaller formats NaN gives 0
    return result.astype(dtype)


def garbage(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """What stands for elements that nobody has defined: NaN, the largest integer, True."""
    if is_float(dtype):
        return np.full(shape, np.nan, np.float32).astype(dtype)
    return np.full(shape, True if dtype == bool else np.iinfo(dtype).max, dtype)


def truncate_to_tf32(values: np.ndarray) -> np.ndarray:
    """float32 as a tensor core reads it for tf32: the last 13 bits are not looked at."""
    return (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def round_to_tf32(values: np.ndarray) -> np.ndarray:
    """float32 rounded to the 10 fraction bits of tf32, ties away from zero (cvt.rna.tf32)."""
    away = (values.view(np.uint32) + np.uint32(0x1000)).view(np.float32)
    return np.where(np.isfinite(values), truncate_to_tf32(away), values)


def _to_odd(values: np.ndarray) -> np.ndarray:
    """float64 to float32 so that a second rounding, to a narrow float, gives what a single one would."""
    cut = _not_beyond(values, values.astype(np.float32))
    inexact = np.isfinite(values) & (cut.astype(np.float64) != values)
    return (cut.view(np.uint32) | inexact).view(np.float32)


def _not_beyond(values: np.ndarray, rounded: np.ndarray) -> np.ndarray:
    """One step back toward zero where rounding went away from it."""
    beyond = np.abs(rounded.astype(np.float64)) > np.abs(values.astype(np.float64))
    bits = rounded.view(f"u{rounded.itemsize}")
    return (bits - beyond.astype(bits.dtype)).view(rounded.dtype)


# Around Triton's interpreter ---------------------------------------------------------------------


def patch(interpreter: ModuleType) -> None:
    """Replace the conversions of `InterpreterBuilder`."""
    handle, np_dtype = interpreter.TensorHandle, interpreter._get_np_dtype

    def cast(self: Any, source: Any, target: Any, *signedness: Any) -> Any:
        return handle(convert(source.data, np_dtype(target)), target.scalar)

    def create_fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        change = toward_zero if rounding == ir.ROUNDING_MODE.RTZ else nearest
        return handle(change(source.data, np_dtype(target)), target.scalar)

    builder = interpreter.InterpreterBuilder
    for name in (
        "cast_impl",
        "create_si_to_fp",
        "create_ui_to_fp",
        "create_fp_to_si",
        "create_fp_to_ui",
        "create_fp_ext",
        "create_fp_trunc",
        "create_int_cast",
    ):
        setattr(builder, name, cast)
    builder.create_fp_to_fp = create_fp_to_fp
