"""The place where a box begins: Triton's interpreter wants multiples of 16 bytes along the last axis; it is told.
Where two programs store one element, so is where the boxes of both begin."""

import re
from types import ModuleType
from typing import Any

from tools.sim.triton.faults import Fault, name, running

BOTH = re.compile(r"programs (\d+|\(.+?\)) and (\d+|\(.+?\)) both store")


def patch(interpreter: ModuleType) -> None:
    """Wrap how a descriptor finds the addresses of a box, and how it stores one."""
    descriptor, builder = interpreter.TensorDescHandle, interpreter.InterpreterBuilder
    find, store = descriptor.materialize_pointers, builder.create_descriptor_store

    def materialize_pointers(self: Any, offsets: list) -> Any:
        itemsize = self.base.dtype.element_ty.primitive_bitwidth // 8
        places = _places(offsets)
        if len(places) == len(offsets) == self.ndim and places[-1] * itemsize % 16:
            step = 16 // itemsize
            raise Fault(
                "box",
                f"A box of {list(map(int, self.block_shape))} begins at {places}. The last place\n"
                f"counts elements, of {itemsize} bytes each, in steps of 16 bytes: {step} elements.",
                "Does it count boxes, where it should count elements?",
            )
        return find(self, offsets)

    def create_descriptor_store(self: Any, handle: Any, value: Any, offsets: list) -> Any:
        stored = handle.__dict__.setdefault("stored", {})  # by program; a descriptor of the host serves all of them
        stored.setdefault(name(running()[0]), []).append(_places(offsets))
        try:
            return store(self, handle, value, offsets)
        except Fault as fault:
            found = BOTH.match(fault.what)
            boxes = [stored.get(program, []) for program in found.groups()] if found else []
            if [len(of_one) for of_one in boxes] != [1, 1]:  # of several nothing tells which one it is
                raise
            raise _of_two_boxes(fault, boxes[0][0], boxes[1][0], list(map(int, handle.block_shape))) from None

    descriptor.materialize_pointers = materialize_pointers
    builder.create_descriptor_store = create_descriptor_store


def _places(offsets: list) -> list[int]:
    return [int(offset.data.item()) for offset in offsets if offset.data.size == 1]


def _of_two_boxes(fault: Fault, one: list[int], two: list[int], sides: list[int]) -> Fault:
    """The fault of two programs that store one element, with the elements at which their boxes begin."""
    head, *rest = fault.what.splitlines()
    boxes = f"Their boxes have the sides {sides}, and begin at {one} and at {two}."
    asks = "Which box should each store?" if one == two else "How far apart should their boxes begin?"
    what = "\n".join([head, boxes, *rest])
    question = f"They run at the same time, so either may come last. {asks}"
    return Fault(fault.kind, what, question, array=fault.array, operation=fault.operation)
