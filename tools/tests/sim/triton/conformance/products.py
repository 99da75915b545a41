"""Products of matrices, of all formats that a tensor core takes."""

from collections.abc import Iterator
from functools import partial

import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import NARROW, Case, exact, name, on_device, some


@triton.jit
def dot(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    a = tl.load(a_ptr + m * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n)
    out = tl.load(out_ptr + m * N + n)
    out = tl.dot(a, b, out, input_precision=PRECISION, out_dtype=out.dtype)
    tl.store(out_ptr + m * N + n, out)


@triton.jit
def dot_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, A_ROWS: tl.constexpr,
    A_K: tl.constexpr, B_K: tl.constexpr, B_COLUMNS: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    GROUPS: tl.constexpr, BOTH: tl.constexpr, K_PACK: tl.constexpr,
):  # fmt: skip
    m, n, g = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, GROUPS)[None, :]
    a = tl.load(a_ptr + tl.arange(0, A_ROWS)[:, None] * A_K + tl.arange(0, A_K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B_K)[:, None] * B_COLUMNS + tl.arange(0, B_COLUMNS)[None, :])
    a_scale = tl.load(a_scale_ptr + m * GROUPS + g)
    if BOTH:
        b_scale = tl.load(b_scale_ptr + n[:, None] * GROUPS + g)
        out = tl.dot_scaled(a, a_scale, A, b, b_scale, B, lhs_k_pack=K_PACK, rhs_k_pack=K_PACK)
    else:
        out = tl.dot_scaled(a, a_scale, A, b, None, B, lhs_k_pack=K_PACK, rhs_k_pack=K_PACK)
    tl.store(out_ptr + m * N + n[None, :], out)


def tf32(x: torch.Tensor) -> torch.Tensor:
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def cases() -> Iterator[Case]:
    m, n, k = 32, 16, 64

    def case(a, b, out, want, precision="ieee", allowed=0.0, words=""):
        def compute():
            result = on_device(out.clone())
            dot[(1,)](on_device(a), on_device(b), result, M=m, N=n, K=k, PRECISION=precision)
            return result, want, a.double().abs() @ b.double().abs()

        return Case(f"dot{words}", f"{name(a.dtype)}, {name(out.dtype)}", compute, allowed)

    for dtype in (torch.float32, torch.float16, torch.bfloat16, *NARROW, torch.int8):
        a, b = exact(dtype, m, k, seed=0), exact(dtype, k, n, seed=1)
        out = exact(torch.int32 if dtype == torch.int8 else torch.float32, m, n, seed=2)
        yield case(a, b, out, (a.double() @ b.double() + out).to(out.dtype), words=" of whole numbers")
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a, b, out = some(dtype, m, k), some(dtype, k, n, seed=1), some(torch.float32, m, n, seed=2)
        yield case(a, b, out, a.double() @ b.double() + out, allowed=4)
    a, b, out = some(torch.float32, m, k), some(torch.float32, k, n, seed=1), torch.zeros(m, n)
    yield case(a, b, out, tf32(a).double() @ tf32(b).double(), "tf32", 4, " tf32")
    yield case(a, b, out, a.double() @ b.double(), "tf32x3", 8, " tf32x3")
    a, b, out = (some(torch.float16, m, k), some(torch.float16, k, n, seed=1), some(torch.float16, m, n, seed=2))
    yield case(a, b, out, a.double() @ b.double() + out, allowed=4)
    yield from scaled_dots()


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
DTYPES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "bf16": torch.bfloat16, "fp16": torch.float16}
FORMS = (  # of the operands; of the scales: e8m0 for 32 elements each, or e4m3 for 16; what is packed
    ("e2m1", "e2m1", "e8m0", "K"), ("e4m3", "e4m3", "e8m0", "K"), ("e5m2", "e5m2", "e8m0", "K"),
    ("e2m1", "e4m3", "e8m0", "K"), ("e4m3", "e2m1", "e8m0", "K"), ("e2m1", "bf16", "e8m0", "K"),
    ("e4m3", "bf16", "e8m0", "K"), ("e5m2", "fp16", "e8m0", "K"), ("e2m1", "fp16", "e8m0", "K"),
    ("e2m1", "e2m1", "e4m3", "K"), ("e2m1", "e2m1", "e8m0", "M, N"),
)  # fmt: skip


def operand(form: str, outer: int, k: int, packed: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """[outer, k] as the kernel gets it (two e2m1 in a byte, along K or the other axis), and as numbers."""
    if form != "e2m1":
        values = exact(DTYPES[form], outer, k, seed=seed)
        return values, values.double()
    codes = torch.randint(0, 16, (outer, k), generator=torch.Generator().manual_seed(seed))
    low, high = (codes[:, 0::2], codes[:, 1::2]) if packed == "K" else (codes[0::2], codes[1::2])
    return (low | high << 4).to(torch.uint8), E2M1[codes].double()


def scales(form: str, outer: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """As the kernel gets them, and one for each element as a number."""
    if form == "e8m0":
        exponents = torch.randint(124, 130, (outer, k // 32), generator=torch.Generator().manual_seed(outer))
        return exponents.to(torch.uint8), torch.exp2(exponents.double() - 127).repeat_interleave(32, 1)
    values = some(torch.float8_e4m3fn, outer, k // 16, low=0.5, high=4)
    return values, values.double().repeat_interleave(16, 1)


def scaled_dots() -> Iterator[Case]:
    m, n, k = 128, 64, 64  # a tensor core takes no fewer rows

    def compute(a_form, b_form, scale_form, packed):
        (a, a_values), (b, b_values) = operand(a_form, m, k, packed, 0), operand(b_form, n, k, packed, 1)
        (a_scale, a_scales), (b_scale, b_scales) = scales(scale_form, m, k), scales(scale_form, n, k)
        both = b_form[0] == "e"  # bf16 and fp16 have no scales
        want_a, want_b = a_values * a_scales, b_values * (b_scales if both else 1)
        out = on_device(torch.empty(m, n))
        tensors = [on_device(x) for x in (a, a_scale, b.T.contiguous(), b_scale)]
        dot_scaled[(1,)](
            *tensors, out, A=a_form, B=b_form, A_ROWS=a.shape[0], A_K=a.shape[1], B_K=b.shape[1],
            B_COLUMNS=b.shape[0], M=m, N=n, GROUPS=a_scale.shape[1], BOTH=both, K_PACK=packed == "K",
        )  # fmt: skip
        return out, want_a @ want_b.T, want_a.abs() @ want_b.abs().T

    for a_form, b_form, scale_form, packed in FORMS:
        plain = scale_form == "e8m0" and packed == "K"  # the rest is for Blackwell only
        operation = "dot_scaled" if plain else f"dot_scaled, {scale_form} by {packed}"
        case = partial(compute, a_form, b_form, scale_form, packed)
        yield Case(operation, f"{a_form}, {b_form}", case, 1, (0, 0) if plain else (10, 0))
