"""Week 2, day 6: tensor cores

Challenge
    One kernel multiplies float32, bfloat16, float16 and, in a second sitting, tasks 4 to 6, FP8. Say for each what the
    tensor cores gain, and which digits are lost. A tensor core multiplies two small matrices and adds the product to a
    third, as one instruction of a warp. A lane holds a part of each, its *fragment*. Of a, 16 x 16, in mma.m16n8k16:

            col   0   1 | 2   3 | 4   5 | 6   7 | 8   9 | ... | 14  15
        row 0     lane 0| lane 1| lane 2| lane 3| lane 0| ... | lane 3     Lane 0 holds 8 elements, numbers 0 to 7:
        row 1     lane 4| lane 5| lane 6| lane 7| lane 4| ... | lane 7     0 and 1 here above, columns 0 and 1 of row 0;
        ...                                                                2 and 3 are columns 0 and 1 of row 8;
        row 8     lane 0| lane 1| lane 2| lane 3| lane 0| ... | lane 3     4 to 7 the same, 8 columns to the right.

Explore
    ./course python -c "import torch; print(torch.tensor([1000.0, 1001.0, 3e5]).to(torch.float16))"
    Which number is lost altogether? Try torch.bfloat16 too: it keeps the size, and not the digits.
    ./course week2/day6/explore_fragments.py    What do the elements of one lane have in common?

Concept
    Shape: an instruction takes a of m x k and b of k x n. Its k is always 32 bytes: 32 // dtype.itemsize elements.
        name     compute capability              m     n                          who works it
        mma      80 to 89 (A100), and 120 on     16    8                          a warp
        wgmma    90 (H100)                       64    the tile's, 256 at most    a *warpgroup*: four warps
        tcgen05  100 to 119 (B200)               128   the tile's, 256 at most    one thread starts it
    A tile of 512 columns takes two instructions with n = 256 beside each other. float32 counts as TF32, 4 bytes.
    torch.int8 works on all but 103 (B300), the two FP8 types, torch.float8_e4m3fn and torch.float8_e5m2, from 89 on.
    Formats: float16 has 11 significant digits in binary, and ends at 65504. bfloat16 has 8, and the range of float32.
    TF32 is float32 of which the tensor core reads 11 digits. FP8 E4M3 has 4 and ends at 448; E5M2 3, at 57344.
    In the kernel: tl.dot(a, b, acc, input_precision=...) takes both factors as they were loaded. The word counts for
    float32 alone: "tf32" is one product; "tf32x3" makes of each number two of TF32 and adds three products; "ieee"
    keeps all digits, without tensor cores. In all of them acc is float32. A sum in float16 loses digits at each step.
    FP8: x * scale, scale = 448 / (the largest |x|), fills the range. The sum is divided by both scales. x.abs().max()
    is a tensor of one element, on the GPU. x.abs().max().item() copies it to the host, which waits. torch.where(
    largest > 0, a, b) chooses there, when both are worked out: the one that it leaves may be a division by zero.
    torch.finfo(dtype).max is the last number of a type; x.to(dtype) rounds.
    Order: wgmma takes 16-bit factors from rows or columns. Of FP8 and TF32 it wants neighbours along k side by side:
    b stored column by column, b.T.contiguous().T. If not, threads turn each tile, element after element.
    Error: with a sum in float32 what is lost is lost when the factors are rounded. Each product is off by some share,
    up or down, and so is their sum: a longer k does not make the share worse.
    Relative error: torch.linalg.norm(got - exact) / torch.linalg.norm(exact), with exact = a.double() @ b.double().

Code it
    Task 1  mma_shape and count_mma: which instruction, and how many                     (thirteen lines)
    Task 2  holder: which lane holds an element of a, and as which number                     (two lines)
    Task 3  dot_kernel: given, right; two repairs for tensor cores. matmul: launch it       (seven lines)
    Task 4  to_fp8 and matmul_fp8: scale, round, multiply, divide                             (six lines)
    Task 5  relative_error and study: seven products against float64                          (six lines)
    Task 6  least_seconds: what a GPU needs at least for a format                             (two lines)

Verify
    pytest week2/day6                  then: ./course quiz week2/day6
    Reflect: FP8 doubles the rate of bfloat16 and halves its bytes. For which products do you get both?

Simulated without a GPU: results, bytes and flops are exact; the compiler is the real one, for four generations of
GPUs. Sums are made in another order than a tensor core's. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

TILE = 128, 256  # results of a program: rows and columns
STEP = 128       # bytes of a row of a in one step along k
NARROW = {"float16": torch.float16, "bfloat16": torch.bfloat16}
FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
RATES = {"ieee": 66.9e12, "tf32": 494.7e12, "float16": 989.4e12, "e4m3": 1978.9e12}  # flops a second: H200, data sheet
BANDWIDTH = 4.8e12  # bytes a second, of the same


# Task 1
def mma_shape(capability: int, dtype: torch.dtype, tile_n: int) -> tuple[int, int, int] | None:
    """m, n and k of the largest tensor core instruction for a tile with tile_n columns; None if there is none.

    capability: 80 or more; there is no 91 to 99. dtype: of both factors: float32 (as TF32), float16, bfloat16, int8
    (tests leave out int8 with 103) or one of FP8. tile_n: a power of two from 16.
    """
    if dtype in FP8.values() and capability < 89:
        return None
    k = 32 // dtype.itemsize
    if capability == 90:
        return 64, min(tile_n, 256), k
    if 100 <= capability < 120:
        return 128, min(tile_n, 256), k
    return 16, 8, k


def count_mma(tile: tuple[int, int, int], capability: int, dtype: torch.dtype, precision: str = "tf32") -> int:
    """How many such instructions multiply one tile: a is tile_m x tile_k, b is tile_k x tile_n.

    tile: (tile_m, tile_n, tile_k), multiples of the instruction's m, n and k. precision: "tf32", "tf32x3" or "ieee";
    it counts for float32 alone. 0 if no tensor core is used.
    """
    shape = mma_shape(capability, dtype, tile[1])
    if shape is None or dtype == torch.float32 and precision == "ieee":
        return 0
    products = 3 if dtype == torch.float32 and precision == "tf32x3" else 1
    return products * (tile[0] // shape[0]) * (tile[1] // shape[1]) * (tile[2] // shape[2])


# Task 2
def holder(row: int, col: int) -> tuple[int, int]:
    """The lane that holds a[row, col] in mma.m16n8k16, and the number of the element among that lane's 8."""
    lane = row % 8 * 4 + col % 8 // 2
    return lane, col % 2 + 2 * (row // 8) + 4 * (col // 8)


# Task 3
@triton.jit
def dot_kernel(a_ptr, b_ptr, scale_ptr, out_ptr, m, n, k, a_row_stride, a_col_stride, b_row_stride, b_col_stride,
               PRECISION: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    """One tile of out, which is float32 and contiguous. Divided by the number at scale_ptr, if it is not None."""
    row = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    col = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, k, TILE_K):
        p = start + tl.arange(0, TILE_K)
        a = tl.load(a_ptr + row * a_row_stride + p[None, :] * a_col_stride,
                    mask=(row < m) & (p[None, :] < k), other=0.0)
        b = tl.load(b_ptr + p[:, None] * b_row_stride + col * b_col_stride,
                    mask=(p[:, None] < k) & (col < n), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    if scale_ptr is not None:
        acc = acc / tl.load(scale_ptr)
    tl.store(out_ptr + row * n + col, acc, mask=(row < m) & (col < n))


def matmul(a: torch.Tensor, b: torch.Tensor, *, precision: str = "tf32", scale: torch.Tensor | None = None,
           tile: tuple[int, int] = TILE) -> torch.Tensor:
    """a @ b in float32 by dot_kernel, one program for each tile: rows along axis 0 of the grid, columns along axis 1.

    a: (m, k), b: (k, n), any strides, of one dtype: float32, float16, bfloat16 or FP8. precision: for float32.
    scale: a float32 tensor of one element, by which the product is divided. tile: rows and columns, powers of two
    from 16. A step along k is STEP bytes of a row of a; TILE_K counts its elements. Each 16 rows have a warp;
    num_stages is 3.
    """
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=torch.float32, device=a.device)
    grid = triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1])
    dot_kernel[grid](a, b, scale, out, m, n, k, *a.stride(), *b.stride(), PRECISION=precision, TILE_M=tile[0],
                     TILE_N=tile[1], TILE_K=STEP // a.element_size(), num_warps=tile[0] // 16, num_stages=3)
    return out


# Task 4
def to_fp8(x: torch.Tensor, dtype: torch.dtype = torch.float8_e4m3fn) -> tuple[torch.Tensor, torch.Tensor]:
    """x * scale in FP8, and the scale, by which the largest |x| becomes the last number of dtype.

    x: float32, at least one element; the largest |x| is 0, or between 1e-12 and 1e12. scale: a float32 tensor of one
    element, shape () or (1,), on x's device; 1 if x is all zeros.
    """
    largest = x.abs().max()
    scale = torch.where(largest > 0, torch.finfo(dtype).max / largest, 1.0)
    return (x * scale).to(dtype), scale


def matmul_fp8(a: torch.Tensor, b: torch.Tensor, *, dtype: torch.dtype = torch.float8_e4m3fn,
               tile: tuple[int, int] = TILE) -> torch.Tensor:
    """a @ b in float32 from factors in FP8, each with a scale of its own. b goes to the kernel column by column.

    a: (m, k), b: (k, n), both as to_fp8 takes them. Round b first, then turn it: a byte is moved for
    each element, not four.
    """
    a_fp8, a_scale = to_fp8(a, dtype)
    b_fp8, b_scale = to_fp8(b, dtype)
    return matmul(a_fp8, b_fp8.T.contiguous().T, scale=a_scale * b_scale, tile=tile)


# Task 5
def relative_error(got: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> float:
    """How far got is from a @ b in float64, by the norms of both: 0.01 for one per cent. a, b: before any rounding."""
    exact = a.double() @ b.double()
    return float(torch.linalg.norm(got - exact) / torch.linalg.norm(exact))


def study(a: torch.Tensor, b: torch.Tensor) -> dict[str, float]:
    """The relative errors of seven products of the float32 matrices a and b, by name.

    "ieee", "tf32x3" and "tf32", the names in NARROW, for which a and b are rounded, and the names in FP8.
    """
    products = {name: matmul(a, b, precision=name) for name in ("ieee", "tf32x3", "tf32")}
    products |= {name: matmul(a.to(dtype), b.to(dtype)) for name, dtype in NARROW.items()}
    products |= {name: matmul_fp8(a, b, dtype=dtype) for name, dtype in FP8.items()}
    return {name: relative_error(product, a, b) for name, product in products.items()}


# Task 6
def least_seconds(m: int, n: int, k: int, itemsize: int, rate: float) -> float:
    """The least time of a product: either of its arithmetic at `rate` flops a second, or of its bytes at BANDWIDTH.

    a: (m, k), b: (k, n), each element of itemsize bytes loaded once; the result in float32, stored once. The two go on
    at the same time. rate: one of RATES.
    """
    moved = itemsize * (m * k + k * n) + 4 * m * n
    return max(2 * m * n * k / rate, moved / BANDWIDTH)
