"""Evidence on a compiled CUDA kernel, in the words that Triton's have too."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from tools.compiler import machine_code, memory
from tools.compiler.diagnostics import shown
from tools.compiler.evidence import Kernel
from tools.compiler.numba import errors
from tools.compiler.numba.code import Assembled, Code, Rejected, assemble, compile_kernel, compiler
from tools.models.chips import Chip
from tools.models.occupancy import Occupancy, occupancy
from tools.models.units import WARP


@dataclass(frozen=True)
class Launch:
    """parameters: name -> type, as text. block: threads. dynamic: bytes of dynamic shared memory."""

    function: Callable
    parameters: dict[str, str]
    grid: tuple[int, int, int]
    block: int
    dynamic: int
    code: Code
    assembled: Assembled

    @property
    def key(self) -> str:
        return self.code.key

    @property
    def warps(self) -> int:
        return -(-self.block // WARP)

    @property
    def shared(self) -> int:
        return self.code.shared + self.dynamic

    @property
    def occupancy(self) -> Occupancy:
        return occupancy(self.code.chip.limits, self.warps, self.assembled.registers, self.shared)


def launch(configuration: Any, types: tuple, chip: Chip) -> Launch:
    """A launch that the stand-in hands on, with the kernel compiled. Raises CompileError, NoCompiler."""
    dispatcher = configuration.dispatcher
    code, assembled = _compiled(dispatcher, types, chip)
    made = Launch(
        dispatcher.py_func,
        dict(zip(dispatcher.parameters, map(str, types))),
        configuration.griddim,
        prod(configuration.blockdim),
        configuration.sharedmem,
        code,
        assembled,
    )
    if made.occupancy.blocks == 0:
        raise errors.unlaunchable(made.function, chip, _too_large(made))
    return made


def resources(dispatcher: Any, types: tuple, chip: Chip) -> dict[str, int]:
    """registers and local (bytes) of a thread, shared (bytes) of a block: what a kernel for these types needs.

    Raises CompileError, NoCompiler.
    """
    code, assembled = _compiled(dispatcher, types, chip)
    return {"registers": assembled.registers, "local": assembled.local, "shared": code.shared}


@cache
def _compiled(dispatcher: Any, types: tuple, chip: Chip) -> tuple[Code, Assembled]:
    cuda = compiler()
    try:
        code = compile_kernel(cuda, dispatcher, types, chip)
    except Exception as error:  # of any kind: Numba has no common class for what it cannot compile
        raise errors.rejected(error, dispatcher.py_func, chip) from None
    try:
        return code, assemble(code)
    except Rejected as error:
        raise errors.rejected(error, dispatcher.py_func, chip) from None


def _too_large(launch: Launch) -> str:
    limits, chip = launch.code.chip.limits, launch.code.chip.key
    if launch.shared > limits.shared_per_block:
        return (
            f"It needs {launch.shared} bytes of shared memory, {chip} has {limits.shared_per_block}. "
            "What decides how much is held at once?"
        )
    return (
        f"A block of {launch.block} threads needs {launch.assembled.registers} registers for each, "
        f"{chip} has {limits.registers} in all. Which is it to be: fewer threads, or fewer registers?"
    )


def kernel(launches: list[Launch]) -> Kernel:
    """Of launches that need one and the same code."""
    first = launches[0]
    file, line = errors.definition(first.function)
    return Kernel(
        name=first.code.name,
        chip=first.code.chip.key,
        file=shown(file),
        line=line,
        signature=first.parameters,
        constants={},
        aligned=(),
        grid=first.grid,
        launches=len(launches),
        configs=1,
        num_warps=first.warps,
        num_stages=0,
        registers=first.assembled.registers,
        spills=first.assembled.spills,
        shared_bytes=first.shared,
        occupancy=first.occupancy,
        instructions=machine_code.opcodes(first.code.ptx),
        accesses=memory.widths_of(first.code.ptx),
        from_cache=first.assembled.from_cache,
        key=first.key,
    )
