"""Week 2, day 5: the copy engine (TMA)

Challenge
    Copy a matrix and, in a second sitting, tasks 4 to 6, multiply two, without one pointer or mask. One thread hands a
    *box* to the copy engine, the Tensor Memory Accelerator of each SM since Hopper; it finds addresses and edges.

                    32       32           x: 20 rows, 40 columns, float32; boxes of 16 x 32
               +----------+--+.......
            16 |    0     | 1|      :     Box 3 begins at row 16 and column 32. It has 16 x 32 places, which
               |          |  |      :     take 2048 bytes of shared memory. Of them 4 x 8 exist in x: the copy
               +----------+--+......:     moves 128 bytes of global memory, and fills the other places with
             4 |    2     | 3|      :     zeros. A store drops what lies in those places.
               +----------+--+      :
               :..........:..:......:

Explore
    ./course python -c "import torch; x = torch.ones(9, 6); print(x.stride(), x.data_ptr()%16, x[:, 1:].data_ptr()%16)"
    Multiply the first stride by the 4 bytes of a float32. Which rule does x break? Which does x[:, 1:] break first?

Concept
    Descriptor: what the engine knows of a tensor: address, shape, strides, box. A legal one keeps these rules:
        1 "rank"      1 to 5 axes                           5 "last stride"   1
        2 "element"   of 1, 2, 4 or 8 bytes                 6 "stride"        all others: multiples of 16 bytes
        3 "address"   a multiple of 16 bytes                7 "box side"      each from 1 to 256 elements
        4 "shape"     each length at least 1                8 "box row"       last side: a multiple of 16 bytes
    They are the hardware's. In Triton each side is also a power of two, and the compiler may cut a box into several.
    On the host: TensorDescriptor.from_tensor(x, [BOX_M, BOX_N]) or (x, box), passed like a tensor. In a kernel
    x_desc.load([row, col]) is the box that begins there, x_desc.store([row, col], value) stores one, and
    x_desc.dtype is the type of its elements. row and col count elements, not boxes; col * itemsize % 16 is 0.
    In the kernel: tl.make_tensor_descriptor(base_ptr, shape=[m, n], strides=[row_stride, 1], block_shape=[...]) is
    for a shape that only the kernel knows. Each program then writes its descriptor to memory that the launch gets
    from triton.set_allocator. Where the host knows the shape, as in tasks 3 and 4, the programs only use it.
    Legal rows: x[:, :40] of a matrix with 64 columns is legal, stride 64; empty_rows, given below, makes such rows.
    Registers: a box does not pass through them on its way to shared memory, and no thread computes its addresses.
    tl.dot(a, b, acc) takes bfloat16 or float16 from there, and adds up in float32. acc.to(out's dtype) rounds, once.
    Of the last step along k the places beyond the end are zeros in both boxes: their products add nothing.
    Stages: with num_stages=3 in the launch, beside num_warps, three boxes each of a and b have a place; one is
    multiplied while others arrive. Triton makes stages of `for start in range(...)`, and none of a `while`.
    Multicast: programs in one row of tiles load the same boxes of a. Blocks that form a *cluster*, on SMs near each
    other, can take such a box by one copy that is sent to all: the bytes cross from L2 once. Triton (3.7) makes no
    multicast of this kernel, not even with programs of two blocks each. What it would gain was not measured.
    Block pointers, tl.make_block_ptr in older code, name the same things: shape, strides, place, box. They become
    pointers and masks, and are deprecated. On a GPU before Hopper so do descriptors: right, an element at a time.

Code it
    Task 1  box_bytes: what a box takes of shared memory, and what it moves  (two to five lines)
    Task 2  broken_rule: the first of the eight rules that is broken; two given   (eleven lines)
    Task 3  copy_kernel and copy: a box in, the same box out                      (eleven lines)
    Task 4  matmul_kernel and matmul: the product of week 1, day 7, by boxes    (eighteen lines)
    Task 5  pad_kernel: given, and it takes rows of the next sequence; repair it     (two lines)
    Task 6  predict_traffic: the bytes of matmul, and what multicast would save      (two lines)

Verify
    pytest week2/day5                  then: ./course quiz week2/day5
    Reflect: which lines of week 1's kernels have gone? Who does their work now, and what may x no longer be?

Simulated without a GPU: results, bounds and bytes are exact. The compiler is the real one, for Hopper and for older
GPUs. Time is not simulated.
"""

import math

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BOX = 16, 256                         # rows and columns of a box of copy: 16 KiB of float32
TILE_M, TILE_N, TILE_K = 128, 256, 64  # of matmul: results of a program, and its steps along k
ROWS, COLS = 16, 32                   # of a box of pad_sequences


def empty_rows(rows: int, cols: int, like: torch.Tensor) -> torch.Tensor:
    """A matrix with the dtype and device of `like`, each row of which begins at a multiple of 16 bytes."""
    apart = triton.cdiv(cols * like.element_size(), 16) * 16 // like.element_size()
    return torch.empty((rows, apart), dtype=like.dtype, device=like.device)[:, :cols]


# Task 1
def box_bytes(shape: tuple[int, ...], offset: tuple[int, ...], box: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Bytes of shared memory that a box takes, and bytes of global memory that its copy moves.

    shape: of the tensor. offset: where the box begins along each axis, in elements; it may be negative.
    box: its sides. itemsize: bytes of an element. math.prod multiplies the numbers of a list.
    """
    raise NotImplementedError("week2/day5 task 1: box_bytes")


# Task 2
def broken_rule(address: int, shape: tuple[int, ...], strides: tuple[int, ...], box: tuple[int, ...],
                itemsize: int) -> str:
    """The name of the first rule that a descriptor breaks, "" if it is legal: "rank", "element", "address", ...

    The order is that of the lesson, 1 to 8. shape, strides and box are equally long.
    address: in bytes. strides: in elements, as PyTorch counts them: one of 40 in float32 is 40 * 4 = 160 bytes.
    """
    if not 1 <= len(shape) <= 5:
        return "rank"
    if itemsize not in (1, 2, 4, 8):
        return "element"
    raise NotImplementedError("week2/day5 task 2: broken_rule")


def descriptor_is_legal(x: torch.Tensor, box: tuple[int, ...]) -> bool:
    """Can the copy engine take boxes of x?"""
    return not broken_rule(x.data_ptr(), tuple(x.shape), x.stride(), box, x.element_size())


# Task 3
@triton.jit
def copy_kernel(x_desc, out_desc, boxes_across, BOX_M: tl.constexpr, BOX_N: tl.constexpr):
    pass  # where my box begins; load it; store it


def copy(x: torch.Tensor, *, box: tuple[int, int] = BOX, out: torch.Tensor | None = None) -> torch.Tensor:
    """A copy of x by copy_kernel, one program for each box, counted row by row. The host makes the descriptors.

    x: (m, n), legal for boxes of these sides, but m or n may be 0: then nothing is launched.
    out: the same; made by empty_rows if not given.
    """
    m, n = x.shape
    out = empty_rows(m, n, x) if out is None else out
    raise NotImplementedError("week2/day5 task 3: copy")


# Task 4
@triton.jit
def matmul_kernel(a_desc, b_desc, out_desc, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    pass  # how many tiles across (tl.cdiv); where mine begins; for each step of k load two boxes and multiply; store


def matmul(a: torch.Tensor, b: torch.Tensor, *, tile_m: int = TILE_M, tile_n: int = TILE_N, tile_k: int = TILE_K,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """a @ b by matmul_kernel, one program for each tile of the result, counted row by row; 8 warps, 3 stages.

    a: (m, k), b: (k, n), both bfloat16 or both float16, legal for boxes of these sides; k at least 1.
    m or n may be 0: then nothing is launched. tile_m, tile_n, tile_k: powers of two from 16.
    out: (m, n), legal; made by empty_rows if not given.
    """
    (m, k), n = a.shape, b.shape[1]
    out = empty_rows(m, n, a) if out is None else out
    raise NotImplementedError("week2/day5 task 4: matmul")


# Task 5
@triton.jit
def pad_kernel(x_ptr, starts_ptr, out_ptr, longest, n, ROWS: tl.constexpr, COLS: tl.constexpr):
    """One box of one sequence: rows of x while the sequence has any, then zeros."""
    sequence = tl.program_id(0)
    row, col = tl.program_id(1) * ROWS, tl.program_id(2) * COLS
    start = tl.load(starts_ptr + sequence)
    x_desc = tl.make_tensor_descriptor(
        x_ptr + start * n, shape=[longest, n], strides=[n, 1], block_shape=[ROWS, COLS])
    out_desc = tl.make_tensor_descriptor(
        out_ptr + sequence * longest * n, shape=[longest, n], strides=[n, 1], block_shape=[ROWS, COLS])
    out_desc.store([row, col], x_desc.load([row, col]))


def scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    """Memory for the descriptors that the programs of one launch make."""
    return torch.empty(size, dtype=torch.int8, device=tools.gpu.device)


def pad_sequences(x: torch.Tensor, starts: torch.Tensor, longest: int) -> torch.Tensor:
    """Sequences that follow each other in x, one above the other in a result of their own each, zeros below.

    x: (rows, n) float32, contiguous, n a multiple of 4. starts: int32, the row at which each sequence begins, and at
    last the row at which the last one has ended. A sequence has at least 1 row, at most `longest`.
    The result: (sequences, longest, n).
    """
    sequences, n = len(starts) - 1, x.shape[1]
    out = torch.empty((sequences, longest, n), dtype=x.dtype, device=x.device)
    triton.set_allocator(scratch)
    pad_kernel[(sequences, triton.cdiv(longest, ROWS), triton.cdiv(n, COLS))](
        x, starts, out, longest, n, ROWS=ROWS, COLS=COLS)
    return out


# Task 6
def predict_traffic(m: int, n: int, k: int, tile_m: int, tile_n: int, itemsize: int, cluster: int = 1) -> int:
    """Bytes that matmul asks of L2, loads and stores together, for elements of `itemsize` bytes.

    Places of a box that do not exist cost nothing.
    cluster: so many programs that are neighbours in one row of tiles load each box of a by one multicast; 1 is the
    kernel of task 4. The last cluster of a row may have fewer programs; it loads its box of a once all the same.
    """
    raise NotImplementedError("week2/day5 task 6: predict_traffic")
