"""Atomics, block pointers, descriptors, histograms."""

from collections.abc import Iterator

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tools.tests.sim.triton.conformance.case import Case, N, exact, name, on_device, some


@triton.jit
def atomic(x_ptr, where_ptr, out_ptr, old_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x, where = tl.load(x_ptr + i), tl.load(where_ptr + i)
    if OP == "add":
        old = tl.atomic_add(out_ptr + where, x, mask=where >= 0)
    elif OP == "max":
        old = tl.atomic_max(out_ptr + where, x, mask=where >= 0)
    elif OP == "min":
        old = tl.atomic_min(out_ptr + where, x, mask=where >= 0)
    elif OP == "and":
        old = tl.atomic_and(out_ptr + where, x, mask=where >= 0)
    elif OP == "or":
        old = tl.atomic_or(out_ptr + where, x, mask=where >= 0)
    elif OP == "xor":
        old = tl.atomic_xor(out_ptr + where, x, mask=where >= 0)
    elif OP == "xchg":
        old = tl.atomic_xchg(out_ptr + where, x, mask=where >= 0)
    tl.store(old_ptr + i, old, mask=where >= 0)


@triton.jit
def counted_under_lock(lock_ptr, out_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def histogram(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + i, mask=i < n, other=0), BINS, mask=i < n))


@triton.jit
def by_block_pointer(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    """Twice the matrix, block by block along a row of blocks."""
    source = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * R, 0), (R, C), (1, 0))
    target = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * R, 0), (R, C), (1, 0))
    for _ in range(0, columns, C):
        tl.store(target, 2 * tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
        source, target = tl.advance(source, (0, C)), tl.advance(target, (0, C))


@triton.jit
def by_descriptor(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [R, C])
    target = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [R, C])
    for column in range(0, columns, C):
        target.store([tl.program_id(0) * R, column], 2 * source.load([tl.program_id(0) * R, column]))


@triton.jit
def by_host_descriptor(source, target, R: tl.constexpr, C: tl.constexpr):
    row, column = tl.program_id(0) * R, tl.program_id(1) * C
    target.store([row, column], 2 * source.load([row, column]))


def atomics() -> Iterator[Case]:
    reduces = {"add": "sum", "max": "amax", "min": "amin"}
    bits = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}

    def case(op, dtype):
        def compute():
            x, where = (
                some(dtype, N, low=1, high=2).double().round().to(dtype),
                torch.randint(-1, 8, (N,), generator=torch.Generator().manual_seed(1)).int(),
            )
            out = torch.ones(8, dtype=dtype)
            got, old = on_device(out.clone()), on_device(torch.zeros(N, dtype=dtype))
            atomic[(4,)](on_device(x), on_device(where), got, old, OP=op, N=N // 4)
            seen = where >= 0
            if op in reduces:
                return got, out.double().scatter_reduce(0, where[seen].long(), x[seen].double(), reduces[op]).to(dtype)
            want = out.numpy().copy()
            bits[op].at(want, where[seen].numpy(), x[seen].numpy())
            return got, torch.from_numpy(want)

        return Case(f"atomic_{op}", name(dtype), compute)

    for op in reduces:
        yield case(op, torch.int32)
        yield case(op, torch.float32)
    yield case("add", torch.int64)
    yield case("add", torch.float16)
    yield case("add", torch.bfloat16)
    yield from (case(op, torch.int32) for op in bits)
    yield Case("atomic_xchg", "int32", exchanged)
    yield Case("atomic_cas", "int32", locked)


def exchanged() -> tuple:
    out, old = (on_device(torch.full((8,), -1, dtype=torch.int32)), on_device(torch.empty(8, dtype=torch.int32)))
    places = torch.arange(8, dtype=torch.int32)
    atomic[(1,)](on_device(places * 10), on_device(places), out, old, OP="xchg", N=8)
    return torch.cat([out, old]), torch.cat([places * 10, torch.full((8,), -1, dtype=torch.int32)])


def locked() -> tuple:
    lock, out = on_device(torch.zeros(1, dtype=torch.int32)), on_device(torch.zeros(1, dtype=torch.int32))
    counted_under_lock[(20,)](lock, out)
    return torch.cat([lock, out]), torch.tensor([0, 20], dtype=torch.int32)


def cases() -> Iterator[Case]:
    yield from atomics()
    for dtype in (torch.float32, torch.bfloat16):
        for doubled in (block_pointer, descriptor, host_descriptor):

            def compute(doubled=doubled, dtype=dtype):
                x = exact(dtype, 40, 112, seed=0)
                return doubled(x), 2 * x

            yield Case(doubled.__name__.replace("_", " "), name(dtype), compute)
    yield Case("histogram", "int32", counted)


def block_pointer(x: torch.Tensor) -> torch.Tensor:
    out = on_device(torch.zeros_like(x))
    by_block_pointer[(3,)](on_device(x), out, *x.shape, R=16, C=32)
    return out


def descriptor(x: torch.Tensor) -> torch.Tensor:
    triton.set_allocator(lambda size, alignment, stream: on_device(torch.empty(size, dtype=torch.int8)))
    out = on_device(torch.zeros_like(x))
    by_descriptor[(3,)](on_device(x), out, *x.shape, R=16, C=32)
    return out


def host_descriptor(x: torch.Tensor) -> torch.Tensor:
    out = on_device(torch.zeros_like(x))
    blocks = [TensorDescriptor.from_tensor(tensor, [16, 32]) for tensor in (on_device(x), out)]
    by_host_descriptor[(3, 4)](*blocks, R=16, C=32)
    return out


def counted() -> tuple:
    x = torch.randint(0, 8, (N,), generator=torch.Generator().manual_seed(0)).int()
    out = on_device(torch.empty(8, dtype=torch.int32))
    histogram[(1,)](on_device(x), out, 1000, N=N, BINS=8)
    return out, torch.bincount(x[:1000], minlength=8).int()
