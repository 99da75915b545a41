"""Every load, store and atomic of a kernel: checked before it happens, and counted while a recording runs."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tools.models.units import LINE_BITS, SECTOR_BITS
from tools.sim import trace
from tools.sim.counters import Counts, Line
from tools.sim.faults import describe, spot
from tools.sim.triton import faults, found
from tools.sim.triton.arguments import WINDOW, Arguments, View
from tools.sim.triton.races.check import Races

BYTES = {"load": "bytes_loaded", "store": "bytes_stored", "atomic": "bytes_atomic"}

current: Any = None  # the Memory of the launch that runs now; None between launches


class Memory:
    """What one launch of so many programs may touch, and what it did.

    together: are they in flight together? lines: figures by source line and kind, while counting; else None.
    warps: of each program.
    """

    def __init__(self, counting: bool, programs: int, together: bool, warps: int = 4) -> None:
        self.warps = warps
        self.arguments = Arguments(found.tensor_of)
        self.races = Races(programs, together)
        self.lines: dict[tuple, Line] | None = {} if counting else None
        self.masked = True  # has the access that is being made a mask?

    def begin(self, program: int) -> None:
        """The program of this number runs now, or goes on."""
        self.races.run(program)

    def access(self, operation: str, pointers: Any, mask: Any = None) -> np.ndarray:
        """Check and count one access; gives the real addresses. Raises Fault.

        pointers, mask: Triton's handles (the mask also as an array), of one shape; None: all exist.
        """
        addresses = pointers.data.view(np.uint64)
        mask = getattr(mask, "data", mask) if not isinstance(mask, np.ndarray) else mask
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        existing = addresses.ravel() if mask is None or mask.all() else addresses[mask]
        if not existing.size:
            return addresses
        low, high = int(existing.min()), int(existing.max())
        if low < found.REAL:
            addresses = found.virtual(self.arguments, addresses, existing)
            existing = addresses.ravel() if mask is None or mask.all() else addresses[mask]
            low, high = int(existing.min()), int(existing.max())
        view = self.arguments.at(low)
        if view and view.low <= low and high + size <= view.high:
            self._admit(operation, view, existing, size)
            shift: Any = view.shift
        else:
            shift = self._admit_several(operation, addresses, existing, size, mask)
        if self.lines is not None:
            self._count(operation, existing, size)
        if trace.listener is not None:
            self._tell(operation, existing, size)
        return addresses - shift

    def _admit_several(self, operation: str, addresses: Any, existing: Any, size: int, mask: Any) -> np.ndarray:
        """An access beyond one view: refused, unless its pointers come from several. Gives their shifts."""
        outside = np.ones(existing.shape, bool)
        shifts = np.zeros_like(addresses)
        for view in self.arguments.views:
            inside = (existing >= view.low) & (existing + np.uint64(size) <= view.high)
            if inside.any():
                outside &= ~inside
                shifts[addresses >> WINDOW == view.low >> WINDOW] = view.shift
        if outside.any():
            nearest = self.arguments.at(int(existing[outside][0]))
            asked = np.ones(addresses.shape, bool) if mask is None else np.array(mask)
            lost = asked.copy()
            lost[lost] = outside
            raise faults.out_of_bounds(operation, nearest, existing, outside, self.masked, (addresses, asked, lost))
        for view in self.arguments.views:
            own = existing[existing >> WINDOW == view.low >> WINDOW]
            if own.size:
                self._admit(operation, view, own, size)
        return shifts

    def _admit(self, operation: str, view: View, addresses: np.ndarray, size: int) -> None:
        """What is due to addresses within one view."""
        if int(np.bitwise_or.reduce(addresses)) % size:
            raise faults.misaligned(operation, view, addresses, size)
        self.races.access(operation, view, addresses, size)

    def contents(self, addresses: np.ndarray, size: int) -> list[bytes] | None:
        """What is in memory at these virtual addresses; None where they do not lie in one view."""
        view = self.arguments.at(int(addresses.min()))
        if view is None or int(addresses.min()) < view.low or int(addresses.max()) + size > view.high:
            return None
        return [ctypes.string_at(each, size) for each in (addresses - view.shift).tolist()]

    def _count(self, operation: str, addresses: np.ndarray, size: int) -> None:
        counts = self.figures(operation)
        sectors, lines = touched(addresses)
        name = BYTES[operation]
        setattr(counts, name, getattr(counts, name) + addresses.size * size)
        counts.accesses += addresses.size
        counts.sectors += sectors
        counts.lines += lines

    def _tell(self, operation: str, addresses: np.ndarray, size: int) -> None:
        assert trace.listener is not None
        here, program = spot(faults.learner_frame()), trace.number(*faults.running())
        for view in self.arguments.views:
            own = addresses[addresses >> WINDOW == view.low >> WINDOW].astype(np.int64)
            if own.size:
                trace.listener.access(
                    trace.Access(here, operation, view.traced, own, size, np.full(own.size, program), None)
                )

    def count_dot(self, products: int, in_float64: bool) -> None:
        """A multiplication and an addition for each product."""
        if self.lines is not None:
            self.figures("dot").flops += 2 * products
            self.figures("dot").float64 += 2 * products * in_float64

    def figures(self, kind: str) -> Counts:
        """Those of the learner's line that runs now."""
        assert self.lines is not None
        here = spot(faults.learner_frame())
        if (here, kind) not in self.lines:
            self.lines[here, kind] = Line(*describe(here), kind)
        return self.lines[here, kind].counts


def touched(addresses: np.ndarray) -> tuple[int, int]:
    """How many different sectors and lines these addresses of aligned elements lie in."""
    sectors = addresses >> SECTOR_BITS
    if (sectors[1:] < sectors[:-1]).any():
        sectors = np.sort(sectors)
    lines = sectors >> (LINE_BITS - SECTOR_BITS)
    different_sectors, different_lines = (1 + int(np.count_nonzero(x[1:] != x[:-1])) for x in (sectors, lines))
    return different_sectors, different_lines


@contextmanager
def _without_mask() -> Iterator[None]:
    """The access that is made inside has no mask."""
    memory = current
    memory.masked = False
    try:
        yield
    finally:
        memory.masked = True


def patch(interpreter: Any) -> None:
    """Lead what kernels do to memory through `current`. interpreter: triton.runtime.interpreter."""
    builder, handle, tl = interpreter.InterpreterBuilder, interpreter.TensorHandle, interpreter.tl
    convert = interpreter._implicit_cvt
    load, store = builder.create_masked_load, builder.create_masked_store
    plain_load, plain_store = builder.create_load, builder.create_store  # which make a mask of ones, and call those
    update, swap = builder.create_atomic_rmw, builder.create_atomic_cas
    dot, dot_scaled = builder.create_dot, builder.create_dot_scaled

    def implicit_cvt(argument: Any) -> Any:
        if isinstance(argument, bool):  # which the interpreter takes for an int32 in an int1
            return tl.tensor(handle(np.array([argument]), tl.int1), tl.int1)
        if isinstance(argument, float):  # which a launch hands over as float32, and the interpreter as a constant
            return tl.tensor(handle(np.array([argument], np.float32), tl.float32), tl.float32)
        value = convert(argument)
        if hasattr(argument, "data_ptr"):
            value.handle.data[...] = current.arguments.address(argument)
        return value

    def real(operation: Any, pointers: Any, mask: Any = None) -> Any:
        return handle(current.access(operation, pointers, mask), pointers.dtype)

    def create_masked_load(self: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        return load(self, real("load", pointers, mask), mask, *rest, **named)

    def create_masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        return store(self, real("store", pointers, mask), value, mask, *rest, **named)

    def create_load(self: Any, *rest: Any, **named: Any) -> Any:
        with _without_mask():
            return plain_load(self, *rest, **named)

    def create_store(self: Any, *rest: Any, **named: Any) -> Any:
        with _without_mask():
            return plain_store(self, *rest, **named)

    def create_atomic_rmw(self: Any, operator: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if value.data.size > pointers.data.size:
            raise faults.too_many_values(pointers.data.size, value.data.size)
        return update(self, operator, real("atomic", pointers, mask), value, mask, *rest)

    def create_atomic_cas(self: Any, pointers: Any, *rest: Any) -> Any:
        return swap(self, real("atomic", pointers), *rest)

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        current.count_dot(a.data.size * b.data.shape[-1], a.data.dtype == np.float64)
        return dot(self, a, b, *rest)

    def create_dot_scaled(self: Any, a: Any, a_scale: Any, a_form: Any, *rest: Any) -> Any:
        packed = 2 if a_form == interpreter._ir.ScaleDotElemTypeTY.E2M1 else 1  # elements in a byte
        current.count_dot(a.data.size * packed * rest[-1].data.shape[-1], in_float64=False)
        return dot_scaled(self, a, a_scale, a_form, *rest)

    interpreter._implicit_cvt = implicit_cvt
    for method in (
        create_load,
        create_store,
        create_masked_load,
        create_masked_store,
        create_atomic_rmw,
        create_atomic_cas,
        create_dot,
        create_dot_scaled,
    ):
        setattr(builder, method.__name__, method)
