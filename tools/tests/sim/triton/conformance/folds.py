"""Reductions, scans and sorts."""

from collections.abc import Iterator

import numpy as np
import torch
import triton
import triton.language as tl

from tools.tests.sim.triton.conformance.case import C, Case, N, R, name, on_device, some


@triton.jit
def product_of(a, b):
    return a * b


@triton.jit
def matrix_after_matrix(a_slope, a_shift, b_slope, b_shift):
    """x -> slope x + shift, one after the other: associative, but the order counts."""
    return a_slope * b_slope, b_slope * a_shift + b_shift


@triton.jit
def reduce(x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    if OP == "sum":
        y = tl.sum(x, axis=AXIS)
    elif OP == "max":
        y = tl.max(x, axis=AXIS)
    elif OP == "min":
        y = tl.min(x, axis=AXIS)
    elif OP == "argmax":
        y = tl.argmax(x, axis=AXIS)
    elif OP == "argmin":
        y = tl.argmin(x, axis=AXIS)
    elif OP == "argmax, any":
        y = tl.argmax(x, axis=AXIS, tie_break_left=False)
    elif OP == "xor_sum":
        y = tl.xor_sum(x, axis=AXIS)
    elif OP == "product":
        y = tl.reduce(x, AXIS, product_of)
    elif OP == "sum, kept":
        y = tl.reshape(tl.sum(x, axis=AXIS, keep_dims=True), [R if AXIS == 1 else C])
    tl.store(out_ptr + tl.arange(0, R if AXIS == 1 else C), y)


@triton.jit
def reduce_all(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    if OP == "sum":
        y = tl.sum(x)
    elif OP == "max":
        y = tl.max(x)
    elif OP == "argmax":
        y = tl.argmax(x, axis=0)
    elif OP == "product":
        y = tl.reduce(x, None, product_of)
    tl.store(out_ptr, y)


@triton.jit
def scan(x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x = tl.load(x_ptr + i)
    if OP == "cumsum":
        y = tl.cumsum(x, axis=AXIS)
    elif OP == "cumsum, reverse":
        y = tl.cumsum(x, axis=AXIS, reverse=True)
    elif OP == "cumprod":
        y = tl.cumprod(x, axis=AXIS)
    elif OP == "product":
        y = tl.associative_scan(x, AXIS, product_of)
    elif OP == "affine":
        slope, y = tl.associative_scan((x, x), AXIS, matrix_after_matrix)
    elif OP == "affine, reverse":
        slope, y = tl.associative_scan((x, x), AXIS, matrix_after_matrix, reverse=True)
    elif OP == "sort":
        y = tl.sort(x)
    elif OP == "sort, descending":
        y = tl.sort(x, descending=True)
    elif OP == "flip":
        y = tl.flip(x, 1)
    tl.store(out_ptr + i, y)


def folded(op: str, x: torch.Tensor, axis: int, dtype: torch.dtype) -> torch.Tensor:
    out = on_device(torch.empty(x.shape[1 - axis], dtype=dtype))
    reduce[(1,)](on_device(x), out, OP=op, AXIS=axis, R=R, C=C)
    return out


def reductions() -> Iterator[Case]:
    def case(op, wanted, x, axis, out=None, allowed=0.0, scale=None):
        return Case(
            f"{op}, axis {axis}",
            name(x.dtype),
            lambda: (folded(op, x, axis, out or x.dtype), wanted(x, axis), *([] if scale is None else [scale])),
            allowed,
        )

    ties = some(torch.int32, R, C, low=-3, high=3)
    for axis in (0, 1):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = some(dtype, R, C)
            yield case("sum", lambda x, axis: x.double().sum(axis), x, axis, None, 3, x.double().abs().sum(axis))
            yield case("sum, kept", lambda x, axis: x.double().sum(axis), x, axis, None, 3, x.double().abs().sum(axis))
            yield case("max", torch.amax, x, axis)
            yield case("min", torch.amin, x, axis)
            yield case("argmax", lambda x, axis: x.argmax(axis).int(), x, axis, torch.int32)
        x = some(torch.float32, R, C, low=0.9, high=1.1)
        yield case("product", lambda x, axis: x.double().prod(axis), x, axis, None, C)
        yield case("sum", lambda x, axis: x.sum(axis).int(), some(torch.int8, R, C, high=99), axis, torch.int32)
        yield case("sum", torch.sum, some(torch.int64, R, C, high=99), axis)
        yield case("max", torch.amax, ties, axis)
        for op in ("argmax", "argmin"):
            yield case(op, lambda x, axis, op=op: first(x, axis, op), ties, axis, torch.int32)
        yield case("xor_sum", lambda x, axis: torch.from_numpy(np.bitwise_xor.reduce(x.numpy(), axis)), ties, axis)
    with_nan = some(torch.float32, R, C)
    with_nan[3, 5] = float("nan")
    yield case("max", lambda x, axis: x.nan_to_num(-99).amax(axis), with_nan, 1)  # fmax: NaN loses
    ones = torch.ones(R, C, dtype=torch.bfloat16) * 8
    yield case("sum", lambda x, axis: x.double().sum(axis), ones, 1)  # exact in a tree; one by one it would stall
    yield from whole_tensor()


def first(x: torch.Tensor, axis: int, op: str) -> torch.Tensor:
    """Index of the first of several equal ones, as tie_break_left promises."""
    return torch.from_numpy(getattr(np, op)(x.numpy(), axis)).int()


def whole_tensor() -> Iterator[Case]:
    x = some(torch.float32, N, low=0.99, high=1.01)
    for op, wanted in {
        "sum": torch.sum,
        "max": torch.max,
        "product": torch.prod,
        "argmax": lambda x: x.argmax().int(),
    }.items():

        def compute(op=op, wanted=wanted):
            want = wanted(x if op == "argmax" else x.double()).reshape(1)
            out = on_device(torch.empty(1, dtype=torch.int32 if op == "argmax" else torch.float32))
            reduce_all[(1,)](on_device(x), out, OP=op, N=N)
            return out, want

        yield Case(f"{op}, all", "float32", compute, 64)


def affine(x: torch.Tensor) -> torch.Tensor:
    """State after each step of state -> x state + x, from 0."""
    state, states = torch.zeros(len(x), dtype=torch.float64), []
    for column in x.double().T:
        state = column * state + column
        states.append(state)
    return torch.stack(states, 1)


def scans() -> Iterator[Case]:
    def case(op, wanted, x, axis=1, allowed=0.0, scale=None):
        def compute():
            out = on_device(torch.empty(x.shape, dtype=x.dtype))
            scan[(1,)](on_device(x), out, OP=op, AXIS=axis, R=R, C=C)
            return out, wanted(x), *([] if scale is None else [scale])

        return Case(f"{op}, axis {axis}", name(x.dtype), compute, allowed)

    for axis in (0, 1):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            x = some(dtype, R, C)
            scale = x.double().abs().cumsum(axis)
            yield case("cumsum", lambda x, axis=axis: x.double().cumsum(axis), x, axis, 8, scale)
        whole_numbers = some(torch.int32, R, C)
        yield case("cumsum", lambda x, axis=axis: x.cumsum(axis).int(), whole_numbers, axis)
        yield case(
            "cumsum, reverse", lambda x, axis=axis: x.flip(axis).cumsum(axis).flip(axis).int(), whole_numbers, axis
        )
        near_one = some(torch.float32, R, C, low=0.9, high=1.1)
        yield case("cumprod", lambda x, axis=axis: x.double().cumprod(axis), near_one, axis, C)
        yield case("product", lambda x, axis=axis: x.double().cumprod(axis), near_one, axis, C)
    x = some(torch.float32, R, C, low=0.5, high=0.9)
    yield case("affine", affine, x, allowed=16)
    yield case("affine, reverse", lambda x: affine(x.flip(1)).flip(1), x, allowed=16)
    for dtype in (torch.float32, torch.bfloat16, torch.int32):
        x = some(dtype, R, C, low=-99, high=99)
        yield case("sort", lambda x: x.sort(1).values, x)
        yield case("sort, descending", lambda x: x.sort(1, descending=True).values, x)
    yield case("flip", lambda x: x.flip(1), some(torch.float32, R, C))


def cases() -> Iterator[Case]:
    yield from reductions()
    yield from scans()
