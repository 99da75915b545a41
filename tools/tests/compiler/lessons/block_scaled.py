"""A product of matrices of four or eight bits with a scale for each group, as NVFP4 and MXFP4 have."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_matmul_kernel(
    a_ptr, a_scales_ptr, b_ptr, b_scales_ptr, out_ptr, N, K, GROUP: tl.constexpr, PACKED: tl.constexpr,
    FORM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """A: [M, K]. B: [N, K], a row for each column of the product. Scales: one for each GROUP of a row."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inner, groups = tl.arange(0, BK // PACKED), tl.arange(0, BK // GROUP)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        places = start // PACKED + inner[None, :]
        scales = start // GROUP + groups[None, :]
        a = tl.load(a_ptr + rows[:, None] * (K // PACKED) + places)
        b = tl.load(b_ptr + cols[:, None] * (K // PACKED) + places)
        a_scales = tl.load(a_scales_ptr + rows[:, None] * (K // GROUP) + scales)
        b_scales = tl.load(b_scales_ptr + cols[:, None] * (K // GROUP) + scales)
        total = tl.dot_scaled(a, a_scales, FORM, b.T, b_scales, FORM, acc=total)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], total)


def scaled_matmul(a, a_scales, b, b_scales, form, group, blocks):
    """[M, N]. a, b: [M, K] and [N, K] as bytes, two numbers in each if the form is e2m1."""
    packed = 2 if form == "e2m1" else 1
    m, n, k = a.shape[0], b.shape[0], a.shape[1] * packed
    out = torch.empty(m, n)
    bm, bn, bk = blocks
    scaled_matmul_kernel[(m // bm, n // bn)](
        a, a_scales, b, b_scales, out, n, k, GROUP=group, PACKED=packed, FORM=form, BM=bm, BN=bn, BK=bk
    )
    return out


@triton.jit
def weights_matmul_kernel(
    x_ptr, w_ptr, w_scales_ptr, out_ptr, N, K, FORM: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """x: [M, K] of 16 bits, no scales. w: [N, K] in e2m1, two in a byte, a scale for each 32."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(x_ptr + rows[:, None] * K + start + tl.arange(0, BK)[None, :])
        w = tl.load(w_ptr + cols[:, None] * (K // 2) + start // 2 + tl.arange(0, BK // 2)[None, :])
        scales = tl.load(w_scales_ptr + cols[:, None] * (K // 32) + start // 32 + tl.arange(0, BK // 32)[None, :])
        total = tl.dot_scaled(x, None, FORM, w.T, scales, "e2m1", acc=total)
    tl.store(out_ptr + rows[:, None] * N + cols[None, :], total)


def weights_matmul(x, w, w_scales, blocks):
    """[M, N]. x: [M, K] in bfloat16 or float16; w: [N, K / 2] bytes; w_scales: [N, K / 32] exponents."""
    out = torch.empty(x.shape[0], w.shape[0])
    bm, bn, bk = blocks
    form = "bf16" if x.dtype == torch.bfloat16 else "fp16"
    weights_matmul_kernel[(x.shape[0] // bm, w.shape[0] // bn)](
        x, w, w_scales, out, w.shape[0], x.shape[1], FORM=form, BM=bm, BN=bn, BK=bk
    )
    return out


@triton.jit
def quantize_kernel(x_ptr, out_ptr, scales_ptr, tensor_scale, K: tl.constexpr):
    """A row to NVFP4: numbers in e2m1, a scale in e4m3 for each 16, in units of the scale of the tensor."""
    row, group, inside = tl.program_id(0), tl.arange(0, K // 16), tl.arange(0, 16)
    x = tl.load(x_ptr + row * K + group[:, None] * 16 + inside[None, :]) / tensor_scale
    scales = (tl.max(tl.abs(x), axis=1) / 6).to(tl.float8e4nv)
    factors = scales.to(tl.float32)[:, None]
    x = tl.where(factors > 0, x / factors, 0.0)
    size = tl.abs(x)  # ties go to the even code, so some limits belong to the code above them and some do not
    code = (size > 0.25).to(tl.uint8) + (size >= 0.75).to(tl.uint8) + (size > 1.25).to(tl.uint8)
    code += (size >= 1.75).to(tl.uint8) + (size > 2.5).to(tl.uint8) + (size >= 3.5).to(tl.uint8)
    code += (size > 5).to(tl.uint8)
    code |= (x < 0).to(tl.uint8) << 3
    low, high = tl.split(tl.reshape(code, (K // 16, 8, 2)))
    tl.store(out_ptr + row * (K // 2) + group[:, None] * 8 + tl.arange(0, 8)[None, :], low | (high << 4))
    tl.store(scales_ptr + row * (K // 16) + group, scales)


def quantize(x):
    """Bytes [M, K / 2], scales [M, K / 16], and the scale of the tensor."""
    rows, columns = x.shape
    tensor_scale = float(x.abs().max()) / (6 * 448)
    out = torch.empty(rows, columns // 2, dtype=torch.uint8)
    scales = torch.empty(rows, columns // 16, dtype=torch.float8_e4m3fn)
    quantize_kernel[(rows,)](x, out, scales, tensor_scale, K=columns)
    return out, scales, tensor_scale


def nvfp4_matmul(a, b, blocks):
    """a @ b.T, both quantized on the way."""
    a, a_scales, a_scale = quantize(a)
    b, b_scales, b_scale = quantize(b)
    return scaled_matmul(a, a_scales, b, b_scales, "e2m1", 16, blocks) * (a_scale * b_scale)
