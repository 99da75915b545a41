"""One launch: limits checked as the driver does, run in slices so that Python keeps control, and put on the record."""

import ctypes
import time
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tools.models.launch import MOST_BLOCK, MOST_GRID, MOST_THREADS
from tools.models.occupancy import occupancy
from tools.models.units import WARP
from tools.sim import host, recording
from tools.sim.cupy.device import streams
from tools.sim.cupy.device.errors import CUDADriverError
from tools.sim.cupy.raw import library
from tools.sim.cupy.raw.arguments import Arguments
from tools.sim.cupy.raw.compiled import Compiled
from tools.sim.cupy.raw.counting import Counting
from tools.sim.cupy.raw.faults import Scene

PATIENCE = 10.0  # seconds that a block may take

Sizes = tuple[int, int, int]


def refused(reason: str) -> CUDADriverError:
    """The error for a value that is out of range."""
    return CUDADriverError(f"CUDA_ERROR_INVALID_VALUE: invalid argument\n{reason}")


class Shape(NamedTuple):
    """grid, block: x, y, z. shared: bytes of dynamic shared memory."""

    grid: Sizes
    block: Sizes
    shared: int
    cooperative: bool = False

    def check(self, kernel: str, most_shared: int) -> None:
        """Raise CUDADriverError if it does not fit on a GPU."""
        threads = prod(self.block)
        if threads > MOST_THREADS:
            raise refused(f"{kernel} is launched with {threads:,} threads in a block; {MOST_THREADS:,} fit.")
        for what, sizes, limits in (("block", self.block, MOST_BLOCK), ("grid", self.grid, MOST_GRID)):
            if any(size > limit for size, limit in zip(sizes, limits)):
                raise refused(f"{kernel} is launched with the {what} {sizes}; {limits} is the largest.")
        if self.shared > most_shared:
            raise refused(
                f"{kernel} is launched with {self.shared:,} bytes of dynamic shared memory; {most_shared:,} "
                "are allowed.\nkernel.max_dynamic_shared_size_bytes = ... allows more."
            )
        self.check_resident(kernel, 0)

    def resident(self, static_shared: int) -> int:
        """How many blocks the GPU runs at a time, at the most: as many as their threads and shared memory allow."""
        chip, warps = host.device().chip, -(-prod(self.block) // WARP)
        return chip.multiprocessors * occupancy(chip.limits, warps, 1, self.shared + static_shared).blocks

    def check_resident(self, kernel: str, static_shared: int) -> None:
        """Raise CUDADriverError if blocks that wait for the whole grid do not all run at once."""
        most = self.resident(static_shared)
        if self.cooperative and prod(self.grid) > most:
            raise CUDADriverError(
                "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: too many blocks in cooperative launch\n"
                f"{kernel} is launched with {prod(self.grid):,} blocks that wait for each other; {most:,} run at once."
            )


def sizes(what: str, given: object) -> Sizes:
    """A grid or block by CuPy's rules: a tuple; what is missing, or less than 1, is 1."""
    if not isinstance(given, tuple):
        raise TypeError(
            f"Argument {what!r} has incorrect type (expected tuple, got {type(given).__name__}): write ({given},)."
        )
    x, y, z = (max(1, int(size)) for size in (*given, 1, 1)[:3])
    return x, y, z


def run(module: Compiled, name: str, shape: Shape, values: tuple, stream: Any) -> None:
    """Run the kernel of this name, and report it. Raises Fault; then no array has changed."""
    kernel = module.loaded.kernel(module.kernels[name])
    values = tuple(value.copy() if isinstance(value, np.ndarray) else value for value in values)
    arguments = Arguments(name, module.parameters(name), kernel.parameters[: kernel.count], values)
    if streams.captured(name, arguments.arrays, lambda: run(module, name, shape, values, None), stream):
        return
    counting = Counting(module.loaded) if recording.recording() else None
    scene = Scene(module.loaded, module.origin, name, shape.grid, shape.block, PATIENCE)

    def work() -> int:
        with module.loaded.lock:
            try:
                _begin(module, kernel, shape, arguments, counting is not None)
                _go_on(scene, shape, counting)
                arguments.bring_back(module.loaded)
            finally:
                module.loaded.simt_end()
        return sum(array.nbytes for array in arguments.arrays)

    streams.execute(name, arguments.arrays, work, stream)
    if counting:
        recording.launched(counting.launch(name, shape.grid, shape.block, module.origin))


def _begin(module: Compiled, kernel: library.Kernel, shape: Shape, arguments: Arguments, count: bool) -> None:
    loaded, in_step = module.loaded, module.source.asks_for_lanes
    grid, block = ((ctypes.c_uint32 * 3)(*sizes) for sizes in (shape.grid, shape.block))
    modes = count, shape.cooperative, in_step
    if not loaded.simt_begin(kernel, grid, block, shape.shared, *modes, arguments.place(loaded)):
        raise MemoryError(f"There is no room for the arguments and the {prod(shape.block)} threads of a block.")


def _go_on(scene: Scene, shape: Shape, counting: Counting | None) -> None:
    """Run all blocks. Between slices Python hears Ctrl-C, and sees when nothing comes to an end."""
    loaded, done, deadline = scene.loaded, -1, 0.0
    progress = library.MORE
    while progress not in (library.FINISHED, library.FAULT):
        if loaded.simt_progress() != done:
            done, deadline = loaded.simt_progress(), time.monotonic() + scene.patience
        elif time.monotonic() > deadline:
            loaded.simt_give_up()
            raise scene.fault()
        progress = loaded.simt_run(shape.resident(loaded.simt_static_shared()))
        if counting and progress != library.MORE:
            counting.take()
    shape.check_resident(scene.kernel, loaded.simt_static_shared())
    if progress == library.FAULT:
        raise scene.fault()
