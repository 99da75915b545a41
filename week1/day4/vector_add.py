"""Week 1, day 4: your first Triton kernel

Challenge
    Add two vectors with a Triton kernel. A Triton kernel has no loop over the elements: its lines say what one
    *program* does with one block of elements, and a launch starts as many programs as there are blocks.

        x:        0  1  2  3 | 4  5  6  7 | 8  9  .  .      n = 10, BLOCK = 4
        program:       0     |      1     |      2          3 programs; the last block is half empty

Explore
    ./course python -c "import numpy as np; print(np.arange(12).reshape(3, 4))"
    Row p is the block of program p. Which positions do not exist when n = 10? What if n were 12, or 1?
    ./course week1/day4/explore_linear_index.py    Where does [row, col] lie, at which strides?

Concept
    Kernels: @triton.jit makes one of a function. tl.constexpr marks what is known when it is compiled, such as BLOCK.
    Programs: tl.program_id(0) is the number of a program, and the only thing that differs between programs. In the
    words of day 3, 4 warps run a program, as long as a launch names no other num_warps: of 1024 elements each of
    128 threads has 8.
    Blocks: tl.arange(0, BLOCK) is the block 0, 1, ..., BLOCK - 1, and arithmetic works on whole blocks. So the
    elements of program p are at p * BLOCK + tl.arange(0, BLOCK). BLOCK is a power of two.
    Masks: some positions of the last block lie past the end of the vector. A mask is a block of True and False
    that says which positions exist, such as positions < n.
    Memory: tl.load(x_ptr + positions, mask=mask) brings the elements at these positions. Where the mask is False
    nothing is read: what you get there is arbitrary, and no result may depend on it. tl.store(out_ptr + positions,
    values, mask=mask) writes only where the mask is True. Memory sends sectors of 32 bytes, 8 float32: they are
    used up where neighbours of a block are neighbours in memory.
    Launch: add_kernel[(programs,)](x, y, out, n, BLOCK=block) starts that many programs; a tensor arrives as the
    pointer to its first element. x.numel() elements take triton.cdiv(x.numel(), block) programs: cdiv rounds up.
    Of no elements it makes 0 programs, and Triton starts none, where CUDA of day 3 refuses an empty grid: no
    special case is needed.
    Matrices: in a row-major matrix the rows lie one after the other, so element [row, col] is at
    row * n_cols + col. In a view of it, such as a transpose or every second column, it is at
    row * row_stride + col * col_stride; so it is in an out of any strides. x.stride() of PyTorch gives both strides,
    in elements (NumPy's are in bytes); in a call, *x.stride() passes both. // and % work on whole blocks, too: they
    give the row and column of each position, as in task 1.

Code it
    Task 1  linear_index and coordinate: the row-major rule, both ways               (two lines)
    Task 2  add_kernel and vector_add: which elements are mine, which exist; then    (eight lines)
            how many programs, and launch
    Task 3  add_2d_kernel and add_2d: the same for matrices of any strides            (nine lines)
    Task 4  predict_traffic: bytes read and written, before you look                    (one line)

Verify
    pytest week1/day4                  then: ./course quiz week1/day4
    Reflect: the kernel moves 12 bytes for each addition. What limits it, arithmetic or memory?

Simulated without a GPU: results, bounds and traffic are exact. Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import torch
import triton
import triton.language as tl

BLOCK = 1024  # elements of one program: 4 KiB of float32 for each load


# Task 1
def linear_index(row: int, col: int, n_cols: int) -> int:
    """Position of element [row, col] in a row-major matrix with n_cols columns: its first element is at 0."""
    raise NotImplementedError("week1/day4 task 1: linear_index")


def coordinate(index: int, n_cols: int) -> tuple[int, int]:
    """The (row, col) of the element at position index of a row-major matrix with n_cols columns."""
    raise NotImplementedError("week1/day4 task 1: coordinate")


# Task 2
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass  # the positions of this program's block, which of them exist; load, add, store


def vector_add(x: torch.Tensor, y: torch.Tensor, *, block: int = BLOCK,
               out: torch.Tensor | None = None) -> torch.Tensor:
    """x + y by add_kernel, one program for each block of `block` elements.

    x: (n,), y: (n,), float32, contiguous, on one device. block: a power of two, elements of one program.
    out: (n,) float32, contiguous, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    raise NotImplementedError("week1/day4 task 2: vector_add")


# Task 3
@triton.jit
def add_2d_kernel(x_ptr, y_ptr, out_ptr, n, n_cols, x_row_stride, x_col_stride, y_row_stride, y_col_stride,
                  out_row_stride, out_col_stride, BLOCK: tl.constexpr):
    pass  # positions and mask as in add_kernel, n is rows * columns; row and column; where they are in each


def add_2d(x: torch.Tensor, y: torch.Tensor, *, block: int = BLOCK,
           out: torch.Tensor | None = None) -> torch.Tensor:
    """x + y by add_2d_kernel, one program for each block of `block` elements, counted row by row.

    x: (n_rows, n_cols), y: (n_rows, n_cols), float32 of any strides, on one device; neither is copied.
    block: a power of two, elements of one program.
    out: (n_rows, n_cols) float32 of any strides; allocated row-major if not given.
    """
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device) if out is None else out
    raise NotImplementedError("week1/day4 task 3: add_2d")


# Task 4
def predict_traffic(n: int) -> int:
    """Bytes of the elements that vector_add loads and stores, for vectors of n float32 elements."""
    raise NotImplementedError("week1/day4 task 4: predict_traffic")
