"""The number formats of PTX, and the bits of registers as numbers of them."""

import ml_dtypes
import numpy as np

from tools.sim.triton.casts import BF16, E4M3, E5M2

E2M1 = np.dtype(ml_dtypes.float4_e2m1fn)
PLAIN = {f"{kind}{8 * size}": np.dtype(f"{'u' if kind == 'b' else 'i' if kind == 's' else kind}{size}")
         for kind in "bus" for size in (1, 2, 4, 8)}  # fmt: skip
FLOATS = {"f16": np.dtype("f2"), "bf16": BF16, "f32": np.dtype("f4"), "f64": np.dtype("f8")}
PAIRS = {"f16x2": np.dtype("f2"), "bf16x2": BF16, "e4m3x2": E4M3, "e5m2x2": E5M2, "e2m1x2": E2M1}
MODIFIERS = {"rn", "rz", "approx", "full", "ftz", "sat", "satfinite", "lo", "hi", "wide", "rni", "rzi", "rmi", "rpi"}


def format_of(kind: str) -> np.dtype:
    return FLOATS[kind] if kind in FLOATS else PLAIN[kind]


def as_numbers(bits: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return bits.astype(f"u{dtype.itemsize}").view(dtype)


def bits_of(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).view(f"u{values.itemsize}").astype(np.uint64)
