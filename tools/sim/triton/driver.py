"""Lets triton.autotune and triton.testing.do_bench run without a GPU, and says what their times are worth."""

import itertools
import time
import warnings
from types import SimpleNamespace
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from tools.models.chips import chip
from tools.sim.triton import SimulatedTimes

GPU = "h100"  # which one the simulator stands for


def activate() -> None:
    """Put the stand-in in the place of a GPU's driver."""
    triton.runtime.driver.set_active(Driver())


class Driver(DriverBase):
    """What Triton, and a program itself, asks of a driver besides running kernels, which the interpreter does."""

    def __init__(self) -> None:
        super().__init__()
        self.utils = SimpleNamespace(get_device_properties=lambda device: chip(GPU).properties)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, kind: str) -> str:
        raise NotImplementedError("there is no GPU to build a launcher for")

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", chip(GPU).capability, 32)

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """There is one."""

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return divmod(chip(GPU).capability, 10)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        """For autotune: each configuration is tried, so that a broken one is found; the first is chosen."""
        warnings.warn(
            "autotune: without a GPU there is nothing to time. Each configuration is tried, and the first is used.",
            SimulatedTimes,
            stacklevel=2,
        )
        trials = itertools.count(1)

        def benchmark(kernel_call: Any, quantiles: Any, **options: Any) -> list[float]:
            kernel_call()
            return [float(next(trials))] * len(quantiles)

        return benchmark

    # For do_bench

    def get_device_interface(self) -> SimpleNamespace:
        warnings.warn(
            "do_bench: these are times of the simulator; they say nothing about a GPU.", SimulatedTimes, stacklevel=3
        )
        return SimpleNamespace(Event=Event, synchronize=lambda: None)

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: None) -> None:
        """There is no GPU's cache to clear."""


class Event:
    """A moment, as torch.cuda.Event."""

    def __init__(self, enable_timing: bool) -> None:
        self.seconds = 0.0

    def record(self) -> None:
        self.seconds = time.perf_counter()

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds until another moment."""
        return 1e3 * (end.seconds - self.seconds)
