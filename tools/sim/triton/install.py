"""Makes `import triton` give kernels that run without a GPU; until then, nothing heavy is imported."""

import importlib
import importlib.abc
import os
import sys
from types import ModuleType
from typing import Any

from tools import pip_install

WANTED = "'triton>=3.6,<3.8'"
SUPPORTED = ((3, 6), (3, 7))  # the patches replace private names of the interpreter, which differ in others
PATCHES = (
    "numbers",
    "libdevice",
    "language",
    "memory",
    "turns.hooks",
    "programs",
    "overflow",
    "arithmetic",
    "undefined",
)  # later ones wrap earlier


def install() -> None:
    """Set up interpreter mode, and patch the interpreter as soon as Triton is imported. Once is enough.

    Raises ImportError when Triton was imported before, so that its functions already expect a GPU; and, here
    or at `import triton`, when the patches do not know that release of Triton.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "triton" in sys.modules:
        _patch_imported(sys.modules["triton"])
    os.environ["TRITON_INTERPRET"] = "1"
    sys.meta_path.insert(0, _Finder())


def patch(interpreter: ModuleType) -> None:
    """Apply every patch to `triton.runtime.interpreter`."""
    for name in PATCHES:
        importlib.import_module(f"tools.sim.triton.{name}").patch(interpreter)


def _patch_imported(triton: ModuleType) -> None:
    if "triton.runtime.interpreter" not in sys.modules:
        raise ImportError(
            "Triton was imported before tools.gpu, so its kernels ask for a real GPU.\n"
            "Put `import tools.gpu` above the line that imports triton, and start anew."
        )
    _patch_supported(triton)


def _patch_supported(triton: ModuleType) -> None:
    if tuple(int(part) for part in triton.__version__.split(".")[:2]) not in SUPPORTED:
        raise ImportError(
            f"The simulator knows Triton 3.6 and 3.7; installed is {triton.__version__}.\n"
            f"To install one that it knows: {pip_install(WANTED)}"
        )
    patch(importlib.import_module("triton.runtime.interpreter"))


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the other finders find the package `triton`, and patches it once all of it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "triton":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            _patch_after(spec.loader)
        return spec


def _patch_after(loader: importlib.abc.Loader) -> None:
    execute = loader.exec_module

    def execute_and_patch(module: ModuleType) -> None:
        execute(module)
        _patch_supported(module)

    setattr(loader, "exec_module", execute_and_patch)  # a method of this one object
