"""From Python to machine code without a GPU: PTX by Numba and NVVM, a cubin by nvJitLink."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from tools import pip_install
from tools.compiler import NoCompiler, cache, machine_code
from tools.compiler.numba.function import Translation
from tools.models.chips import Chip

EXTRA = "-e '.[compilers]'"
_VERSION = re.compile(r"B\d+v\d+")  # in a mangled name: how many functions Numba had compiled by then
_SHARED = re.compile(r"^\s*(?:\.visible )?\.shared .*\[(\d+)\];", re.M)
_USED = re.compile(r"Used (\d+) registers")
_STACK = re.compile(r"(\d+) bytes stack frame")
_SPILLED = re.compile(r"(\d+) bytes spill (?:stores|loads)")


@dataclass(frozen=True)
class Code:
    """A kernel for one chip. shared: bytes of its static arrays. max_registers: of a thread, 0 for no bound."""

    name: str
    chip: Chip
    ptx: str
    max_registers: int

    @property
    def key(self) -> str:
        """The same whenever the same code comes out."""
        return cache.key_of(f"{self.chip.key} {self.max_registers}\n{_VERSION.sub('', self.ptx)}")

    @property
    def shared(self) -> int:
        return sum(map(int, _SHARED.findall(self.ptx)))


class Rejected(Exception):
    """The assembler's complaint."""


@dataclass(frozen=True)
class Assembled:
    """What became of the PTX. spills: bytes of a thread's loads and stores of spilled registers.

    local: bytes of a thread's local memory.
    """

    registers: int
    spills: int
    from_cache: bool
    local: int = 0


def compiler() -> Any:
    """numba.cuda. NoCompiler where it is not installed."""
    try:
        import_module("numba_cuda")  # Numba alone has an older numba.cuda, which knows the types of nothing here
        import_module("cuda.bindings.nvjitlink").version()
        from numba import cuda
        from numba.cuda.cudadrv.nvvm import NVVM

        NVVM()
    except Exception as error:  # ImportError, or what numba-cuda raises for a library that cannot be loaded
        raise no_compiler("numba-cuda and NVIDIA's compiler, for CUDA kernels", error) from None
    return cuda


def no_compiler(needs: str, error: Exception) -> NoCompiler:
    """What to say where `needs` cannot be imported or loaded, which raised `error`."""
    found = " ".join(str(error).split())[:120].rstrip(".") or type(error).__name__
    return NoCompiler(
        f"needs {needs}; found none ({found}). No GPU is needed for it. To install it: {pip_install(EXTRA)}"
    )


def compile_kernel(cuda: Any, dispatcher: Any, types: tuple, chip: Chip) -> Code:
    """PTX of a kernel of the stand-in for these types. cuda: from `compiler`. Raises what Numba raises."""
    translation, capability = Translation(cuda), divmod(chip.capability, 10)
    chosen = {
        name: dispatcher.options[name]
        for name in ("fastmath", "opt", "launch_bounds")
        if dispatcher.options.get(name) is not None
    }
    with _device(capability):
        ptx, _ = cuda.compile(
            translation.function(dispatcher.py_func),
            tuple(map(translation.type, types)),
            lineinfo=True,
            device=False,
            cc=capability,
            abi="numba",
            **chosen,
        )
    return Code(dispatcher.__name__, chip, ptx, dispatcher.options.get("max_registers") or 0)


@contextmanager
def _device(capability: tuple[int, int]) -> Iterator[None]:
    """Device functions are compiled for the current GPU: here, for this one."""
    from numba.cuda import dispatcher

    asks = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asks


def assemble(code: Code) -> Assembled:
    """Machine code, kept in the cache beside the PTX and what the assembler said. Raises Rejected."""
    from cuda.bindings import nvjitlink

    folder = cache.folder() / code.key
    file = folder / f"{code.name[:150]}.cubin"
    said = folder / "nvjitlink {}.{}.log".format(*nvjitlink.version())
    known = file.is_file() and said.is_file()
    if known:
        log = said.read_text(encoding="utf-8")
    else:
        cubin, log = _link(code)
        folder.mkdir(parents=True, exist_ok=True)
        for place, contents in (file, cubin), (file.with_suffix(".ptx"), code.ptx.encode()), (said, log.encode()):
            cache.write(place, contents)
    if used := _USED.search(log):
        local = max(map(int, _STACK.findall(log)), default=0)
        return Assembled(int(used[1]), sum(map(int, _SPILLED.findall(log))), known, local)
    # Where a driver is installed the linker may find the cubin in its cache; nothing is assembled, and nothing said.
    registers, stack = machine_code.resources(file)
    return Assembled(registers, machine_code.spills(file), known, stack)


def _link(code: Code) -> tuple[bytes, str]:
    """The cubin, and what the assembler says about it."""
    from cuda.bindings import nvjitlink

    bound = [f"-maxrregcount={code.max_registers}"] if code.max_registers else []
    options = [f"-arch=sm_{code.chip.capability}", "-verbose", *bound]
    linker = nvjitlink.create(len(options), options)
    try:
        source = code.ptx.encode()
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, source, len(source), code.name)
        nvjitlink.complete(linker)
        return (
            _output(linker, nvjitlink.get_linked_cubin_size, nvjitlink.get_linked_cubin),
            _output(linker, nvjitlink.get_info_log_size, nvjitlink.get_info_log).decode(errors="replace"),
        )
    except nvjitlink.nvJitLinkError:
        log = _output(linker, nvjitlink.get_error_log_size, nvjitlink.get_error_log)
        raise Rejected(log.decode(errors="replace")) from None
    finally:
        nvjitlink.destroy(linker)


def _output(linker: int, size: Callable, fill: Callable) -> bytes:
    buffer = bytearray(size(linker))
    fill(linker, buffer)
    return bytes(buffer)
