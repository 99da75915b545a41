"""Week 2, day 2: coalescing

Challenge
    Three copies of this lesson are right and wasteful: they ask for up to eight times the sectors that they need.
    Predict how many, then repair them: tasks 1 to 4, a first sitting. Task 5 is a second sitting: a copy of your own,
    a transpose at the speed of a plain copy.

        lane i of a warp loads float32 number offset + i * stride
                                  the lanes that share each sector            sectors    bytes wanted, sent
            stride 1, offset 0    |0 .. 7|8 .. 15|16 .. 23|24 .. 31|             4           128     128
            stride 1, offset 3    |0 .. 4|5 .. 12|13 .. 20|21 .. 28|29 .. 31|    5           128     160
            stride 4, offset 0    |0, 1|2, 3|4, 5|  ...  |28, 29|30, 31|        16           128     512

Explore
    ./course count week2/day2
    What the copies ask for as they are, line by line. Which line asks for the most sectors, and how many would do?
    ./course week2/day2/explore_fields.py    Which fields of a struct are sent, and which are wanted?

Concept
    Sector efficiency: of the bytes in the sectors that a request touches, the share that was asked for. 128 of
    160 is 0.8. Array elements never straddle two sectors, so an element's first byte says which one it is in.
    Strides: reading every stride-th float32 from an H200's memory, in GB of wanted elements a second:
        stride         1      2      4      8     16     32
        sectors        4      8     16     32     32     32
        GB/s        3909   2706   1687    784    416    380
    From 8 to 16 the sectors stay and the rate halves: as if memory fetched 64 bytes at a time for L2.
    A thread that copies a piece of its own, as a CPU's would, makes such a stride: lane i begins one piece
    after lane i - 1. Let a warp's lanes take neighbours, and go on together: week 1, day 3's grid-stride loop.
    Offsets: neighbours that begin inside a sector take one sector more, in each step that begins so. Pieces of a
    vector may begin anywhere: three pieces of 2000 float32 begin with elements 0, 667 and 1334. So may rows: if they
    have 33 float32 and lie close together, row 1 begins 4 bytes into a sector. The cure for rows is a longer *pitch*,
    the distance from the beginning of a row to that of the next, in elements: 40 in place of 33, and the last 7 of
    them are never used. In PyTorch, torch.empty((m, 40))[:, :33] is such a matrix; x.element_size() gives the bytes
    of an element. It is for new matrices: those that are there stay as they are, as to copy them costs more.
    torch.zeros would write all of it once more. ./course count does not show that, as it counts kernels and no fills;
    the tests look for it.
    Fields: an *array of structs* keeps together what belongs to one thing: x y z w, x y z w, ... A load of all x
    has stride 4. A *struct of arrays* keeps the same field together: x x x ..., y y y ...: stride 1. To get from
    one to the other, load whole structs: a tile with a row for each struct and a column for each field.
    Transposing: rows become columns, so either loads or stores jump. A tile ends that: its rows are loaded and
    its columns are stored, each of them a whole sector or more. In between, elements go from thread to thread;
    Triton's compiler sends them through shared memory. Tomorrow you do that yourself, in CUDA. For predict_sectors:
    each load of a program counts a sector once, and so does each store. A row of a tile is one piece of memory.
    Lanes in Triton: the compiler deals out the elements of a block, mostly so that a lane loads 16 bytes at
    once. Such a request has 16 sectors and wastes nothing: compare efficiencies, not sectors per request.
    The simulator knows programs and no lanes; ./course compiled week2/day2 knows the lanes.

Code it
    Task 1  sectors_of_request, sector_efficiency: predict what a warp's request costs     (two lines)
    Task 2  copy_kernel: given, right, a piece for each thread; repair it                   (one line)
    Task 3  pitch; copy_rows: given, right, rows of its copy begin anywhere; repair it     (two lines)
    Task 4  split_kernel: given, right, it loads field by field; repair it                (four lines)
    Task 5  transpose_kernel, transpose, predict_sectors: a tile at a time                 (ten lines)

Verify
    pytest week2/day2                  then: ./course quiz week2/day2
    Reflect: each repair changed who takes what, or where things lie. Which of them would suit a CPU as well?

Simulated without a GPU: results, bytes, sectors and requests are exact. Time and caches are not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl
from tools.gpu import cuda

WARP = 32       # lanes
SECTOR = 32     # bytes
BLOCK = 256     # threads of a block; structs of a program
BLOCKS = 1024   # about as many as an H200 holds at a time
TILE_ROW = 256  # bytes in each row and each column of a tile, unless a call says something else


# Given: the load of the picture, to count what task 1 predicts
@cuda.jit
def take_kernel(x, out, offset, stride):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[offset + i * stride]


def take(x: torch.Tensor, offset: int, stride: int) -> torch.Tensor:
    """x[offset::stride], copied by take_kernel. x: (n,), contiguous, n > offset. stride: 1 or more."""
    out = torch.empty(triton.cdiv(x.numel() - offset, stride), dtype=x.dtype, device=x.device)
    take_kernel[triton.cdiv(out.numel(), BLOCK), BLOCK](x, out, offset, stride)
    return out


# Task 1
def sectors_of_request(offset: int, stride: int, itemsize: int) -> int:
    """Sectors that a warp's load touches, when lane i loads element offset + i * stride of an array.

    offset: 0 or more. stride: 1 or more. itemsize: bytes of an element: 1, 2, 4 or 8.
    Element 0 begins a sector.
    """
    return len({(offset + lane * stride) * itemsize // SECTOR for lane in range(WARP)})


def sector_efficiency(offset: int, stride: int, itemsize: int) -> float:
    """The share of the bytes in these sectors that the warp asked for, from 0 to 1."""
    return WARP * itemsize / (SECTOR * sectors_of_request(offset, stride, itemsize))


# Task 2
@cuda.jit
def copy_kernel(x, out):
    """Each thread of the grid copies its share of x to out, however many elements there are."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


def copy_vector(x: torch.Tensor, blocks: int = BLOCKS, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy of x by copy_kernel, in so many blocks of BLOCK threads.

    x: (n,), contiguous, of any dtype. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    copy_kernel[blocks, BLOCK](x, out)
    return out


# Task 3
def pitch(n: int, itemsize: int) -> int:
    """The least distance between rows of n elements, in elements, with which every row begins a sector.

    itemsize: bytes of an element: 1, 2, 4 or 8. Row 0 begins a sector.
    """
    return triton.cdiv(n * itemsize, SECTOR) * SECTOR // itemsize


@cuda.jit
def rows_kernel(x, out):
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        out[row, col] = x[row, col]


def copy_rows(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy of x by rows_kernel, in which warps lie along rows.

    x: (m, n) of any strides and any dtype, its rows wherever they begin; neither m nor n is 0.
    out: likewise. If not given, it is allocated, as small as can be with rows that begin sectors: see pitch.
    """
    m, n = x.shape
    if out is None:
        out = torch.empty((m, pitch(n, x.element_size())), dtype=x.dtype, device=x.device)[:, :n]
    rows_kernel[(triton.cdiv(n, WARP), triton.cdiv(m, BLOCK // WARP)), (WARP, BLOCK // WARP)](x, out)
    return out


# Task 4
@triton.jit
def split_kernel(structs_ptr, out_ptr, n, FIELDS: tl.constexpr, BLOCK: tl.constexpr):
    """From an array of n structs to a struct of arrays: field f of struct i goes to place f * n + i."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    field = tl.arange(0, FIELDS)[None, :]
    values = tl.load(structs_ptr + i * FIELDS + field, mask=i < n)
    tl.store(out_ptr + field * n + i, values, mask=i < n)


def split_fields(structs: torch.Tensor, *, block: int = BLOCK, out: torch.Tensor | None = None) -> torch.Tensor:
    """The fields of an array of structs, one after the other, by split_kernel: `block` structs a program.

    structs: (n, fields), contiguous, of any dtype. fields, block: powers of two.
    out: (fields, n), contiguous, allocated if not given.
    """
    n, fields = structs.shape
    out = torch.empty((fields, n), dtype=structs.dtype, device=structs.device) if out is None else out
    split_kernel[(triton.cdiv(n, block),)](structs, out, n, FIELDS=fields, BLOCK=block)
    return out


# Task 5
@triton.jit
def transpose_kernel(x_ptr, out_ptr, m, n, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    row = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    col = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    exists = (row < m) & (col < n)
    x = tl.load(x_ptr + row * n + col, mask=exists)
    tl.store(out_ptr + col * m + row, x, mask=exists)


def transpose(x: torch.Tensor, *, tile_m: int | None = None, tile_n: int | None = None,
              out: torch.Tensor | None = None) -> torch.Tensor:
    """The transpose of x by transpose_kernel, one program for each tile of x; axis 0 of the grid goes down x.

    x: (m, n), contiguous, of any dtype. out: (n, m), contiguous, allocated if not given.
    tile_m, tile_n: rows and columns of a tile of x, powers of two; TILE_ROW bytes of elements if not given.
    """
    (m, n), side = x.shape, TILE_ROW // x.element_size()
    tile_m, tile_n = tile_m or side, tile_n or side
    out = torch.empty((n, m), dtype=x.dtype, device=x.device) if out is None else out
    grid = (triton.cdiv(m, tile_m), triton.cdiv(n, tile_n))
    transpose_kernel[grid](x, out, m, n, TILE_M=tile_m, TILE_N=tile_n)
    return out


def predict_sectors(m: int, n: int, itemsize: int, tile_m: int, tile_n: int) -> int:
    """Sectors that transpose loads and stores, of an (m, n) matrix in elements of itemsize bytes.

    m is a multiple of tile_m, n one of tile_n; all rows of x and of out begin sectors.
    """
    loads = m * (n // tile_n) * triton.cdiv(tile_n * itemsize, SECTOR)   # each row of each tile
    stores = n * (m // tile_m) * triton.cdiv(tile_m * itemsize, SECTOR)  # each column of each tile
    return loads + stores
