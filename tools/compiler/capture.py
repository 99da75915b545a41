"""The launches of a real call, on a machine without a GPU: Triton believes in a driver, and nothing is run.

The call's own Python runs as it is. A launch goes through Triton's own binding and compilation, so types,
alignment and constants are those of a real launch; only the last step, handing it to a GPU, is left out.
"""

import functools
import inspect
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tools.compiler import diagnostics
from tools.models.chips import Chip


@dataclass(frozen=True)
class Launch:
    """kernel: the JITFunction. arguments: by name, constants included. compiled: Triton's CompiledKernel.

    configs: how many an autotuner had to choose from; the first was taken.
    """

    kernel: JITFunction
    arguments: dict[str, Any]
    grid: tuple[int, int, int]
    compiled: Any
    configs: int

    @property
    def key(self) -> str:
        return self.compiled.hash


class Driver(DriverBase):
    """Stands for the driver of a chip, as far as Triton's launcher and a lesson's own Python ask it."""

    def __init__(self, chip: Chip) -> None:
        super().__init__()
        self.chip = chip
        self.utils = SimpleNamespace(get_device_properties=self._properties)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.chip.capability, 32)

    def get_current_device(self) -> int:
        return self.chip.capability  # Triton keeps compiled kernels by device

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable:
        return lambda call, quantiles: [1.0] * len(quantiles)  # equally fast, so the first config is taken

    def _properties(self, device: int) -> dict[str, int]:
        limits = self.chip.limits
        return {
            "max_shared_mem": limits.shared_per_block,
            "max_num_regs": limits.registers,
            "multiprocessor_count": self.chip.multiprocessors,
            "warpSize": 32,
        }


@dataclass
class Recorder:
    """Takes the place of the methods that launch kernels."""

    chip: Chip
    launches: list = field(default_factory=list)
    configs: int = 1  # of the autotuner at work

    def launch(self, launch_for_real: Callable) -> Callable:
        def run(kernel: JITFunction, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            only_compile = functools.partial(launch_for_real, kernel, *args, grid=grid, warmup=True, **kwargs)
            compiled = self.compiled(kernel, only_compile)
            arguments = _bound(kernel, args, kwargs)
            if not warmup:
                sizes = _grid(grid, arguments)
                self.launches.append(Launch(kernel, arguments, sizes, compiled, self.configs))
            return compiled

        return run

    def compiled(self, kernel: JITFunction, compile_it: Callable) -> Any:
        try:
            with diagnostics.complaints() as said:
                compiled = compile_it()
        except Exception as error:
            raise diagnostics.rejected(error, kernel, self.chip, said) or error from None
        fault = diagnostics.too_large(kernel, self.chip, compiled.metadata)
        if fault:
            raise fault
        return compiled

    def tune(self, tune_for_real: Callable) -> Callable:
        def run(tuner: Autotuner, *args: Any, **kwargs: Any) -> Any:
            self.configs = len(tuner.configs)
            try:
                return tune_for_real(tuner, *args, **kwargs)
            finally:
                self.configs = 1

        return run


@contextmanager
def launches_on(chip: Chip) -> Iterator[list]:
    """Inside, kernels are compiled for `chip` and not run; their launches come to stand in the list.

    A kernel that the chip could not run raises CompileError, at its launch.
    """
    recorder = Recorder(chip)
    kept = JITFunction.run, Autotuner.run
    driver.set_active(Driver(chip))
    JITFunction.run, Autotuner.run = recorder.launch(kept[0]), recorder.tune(kept[1])
    try:
        yield recorder.launches
    finally:
        JITFunction.run, Autotuner.run = kept


def _bound(kernel: JITFunction, args: tuple, kwargs: dict) -> dict[str, Any]:
    signature = inspect.signature(kernel.fn)
    options_left_out = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind(*args, **options_left_out)
    bound.apply_defaults()
    return bound.arguments


def _grid(grid: Any, arguments: dict[str, Any]) -> tuple[int, int, int]:
    x, y, z = (*map(operator.index, grid(arguments) if callable(grid) else grid), 1, 1)[:3]
    return x, y, z
