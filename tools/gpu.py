"""The one choice between a real GPU and a simulated one.

`import tools.gpu` goes before `import triton`; `from tools.gpu import cuda, cupy` gives Numba's cuda and CuPy. Without
a GPU, or with --sim, all three are stand-ins that run on the CPU. The driver itself is asked, so that a lesson that
needs no PyTorch never loads it.
"""

import ctypes
import importlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tools import pip_install
from tools.sim import triton as simulated_triton
from tools.sim.triton.install import patch_after

SIMULATE = "COURSE_SIM"  # set by pytest --sim, and inherited by the processes that run lessons
COMPILE = "COURSE_COMPILE"  # set for a process in which kernels are compiled, and none runs
DRIVER_LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of the driver API


@dataclass(frozen=True)
class Card:
    """The first GPU: its name, its compute capability, and the newest CUDA version that its driver serves."""

    name: str
    capability: tuple[int, int]
    driver: tuple[int, int]
    count: int = 1

    def __str__(self) -> str:
        return f"{self.name} (compute capability {self.capability[0]}.{self.capability[1]})"


def card() -> Card | None:
    """The GPU that lessons run on, or None when they are simulated."""
    return None if os.environ.get(SIMULATE) == "1" else installed_card()


class _WhenTritonIsImported(importlib.abc.MetaPathFinder):
    """Chooses then, and not before: a driver that was asked is of no use to processes forked afterwards, and
    COURSE_SIM may still be set."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "triton":
            return None
        sys.meta_path.remove(self)
        choose_triton()
        spec = importlib.util.find_spec(name)
        if spec and spec.loader and card() is None and os.environ.get(COMPILE) == "1":
            patch_after(spec.loader, _give_a_driver)
        return spec


def choose_triton() -> None:
    """Make `import triton` fit this run."""
    if card() is None and os.environ.get(COMPILE) != "1":
        simulated_triton.install(_front_end)


def _give_a_driver(triton: ModuleType) -> None:
    """A lesson may ask for it where it is imported."""
    importlib.import_module("tools.compiler.capture").stand_in()


def _front_end(*launch: Any) -> Any:
    """Imported with the first launch: whoever only imports a lesson does not wait for it."""
    from tools.compiler import front_end

    return front_end.check(*launch)


@cache
def installed_card() -> Card | None:
    """The GPU of this machine, whether or not this run uses it."""
    driver = _load_driver()
    if driver is None or driver.cuInit(0) != 0:
        return None
    count, version, handle = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGetCount(ctypes.byref(count))
    if count.value == 0 or driver.cuDeviceGet(ctypes.byref(handle), 0) != 0:
        return None
    driver.cuDriverGetVersion(ctypes.byref(version))  # 13000 for CUDA 13.0
    name = ctypes.create_string_buffer(128)
    driver.cuDeviceGetName(name, len(name), handle)
    capability = _attribute(driver, MAJOR, handle), _attribute(driver, MINOR, handle)
    return Card(name.value.decode(), capability, (version.value // 1000, version.value % 1000 // 10), count.value)


@contextmanager
def in_sight_of_profiler() -> Iterator[None]:
    """A profiler that waits for it, as `ncu --profile-from-start off` does, looks at what happens inside."""
    driver = _load_driver()
    if driver:
        driver.cuProfilerStart()
    try:
        yield
    finally:
        if driver:
            driver.cuProfilerStop()


def _load_driver() -> ctypes.CDLL | None:
    for name in DRIVER_LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _attribute(driver: ctypes.CDLL, which: int, handle: ctypes.c_int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), which, handle)
    return value.value


def __getattr__(name: str) -> Any:
    """Asked late, because --sim may still be read."""
    match name:
        case "device":  # where a lesson's tensors live
            return "cuda" if card() else "cpu"
        case "cuda":
            return _numba_cuda() if _for_real() else _simulated_cuda()
        case "cupy":
            return _needed("cupy", "cupy") if _for_real() else _simulated_cupy()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _for_real() -> bool:
    return card() is not None and os.environ.get(COMPILE) != "1"


def _simulated_cuda() -> ModuleType:
    """With the real compiler behind it, for who asks a kernel for its registers."""
    module = importlib.import_module("tools.sim.cuda")
    importlib.import_module("tools.sim.cuda.session").session.compile = _resources
    return module


def _resources(dispatcher: Any, types: tuple, chip: Any) -> dict[str, int]:
    mend_numpy()
    return importlib.import_module("tools.compiler.numba.kernel").resources(dispatcher, types, chip)


def _simulated_cupy() -> ModuleType:
    """With the real compiler behind it, likewise."""
    module = importlib.import_module("tools.sim.cupy")
    importlib.import_module("tools.sim.cupy.raw.resources").compiler.ask = _resources_of_raw_kernel
    return module


def _resources_of_raw_kernel(kernel: Any, chip: Any) -> dict[str, int]:
    nvrtc = importlib.import_module("tools.compiler.nvrtc")
    return nvrtc.resources(nvrtc.Source.of(kernel), chip)


def _numba_cuda() -> ModuleType:
    mend_numpy()
    return _needed("numba.cuda", "numba-cuda")


def mend_numpy() -> None:
    """NumPy 2.5 has no row_stack any more, and numba-cuda 0.30 still asks for it."""
    import numpy

    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack


def _needed(module: str, package: str) -> ModuleType:
    """A module that a GPU is of no use without."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        found = card()
        assert found is not None
        install = pip_install(f"-e '.[cuda{found.driver[0]}]'")
        raise ImportError(
            f"This machine has an {found.name}, but {package} cannot be imported: {error}\n"
            f"To install it: {install}\nOr add --sim, to simulate the GPU."
        ) from error


if "triton" in sys.modules:
    choose_triton()
else:
    sys.meta_path.insert(0, _WhenTritonIsImported())
