"""Week 1, kata: elementwise kernels

Challenge
    Scale, ReLU and SAXPY, each as a CUDA kernel and as a Triton kernel. All six are easy, and a first attempt is
    wrong in the places where nobody looks: behind the last element, at a NaN, and in the type of a constant.

        n = 6, blocks of 4                                 two of block 1 have no element
        x            -2    3    nan  -inf |  5   -7    .    .
        relu(x)       0    3    nan   0   |  5    0    .    .
        fmax(x, 0)    0    3    0     0   |  5    0    .    .       a NaN is gone: who will notice now?

Explore
    python -c "nan = float('nan'); print(nan < 0, nan > 0, max(nan, 0), max(0, nan))"
    The last two differ. Which comparison would explain both? And what does torch.relu say of NaN?

Concept
    Elementwise: result i needs element i of each input, and nobody else does. So no order, no waiting, no sharing,
    and out may be one of the inputs. There is little to compute: memory is the limit.
    CUDA says what one thread does with its element, Triton what one program does with a block of them, and its
    compiler deals those out, 16 bytes a thread. The same bytes and sectors move.
    NaN: every comparison with it is false. The maximum of the hardware prefers the number, because that is what
    fmax means; PyTorch passes NaN on, so that an error upstream shows. Choose the comparison for whose sake a NaN
    stays: if x < 0 is false, what is left is x.
    Types: in a CUDA kernel 0.0 is float64, and drags its neighbours along. In Triton a constant takes the type of
    what it meets. A float32 factor times float16 elements is float32 in both; the store rounds, once.
    One after the other: relu(saxpy(...)) writes a result only to read it again. Fused, it stays in registers.

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
    pass  # which element is mine, does it exist; load, compute, store


@cuda.jit
def cuda_relu_kernel(x, out):
    pass


@cuda.jit
def cuda_saxpy_kernel(a, x, y, out):
    pass


def blocks_for(x: torch.Tensor) -> int:
    """Blocks of THREADS threads with a thread for each element; at least one. Given."""
    return max(1, triton.cdiv(x.numel(), THREADS))


def cuda_scale(a: float, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x, computed in float32. Given, as are the two below.

    x, y: float32 or float16, of one shape, contiguous, on one device. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    cuda_scale_kernel[blocks_for(x), THREADS](np.float32(a), x.view(-1), out.view(-1))
    return out


def cuda_relu(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x where it is not negative, else 0; NaN stays NaN."""
    out = torch.empty_like(x) if out is None else out
    cuda_relu_kernel[blocks_for(x), THREADS](x.view(-1), out.view(-1))
    return out


def cuda_saxpy(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x + y, computed in float32."""
    out = torch.empty_like(x) if out is None else out
    cuda_saxpy_kernel[blocks_for(x), THREADS](np.float32(a), x.view(-1), y.view(-1), out.view(-1))
    return out


# Task 2
@triton.jit
def triton_scale_kernel(a, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass  # which elements are mine, which exist; load, compute, store


@triton.jit
def triton_relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


@triton.jit
def triton_saxpy_kernel(a, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


def triton_scale(a: float, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x, computed in float32. Given, as are the two below.

    x, y: float32, float16 or bfloat16, of one shape, contiguous, on one device. out: likewise, allocated if not given.
    """
    out = torch.empty_like(x) if out is None else out
    triton_scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](a, x, out, x.numel(), BLOCK=BLOCK)
    return out


def triton_relu(x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """x where it is not negative, else 0; NaN stays NaN."""
    out = torch.empty_like(x) if out is None else out
    triton_relu_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, out, x.numel(), BLOCK=BLOCK)
    return out


def triton_saxpy(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """a * x + y, computed in float32."""
    out = torch.empty_like(x) if out is None else out
    triton_saxpy_kernel[(triton.cdiv(x.numel(), BLOCK),)](a, x, y, out, x.numel(), BLOCK=BLOCK)
    return out


# Task 3
def unfused(a: float, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """relu(a * x + y), one launch after the other. Given: to compare with."""
    return triton_relu(triton_saxpy(a, x, y))


def predict_bytes(n: int, itemsize: int) -> tuple[int, int]:
    """Bytes of global memory that are loaded and stored for n elements: by unfused, and by fused."""
    raise NotImplementedError("week1/katas/elementwise task 3: predict_bytes")


@triton.jit
def fused_kernel(a, x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pass


def fused(a: float, x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """relu(a * x + y) in one launch of fused_kernel. Arguments as for triton_saxpy."""
    out = torch.empty_like(x) if out is None else out
    raise NotImplementedError("week1/katas/elementwise task 3: fused")
