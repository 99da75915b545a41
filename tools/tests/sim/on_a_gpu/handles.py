"""What launches of Triton's say of compiled kernels and of refusals, here or on a GPU: two outputs to lay side by side.

COURSE_SIM=1 python -m tools.tests.sim.on_a_gpu.handles > here.txt; python -m tools.tests.sim.on_a_gpu.handles
"""

import tools.gpu  # noqa: F401  # isort: skip
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x + 1, mask=i < n)


@triton.jit
def softmax(x_ptr, y_ptr, columns, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * columns + tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + i, mask=tl.arange(0, COLUMNS) < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + i, e / tl.sum(e, 0), mask=tl.arange(0, COLUMNS) < columns)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows, columns, steps = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, STEP):
        a = tl.load(a_ptr + rows[:, None] * K + k + steps)
        b = tl.load(b_ptr + (k + steps)[:, None] * N + columns)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns, total)


@triton.jit
def described(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [16, 16])
    y = tl.make_tensor_descriptor(y_ptr, [N, N], [N, 1], [16, 16])
    y.store([0, 0], x.load([16, 16]))


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype, device=tools.gpu.device)


def launch_product(m: int, n: int, step: int, dtype: torch.dtype = torch.float16, **options: Any) -> Any:
    a, b, c = zeros(m, 256, dtype=dtype), zeros(256, n, dtype=dtype), zeros(m, n)
    return product[(1,)](a, b, c, 256, M=m, N=n, STEP=step, **options)


def launch_add(**options: Any) -> Any:
    return add[(1,)](zeros(1000), zeros(1000), 1000, BLOCK=1024, **options)


def autotuned(configs: list[triton.Config]) -> Any:
    kernel = triton.autotune(configs, key=["K"])(triton.jit(product.fn))
    a, b, c = zeros(256, 256, dtype=torch.float16), zeros(256, 256, dtype=torch.float16), zeros(256, 256)
    handle = kernel[(1,)](a, b, c, 256, M=256, N=256)
    print(kernel.best_config, end=" ")
    return handle


def config(step: int, **options: int) -> triton.Config:
    return triton.Config({"STEP": step}, **options)


SHOWN: dict[str, Callable[[], Any]] = {
    **{f"add, {warps} warps": lambda warps=warps: launch_add(num_warps=warps) for warps in (1, 4, 8)},
    "softmax": lambda: softmax[(4,)](zeros(4, 1000), zeros(4, 1000), 1000, COLUMNS=1024),
    "softmax, 1 warp": lambda: softmax[(4,)](zeros(4, 4000), zeros(4, 4000), 4000, COLUMNS=4096, num_warps=1),
    "product": lambda: launch_product(64, 64, 32),
    "product, 4 stages": lambda: launch_product(128, 128, 32, num_stages=4),
    "product, 8 warps": lambda: launch_product(128, 256, 64, num_warps=8),
    "product, spills": lambda: launch_product(128, 256, 32, dtype=torch.float32, num_warps=4),
    "product, 1 warp": lambda: launch_product(128, 128, 32, num_warps=1),
    "too much shared memory": lambda: launch_product(256, 256, 256, num_stages=3),
    "three warps": lambda: launch_add(num_warps=3),
    "64 warps": lambda: launch_add(num_warps=64),
    "an unknown option": lambda: launch_add(num_wraps=4),
    "no BLOCK": lambda: add[(1,)](zeros(10), zeros(10), 10),
    "a NumPy array": lambda: add[(1,)](zeros(10).cpu().numpy(), zeros(10), 10, BLOCK=16),
    "a descriptor without an allocator": lambda: described[(1,)](zeros(32, 32), zeros(32, 32), N=32),
    "autotune, one too large": lambda: autotuned([config(256, num_stages=3), config(32, num_stages=2, num_warps=8)]),
    "autotune, none fits": lambda: autotuned([config(256, num_stages=3), config(256, num_stages=4)]),
}


def said(launch: Callable[[], Any]) -> str:
    """The figures of the compiled kernel, or the class and first line of what was raised."""
    try:
        kernel = launch()
        kernel._init_handles()
        return f"registers {kernel.n_regs}, spills {kernel.n_spills}, shared {kernel.metadata.shared}"
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0][:150]}"


if __name__ == "__main__":
    for name, launch in SHOWN.items():
        print(f"{name}: {said(launch)}", flush=True)
