"""Makes `import triton` give kernels that run without a GPU; until then, nothing heavy is imported."""

import functools
import importlib
import importlib.abc
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tools import pip_install
from tools.sim.triton import tracing

FrontEnd = Callable[..., Any] | None

WANTED = "'triton>=3.6,<3.8'"
SUPPORTED = ((3, 6), (3, 7))  # the patches replace private names of the interpreter, which differ in others
PATCHED = "patched_by_the_course"  # name that the interpreter's module has then
PATCHES = (
    "lighter",
    "numbers",
    "libdevice",
    "assembly",
    "language",
    "methods",
    "mapped",
    "memory",
    "reducing",
    "pointers",
    "allocator",
    "boxes",
    "gluon",
    "turns.hooks",
    "programs",
    "overflow",
    "arithmetic",
    "undefined",
    "masked",
    "autotune",
    "tracing",
)  # later ones wrap earlier


def install(front_end: FrontEnd = None) -> None:
    """Set up interpreter mode, and patch the interpreter as soon as Triton is imported. Once is enough.

    front_end(kernel, args, kwargs, language_in_place) is asked before each launch, and raises what it refuses. It gives
    a tools.compiler.front_end.Signature or None.
    Raises ImportError when Triton was imported before, so that its functions already expect a GPU; and, here
    or at `import triton`, when the patches do not know that release of Triton.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if "triton" in sys.modules:
        _patch_imported(sys.modules["triton"], front_end)
    os.environ["TRITON_INTERPRET"] = "1"
    sys.meta_path.insert(0, _Finder(front_end))


def patch(interpreter: ModuleType, front_end: FrontEnd = None) -> None:
    """Apply every patch to `triton.runtime.interpreter`, once."""
    if vars(interpreter).setdefault(PATCHED, False):
        return
    setattr(interpreter, PATCHED, True)
    importlib.import_module("tools.sim.triton.original").keep()
    for name in PATCHES:
        importlib.import_module(f"tools.sim.triton.{name}").patch(interpreter)
    setattr(importlib.import_module("tools.sim.triton.programs"), "front_end", front_end)


def _patch_imported(triton: ModuleType, front_end: FrontEnd) -> None:
    if "triton.runtime.interpreter" not in sys.modules:
        raise ImportError(
            "Triton was imported before tools.gpu, so its kernels ask for a real GPU.\n"
            "Put `import tools.gpu` above the line that imports triton, and start anew."
        )
    _patch_supported(triton, front_end)


def _patch_supported(triton: ModuleType, front_end: FrontEnd) -> None:
    if tuple(int(part) for part in triton.__version__.split(".")[:2]) not in SUPPORTED:
        raise ImportError(
            f"The simulator knows Triton 3.6 and 3.7; installed is {triton.__version__}.\n"
            f"To install one that it knows: {pip_install(WANTED)}"
        )
    patch(importlib.import_module("triton.runtime.interpreter"), front_end)


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the other finders find a module, the package `triton` above all, and patches it once it is imported."""

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        changes: dict[str, Callable[[ModuleType], None]] = {
            "triton": functools.partial(_patch_supported, front_end=self.front_end),
            tracing.DECIDER: tracing.keep_whole,
        }
        change = changes.get(name)
        if change is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            patch_after(spec.loader, change)
        return spec


def patch_after(loader: importlib.abc.Loader, change: Callable[[ModuleType], None]) -> None:
    """Have a module changed as soon as it is imported."""
    execute = loader.exec_module

    def execute_and_patch(module: ModuleType) -> None:
        execute(module)
        change(module)

    setattr(loader, "exec_module", execute_and_patch)  # a method of this one object
