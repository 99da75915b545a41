"""The smallest proof that a library works here: add 1 to the numbers 0 to 7, on the GPU where there is one.

Broken pairs of libraries have been seen to import well and then return zeros: importing proves nothing.
"""

import os
import textwrap
from collections.abc import Callable
from functools import cache
from unittest import mock

from tools import gpu

RIGHT = "1 2 3 4 5 6 7 8"
LONGEST = 80  # so that the doctor's words about it stay within five lines


@cache
def ask(library: str) -> str:
    """What `library` answers: RIGHT if all is well, other numbers, or its error, cut to LONGEST characters."""
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
    # Whether a kernel is compiled or interpreted, Triton decides where the kernel is defined.
    with mock.patch.dict(os.environ, {"TRITON_INTERPRET": "0" if gpu.card() else "1"}):
        global tl  # a kernel looks names up in its module
        import torch
        import triton
        import triton.language as tl

        @triton.jit
        def add_one(x_ptr, SIZE: tl.constexpr):
            mine = tl.arange(0, SIZE)
            tl.store(x_ptr + mine, tl.load(x_ptr + mine) + 1)

        x = torch.arange(8, device=gpu.device)
        add_one[(1,)](x_ptr=x, SIZE=8)
        return x.tolist()


def _cupy() -> list[int]:
    import cupy

    return (cupy.arange(8) + 1).tolist()  # compiles a kernel, so it needs CuPy's compiler too


SELF_TESTS: dict[str, Callable[[], list[int]]] = {
    "numpy": _numpy, "torch": _torch, "triton": _triton, "cupy": _cupy,
}  # fmt: skip
