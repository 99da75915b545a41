"""The launches of a real call, on a machine without a GPU: Triton believes in a driver, and nothing is run.

The call's own Python runs as it is. A launch goes through Triton's own binding and compilation, so types,
alignment and constants are those of a real launch; only the last step, handing it to a GPU, is left out.
"""

import functools
import inspect
import operator
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.compiler import CompiledKernel
from triton.runtime import driver
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from tools.compiler import diagnostics, machine_code
from tools.models.chips import Chip, chip

DEFAULT = "h100"  # chip, before it is known for which one a call is compiled
LOADED = ("n_regs", "n_spills", "n_max_threads")  # attributes of a kernel that is on the GPU
HANDED_OVER = 6  # what a launcher is given before the kernel's arguments: stream, function, two of metadata, two hooks


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

    def __init__(self, chip: Chip, launched: Callable[..., None]) -> None:
        """launched: told of launches of a kernel that was compiled before, by warmup. See `Recorder.relaunch`."""
        super().__init__()
        self.chip = chip
        self.utils = SimpleNamespace(get_device_properties=lambda device: chip.properties, load_binary=_load)
        self.launcher_cls = lambda source, metadata: functools.partial(launched, source, metadata)

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


def _load(name: str, cubin: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
    """As the driver loads a kernel: module and function, which nobody uses, registers, spilled words, most threads."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        registers, stack = machine_code.resources(file)
        return 0, 0, registers, stack // 4, 1024


class Loaded(CompiledKernel):
    """A kernel that was launched, so that its registers are known: here they are read when somebody asks for them."""

    def __getattr__(self, name: str) -> Any:
        if name in LOADED:
            self._init_handles()
            return vars(self)[name]
        raise AttributeError(f"A compiled kernel has no {name}.")


@dataclass
class Recorder:
    """Takes the place of the methods that launch kernels."""

    chip: Chip
    launches: list = field(default_factory=list)
    configs: int = 1  # of the autotuner at work
    known: dict[str, Any] = field(default_factory=dict)  # compiled kernels by hash

    def launch(self, launch_for_real: Callable) -> Callable:
        def run(kernel: JITFunction, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            only_compile = functools.partial(launch_for_real, kernel, *args, grid=grid, warmup=True, **kwargs)
            compiled = self.compiled(kernel, only_compile)
            arguments = _bound(kernel, args, kwargs)
            if not warmup:
                sizes = _grid(grid, arguments)
                self.launches.append(Launch(kernel, arguments, sizes, compiled, self.configs))
                compiled.__class__ = Loaded
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
        self.known[compiled.hash] = compiled
        return compiled

    def relaunch(self, source: Any, metadata: Any, x: int, y: int, z: int, *rest: Any) -> None:
        """A launch of a kernel that was compiled before. rest: stream and hooks, then all arguments in their order."""
        arguments = dict(zip(source.fn.arg_names, rest[HANDED_OVER:]))
        self.launches.append(Launch(source.fn, arguments, (x, y, z), self.known[metadata.hash], self.configs))

    def tune(self, tune_for_real: Callable) -> Callable:
        def run(tuner: Autotuner, *args: Any, **kwargs: Any) -> Any:
            self.configs = len(tuner.configs)
            try:
                return tune_for_real(tuner, *args, **kwargs)
            finally:
                self.configs = 1

        return run


def stand_in() -> None:
    """Have Triton believe in a driver already when a lesson is imported, which may ask it at its top."""
    driver.set_active(Driver(chip(DEFAULT), Recorder(chip(DEFAULT)).relaunch))


@contextmanager
def launches_on(chip: Chip) -> Iterator[list]:
    """Inside, kernels are compiled for `chip` and not run; their launches come to stand in the list.

    A kernel that the chip could not run raises CompileError, at its launch.
    """
    recorder = Recorder(chip)
    kept = JITFunction.run, Autotuner.run
    driver.set_active(Driver(chip, recorder.relaunch))
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
