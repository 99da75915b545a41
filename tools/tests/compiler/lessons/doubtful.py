"""Kernels that a learner may well write. Triton's interpreter runs most of them; the compiler does not."""

import torch
import triton
import triton.language as tl


@triton.jit
def arange_of_an_argument(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, n), 1.0)


@triton.jit
def small_dot(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 4)
    tile = tl.zeros((4, 4), tl.float32)
    tl.store(out_ptr + i[:, None] * 4 + i[None, :], tl.dot(tile, tile))


@triton.jit
def python_list(out_ptr, n, BLOCK: tl.constexpr):
    total = 0.0
    for value in [1.0, 2.0]:
        total += value
    tl.store(out_ptr, total)


@triton.jit
def python_dict(out_ptr, n, BLOCK: tl.constexpr):
    values = {"a": 1.0}
    tl.store(out_ptr, values["a"])


@triton.jit
def type_changes_in_a_loop(out_ptr, n, BLOCK: tl.constexpr):
    total = 0
    for i in range(0, n):
        total += tl.load(out_ptr + i)
    tl.store(out_ptr, total)


@triton.jit
def break_in_a_loop(out_ptr, n, BLOCK: tl.constexpr):
    for i in range(0, n):
        if i > 3:
            break
        tl.store(out_ptr + i, 1.0)


@triton.jit
def index_into_a_tile(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK)
    tl.store(out_ptr, tile[3].to(tl.float32))


@triton.jit
def branches_of_two_types(out_ptr, n, BLOCK: tl.constexpr):
    if n > 3:
        value = 1
    else:
        value = 2.5
    tl.store(out_ptr, value)


@triton.jit
def condition_on_a_tile(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK)
    if tile > 2:
        tl.store(out_ptr, 1.0)


@triton.jit
def print_of_an_f_string(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK)
    print(f"tile={tile}")
    tl.store(out_ptr + tile, 1.0)


@triton.jit
def shapes_that_do_not_fit(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.zeros((BLOCK // 2,), tl.float32))


@triton.jit
def failing_assert(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK)
    assert tile < 0, "never true"
    tl.store(out_ptr + tile, 1.0)


@triton.jit
def too_much_shared_memory(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 256)
    tile = tl.load(out_ptr + i[:, None] * 256 + i[None, :]).to(tl.float16)
    total = tl.zeros((256, 256), tl.float32)
    for _ in range(0, n):
        total += tl.dot(tile, tl.trans(tile))
    tl.store(out_ptr + i[:, None] * 256 + i[None, :], total)


@triton.jit
def helper(tile):
    return tile[3]


@triton.jit
def mistake_in_a_helper(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr, helper(tl.arange(0, BLOCK)))


@triton.jit
def mistake_in_an_argument_of_the_library(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.arange(0, BLOCK), axis=2))


@triton.jit
def eight_bits_for_new_chips(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK).to(tl.float32)
    tl.store(out_ptr + tl.arange(0, BLOCK), tile.to(tl.float8e4nv).to(tl.float32))


@triton.jit
def bogus_assembler(out_ptr, n, BLOCK: tl.constexpr):
    tile = tl.arange(0, BLOCK)
    twice = tl.inline_asm_elementwise("twice.b32 $0, $1;", "=r,r", [tile], tl.int32, True, 1)
    tl.store(out_ptr + tile, twice.to(tl.float32))


@triton.jit
def innocent(out_ptr, n, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), 1.0)


def launch(name: str, *, n: int = 8, warps: int = 4) -> None:
    """Launch one of the kernels, for 256 x 256 elements."""
    globals()[name][(1,)](torch.zeros(256 * 256), n, BLOCK=16, num_warps=warps)


def launch_without_n() -> None:
    innocent[(1,)](torch.zeros(16), BLOCK=16)


def launch_half_a_program() -> None:
    innocent[(16 / 32,)](torch.zeros(16), 8, BLOCK=16)
