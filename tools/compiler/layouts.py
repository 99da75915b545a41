"""Layouts of the compiler, the element that each thread touches, as requests of warps and sectors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from triton._C.libtriton import gluon_ir, ir
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend

from tools.compiler.addresses import Touch
from tools.compiler.ttgir import ACCESSES
from tools.models.units import SECTOR

_NOBODY = np.iinfo(np.int64).max  # sorts after every sector


@dataclass(frozen=True)
class Layout:
    """Flat element numbers, powers of two, by the bits of a register's, lane's and warp's number.

    Element of register r, lane l and warp w: the exclusive or of what their set bits stand for.
    """

    registers: tuple[int, ...]
    lanes: tuple[int, ...]
    warps: tuple[int, ...]


def layouts_of(path: str, target: GPUTarget, shapes: list[tuple[int, ...]]) -> list[Layout | None]:
    """The layouts of the accesses in a TTGIR file, in its order.

    shapes: of their tiles; () for a single address, which has no layout and gets None.
    """
    context = ir.context()
    ir.load_dialects(context)
    make_backend(target).load_dialects(context)
    module, builder = ir.parse_mlir_module(path, context), gluon_ir.GluonOpBuilder(context)
    left = iter(shapes)
    found: list[Layout | None] = []

    def visit(operation: Any) -> None:
        if operation.get_name() in ACCESSES:
            shape = next(left)  # asking a single address for its layout would crash the process
            found.append(_layout(builder, operation.get_operand(0), shape) if shape else None)

    module.walk(visit)
    return found


def _layout(builder: Any, pointers: Any, shape: tuple[int, ...]) -> Layout:
    linear = builder.get_gluon_layout_from_tensor(pointers)
    if not hasattr(linear, "reg_bases"):
        linear = builder.to_linear_layout(linear._to_ir(builder), list(shape))
    return Layout(*(flat(bases, shape) for bases in (linear.reg_bases, linear.lane_bases, linear.warp_bases)))


def flat(bases: list[list[int]], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major element numbers of coordinates that are powers of two."""
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    return tuple(int(np.dot(basis, strides)) for basis in bases)


def spread(bases: tuple[int, ...]) -> np.ndarray:
    """The element that each number from 0 to 2**len(bases) - 1 stands for."""
    numbers = np.zeros(1, np.int64)
    for basis in bases:
        numbers = np.concatenate([numbers, numbers ^ basis])
    return numbers


def requests(layout: Layout | None, touch: Touch, width: int, kind: str) -> tuple[int, int, int]:
    """Requests, sectors and useful bytes of a touch. width: bytes that a thread moves at a time."""
    assert touch.addresses is not None and touch.mask is not None
    if layout is None:
        return (1, 1, touch.element_bytes) if touch.mask.all() else (0, 0, 0)
    each = max(1, width // touch.element_bytes)
    registers = np.array(list(dict.fromkeys(spread(layout.registers))))  # a thread needs no element twice
    warps = spread(layout.warps)
    if kind != "load":  # of several warps that hold the same elements only one writes
        warps = np.unique(warps)
    groups = registers.reshape(-1, min(each, len(registers)))
    lanes = spread(layout.lanes)
    elements = warps[:, None, None, None] ^ groups[None, :, None, :] ^ lanes[None, None, :, None]
    elements = elements.reshape(len(warps) * len(groups), -1)  # a row for each request
    active = touch.mask.reshape(-1)[elements]
    sectors = np.where(active, touch.addresses.reshape(-1)[elements] // SECTOR, _NOBODY)
    useful = np.where(active, elements, _NOBODY)
    return int(active.any(1).sum()), _distinct(sectors), _distinct(useful) * touch.element_bytes


def _distinct(rows: np.ndarray) -> int:
    """How many distinct values the rows have, each row for itself, not counting _NOBODY."""
    rows = np.sort(rows, axis=1)
    first = np.diff(rows, axis=1, prepend=-1) != 0
    return int((first & (rows != _NOBODY)).sum())
