"""Updates of a whole tile through a descriptor, as the copy engine carries them out (TMA reduce): desc.atomic_add(...).

Each element is updated as by an atomic that is relaxed; what lies outside the tensor is left out.
"""

from types import ModuleType
from typing import Any

from triton._C.libtriton import ir

KINDS, ATOMIC = ir.DESCRIPTOR_REDUCE_KIND, ir.ATOMIC_OP


def patch(interpreter: ModuleType) -> None:
    """Add `create_descriptor_reduce`, which the interpreter lacks."""

    def create_descriptor_reduce(self: Any, kind: Any, descriptor: Any, value: Any, offsets: list) -> None:
        pointers, inside = descriptor.materialize_pointers(offsets)
        mask = interpreter.TensorHandle(inside, interpreter.tl.int1)
        operation = _atomic(kind, value.dtype.scalar)
        self.create_atomic_rmw(operation, pointers, value, mask, ir.MEM_SEMANTIC.RELAXED, ir.MEM_SYNC_SCOPE.GPU)

    interpreter.InterpreterBuilder.create_descriptor_reduce = create_descriptor_reduce


def _atomic(kind: Any, dtype: Any) -> Any:
    """The atomic operation on one element."""
    if kind == KINDS.ADD and dtype.is_floating():
        return ATOMIC.FADD
    unsigned = "U" if dtype.is_int_unsigned() and kind in (KINDS.MIN, KINDS.MAX) else ""
    return getattr(ATOMIC, unsigned + kind.name)
