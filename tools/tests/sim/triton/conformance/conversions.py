"""Conversions between all formats, compared with the definition of the format."""

from collections.abc import Iterator

import numpy as np
import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import FLOATS, INTEGERS, NARROW, SPECIAL, Case, N, name, on_device


@triton.jit
def convert(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if OP == "cast":
        y = x.to(out_ptr.dtype.element_ty)
    elif OP == "cast, toward zero":
        y = x.to(out_ptr.dtype.element_ty, fp_downcast_rounding="rtz")
    elif OP == "bitcast":
        y = x.to(out_ptr.dtype.element_ty, bitcast=True)
    tl.store(out_ptr + i, y)


BLOCK = 4 * N
FORMATS = {  # bits of precision, smallest exponent, largest number
    torch.float64: (53, -1022, None),
    torch.float32: (24, -126, None),
    torch.float16: (11, -14, 65504.0),
    torch.bfloat16: (8, -126, torch.finfo(torch.bfloat16).max),
    torch.float8_e4m3fn: (4, -6, 448.0),
    torch.float8_e5m2: (3, -14, 57344.0),
}


def converted(op: str, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    out = on_device(torch.empty(x.shape, dtype=dtype))
    convert[(x.numel() // BLOCK,)](on_device(x), out, OP=op, N=BLOCK)
    return out


def rounded(values: np.ndarray, dtype: torch.dtype, rounding=np.rint) -> np.ndarray:
    """float64 values on the grid of a format, from the definition of the format."""
    precision, smallest, largest = FORMATS[dtype]
    if precision == 53:
        return values
    _, exponent = np.frexp(values)
    unit = np.ldexp(1.0, np.maximum(exponent - 1, smallest) - precision + 1)
    with np.errstate(invalid="ignore"):
        result = rounding(values / unit) * unit
    largest = largest or float(np.finfo(np.float32).max)
    if dtype in NARROW and rounding is np.rint:
        return np.clip(result, -largest, largest)
    beyond = np.where(np.isinf(values) | (rounding is np.rint), np.inf, largest)
    return np.where(np.abs(result) > largest, np.copysign(beyond, values), result)


def whole(source: torch.Tensor, dtype: torch.dtype) -> list[int]:
    """Toward zero, saturating; eight bits are half of a saturated 16-bit number. NaN as PTX says."""
    register = {torch.int8: torch.int16, torch.uint8: torch.uint16}.get(dtype, dtype)
    low, high = torch.iinfo(register).min, torch.iinfo(register).max
    nan = low if dtype == torch.int64 or source.dtype == torch.float64 else 0
    values = source.double().tolist()
    numbers = [nan if v != v else high if v > high else low if v < low else int(v) for v in values]
    if register != dtype:
        numbers = [(n - torch.iinfo(dtype).min) % 256 + torch.iinfo(dtype).min for n in numbers]
    return numbers


def codes(dtype: torch.dtype) -> torch.Tensor:
    """Every number of an 8- or 16-bit format; of a wider one random bits, and ties of bfloat16."""
    if dtype.itemsize == 1:
        return torch.arange(256, dtype=torch.uint8).repeat(BLOCK // 256).view(dtype)
    if dtype.itemsize == 2:
        return torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    draw, bits = torch.Generator().manual_seed(3), torch.int32 if dtype.itemsize == 4 else torch.int64
    limits = torch.iinfo(bits)
    anything = torch.randint(limits.min, limits.max, (4 * BLOCK,), dtype=bits, generator=draw)
    if not dtype.is_floating_point:
        return torch.cat([anything, anything >> 9, torch.arange(-BLOCK // 2, BLOCK // 2, dtype=bits)])
    ties = (torch.arange(0, 15 * BLOCK, 5, dtype=torch.int32) << 16) + 2**15
    spread = torch.arange(0, BLOCK, dtype=torch.int32) << 19
    near = torch.cat([ties - 1, ties, ties + 1, spread]).view(torch.float32).to(dtype)
    edges = torch.tensor(SPECIAL, dtype=dtype).repeat(BLOCK)[: BLOCK // 2]
    return torch.cat([anything.view(dtype), near, edges, edges * torch.tensor(1 + 2**-8, dtype=dtype)])


def conversion(source: torch.dtype, target: torch.dtype, op: str = "cast", rounding=np.rint) -> Case:
    def compute():
        x = codes(source)
        if (source, target) == (torch.float8_e5m2, torch.bfloat16):  # Triton 3.6 makes 65536 of infinity here
            x = torch.where(x.double().isfinite(), x.float(), 0.0).to(source)
        values = x.double().numpy()
        got = converted(op, x, target)
        if target.is_floating_point:
            return got.double(), torch.from_numpy(rounded(values, target, rounding))
        return got, torch.tensor(whole(x, target) if source.is_floating_point else x.to(target).tolist(), dtype=target)

    return Case(op, f"{name(source)} to {name(target)}", compute)


def cases() -> Iterator[Case]:
    for source in (*FLOATS, *NARROW, *INTEGERS):
        for target in (*FLOATS, *NARROW, *INTEGERS):
            small = target in NARROW or source in NARROW
            refused = small and not (
                source.is_floating_point and target.is_floating_point and torch.float64 not in (source, target)
            )
            if source != target and not refused and not (source in NARROW and target in NARROW):
                yield conversion(source, target)
    for target in (torch.float16, torch.bfloat16, torch.float8_e5m2):
        yield conversion(torch.float32, target, "cast, toward zero", np.trunc)
    yield Case(
        "bitcast",
        "float32 to int32",
        lambda: (converted("bitcast", codes(torch.float32), torch.int32), codes(torch.float32).view(torch.int32)),
    )
