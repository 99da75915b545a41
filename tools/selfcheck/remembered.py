"""Verdicts that are remembered as long as nothing they depend on has changed.

A part of the check depends on each file of the course that one of its processes read (noted as it happens, by
reads/sitecustomize.py), on the names of all files, since a new one may be found where none was, and on the environment:
Python, packages, programs, the GPU. A part with a process whose reading could not be noted depends on all files. Only
parts that passed are remembered. Remembered parts lie in .course/verdicts.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from tools.selfcheck.findings import Findings
from tools.selfcheck.judge import Verdict

READS = Path(__file__).with_name("reads")
EVERYTHING = "*"  # as a process notes it that cannot say what it read
ALWAYS = re.compile(
    r"(conftest\.py|pyproject\.toml|constraints\.txt|course)|.*\.(h|hpp|cuh|cu|cpp)"
)  # compilers read these
PROGRAMS = ("g++", "clang++", "git", "valgrind", "tmux", "chromium", "ncu", "nsys", "nvcc", "cuobjdump", "nvdisasm")
VARIABLES = ("CC", "CI", "COURSE", "CUDA", "CUPY", "CXX", "HOME", "LANG", "LC_", "MKL", "NUMBA", "OMP", "PATH",
             "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHON", "TERM", "TORCH", "TRITON", "TZ")  # fmt: skip
_notes: ContextVar[Path | None] = ContextVar("notes", default=None)  # of the part that this thread runs


@dataclass(frozen=True)
class Snapshot:
    """The course and its surroundings at one time. files: path -> hash of what it holds."""

    files: dict[str, str]
    environment: str

    @cached_property
    def names(self) -> str:
        return _hash("\n".join(sorted(self.files)))


@dataclass(frozen=True)
class Part:
    """A part of the check that is remembered as one. key: its name and its options, in words.

    owns: paths that it depends on whatever its processes read, folders with all that they hold; EVERYTHING for all.
    """

    key: str
    owns: tuple[str, ...] = ()

    def file(self, root: Path) -> Path:
        return root / ".course" / "verdicts" / f"{re.sub(r'[^A-Za-z0-9=]+', '-', self.key)}.json"


# What there is -------------------------------------------------------------------------------------


def snapshot(root: Path) -> Snapshot:
    """The files of the course (not those that git ignores) and the environment, as they are now."""
    files = {path: _digest(root / path) for path in _paths(root) if (root / path).is_file()}
    commit = _git(root, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    return Snapshot(files | {".git": _hash(commit)}, _hash(json.dumps(_environment(), sort_keys=True)))


def _paths(root: Path) -> list[str]:
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed:
        return sorted(set(listed.split("\0")) - {""})
    found = []
    for folder, folders, files in os.walk(root):  # a course without git's history
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__")) and name != "build"]
        found += [os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/") for name in files]
    return sorted(found)


def _git(root: Path, *command: str) -> str:
    if not (root / ".git").exists() or not shutil.which("git"):
        return ""
    return subprocess.run(["git", *command], cwd=root, capture_output=True, text=True).stdout


def _environment() -> dict[str, object]:
    places = {name: shutil.which(name) for name in PROGRAMS}
    programs = {
        name: (place, os.stat(place).st_size, os.stat(place).st_mtime) for name, place in places.items() if place
    }
    return {
        "python": [
            sys.version,
            sys.executable,
            platform.platform(),
            os.cpu_count(),
            os.name == "posix" and os.getuid(),
        ],
        "packages": sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions()),
        "programs": programs,
        "gpus": sorted(path.name for path in Path("/dev").glob("nvidia[0-9]*")),
        "variables": {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)},
    }


def _digest(file: Path) -> str:
    """Of what a file holds, and whether it can be run."""
    return _hash(file.read_bytes()) + "x" * os.access(file, os.X_OK)


def _hash(content: str | bytes) -> str:
    return hashlib.blake2b(content.encode() if isinstance(content, str) else content, digest_size=16).hexdigest()


# What a part reads ---------------------------------------------------------------------------------


@contextmanager
def noting() -> Iterator[Callable[[], set[str]]]:
    """Inside, processes with watched() in their environment note what they read; gives a function that says what."""
    with tempfile.TemporaryDirectory(prefix="course-reads-") as folder:
        notes = Path(folder, "notes")
        before = _notes.set(notes)
        try:
            yield lambda: set(notes.read_text(encoding="utf-8").splitlines()) if notes.exists() else set()
        finally:
            _notes.reset(before)


def watched(root: Path, tools: Path) -> dict[str, str]:
    """Variables for a process that is to note what it reads of the course at `root`. tools: where it finds them."""
    notes = _notes.get()
    if notes is None:
        return {"PYTHONPATH": str(tools)}
    path = os.pathsep.join([str(READS), str(tools)])
    return {"PYTHONPATH": path, "COURSE_READS": str(notes), "COURSE_READS_ROOT": str(root)}


def dependencies(part: Part, reads: Iterable[str], now: Snapshot, root: Path) -> dict[str, str]:
    """The files that the part depends on, of those in the snapshot, each with its hash."""
    reads = set(reads)
    if EVERYTHING in reads or EVERYTHING in part.owns:
        return dict(now.files)
    reads |= {path for path in now.files if ALWAYS.fullmatch(path)} | _imported(root)
    reads |= {path for path in now.files for own in part.owns if path == own or path.startswith(own + "/")}
    return {path: digest for path, digest in now.files.items() if path in reads}


def _imported(root: Path) -> set[str]:
    """The course's own modules in this process, which plans, judges and remembers."""
    files = [Path(file) for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))]
    return {file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)}


# Remembering ---------------------------------------------------------------------------------------


def recall(part: Part, now: Snapshot, root: Path) -> Findings | None:
    """What the part found when all was as it is now; None if it never was."""
    try:
        kept = json.loads(part.file(root).read_text(encoding="utf-8"))
        holds = (
            (kept["key"], kept["environment"], kept["names"]) == (part.key, now.environment, now.names)
            and all(now.files.get(path) == digest for path, digest in kept["files"].items())
        )  # fmt: skip
        return _findings(kept["findings"]) if holds else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(part: Part, found: Findings, reads: Iterable[str], before: Snapshot, root: Path) -> bool:
    """Keep what a part found, if it passed and none of its files changed meanwhile. before: as it began."""
    files = dependencies(part, reads, before, root)
    if not found.passed or any(not _is_still(root, path, digest) for path, digest in files.items()):
        return False
    kept = {"key": part.key, "environment": before.environment, "names": before.names, "files": files}
    file = part.file(root)
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.write_text(json.dumps(kept | {"findings": _plain(found)}), encoding="utf-8")
    unfinished.replace(file)
    return True


def _is_still(root: Path, path: str, digest: str) -> bool:
    if path == ".git":
        return True
    try:
        return _digest(root / path) == digest
    except OSError:
        return False


def _plain(found: Findings) -> dict:
    return vars(found) | {"verdicts": [asdict(verdict) for verdict in found.verdicts]}


def _findings(plain: dict) -> Findings:
    return Findings(
        plain["name"],
        [Verdict(**verdict) for verdict in plain["verdicts"]],
        plain["notes"],
        Counter(plain["skips"]),
        Counter(plain["unjudged"]),
    )
