"""The facts of this machine that matter to the course: found without changing or importing anything.

tools.doctor.checks judges it.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tools import ROOT, gpu
from tools.doctor import self_tests

PACKAGES = ("numpy", "torch", "triton", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy", "numba-cuda")


@dataclass(frozen=True)
class Facts:
    """The facts that were found. Versions are tuples of numbers; None or "" stands for what is not there."""

    python: tuple[int, ...]
    system: str  # as sys.platform: "linux", "darwin", "win32"
    packages: Mapping[str, str]  # name -> version, of those that matter here
    torch_cuda: tuple[int, ...] | None  # the CUDA version that PyTorch was built for
    card: str | None  # the GPU that lessons run on
    capability: tuple[int, ...] | None
    driver: tuple[int, ...] | None  # the newest CUDA version that the driver serves
    listed: str | None  # the GPU that nvidia-smi lists, usable or not; None with --sim
    compilers: tuple[str, ...]
    free_gb: float
    answers: Mapping[str, str] = field(default_factory=dict)  # of self-tests; one that is not here is run


# Gathering ---------------------------------------------------------------------------------------


def facts() -> Facts:
    """The facts of this machine, or of the one that `pretend` put in its place."""
    return _pretended or _gather()


@cache
def _gather() -> Facts:
    return gather()


def gather(simulated: bool = False) -> Facts:
    """The facts of this machine now, asked anew. simulated: as with --sim, without a word to the GPU's driver."""
    simulated = simulated or os.environ.get(gpu.SIMULATE) == "1"
    card = None if simulated else gpu.card()
    return Facts(
        python=sys.version_info[:3],
        system=sys.platform,
        packages={name: version for name in PACKAGES if (version := installed(name))},
        torch_cuda=_cuda_of_torch(),
        card=card.name if card else None,
        capability=card.capability if card else None,
        driver=card.driver if card else None,
        listed=None if simulated else _listed_card(),
        compilers=tuple(name for name in ("g++", "nvcc") if shutil.which(name)),
        free_gb=shutil.disk_usage(ROOT).free / 1e9,
    )


def installed(name: str) -> str:
    """The version of a package, "" if it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _cuda_of_torch() -> tuple[int, ...] | None:
    """Read from torch/version.py: importing takes a second, and fails where libraries are broken."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    version = re.search(r"^cuda\b.*= *'(\d+)\.(\d+)", text, re.MULTILINE)
    return (int(version[1]), int(version[2])) if version else None


def _listed_card() -> str | None:
    try:
        command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        listed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return listed.partition("\n")[0].strip() or None


def answer(facts: Facts, library: str) -> str:
    """The answer of the self-test of `library`; see tools.doctor.self_tests."""
    return facts.answers[library] if library in facts.answers else self_tests.ask(library)


# Pretending, so that each check can be seen to fail ------------------------------------------------

LAPTOP = Facts(
    python=(3, 12, 4),
    system="linux",
    packages={"numpy": "2.4.6", "torch": "2.13.0", "triton": "3.7.1", "numba-cuda": "0.30.4"},
    torch_cuda=None,
    card=None,
    capability=None,
    driver=None,
    listed=None,
    compilers=("g++",),
    free_gb=50.0,
    answers=dict.fromkeys(self_tests.SELF_TESTS, self_tests.RIGHT) | {"compilers": self_tests.COMPILED},
)  # a machine on which all is well

_pretended: Facts | None = None


@contextmanager
def pretend(changes: Mapping[str, object]) -> Iterator[Facts]:
    """Let `facts()` describe LAPTOP with these changes; tables are merged, and "" removes an entry."""
    global _pretended
    before = _pretended
    changed: dict[str, Any] = {name: _changed(name, new) for name, new in changes.items()}
    _pretended = replace(LAPTOP, **changed)
    try:
        yield _pretended
    finally:
        _pretended = before


def _changed(name: str, new: object) -> object:
    if isinstance(new, Mapping):
        return {key: text for key, text in {**getattr(LAPTOP, name), **new}.items() if text}
    return tuple(new) if isinstance(new, list) else new  # TOML has no tuples
