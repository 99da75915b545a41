"""The part of the module cupyx that lessons use: timing by the modelled clock, pinned arrays, atomic updates."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from tools.sim import host
from tools.sim.cupy import cuda
from tools.sim.cupy.arrays.ndarray import ndarray
from tools.sim.cupy.device.streams import Event, get_elapsed_time
from tools.sim.cupy.functions.indexing import scatter


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """a[slices] += value, each element as often as its index occurs."""
    scatter(a, slices, value, "add")


def scatter_max(a: ndarray, slices: Any, value: Any) -> None:
    scatter(a, slices, value, "max")


def scatter_min(a: ndarray, slices: Any, value: Any) -> None:
    scatter(a, slices, value, "min")


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """An array of the host in pinned memory, which copies can reach while the host goes on."""
    dtype, size = np.dtype(dtype), math.prod(shape) if np.iterable(shape) else shape
    memory = cuda.alloc_pinned_memory(size * dtype.itemsize)
    return np.frombuffer(memory, dtype, size).reshape(shape, order=order)


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


class _Result:
    """cpu_times: seconds that the host needed for each call. gpu_times: those of the device, for each device."""

    def __init__(self, name: str, cpu_times: list[float], gpu_times: list[float]) -> None:
        self.name, self.cpu_times, self.gpu_times = name, np.array(cpu_times), np.array([gpu_times])

    def __str__(self) -> str:
        rows = (("CPU", self.cpu_times), ("GPU-0", self.gpu_times[0]))
        return f"{self.name:<20s}:" + " ".join(
            f"    {device}: {1e6 * times.mean():9.03f} us   +/- {1e6 * times.std():6.03f} "
            f"(min: {1e6 * times.min():9.03f} / max: {1e6 * times.max():9.03f}) us"
            for device, times in rows
        )

    __repr__ = __str__


def benchmark(
    func: Any,
    args: Any = (),
    kwargs: Any = {},
    n_repeat: int = 10000,
    *,
    name: Any = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: Any = None,
) -> _Result:
    """Call a function so often. The modelled clock says the same each time, so few calls tell as much as many."""
    if not callable(func):
        raise ValueError("`func` should be a callable object.")
    if not isinstance(args, tuple):
        raise ValueError("`args` should be of tuple type.")
    timeline, cpu_times, gpu_times = host.device().timeline, [], []
    for _ in range(min(n_warmup, 1)):
        func(*args, **kwargs)
    for _ in range(min(n_repeat, 10)):
        begin, end = Event(), Event()
        begin.record()
        before = timeline.now
        func(*args, **kwargs)
        cpu_times.append(timeline.now - before)
        end.record()
        end.synchronize()
        gpu_times.append(1e-3 * get_elapsed_time(begin, end))
    return _Result(name or func.__name__, cpu_times, gpu_times)


profiler = SimpleNamespace(benchmark=benchmark)
