"""Registers, shared and local memory of a compiled kernel and how many of its blocks fit, asked as in Numba.

Numba's own compiler says it for the simulated chip, where it is installed; nothing of that needs a GPU.
"""

import math
from typing import Any

from tools.models.occupancy import BLOCK_WARPS, occupancy
from tools.models.units import WARP
from tools.sim import host
from tools.sim.cuda.session import session
from tools.sim.cuda.types import Type, parse


def needs_compiler(name: str) -> AttributeError:
    """Why there is nothing of that name."""
    return AttributeError(
        f"{name} needs Numba's compiler, and the simulator compiles nothing.\n"
        "In tests, tools.check.compiled shows what the compiler makes of a kernel."
    )


class Overload:
    """A kernel for arguments of certain types, as kernel.overloads has it. Figures are of the simulated chip.

    Each raises what the compiler raises: CompileError, or NoCompiler where it is not installed.
    """

    def __init__(self, dispatcher: Any, types: tuple[Type, ...]) -> None:
        self._dispatcher, self._types = dispatcher, types
        self._codelibrary = self  # where programs ask for the function to give to cuda.current_context()

    def get_cufunc(self) -> "Overload":
        """What the context is asked about."""
        return self

    @property
    def regs_per_thread(self) -> int:
        return self._needs("registers")

    @property
    def shared_mem_per_block(self) -> int:
        """Bytes of static arrays."""
        return self._needs("shared")

    @property
    def local_mem_per_thread(self) -> int:
        """Bytes of local arrays and of spilled registers."""
        return self._needs("local")

    @property
    def max_threads_per_block(self) -> int:
        """The largest block for which there are registers."""
        most = self._dispatcher.most_threads
        fitting = (warps for warps in range(BLOCK_WARPS, 0, -1) if self.resident(WARP * warps, 0))
        return min(most, WARP * next(fitting, 0))

    def resident(self, threads: int, dynamic: int) -> int:
        """Blocks of so many threads and bytes of dynamic shared memory that one multiprocessor holds."""
        limits, shared = host.device().chip.limits, self.shared_mem_per_block + dynamic
        return occupancy(limits, -(-threads // WARP), self.regs_per_thread, shared).blocks

    def max_cooperative_grid_blocks(self, blockdim: int | tuple, dynsmemsize: int = 0) -> int:
        """The largest grid whose blocks all run at once."""
        threads = math.prod(blockdim) if isinstance(blockdim, tuple) else blockdim
        return self.resident(threads, dynsmemsize) * host.device().chip.multiprocessors

    def _needs(self, what: str) -> int:
        if session.compile is None:
            raise needs_compiler(what)
        return session.compile(self._dispatcher, self._types, host.device().chip)[what]


class Compiled:
    """A dispatcher, as far as its compiled code is asked about. signature: of its arguments; without one, a dict of
    the figures of all that it was compiled for, or the one figure of a specialized kernel."""

    signatures: Any
    specialized: bool

    @property
    def overloads(self) -> dict[tuple[Type, ...], Overload]:
        """Types of the arguments that it was compiled for -> the kernel for them."""
        if session.compile is None:
            raise needs_compiler("overloads")
        return {types: Overload(self, types) for types in self.signatures}

    def get_regs_per_thread(self, signature: Any = None) -> Any:
        """Registers of a thread."""
        return self._figure("get_regs_per_thread", "regs_per_thread", signature)

    def get_shared_mem_per_block(self, signature: Any = None) -> Any:
        """Bytes of its static shared arrays."""
        return self._figure("get_shared_mem_per_block", "shared_mem_per_block", signature)

    def get_local_mem_per_thread(self, signature: Any = None) -> Any:
        """Bytes of its local arrays, and of what no register holds."""
        return self._figure("get_local_mem_per_thread", "local_mem_per_thread", signature)

    def get_max_threads_per_block(self, signature: Any = None) -> Any:
        """The largest block that can be launched."""
        return self._figure("get_max_threads_per_block", "max_threads_per_block", signature)

    def _figure(self, asked: str, name: str, signature: Any) -> Any:
        if session.compile is None:
            raise needs_compiler(asked)
        overloads = self.overloads
        if signature is not None:
            return getattr(overloads[parse(signature).arguments], name)
        if self.specialized:
            return getattr(next(iter(overloads.values())), name)
        return {types: getattr(each, name) for types, each in overloads.items()}
