"""Inputs that a verdict may depend on: the files of the course, and the machine with its programs and packages.

A `Snapshot` is taken before anything runs. What is compared is content, never a time, except for what is installed.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tools import ROOT

NAMES = "(names of all files)"  # of the course: a conftest.py or a module that shadows another decides by being there
COMMIT = "(commit)"  # for what asks git
MADE = ("__pycache__", "build", "__marimo__", "*.egg-info", "*.pyc", "report.html")  # by programs, as .gitignore says
# What belongs to the course of what begins with a dot, or would decide if it were there
HIDDEN = (".ci", ".github", ".gitignore", ".gitattributes", ".pytest.ini", ".ruff.toml", ".mypy.ini", ".importlinter")
VARIABLES = ("PYTEST", "COURSE", "PYTHON", "TRITON", "CUDA", "CUPY", "NUMBA", "OMP", "MKL", "TORCH", "HYPOTHESIS",
             "LANG", "LC_", "TZ", "CI", "PATH", "LD_", "CC", "CXX", "TERM", "NO_COLOR", "FORCE_COLOR")  # fmt: skip
PROGRAMS = ("cc", "gcc", "g++", "clang", "clang++", "nvcc", "ncu", "ptxas", "cuobjdump", "nvdisasm", "nvidia-smi",
            "valgrind", "objdump", "addr2line", "git", "ruff", "bash")  # fmt: skip


@dataclass(frozen=True)
class Snapshot:
    """files: path below the course -> hash of its content; also NAMES and COMMIT. environment: a hash of the rest."""

    files: Mapping[str, str]
    environment: str

    def inputs(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the paths with the hash that each has; "" for what is not there."""
        return {path: self.files.get(path, "") for path in sorted(paths)}


def snapshot(root: Path = ROOT) -> Snapshot:
    """The course below `root` and this machine as they are now."""
    files = {path: _digest((root / path).read_bytes()) for path in paths(root)}
    return Snapshot({**files, NAMES: names(files), COMMIT: _commit(root)}, environment())


def names(paths: Iterable[str]) -> str:
    """A hash of which files there are."""
    return _digest("\n".join(sorted(paths)).encode("utf-8", "surrogateescape"))


def paths(root: Path) -> list[str]:
    """The files of the course, relative to `root`, sorted; not what is installed, made or kept beside it."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if _belongs(name)]
        here = Path(folder).relative_to(root)
        found += [(here / name).as_posix() for name in files if _belongs(name)]
    return sorted(path for path in found if (root / path).is_file())


def _belongs(name: str) -> bool:
    return (name in HIDDEN or not name.startswith(".")) and not any(fnmatch(name, made) for made in MADE)


def environment() -> str:
    """A hash of all that is outside the course: Python, packages, programs, the machine, variables."""
    return _digest("\n".join([*_python(), *_packages(), *_programs(), *_machine(), *_variables()]).encode())


def _python() -> Iterator[str]:
    yield sys.version
    yield sys.executable


def _packages(places: Iterable[str] | None = None) -> Iterator[str]:
    """What is installed: name, version and when. An installer names a folder after both."""
    for place in dict.fromkeys(sys.path if places is None else places):
        with_versions = Path(place or ".").glob("*.dist-info") if os.path.isdir(place or ".") else []
        for folder in sorted(with_versions):
            yield f"{folder} {folder.stat().st_mtime_ns}"


def _programs(names: Iterable[str] = PROGRAMS) -> Iterator[str]:
    for name in names:
        if found := shutil.which(name):
            file = os.stat(found)
            yield f"{name} {os.path.realpath(found)} {file.st_size} {file.st_mtime_ns}"


def _machine() -> Iterator[str]:
    yield platform.platform()
    yield f"{os.cpu_count()} cores"
    yield from _processor(Path("/proc/cpuinfo"))
    driver = Path("/proc/driver/nvidia/version")
    yield driver.read_text() if driver.exists() else "no driver"
    if lister := shutil.which("nvidia-smi"):
        yield subprocess.run([lister, "-L"], capture_output=True, text=True).stdout


def _processor(file: Path) -> Iterator[str]:
    """Its name and what it can do: a simulated kernel in C++ is compiled for it."""
    if file.exists():
        yield from sorted({line for line in file.read_text().splitlines() if line.startswith(("model name", "flags"))})


def _variables() -> Iterator[str]:
    yield from (f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES))


def _commit(root: Path) -> str:
    if not shutil.which("git"):
        return ""
    told = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True)
    return told.stdout.strip()


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def loaded(root: Path = ROOT) -> set[str]:
    """The files of the course that this process has imported, relative to `root`."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {Path(file).relative_to(root).as_posix() for file in files if file and Path(file).is_relative_to(root)}
