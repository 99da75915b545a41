"""Week 1, kata: elementwise kernels

Challenge
    Write scale, ReLU and SAXPY as CUDA kernels and as Triton kernels. All six are short. A first attempt is
    usually wrong in three places: past the last element, at a NaN, and in the type of a constant.

        n = 6, blocks of 4                                 two of block 1 have no element
        x            -2    3    nan  -inf |  5   -7    .    .
        relu(x)       0    3    nan   0   |  5    0    .    .
        fmax(x, 0)    0    3    0     0   |  5    0    .    .       the NaN is lost

Explore
    ./course python -c "nan = float('nan'); print(nan < 0, nan > 0, max(nan, 0), max(0, nan))"
    The last two differ. Which comparison explains both? And what does torch.relu say of NaN?

Concept
    Elementwise: result i needs element i of each input and nothing else. So there is no order, no waiting and no
    sharing, and out may be one of the inputs. There is little to compute: memory is the limit.
    CUDA and Triton: a CUDA kernel says what one thread does with one element. A Triton kernel says what one
    program does with a block, and the compiler deals the block out to threads, 16 bytes to each at a time. Bytes
    and sectors are the same.
    NaN: every comparison with NaN is false. The maximum of the hardware gives the other number, because fmax is
    defined that way; PyTorch passes the NaN on, so that the mistake that made it shows. To keep it, ask whether
    x < 0 and take x wherever that is false.
    Choosing: in CUDA, `x if condition else y` gives each lane a value of its own without sending it another way, as
    an if above two stores would. In Triton, tl.where(condition, x, y) does so for each element of a block.
    Types: in a CUDA kernel 0.0 is float64, and what is computed with it becomes float64. In Triton a constant
    takes the type of the block that it meets. A float32 factor times float16 elements is float32 in both; the
    store rounds it to float16.
    Fusion: relu(saxpy(...)) writes sums to memory only to read them again. A fused kernel keeps them in
    registers, the memory of a single thread.

Code it
    Task 1  cuda_scale_kernel, cuda_relu_kernel, cuda_saxpy_kernel: one thread, one element       (ten lines)
    Task 2  triton_scale_kernel, triton_relu_kernel, triton_saxpy_kernel: one program, a block (fifteen lines)
    Task 3  predict_bytes; fused_kernel and fused: relu(a * x + y) in one launch                   (ten lines)

Verify
    pytest week1/katas/elementwise     then: ./course quiz week1/katas/elementwise
    Reflect: a network is a long row of such kernels between its products. Which of them would you fuse with what?

Simulated without a GPU: results, bounds, bytes, sectors and lanes are exact, and the compilers are the real ones.
Time is not simulated.
"""

import tools.gpu  # a real GPU or a simulated one; before triton

import numpy as np
import torch
import triton
import triton.language as tl
from tools.gpu import cuda

THREADS = 256  # of a block, in CUDA
BLOCK = 1024   # elements of a program, in Triton


# Task 1
@cuda.jit
def cuda_scale_kernel(a, x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i]


@cuda.jit
def cuda_relu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]  # loaded once
        out[i] = np.float32(0) if value < np.float32(0) else value


@cuda.jit
def cuda_saxpy_kernel(a, x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = a * x[i] + y[i]


def blocks_for(x: torch.Tensor) -> int:
    """Blocks of THREADS threads with a thread for each element; at least one. Given."""
    return max(1, triton.cdiv(x.numel(), THREADS))


def cuda_scale(a: float, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x by cuda_scale_kernel, computed in float32. Given, as are the two below.

    x: float32 or float16 of any shape, contiguous. out: likewise, allocated if not given. It may be x itself.
    """
    out = torch.empty_like(x) if out is None else out
    cuda_scale_kernel[blocks_for(x), THREADS](np.float32(a), x.view(-1), out.view(-1))
    return out


def cuda_relu(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x where it is not negative, else 0, by cuda_relu_kernel; NaN stays NaN. Arguments as for cuda_scale."""
    out = torch.empty_like(x) if out is None else out
    cuda_relu_kernel[blocks_for(x), THREADS](x.view(-1), out.view(-1))
    return out


def cuda_saxpy(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x + y by cuda_saxpy_kernel, computed in float32.

    x, y: float32 or float16 of one shape, contiguous. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    cuda_saxpy_kernel[blocks_for(x), THREADS](np.float32(a), x.view(-1), y.view(-1), out.view(-1))
    return out


# Task 2
@triton.jit
def triton_scale_kernel(a, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    tl.store(out_ptr + mine, a * x, mask=exists)


@triton.jit
def triton_relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    tl.store(out_ptr + mine, tl.where(x < 0, 0, x), mask=exists)


@triton.jit
def triton_saxpy_kernel(a, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    y = tl.load(y_ptr + mine, mask=exists)
    tl.store(out_ptr + mine, a * x + y, mask=exists)


def triton_scale(a: float, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x by triton_scale_kernel, computed in float32. Given, as are the two below.

    x: float32, float16 or bfloat16 of any shape, contiguous. out: likewise, allocated if not given. It may be x itself.
    """
    out = torch.empty_like(x) if out is None else out
    triton_scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](a, x, out, x.numel(), BLOCK=BLOCK)
    return out


def triton_relu(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x where it is not negative, else 0, by triton_relu_kernel; NaN stays NaN. Arguments as for triton_scale."""
    out = torch.empty_like(x) if out is None else out
    triton_relu_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
    return out


def triton_saxpy(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x + y by triton_saxpy_kernel, computed in float32.

    x, y: float32, float16 or bfloat16 of one shape, contiguous. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    triton_saxpy_kernel[(triton.cdiv(x.numel(), BLOCK),)](a, x, y, out, x.numel(), BLOCK=BLOCK)
    return out


# Task 3
def unfused(a: float, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """relu(a * x + y) in two launches, triton_saxpy's and triton_relu's. Given; arguments as for triton_saxpy."""
    return triton_relu(triton_saxpy(a, x, y))


def predict_bytes(n: int, itemsize: int) -> tuple[int, int]:
    """(bytes of unfused, bytes of fused) for n elements: what they load from global memory and store there, added up.

    itemsize: bytes of an element.
    """
    return 5 * n * itemsize, 3 * n * itemsize


@triton.jit
def fused_kernel(a, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exists = mine < n
    x = tl.load(x_ptr + mine, mask=exists)
    y = tl.load(y_ptr + mine, mask=exists)
    sums = a * x + y
    tl.store(out_ptr + mine, tl.where(sums < 0, 0, sums), mask=exists)


def fused(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """relu(a * x + y) in one launch of fused_kernel, computed in float32.

    x, y: float32, float16 or bfloat16 of one shape, contiguous. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    fused_kernel[(triton.cdiv(x.numel(), BLOCK),)](a, x, y, out, x.numel(), BLOCK=BLOCK)
    return out
