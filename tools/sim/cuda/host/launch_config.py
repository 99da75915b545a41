"""A kernel with its launch configuration, and what a launch does: transfers, the run, the clock, the record."""

import dataclasses
import math
from numbers import Integral
from typing import Any

from tools.models.occupancy import Occupancy, occupancy
from tools.models.units import SECTOR, WARP
from tools.sim import host, recording
from tools.sim.counters import used_axes
from tools.sim.cuda.host import launch as core
from tools.sim.cuda.host.arguments import Arguments
from tools.sim.cuda.host.errors import warn_of_performance
from tools.sim.cuda.host.limits import check_cooperative, check_launch
from tools.sim.cuda.host.streams import number
from tools.sim.cuda.session import session
from tools.sim.cuda.translate.program import program

FEW_BLOCKS = 128  # fewer leave most GPUs partly idle, as Numba warns
REGISTERS = 32  # of a thread, as far as nobody has compiled the kernel: with so many, every chip can be full
NOT_CONFIGURED = """Kernel launch configuration was not specified. Use the syntax:
    kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)"""


class LaunchConfiguration:
    """kernel[griddim, blockdim, stream, sharedmem], ready to be called. griddim, blockdim: x, y, z."""

    def __init__(self, dispatcher: Any, griddim: Any, blockdim: Any, stream: Any, sharedmem: int) -> None:
        if griddim is None or blockdim is None:
            raise ValueError(NOT_CONFIGURED)
        self.dispatcher, self.stream, self.sharedmem = dispatcher, stream, int(sharedmem)
        self._stream = number(stream or 0)
        self._grid = griddim if isinstance(griddim, tuple) else (griddim,)
        self.griddim, self.blockdim = _three(griddim, "griddim"), _three(blockdim, "blockdim")
        blocks = math.prod(self.griddim)
        if blocks < FEW_BLOCKS:
            warn_of_performance(
                "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS",
                f"Grid size {blocks} will likely result in GPU under-utilization due to low occupancy.",
            )

    def __call__(self, *args: Any) -> None:
        types = self.dispatcher.types_for(args)
        check_launch(self.griddim, self.blockdim, self.sharedmem, self.dispatcher.most_threads)
        if session.take:
            return session.take(self, types)
        if program(self.dispatcher.py_func).cooperates:
            check_cooperative(self.griddim, self._resident())
        arguments = Arguments(self._stream)
        for name, value, wanted in zip(self.dispatcher.parameters, args, types):
            arguments.add(name, value, wanted)
        host.device().execute(
            self.dispatcher.__name__, self._stream, arguments.arrays, lambda: self._run(arguments.values)
        )
        arguments.finish()

    def _resident(self) -> int:
        """How many of its blocks the device holds at a time, at the most."""
        return host.device().chip.multiprocessors * _occupancy(math.prod(self.blockdim), self.sharedmem).blocks

    def _run(self, arguments: list) -> int:
        """Run the kernel and put it on record; gives the bytes that it moved."""
        done = core.launch(
            self.dispatcher.py_func,
            self.griddim,
            self.blockdim,
            arguments,
            dynamic_shared=self.sharedmem,
            name=self.dispatcher.__name__,
            resident=self._resident(),
        )
        recording.launched(dataclasses.replace(done, grid=self._grid, block=used_axes(self.blockdim)))
        return done.counts.sectors * SECTOR


class ForAll:
    """kernel.forall(ntasks), ready to be called."""

    def __init__(self, dispatcher: Any, ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.dispatcher, self.ntasks, self.stream, self.sharedmem = dispatcher, ntasks, stream, sharedmem
        self.thread_per_block = tpb or self._most_resident()

    def __call__(self, *args: Any) -> None:
        if self.ntasks:
            blocks = -(-self.ntasks // self.thread_per_block)
            self.dispatcher[blocks, self.thread_per_block, self.stream, self.sharedmem](*args)

    def _most_resident(self) -> int:
        """The largest block of those that fill a multiprocessor with most warps, as the driver chooses it."""
        most = self.dispatcher.most_threads
        sizes = [most, *range((most - 1) // WARP * WARP, 0, -WARP)]
        return max(sizes, key=lambda threads: _occupancy(threads, self.sharedmem).warps)


def _occupancy(threads: int, shared: int) -> Occupancy:
    return occupancy(host.device().chip.limits, -(-threads // WARP), REGISTERS, shared)


def _three(dim: Any, name: str) -> Any:
    """x, y and z. Raises TypeError, ValueError."""
    if isinstance(dim, list):
        raise TypeError(f"{name} must be an integer or a tuple of them, got the list {dim}")
    sizes = list(dim) if isinstance(dim, tuple) else [dim]
    if len(sizes) > 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {sizes}")
    for size in sizes:
        if not isinstance(size, Integral):
            raise TypeError(f"{name} must be a sequence of integers, got {sizes}")
    return tuple(map(int, sizes + [1] * (3 - len(sizes))))
