"""For the tools' own tests: a copy of the course that a test may harm, and runs of it as a learner would run it."""

import atexit
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import ROOT
from tools.selfcheck.recording import COPY, copying, recorded
from tools.tests import warm

# A check has a process for each core: threads of several would wait for each other, at twice the cost. The processes
# that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    # How long an example takes is the machine's affair: other work on it must not decide a test.
    settings.register_profile("course", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("course")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in what a script starts with &: some tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

PATIENCE = 120.0  # seconds for a command
LEFT_BEHIND = (
    ".git",
    ".venv",
    ".course",
    ".github",
    "*.pyc.*",  # half written: another process is at work
    ".pytest_cache",
    ".hypothesis",
    "build",
    "*.egg-info",
    "docs",
    "tests",
    "journal",
    ".mypy_cache",
    ".ruff_cache",
)
# What no run writes into is one file in all copies: to write it anew costs more than most tests do
SHARED = re.compile(rf"/{COPY}/(tools|reference|\.git/objects)/")


needs_solutions = pytest.mark.skipif(
    not (ROOT / "reference").is_dir(), reason="needs reference/; this is the learners' edition; nothing to do"
)


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="for the tools' tests: all of what they take a sample of")


@dataclass(frozen=True)
class Ran:
    """What a command ended with and printed, standard output and error together as on a terminal."""

    code: int
    text: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.text.splitlines() if line.strip()]


class Course:
    """A copy of the course in a folder of its own, under git. Its self-check depends on what is read in it."""

    def __init__(self, place: Path, given: Path | None = None):
        """place: the folder that it lies in. given: such a copy that is as it was made; else it is made anew."""
        self.folder = folder = place / COPY
        with copying(folder):
            if given is not None:
                shutil.copytree(given, folder, copy_function=_share_or_copy)
                return
            shutil.copytree(ROOT, folder, ignore=_left_behind)
        (folder / "tools/tests").mkdir()
        self._git("init", "-q")
        self.commit()
        self._git("gc", "-q")  # into one file, which is soon copied

    def write(self, path: str, text: str) -> None:
        """Put a new file in place of what stands there, which other copies may share."""
        (self.folder / path).unlink(missing_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def commit(self) -> None:
        self._git("add", "-A")
        self._git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "as given", "--allow-empty")

    def status(self) -> str:
        """What git says has changed, but for the journal, which every run may add to."""
        return self._git("status", "--porcelain", "--", ".", ":!journal").stdout

    def solve(self, unit: str) -> None:
        """Put the reference in the learner's place."""
        shutil.copytree(
            self.folder / "reference" / unit,
            self.folder / unit,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("*.toml"),
        )

    def pytest(self, *args: str, cwd: str = ".", **environment: str) -> Ran:
        return self.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args, cwd=cwd, **environment)

    def run(self, *command: str, cwd: str = ".", **environment: str) -> Ran:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COURSE_"))}
        environment = recorded(kept | {"COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"} | environment)
        if command[:2] == (sys.executable, "-m"):
            library = "torch" if self._imports_torch(command) else "numpy"
            code, printed = _run_module(command[2:], library, self.folder / cwd, environment)
        else:
            code, printed = _run(command, self.folder / cwd, environment)
        return Ran(code, printed.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n"))

    def _imports_torch(self, command: tuple[str, ...]) -> bool:
        """Will it import PyTorch, since the lessons that it names or their tests do?"""
        folders = [self.folder / name for name in command if name.startswith("week")]
        files = [file for folder in folders for file in folder.glob("*.py")]
        return any(re.search(rb"^import torch$", file.read_bytes(), re.M) for file in files)

    def _git(self, *args: str) -> subprocess.CompletedProcess:
        return subprocess.run(["git", *args], cwd=self.folder, check=True, capture_output=True, text=True)


def _left_behind(folder: str, names: list[str]) -> set[str]:
    """Of the compiled files those of the tools are copied too: or each run would compile the tools anew."""
    compiled = set() if Path(folder).is_relative_to(ROOT / "tools") else {"__pycache__"}
    return shutil.ignore_patterns(*LEFT_BEHIND)(folder, names) | compiled.intersection(names)


def _share_or_copy(source: str, target: str) -> None:
    how = os.link if SHARED.search(source) else shutil.copy2
    how(source, target)


def _run_module(command: Sequence[str], library: str, cwd: Path, env: dict[str, str]) -> tuple[int, bytes]:
    """How `python -m *command` ended, and what it printed, both streams together. library: which it will import."""
    if warm.HERE:
        return _warm("rich.table", "numpy.random", library).run([*command], cwd, env, PATIENCE)
    return _run([sys.executable, "-m", *command], cwd, env)


def _run(command: Sequence[str], cwd: Path, env: dict[str, str]) -> tuple[int, bytes]:
    printed = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=cwd, env=env, timeout=PATIENCE, **printed)
    return done.returncode, done.stdout


@functools.cache
def _warm(*modules: str) -> warm.Warm:
    process = warm.Warm(*modules)
    atexit.register(process.end)
    return process


@pytest.fixture(scope="session")
def given(tmp_path_factory) -> Iterator[Path]:
    """A copy of the course that stays as it is."""
    course = Course(tmp_path_factory.mktemp("given"))
    yield course.folder
    assert course.status() == "", "a test has written into a file that all copies share"


@pytest.fixture
def course(given, tmp_path) -> Course:
    return Course(tmp_path, given)
