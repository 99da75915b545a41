import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl


@triton.jit
def staged_kernel(a_ptr, b_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
                  out_row_stride, out_col_stride,
                  TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, STAGES: tl.constexpr):
    col = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)[None, :]
    row = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)[:, None]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in tl.range(0, k, TILE_K, num_stages=STAGES):
        p = start + tl.arange(0, TILE_K)
        a = tl.load(a_ptr + row * a_row_stride + p[None, :] * a_col_stride,
                    mask=(row < m) & (p[None, :] < k), other=0.0)
        b = tl.load(b_ptr + p[:, None] * b_row_stride + col * b_col_stride,
                    mask=(p[:, None] < k) & (col < n), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + row * out_row_stride + col * out_col_stride, acc, mask=(row < m) & (col < n))


def matmul_staged(a: torch.Tensor, b: torch.Tensor, *, stages: int = 3, tile_m: int = 128, tile_n: int = 128,
                  tile_k: int = 64, out: torch.Tensor | None = None) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.float32, device=a.device) if out is None else out
    grid = triton.cdiv(n, tile_n), triton.cdiv(m, tile_m)
    staged_kernel[grid](a, b, out, m, n, k, *a.stride(), *b.stride(), *out.stride(),
                        TILE_M=tile_m, TILE_N=tile_n, TILE_K=tile_k, STAGES=stages, num_warps=8)
    return out
