"""Pointers that become numbers, and arguments that have a data_ptr() and are no tensors."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from tools.sim.triton import memory
from tools.sim.triton.arguments import WINDOW, is_tensor
from tools.sim.triton.faults import Fault


def patch(interpreter: ModuleType) -> None:
    """A number made of a pointer is its address in this process, which means the same in the next launch."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    executor = interpreter.GridExecutor

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
    executor._init_args_hst = _without_others(executor._init_args_hst)
    executor._restore_args_dev = _restoring(executor._restore_args_dev)


class Hidden:
    """An argument that Triton would take for a tensor, because it has a data_ptr()."""

    def __init__(self, argument: Any) -> None:
        self.argument = argument


def _hidden(argument: Any) -> Any:
    return Hidden(argument) if hasattr(argument, "data_ptr") and not is_tensor(argument) else argument


def _shown(argument: Any) -> Any:
    return argument.argument if isinstance(argument, Hidden) else argument


def _without_others(plain: Callable) -> Callable:
    """Only tensors are moved into this machine's memory."""

    def move(self: Any, args: Any, kwargs: dict) -> tuple:
        named = {name: _hidden(value) for name, value in kwargs.items()}
        moved, moved_named = plain(self, tuple(map(_hidden, args)), named)
        return [_shown(each) for each in moved], {name: _shown(value) for name, value in moved_named.items()}

    return move


def _restoring(plain: Callable) -> Callable:
    def restore(self: Any, args: Any, host_args: Any, kwargs: dict, host_kwargs: dict) -> None:
        named = {name: _hidden(value) for name, value in kwargs.items()}
        plain(self, tuple(map(_hidden, args)), host_args, named, host_kwargs)

    return restore
