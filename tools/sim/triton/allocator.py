"""Descriptors that a kernel makes lie in memory that its launch allocates: without an allocator a GPU refuses it."""

from types import ModuleType
from typing import Any

from triton.runtime import _allocation

from tools.sim.triton import memory
from tools.sim.triton.faults import Fault


def patch(interpreter: ModuleType) -> None:
    """Wrap how a descriptor is made. One that the host made is handed over before the first program begins."""
    builder = interpreter.InterpreterBuilder
    make = builder.create_make_tensor_descriptor

    def create_make_tensor_descriptor(self: Any, *args: Any, **named: Any) -> Any:
        is_kernels = bool(memory.current.races.states)
        if is_kernels and isinstance(_allocation._allocator.get(), _allocation.NullAllocator):
            raise Fault(
                "allocator",
                "A descriptor that a kernel makes lies in memory which the launch allocates,\n"
                "and no allocator is set: a GPU's launcher refuses this kernel.",
                "What does triton.set_allocator(f) want of f(size, alignment, stream)?",
            )
        return make(self, *args, **named)

    builder.create_make_tensor_descriptor = create_make_tensor_descriptor
