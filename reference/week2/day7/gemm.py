"""Week 2, day 7: a product for production (GEMM)

Challenge
    Write the product that a network calls: activation(a @ b + bias), for any shape and any strides, as fast as the
    library: GEMM, general matrix multiply, is its name there. A second sitting, tasks 4 to 6, ends with a slow kernel.

        5 x 3 tiles in groups of 2 rows
              0   1   2          Number 0 is in row 0 and column 0, number 1 below it, number 2 in column 1.
         0    0   2   4          Number 6 begins the second group. The last group has one row.
         1    1   3   5
         2    6   8  10          Numbers 0 to 3 need 2 rows of tiles of a and 2 columns of tiles of b.
         3    7   9  11          Row by row, the first four tiles would need 2 and 3.
         4   12  13  14

Explore
    ./course python -c "print([-(-tiles // 132) for tiles in (32, 128, 132, 133, 512)])"
    In so many rounds 132 SMs do these tiles. Which share of their time is work? What did one tile more than 132 cost?

Concept
    Order: programs that run at the same time form a *wave*, and what several of them load, L2 may serve once. A group
    of rows is walked down its columns, so a wave is a block of tiles, rather than a long strip. min(a, b) works in
    a kernel. Time before you believe: at 8192 this kernel had 1.015 of the speed of cuBLAS in groups of 8 and 1.017 in
    groups of 1, on an H200 (23 November 2026, as all speeds here, launches left out).
    Rounds: 133 tiles on 132 SMs take two rounds, and in the second 131 SMs wait: *wave quantization*. Small products
    want small tiles.
    Persistent: one program for each SM takes tile `first`, then `first + programs`, and so on: so the tiles of a wave
    follow each other. tl.range(first, end, step, flatten=True) is such a loop. flatten=True makes one loop of it and of
    the loop over k inside, so the loads of the next tile begin before this one is stored. At 4096 this kernel had 0.999
    of the speed of cuBLAS, in bfloat16.
    Boxes: STEP counts bytes, so that a box takes as much shared memory in every dtype. It holds STEP // ITEMSIZE
    numbers along k. A matrix that lies column by column is .T of a legal one: multiply describes that, and `box`,
    given, turns what it loads. set_boxes gives the boxes of a config to the descriptors before it is launched. As on
    day 5, what lies past the edge is loaded as 0 and not stored, and out_desc.dtype is the dtype of the result.
    Epilogue: bias and activation are added to the sum in registers, in float32, and cost no traffic of their own but
    the bias. ReLU: tl.where(acc < 0, 0.0, acc) keeps NaN. SiLU is x * sigmoid(x); tl.sigmoid(acc) takes float32.
    A parameter may be None, and a constexpr may be a word: `if bias_ptr is not None:` and `if ACTIVATION == "relu":` in
    a kernel are decided when it is compiled.
    Any tensor: x.contiguous() is x itself or a copy that lies row by row, and y.copy_(x) puts the numbers of x into y,
    which it returns. Rows of 5 numbers of 2 bytes are not legal, though contiguous.
    Power: at 8192 this kernel made 687 TFLOPS of random numbers, and 814 of zeros, in one run of time_gemm.py. (693 in
    the week's table is another run.) So judge a kernel by its ratio to the library, timed in turns on equal numbers.

Code it
    Task 1  tile_of: from a number to a tile, in groups                           (three lines)
    Task 2  busy_share, wave_bytes: what rounds and the order cost                 (four lines)
    Task 3  matmul_kernel: persistent; multiply, given, launches it                 (ten lines)
    Task 4  epilogue: given for none; add bias, relu and silu                     (seven lines)
    Task 5  in_rows, problem, matmul: any strides; mistakes called by name       (eight lines)
    Task 6  bias_gradient_kernel: given, right, and slow; find what ails it        (five lines)
            ./course count week2/day7 says what each line asks of memory. You have met all three diseases: one of
            global memory, one of shared memory, one of the dtype of sums. The branch is healthy: it asks for no number
            of grad that nobody needs. That spares bytes asked for, here half of them, and hardly a sector: 2,042 of
            2,048 are still moved, since a neighbour among the 8 numbers of a sector is nearly always needed.

Verify
    pytest week2/day7                  then: ./course quiz week2/day7
    Reflect: which of this week's ideas does the product use, and which does the compiler use for you?

Simulated without a GPU: results, bytes, sectors and wavefronts are exact, and the compiler is the real one. Time is
not simulated: each config is tried, and the first is used.
"""

import functools

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda
from triton.tools.tensor_descriptor import TensorDescriptor

GROUP = tl.constexpr(8)  # rows of tiles in a group
DTYPES = torch.bfloat16, torch.float16, torch.float8_e4m3fn  # of a and b; the result of the last is bfloat16
ACTIVATIONS = "none", "relu", "silu"
TILE = 32                # rows and columns of the threads of a block of bias_gradient


@functools.cache  # to ask the driver takes longer than many a product, and would keep the GPU waiting at each call
def multiprocessors() -> int:
    """SMs of this GPU; 132 without one."""
    return triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]


def legal(x: torch.Tensor) -> bool:
    """Can the copy engine take boxes of the matrix x? False where rows lie in each other, as expand makes them."""
    apart, last = x.stride()
    return x.data_ptr() % 16 == 0 and last == 1 and apart >= x.shape[1] and apart * x.element_size() % 16 == 0


def empty_rows(rows: int, cols: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A matrix, each row of which begins at a multiple of 16 bytes: legal."""
    apart = triton.cdiv(cols * dtype.itemsize, 16) * 16 // dtype.itemsize
    return torch.empty((rows, apart), dtype=dtype, device=device)[:, :cols]


def set_boxes(arguments: dict) -> None:
    """Before a config is launched, its descriptors get the boxes of its tiles."""
    tile_m, tile_n, tile_k = arguments["TILE_M"], arguments["TILE_N"], arguments["STEP"] // arguments["ITEMSIZE"]
    arguments["a_desc"].block_shape = [tile_k, tile_m] if arguments["A_BY_COLUMNS"] else [tile_m, tile_k]
    arguments["b_desc"].block_shape = [tile_n, tile_k] if arguments["B_BY_COLUMNS"] else [tile_k, tile_n]
    arguments["out_desc"].block_shape = [tile_m, tile_n]


CONFIGS = [triton.Config({"TILE_M": tile_m, "TILE_N": tile_n, "STEP": step}, num_warps=warps, num_stages=stages,
                         pre_hook=set_boxes)
           for tile_m, tile_n, step, warps, stages in [(128, 256, 128, 8, 3), (128, 128, 128, 4, 4),
                                                       (64, 128, 256, 4, 4), (64, 64, 256, 4, 3)]]


@triton.jit
def box(desc, row, col, BY_COLUMNS: tl.constexpr):
    """The box of a matrix x that begins at row and col of x. desc: of x; if x lies BY_COLUMNS, of x.T."""
    return desc.load([col, row]).T if BY_COLUMNS else desc.load([row, col])


# Task 1
@triton.jit
def tile_of(number, tiles_down, tiles_across, GROUP: tl.constexpr):
    """Row and column, counted in tiles, of the tile that has this number. matmul_kernel passes the GROUP from above."""
    first_row = number // (GROUP * tiles_across) * GROUP  # of its group
    rows = min(GROUP, tiles_down - first_row)
    place = number % (GROUP * tiles_across)
    return first_row + place % rows, place // rows


@triton.jit
def order_kernel(out_ptr, tiles_down, tiles_across, GROUP: tl.constexpr):
    number = tl.program_id(0)
    row, col = tile_of(number, tiles_down, tiles_across, GROUP)
    tl.store(out_ptr + 2 * number, row)
    tl.store(out_ptr + 2 * number + 1, col)


def order(tiles_down: int, tiles_across: int, group: int) -> list[tuple[int, int]]:
    """Row and column of every tile, in the order of their numbers."""
    out = torch.empty((tiles_down * tiles_across, 2), dtype=torch.int32, device=tools.gpu.device)
    order_kernel[(tiles_down * tiles_across,)](out, tiles_down, tiles_across, GROUP=group)
    return [tuple(tile) for tile in out.tolist()]


# Task 2
def busy_share(tiles: int, sms: int) -> float:
    """Share of their time in which SMs have a tile, from 0 to 1: one tile at a time each, all equally long.

    tiles, sms: at least 1.
    """
    return tiles / (triton.cdiv(tiles, sms) * sms)


def wave_bytes(tiles: list[tuple[int, int]], tile_m: int, tile_n: int, k: int, itemsize: int) -> int:
    """Bytes of a and b that a wave needs, if L2 sends once what several of its programs load. No tile is cut off.

    tiles: row and column of each tile of the wave, as in `order`. itemsize: bytes of an element.
    """
    rows = {row for row, _ in tiles}
    cols = {col for _, col in tiles}
    return itemsize * k * (len(rows) * tile_m + len(cols) * tile_n)


# Task 3
@triton.autotune(CONFIGS, key=["m", "n", "k", "ITEMSIZE", "A_BY_COLUMNS", "B_BY_COLUMNS"])
@triton.jit
def matmul_kernel(a_desc, b_desc, out_desc, bias_ptr, m, n, k, A_BY_COLUMNS: tl.constexpr, B_BY_COLUMNS: tl.constexpr,
                  ACTIVATION: tl.constexpr, PROGRAMS: tl.constexpr, ITEMSIZE: tl.constexpr, TILE_M: tl.constexpr,
                  TILE_N: tl.constexpr, STEP: tl.constexpr):
    """Programs share the tiles. ITEMSIZE: bytes of an element of a and b. STEP: bytes that a box is wide along k."""
    tiles_down, tiles_across = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    for number in tl.range(tl.program_id(0), tiles_down * tiles_across, PROGRAMS, flatten=True):
        tile_row, tile_col = tile_of(number, tiles_down, tiles_across, GROUP)
        row, col = tile_row * TILE_M, tile_col * TILE_N
        acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
        for start in range(0, k, STEP // ITEMSIZE):
            a = box(a_desc, row, start, A_BY_COLUMNS)
            b = box(b_desc, start, col, B_BY_COLUMNS)
            acc = tl.dot(a, b, acc)
        acc = epilogue(acc, bias_ptr, col, n, ACTIVATION, TILE_N)
        out_desc.store([row, col], acc.to(out_desc.dtype))


def multiply(a: torch.Tensor, b: torch.Tensor, *, out: torch.Tensor, bias: torch.Tensor | None = None,
             activation: str = "none", programs: int | None = None, launched: int | None = None) -> torch.Tensor:
    """activation(a @ b + bias) by matmul_kernel, in out, which it returns. One program for each SM, or `programs`.

    a: (m, k), b: (k, n), of one of DTYPES, each legal or its .T is. out: (m, n), legal. bias: (n,), contiguous.
    bias may have another dtype than a. m, n and k at least 1. launched: how many of the programs run, all if None:
    with 1, out shows the tiles of program 0. ValueError where in_rows would copy a or b.
    """
    (m, k), n = a.shape, b.shape[1]
    programs = programs or multiprocessors()
    for name, x in (("a", a), ("b", b)):
        if not legal(x) and not legal(x.T):
            raise ValueError(f"neither {name} nor {name}.T is legal: multiply takes what in_rows returns")
    a_by_columns, b_by_columns = not legal(a), not legal(b)
    a_desc = TensorDescriptor.from_tensor(a.T if a_by_columns else a, [16, 16])
    b_desc = TensorDescriptor.from_tensor(b.T if b_by_columns else b, [16, 16])
    out_desc = TensorDescriptor.from_tensor(out, [16, 16])
    matmul_kernel[(launched or programs,)](
        a_desc, b_desc, out_desc, bias, m, n, k, A_BY_COLUMNS=a_by_columns, B_BY_COLUMNS=b_by_columns,
        ACTIVATION=activation, PROGRAMS=programs, ITEMSIZE=a.element_size())
    return out


# Task 4
@triton.jit
def epilogue(acc, bias_ptr, col, n, ACTIVATION: tl.constexpr, TILE_N: tl.constexpr):
    """What is done to a tile of sums before it is stored.

    acc: (rows of the tile, TILE_N), float32. col: its first column in the result, which has n. ACTIVATION: a word of
    ACTIVATIONS.
    """
    if bias_ptr is not None:
        cols = col + tl.arange(0, TILE_N)
        acc += tl.load(bias_ptr + cols, mask=cols < n, other=0.0)[None, :]
    if ACTIVATION == "relu":
        acc = tl.where(acc < 0, 0.0, acc)
    if ACTIVATION == "silu":
        acc *= tl.sigmoid(acc)
    return acc


# Task 5
def in_rows(x: torch.Tensor) -> torch.Tensor:
    """The matrix x itself if it is legal or its .T is; else a legal copy."""
    if legal(x) or legal(x.T):
        return x
    return empty_rows(*x.shape, x.dtype, x.device).copy_(x)


def problem(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None, activation: str) -> str:
    """What is wrong with the arguments, in one sentence that names them and their values; "" if nothing is.

    Of several mistakes the first in this order: all are on one device; a and b are matrices; a has as many columns
    as b rows, at least 1; both have the same dtype, one of DTYPES; bias has shape (n,); activation is one of
    ACTIVATIONS.
    """
    devices = {str(x.device) for x in (a, b, bias) if x is not None}
    if len(devices) > 1:
        return f"a, b and bias are on one device, not on {sorted(devices)}"
    if a.ndim != 2 or b.ndim != 2:
        return f"a and b are matrices, not of shapes {tuple(a.shape)} and {tuple(b.shape)}"
    if a.shape[1] != b.shape[0] or a.shape[1] == 0:
        return f"a has {a.shape[1]} columns, b has {b.shape[0]} rows: the same number is needed, at least 1"
    if a.dtype != b.dtype or a.dtype not in DTYPES:
        return f"a is {a.dtype}, b is {b.dtype}: both have one dtype of {DTYPES}"
    if bias is not None and bias.shape != b.shape[1:]:
        return f"bias has shape {tuple(bias.shape)}, not {tuple(b.shape[1:])}"
    return "" if activation in ACTIVATIONS else f"activation is {activation!r}, not one of {ACTIVATIONS}"


def matmul(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor | None = None, *,
           activation: str = "none") -> torch.Tensor:
    """activation(a @ b + bias) by multiply. Where there is a problem: ValueError, with the sentence that names it.

    a: (m, k), b: (k, n), bias: (n,), of any strides; m or n may be 0. The result: (m, n), made by empty_rows, of the
    dtype of a; bfloat16 if that is float8_e4m3fn. bias may be of any floating dtype, and is added as it is.
    """
    if sentence := problem(a, b, bias, activation):
        raise ValueError(sentence)
    dtype = torch.bfloat16 if a.dtype == torch.float8_e4m3fn else a.dtype
    out = empty_rows(a.shape[0], b.shape[1], dtype, a.device)
    if out.numel() == 0:
        return out
    bias = None if bias is None else bias.contiguous()
    return multiply(in_rows(a), in_rows(b), out=out, bias=bias, activation=activation)


# Task 6
@cuda.jit
def bias_gradient_kernel(grad, product, out):
    """A block of TILE x TILE threads for TILE columns. Each thread adds up every TILE-th row of one of them."""
    parts = cuda.shared.array((TILE, TILE), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    m, n = grad.shape
    col = cuda.blockIdx.x * TILE + x
    total = np.float32(0)
    for row in range(y, m, TILE):
        if col < n and product[row, col] > 0:
            total += grad[row, col]
    parts[y, x] = total
    cuda.syncthreads()
    if y == 0:
        total = np.float32(0)
        for p in range(TILE):
            total += parts[p, x]
        if cuda.blockIdx.x * TILE + x < n:
            out[cuda.blockIdx.x * TILE + x] = total


def bias_gradient(grad: torch.Tensor, product: torch.Tensor) -> torch.Tensor:
    """The gradient of bias in relu(a @ b + bias): (n,), sums along the columns of grad where the product is above 0.

    grad: (m, n), of what comes after. product: (m, n), a @ b + bias. float32, contiguous; n at least 1.
    """
    n = grad.shape[1]
    out = torch.empty(n, dtype=torch.float32, device=grad.device)
    bias_gradient_kernel[triton.cdiv(n, TILE), (TILE, TILE)](grad, product, out)
    return out
