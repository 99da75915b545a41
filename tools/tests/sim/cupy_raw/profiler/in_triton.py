"""Triton kernels whose programs take turns: a scan that looks back, a lock, a sum in turn, the last program's fold."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

import tools.gpu  # noqa: F401  # before Triton

BLOCK = 512


@triton.jit
def scan_that_looks_back(x_ptr, out_ptr, flags_ptr, parts_ptr, totals_ptr, ticket_ptr, BLOCK: tl.constexpr):
    tile = tl.atomic_add(ticket_ptr, 1)
    mine = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine)
    part = tl.sum(x)
    tl.store(parts_ptr + tile, part)
    tl.atomic_xchg(flags_ptr + tile, 1, sem="release")
    before = 0.0
    at = tile - 1
    while at >= 0:
        flag = tl.atomic_add(flags_ptr + at, 0, sem="acquire")
        if flag == 2:
            before += tl.load(totals_ptr + at)
            at = -1
        elif flag == 1:
            before += tl.load(parts_ptr + at)
            at -= 1
    tl.store(totals_ptr + tile, before + part)
    tl.atomic_xchg(flags_ptr + tile, 2, sem="release")
    tl.store(out_ptr + mine, before + tl.cumsum(x))


@triton.jit
def sums_under_a_lock(x_ptr, out_ptr, lock_ptr, BLOCK: tl.constexpr):
    mine = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + mine)
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    tl.store(out_ptr + mine, tl.load(out_ptr + mine) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")


@triton.jit
def parts_in_turn(x_ptr, out_ptr, turn_ptr, BLOCK: tl.constexpr):
    tile, split = tl.program_id(0), tl.program_id(1)
    mine = tile * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + split * BLOCK * tl.num_programs(0) + mine)
    while tl.atomic_add(turn_ptr + tile, 0, sem="acquire") != split:
        pass
    if split > 0:
        x += tl.load(out_ptr + mine)
    tl.store(out_ptr + mine, x)
    tl.debug_barrier()
    tl.atomic_xchg(turn_ptr + tile, split + 1, sem="release")


@triton.jit
def last_program_folds(x_ptr, parts_ptr, done_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    pid, mine = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(parts_ptr + pid * BLOCK + mine, 2 * tl.load(x_ptr + pid * BLOCK + mine))
    tl.debug_barrier()
    if tl.atomic_add(done_ptr, 1, sem="acq_rel") == PROGRAMS - 1:
        total = tl.zeros((BLOCK,), tl.float32)
        for part in range(PROGRAMS):
            total += tl.load(parts_ptr + part * BLOCK + mine)
        tl.store(out_ptr + mine, total)


@triton.jit
def tickets_of_programs(x_ptr, bins_ptr, count_ptr, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine)
    tl.atomic_add(bins_ptr + x, 1)
    tl.atomic_add(count_ptr, tl.sum(x))


class TritonCase(NamedTuple):
    """One launch. arrays: made anew for each. waits: how many atomics there are depends on who is first."""

    name: str
    kernel: Any
    grid: tuple[int, ...]
    arrays: Callable[[], list[torch.Tensor]]
    constants: dict[str, int] = {"BLOCK": BLOCK}
    waits: bool = True

    def run(self, device: str, look: Any) -> list[torch.Tensor]:
        """Its arrays afterwards."""
        arrays = [array.to(device) for array in self.arrays()]
        with look():
            self.kernel[self.grid](*arrays, **self.constants)
            if device != "cpu":
                torch.cuda.synchronize()
        return [array.cpu() for array in arrays]


def _whole(*shape: int) -> torch.Tensor:
    return (torch.arange(torch.Size(shape).numel()) * 7 % 11 - 5).float().reshape(shape)


def _flags(size: int) -> torch.Tensor:
    return torch.zeros(size, dtype=torch.int32)


TRITON = [
    TritonCase(
        "scan_that_looks_back",
        scan_that_looks_back,
        (16,),
        lambda: [_whole(16 * BLOCK), torch.zeros(16 * BLOCK), _flags(16), torch.zeros(16), torch.zeros(16), _flags(1)],
    ),
    TritonCase(
        "sums_under_a_lock", sums_under_a_lock, (16,), lambda: [_whole(16, BLOCK), torch.zeros(BLOCK), _flags(1)]
    ),
    TritonCase(
        "parts_in_turn", parts_in_turn, (4, 5), lambda: [_whole(5, 4 * BLOCK), torch.zeros(4 * BLOCK), _flags(4)]
    ),
    TritonCase(
        "last_program_folds",
        last_program_folds,
        (8,),
        lambda: [_whole(8 * BLOCK), torch.zeros(8 * BLOCK), _flags(1), torch.zeros(BLOCK)],
        {"BLOCK": BLOCK, "PROGRAMS": 8},
        waits=False,
    ),
    TritonCase(
        "tickets_of_programs",
        tickets_of_programs,
        (16,),
        lambda: [(_whole(16 * BLOCK) + 5).int(), _flags(16), _flags(1)],
        waits=False,
    ),
]
