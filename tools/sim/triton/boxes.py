"""The place where a box begins: Triton's interpreter wants multiples of 16 bytes along the last axis; here it is told."""

from types import ModuleType
from typing import Any

from tools.sim.triton.faults import Fault


def patch(interpreter: ModuleType) -> None:
    """Wrap how a descriptor finds the addresses of a box."""
    descriptor = interpreter.TensorDescHandle
    find = descriptor.materialize_pointers

    def materialize_pointers(self: Any, offsets: list) -> Any:
        itemsize = self.base.dtype.element_ty.primitive_bitwidth // 8
        places = [int(offset.data.item()) for offset in offsets if offset.data.size == 1]
        if len(places) == len(offsets) == self.ndim and places[-1] * itemsize % 16:
            step = 16 // itemsize
            raise Fault(
                "box",
                f"A box of {list(map(int, self.block_shape))} begins at {places}. The last place\n"
                f"counts elements, of {itemsize} bytes each, in steps of 16 bytes: {step} elements.",
                "Does it count boxes, where it should count elements?",
            )
        return find(self, offsets)

    descriptor.materialize_pointers = materialize_pointers
