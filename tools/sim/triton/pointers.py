"""Pointers that become numbers, and numbers that become pointers."""

from types import ModuleType
from typing import Any

from tools.sim.triton import memory
from tools.sim.triton.arguments import WINDOW
from tools.sim.triton.faults import Fault


def patch(interpreter: ModuleType) -> None:
    """A number made of a pointer is its address in this process, which means the same in the next launch."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle

    def create_ptr_to_int(self: Any, source: Any, target: Any) -> Any:
        addresses = source.data.copy()
        for view in memory.current.arguments.views:
            addresses[source.data >> WINDOW == view.low >> WINDOW] -= view.shift
        return handle(addresses.view(interpreter._get_np_dtype(target)), target.scalar)

    def create_int_to_ptr(self: Any, source: Any, target: Any) -> Any:
        """Of an address; a number that looks like one of the simulator's own could not be told from it."""
        if source.data.itemsize == 8 and any(map(memory.current.arguments.at, source.data.ravel().tolist())):
            raise Fault(
                "not_simulated",
                "One of these numbers is no address of this machine, and the simulator takes it for one of its own.\n"
                "A GPU makes a pointer of any number.",
                "Where do the addresses come from?",
            )
        return self.create_bitcast(source, target)

    builder.create_ptr_to_int, builder.create_int_to_ptr = create_ptr_to_int, create_int_to_ptr
