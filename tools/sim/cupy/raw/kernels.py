"""cupy.RawKernel and cupy.RawModule: CUDA C++ in a string, compiled for this machine's CPU, checked and counted."""

import ctypes
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from tools.models.launch import MOST_THREADS
from tools.sim import host
from tools.sim.cupy.device.errors import CompileException
from tools.sim.cupy.device.memory import Memory, MemoryPointer
from tools.sim.cupy.raw import capture, launch, origin, resources
from tools.sim.cupy.raw.compiled import NO_KERNEL, Compiled, compiled, line_of_function

MOST_SHARED, MOST_SHARED_OPTED_IN = 48 << 10, 227 << 10  # bytes of a block; of compute capability 9.0
OF_COMPILER = """
    binary_version cache_mode_ca const_size_bytes local_size_bytes num_regs ptx_version shared_size_bytes
""".split()

FIGURES = {"num_regs": "registers", "local_size_bytes": "local", "shared_size_bytes": "shared"}
VERSIONS = ("binary_version", "ptx_version")


class RawKernel:
    """cupy.RawKernel(code, name, options=()): kernel(grid, block, args, shared_mem=0, stream=None) runs it.

    code: CUDA C++, in which the kernel is extern "C". options: as of NVRTC; what concerns a GPU's code only has no
    effect. enable_cooperative_groups: all blocks run at once, and can wait for each other by grid.sync(). origin:
    where the code stands. It is compiled at the first launch. Raises CompileException, Fault, CUDADriverError,
    TypeError, NoCompiler.
    """

    __module__ = "cupy"

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        *,
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        jitify: Any = None,
    ) -> None:
        _check(options, backend)
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.__name__ = name
        self._expressions: tuple[str, ...] = ()
        self.origin = origin.find(code, name, sys._getframe(1))
        self._most_shared = MOST_SHARED
        self._function: resources.Function | None = None
        self.preferred_shared_memory_carveout = -1

    def __call__(self, grid: tuple, block: tuple, args: tuple, *, shared_mem: int = 0, stream: Any = None) -> None:
        shape = launch.Shape(
            launch.sizes("grid", grid), launch.sizes("block", block), shared_mem, self.enable_cooperative_groups
        )
        shape.check(self.name, self._most_shared)
        if capture.takers:
            return capture.takers[-1](self, shape)
        launch.run(self._compiled(), self.name, shape, args, stream)

    def compile(self, log_stream: Any = None) -> None:
        """Compile it now."""
        if not capture.takers:
            self._compiled()

    def _compiled(self) -> Compiled:
        module = compiled(self.code, self.options, self.backend, self._expressions, self.origin)
        if self.name not in module.kernels and self.name not in module.source.kernels:
            module = self._found_by_compiler() or module  # a macro may have made it
        if self.name in module.kernels:
            return module
        advice = f"kernels that can be found: {', '.join(module.kernels) or 'none'}."
        if self.name in module.source.kernels:
            advice = 'its name is mangled. Write extern "C" before __global__; a template needs name_expressions.'
        elif line_of_function(self.code, self.name):
            advice = NO_KERNEL.format("it")
        raise launch.CUDADriverError(f"CUDA_ERROR_NOT_FOUND: named symbol not found\n{self.name}: {advice}")

    def _found_by_compiler(self) -> Compiled | None:
        try:
            module = compiled(self.code, self.options, self.backend, (*self._expressions, self.name), self.origin)
        except CompileException:
            return None
        return module if module.loaded.exports(self.name) else None

    # Attributes ----------------------------------------------------------------------------------

    @property
    def kernel(self) -> resources.Function:
        """Its function, as the driver knows it."""
        self._function = self._function or resources.Function(self)
        return self._function

    @property
    def max_threads_per_block(self) -> int:
        """The largest block: by its registers where NVIDIA's compiler is there to tell, else the GPU's limit."""
        try:
            return resources.most_threads(self, MOST_THREADS)
        except (AttributeError, NotImplementedError, RuntimeError):
            return MOST_THREADS

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """How much shared memory a launch may ask for with shared_mem."""
        return self._most_shared

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        if not 0 <= size <= MOST_SHARED_OPTED_IN:
            raise launch.refused(f"A block can have 0 to {MOST_SHARED_OPTED_IN:,} bytes, not {size:,}.")
        self._most_shared = size

    def __getattr__(self, name: str) -> int:
        if name in FIGURES and resources.compiler.ask is not None:
            return resources.needs(self)[FIGURES[name]]
        if name in VERSIONS and resources.compiler.ask is not None:
            return host.device().chip.capability
        if name in OF_COMPILER or name == "attributes":
            raise AttributeError(
                f"{name} is known to NVIDIA's compiler only, and this kernel was compiled for a CPU.\n"
                "tools.compiler.nvrtc shows what NVIDIA's compiler makes of it, without a GPU."
            )
        raise AttributeError(f"'cupy.RawKernel' object has no attribute {name!r}")


class RawModule:
    """cupy.RawModule(code=..., options=(), name_expressions=None): several kernels and their variables.

    name_expressions: templates with their arguments, as "scale<float>".
    """

    __module__ = "cupy"

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Iterable[str] | None = None,
        jitify: Any = None,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if code is None:
            raise NotImplementedError(f"{path} holds code for a GPU. The simulated one compiles the source: code=.")
        if name_expressions is not None and backend != "nvrtc":
            raise ValueError("only nvrtc supports retrieving the mangled names for the given name expressions")
        _check(options, backend)
        self.code, self.options, self.backend, self.file_path = code, options, backend, None
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.origin = origin.find(code, "module", sys._getframe(1))

    def compile(self, log_stream: Any = None) -> None:
        """Compile it now."""
        self._compiled()

    def _compiled(self) -> Compiled:
        return compiled(self.code, self.options, self.backend, self.name_expressions or (), self.origin)

    def get_function(self, name: str) -> RawKernel:
        """The kernel of this name, or of this one of the name_expressions."""
        cooperative = self.enable_cooperative_groups
        kernel = RawKernel(self.code, name, self.options, self.backend, enable_cooperative_groups=cooperative)
        kernel._expressions, kernel.origin = self.name_expressions or (), self.origin
        kernel.compile()
        return kernel

    def get_global(self, name: str) -> MemoryPointer:
        """A pointer to a __device__ or __constant__ variable: the memptr of a cupy.ndarray."""
        module = self._compiled()
        found = module.variable(name)
        if found is None:
            raise launch.CUDADriverError(
                f"CUDA_ERROR_NOT_FOUND: named symbol not found\n"
                f"The module has no __device__ or __constant__ variable {name}."
            )
        address, size = found
        storage = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
        return MemoryPointer(Memory(address, size, storage, owner=module), 0)


def _check(options: object, backend: str) -> None:
    if not isinstance(options, tuple):
        raise TypeError(f"Argument 'options' has incorrect type (expected tuple, got {type(options).__name__})")
    if backend not in ("nvrtc", "nvcc"):
        raise ValueError(f"Invalid backend {backend!r}: nvrtc or nvcc")
