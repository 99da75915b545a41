"""The one choice between a real GPU and a simulated one: lessons import this module before Triton.

The driver itself is asked, so that a lesson that needs no PyTorch never loads it. Without a GPU, or with
--sim, `import triton` gives kernels that run on the CPU.
"""

import ctypes
import importlib.abc
import importlib.util
import os
import sys
from dataclasses import dataclass
from functools import cache

from tools.sim import triton as simulated_triton

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

    def find_spec(self, name, path=None, target=None):
        if name != "triton":
            return None
        sys.meta_path.remove(self)
        choose_triton()
        return importlib.util.find_spec(name)


def choose_triton() -> None:
    """Make `import triton` fit this run."""
    if card() is None and os.environ.get(COMPILE) != "1":
        simulated_triton.install()


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
    capability = tuple(_attribute(driver, which, handle) for which in (MAJOR, MINOR))
    return Card(name.value.decode(), capability, (version.value // 1000, version.value % 1000 // 10), count.value)


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


def __getattr__(name: str) -> str:
    if name == "device":  # where a lesson's tensors live; asked late, because --sim may still be read
        return "cuda" if card() else "cpu"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if "triton" in sys.modules:
    choose_triton()
else:
    sys.meta_path.insert(0, _WhenTritonIsImported())
