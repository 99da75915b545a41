"""The smallest proof that a library works here: add 1 to the numbers 0 to 7, on the GPU where there is one.

Broken pairs of libraries have been seen to import well and then return zeros: importing proves nothing.
`python -m tools.doctor.self_tests NAME ...` runs them in a process that may crash.
"""

import sys
import textwrap
import warnings
from collections.abc import Callable
from functools import cache

from tools import gpu

RIGHT = "1 2 3 4 5 6 7 8"
COMPILED = "machine code"  # what compilers answer: no GPU need be here to run it
LONGEST = 80  # so that the doctor's words about it stay within five lines


@cache
def ask(library: str) -> str:
    """The answer of `library`: RIGHT if all is well, other numbers, or its error, cut to LONGEST characters."""
    try:
        return " ".join(str(number) for number in SELF_TESTS[library]())
    except Exception as error:  # whatever goes wrong is the answer
        return textwrap.shorten(f"{type(error).__name__}: {error}", LONGEST, placeholder=" ...")


def _numpy() -> list[int]:
    import numpy as np

    return (np.arange(8) + 1).tolist()


def _torch() -> list[int]:
    import torch

    return (torch.arange(8, device=gpu.device) + 1).tolist()


def _triton() -> list[int]:
    global tl  # a kernel looks names up in its module
    import torch
    import triton
    import triton.language as tl

    with triton.knobs.runtime.scope():
        triton.knobs.runtime.interpret = gpu.card() is None  # Triton decides where the kernel is defined

        @triton.jit
        def add_one(x_ptr, SIZE: tl.constexpr):  # type: ignore[no-untyped-def, name-defined]
            mine = tl.arange(0, SIZE)
            tl.store(x_ptr + mine, tl.load(x_ptr + mine) + 1)

        x = torch.arange(8, device=gpu.device)
        add_one[(1,)](x_ptr=x, SIZE=8)
        return x.tolist()


def _cupy() -> list[int]:
    import cupy

    return (cupy.arange(8) + 1).tolist()  # compiles a kernel, so it needs CuPy's compiler too


# The simulators; on a machine with a GPU in a process that simulates ------------------------------


def _cuda_simulator() -> list[int]:
    import numpy as np

    from tools.sim import cuda

    @cuda.jit
    def add_one(x):  # type: ignore[no-untyped-def]
        mine = cuda.grid(1)
        if mine < x.size:
            x[mine] += 1

    x = cuda.to_device(np.arange(8))
    add_one[2, 4](x)
    return x.copy_to_host().tolist()


def _cupy_stand_in() -> list[int]:
    from tools.sim import cupy

    return cupy.asnumpy(cupy.arange(8) + 1).tolist()


def _raw_kernel() -> list[int]:
    from tools.sim import cupy

    code = 'extern "C" __global__ void add_one(long long* x) { x[threadIdx.x] += 1; }'
    x = cupy.arange(8)
    cupy.RawKernel(code, "add_one")((1,), (8,), (x,))
    return cupy.asnumpy(x).tolist()


def _compilers() -> list[str]:
    """NVIDIA's: Numba's kernels through NVVM, CUDA C++ through NVRTC, both to the machine code of some GPU."""
    from tools.compiler import nvrtc
    from tools.compiler.numba import code
    from tools.models.chips import chip
    from tools.sim import cuda

    @cuda.jit
    def add_one(x):  # type: ignore[no-untyped-def]
        x[cuda.grid(1)] += 1

    code.assemble(code.compile_kernel(code.compiler(), add_one, (cuda.int64[::1],), chip("h100")))
    nvrtc.compiled(nvrtc.Source('extern "C" __global__ void add_one(long long* x) { x[threadIdx.x] += 1; }', "add_one"))
    return [COMPILED]


SELF_TESTS: dict[str, Callable[[], list]] = {
    "numpy": _numpy, "torch": _torch, "triton": _triton, "cupy": _cupy,
    "interpreter": _triton, "cuda simulator": _cuda_simulator, "cupy stand-in": _cupy_stand_in,
    "raw kernel": _raw_kernel, "compilers": _compilers,
}  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # that eight numbers are too few for a GPU
    for library in sys.argv[1:]:
        print(library, ask(library), sep="\t", flush=True)
