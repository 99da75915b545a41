"""Needs of a kernel, asked as in CuPy: registers, local and shared memory, and how many blocks fit on a GPU.

NVIDIA's compiler says it for the simulated chip, where it is installed; nothing of that needs a GPU.
"""

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from tools.models.chips import Chip
from tools.models.occupancy import BLOCK_WARPS, occupancy
from tools.models.units import WARP
from tools.sim import host


class Compiler:
    """NVIDIA's, which tools.gpu puts behind it.

    ask: RawKernel, chip -> registers and local (bytes) of a thread, shared (bytes) of a block, threads of the largest
    block that the source allows.
    """

    ask: Callable[[Any, Chip], dict[str, int]] | None = None


compiler = Compiler()
_known: weakref.WeakKeyDictionary[Any, dict[str, dict[str, int]]] = weakref.WeakKeyDictionary()  # kernel, chip
_pointers = itertools.count(0x7000_0000, 0x100)
_functions: "weakref.WeakValueDictionary[int, Function]" = weakref.WeakValueDictionary()


class Function:
    """The function of the driver behind a RawKernel, as cupy.cuda.function.Function. ptr: names it to the driver."""

    def __init__(self, kernel: Any) -> None:
        self.owner, self.ptr = kernel, next(_pointers)
        _functions[self.ptr] = self


def needs(kernel: Any) -> dict[str, int]:
    """The figures of `Compiler`. Raises AttributeError where there is none, and what the compiler raises."""
    if compiler.ask is None:
        raise AttributeError("no compiler for a GPU")
    chip, known = host.device().chip, _known.setdefault(kernel, {})
    if chip.key not in known:
        known[chip.key] = compiler.ask(kernel, chip)
    return known[chip.key]


def resident(kernel: Any, threads: int, dynamic: int) -> int:
    """Blocks of so many threads and bytes of dynamic shared memory that one multiprocessor holds."""
    figures, limits = needs(kernel), host.device().chip.limits
    return occupancy(limits, -(-threads // WARP), figures["registers"], figures["shared"] + dynamic).blocks


def most_threads(kernel: Any, most: int) -> int:
    """The largest block that the source allows and for which there are registers, at most so many."""
    most = min(most, needs(kernel)["threads"])
    return next((WARP * warps for warps in range(min(BLOCK_WARPS, most // WARP), 0, -1) if _fits(kernel, warps)), 0)


def _fits(kernel: Any, warps: int) -> bool:
    return resident(kernel, WARP * warps, 0) > 0


# The driver's questions ----------------------------------------------------------------------------


def max_active_blocks(func: int, blockSize: int, dynamicSMemSize: int) -> int:
    """Blocks on one multiprocessor. func: the ptr of kernel.kernel."""
    return resident(_functions[func].owner, blockSize, dynamicSMemSize)


def max_potential_block_size(func: int, dynamicSMemSize: int, blockSizeLimit: int) -> tuple[int, int]:
    """The smallest grid that fills the GPU, and the block with which most threads are resident; the largest such."""
    kernel, chip = _functions[func].owner, host.device().chip
    most = min(blockSizeLimit or BLOCK_WARPS * WARP, kernel.max_threads_per_block)
    sizes = sorted({most, *range(WARP, most + 1, WARP)}, reverse=True)
    best = max(sizes, key=lambda size: size * resident(kernel, size, dynamicSMemSize))  # the first of several
    return resident(kernel, best, dynamicSMemSize) * chip.multiprocessors, best
