"""Week 2, day 7: a product for production (GEMM)

DOC
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

GROUP = tl.constexpr(8)  # rows of tiles in a group
DTYPES = torch.bfloat16, torch.float16, torch.float8_e4m3fn
ACTIVATIONS = "none", "relu", "silu"


def multiprocessors() -> int:
    """SMs of this GPU; 132 without one."""
    return triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]


def legal(x: torch.Tensor) -> bool:
    """Can the copy engine take boxes of the matrix x? Rows that lie in each other are not for it."""
    apart, last = x.stride()
    return x.data_ptr() % 16 == 0 and last == 1 and apart >= x.shape[1] and apart * x.element_size() % 16 == 0


def empty_rows(rows: int, cols: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A matrix, each row of which begins at a multiple of 16 bytes."""
    apart = triton.cdiv(cols * dtype.itemsize, 16) * 16 // dtype.itemsize
    return torch.empty((rows, apart), dtype=dtype, device=device)[:, :cols]


def set_boxes(arguments: dict) -> None:
    """Before a config is launched: the descriptors get the boxes of its tiles."""
    tile_m, tile_n, tile_k = (arguments[name] for name in ("TILE_M", "TILE_N", "TILE_K"))
    arguments["a_desc"].block_shape = [tile_k, tile_m] if arguments["A_BY_COLUMNS"] else [tile_m, tile_k]
    arguments["b_desc"].block_shape = [tile_n, tile_k] if arguments["B_BY_COLUMNS"] else [tile_k, tile_n]
    arguments["out_desc"].block_shape = [tile_m, tile_n]


CONFIGS = [triton.Config({"TILE_M": tile_m, "TILE_N": tile_n}, num_warps=warps, num_stages=stages, pre_hook=set_boxes)
           for tile_m, tile_n, warps, stages in [(128, 256, 8, 3), (128, 128, 8, 4), (64, 256, 4, 4), (64, 128, 4, 5)]]


# Task 1
@triton.jit
def tile_of(number, tiles_down, tiles_across, GROUP):
    """Row and column, counted in tiles, of the tile that has this number."""
    first = number // (GROUP * tiles_across) * GROUP
    rows = min(tiles_down - first, GROUP)
    place = number % (GROUP * tiles_across)
    return first + place % rows, place // rows


# Task 3, 4
@triton.jit
def epilogue(acc, bias_ptr, col, n, ACTIVATION: tl.constexpr, TILE_N: tl.constexpr):
    """What happens to a tile of sums before it is rounded and stored."""
    if bias_ptr is not None:
        cols = col + tl.arange(0, TILE_N)
        acc += tl.load(bias_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "relu":
        acc = tl.where(acc < 0, 0.0, acc)
    if ACTIVATION == "silu":
        acc *= tl.sigmoid(acc)
    return acc


@triton.autotune(CONFIGS, key=["m", "n", "k", "TILE_K", "A_BY_COLUMNS", "B_BY_COLUMNS"])
@triton.jit
def matmul_kernel(a_desc, b_desc, out_desc, bias_ptr, m, n, k, A_BY_COLUMNS: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
                  ACTIVATION: tl.constexpr, PROGRAMS: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                  TILE_K: tl.constexpr):
    tiles_down, tiles_across = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    for number in tl.range(tl.program_id(0), tiles_down * tiles_across, PROGRAMS, flatten=True):
        tile_row, tile_col = tile_of(number, tiles_down, tiles_across, GROUP)
        row, col = tile_row * TILE_M, tile_col * TILE_N
        acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for start in range(0, k, TILE_K):
            a = a_desc.load([start, row]).T if A_BY_COLUMNS else a_desc.load([row, start])
            b = b_desc.load([col, start]).T if B_BY_COLUMNS else b_desc.load([start, col])
            acc = tl.dot(a, b, acc)
        acc = epilogue(acc, bias_ptr, col, n, ACTIVATION, TILE_N)
        out_desc.store([row, col], acc.to(out_desc.dtype))


def multiply(a: torch.Tensor, b: torch.Tensor, *, bias: torch.Tensor | None = None, activation: str = "none",
             out: torch.Tensor, programs: int | None = None) -> torch.Tensor:
    """activation(a @ b + bias) into out, by matmul_kernel. a, b: legal, or their .T is. out: legal."""
    (m, k), n = a.shape, b.shape[1]
    by_columns = [not legal(x) for x in (a, b)]
    a, b = (x.T if turned else x for x, turned in zip((a, b), by_columns))
    programs = programs or multiprocessors()
    descriptors = [TensorDescriptor.from_tensor(x, [16, 16]) for x in (a, b, out)]
    matmul_kernel[(programs,)](
        *descriptors, bias, m, n, k, A_BY_COLUMNS=by_columns[0], B_BY_COLUMNS=by_columns[1], ACTIVATION=activation,
        PROGRAMS=programs, TILE_K=128 // a.element_size())
    return out


# Task 5
def matmul(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, *, activation: str = "none",
           out: torch.Tensor | None = None) -> torch.Tensor:
    (m, k), n = a.shape, b.shape[1]
    dtype = torch.bfloat16 if a.dtype == torch.float8_e4m3fn else a.dtype
    out = empty_rows(m, n, dtype, a.device) if out is None else out
    multiply(a, b, bias=bias, activation=activation, out=out)
    return out
