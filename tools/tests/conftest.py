"""For the tools' own tests: a copy of the course that a test may harm, and runs of it as a learner would run it."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools import ROOT

if find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    # How long an example takes is the machine's affair: other work on it must not decide a test.
    settings.register_profile("course", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("course")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in what a script starts with &: some tests press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

LEFT_BEHIND = (
    ".git",
    ".venv",
    ".course",
    ".github",
    "__pycache__",
    ".pytest_cache",
    ".hypothesis",
    "build",
    "*.egg-info",
    "docs",
    "tests",
    "journal",
)


needs_solutions = pytest.mark.skipif(
    not (ROOT / "reference").is_dir(), reason="needs reference/; this is the learners' edition; nothing to do"
)


@dataclass(frozen=True)
class Ran:
    """What a command ended with and printed, standard output and error together as on a terminal."""

    code: int
    text: str

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.text.splitlines() if line.strip()]


class Course:
    """A copy of the course in a folder of its own, under git."""

    def __init__(self, folder: Path):
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        (folder / "tools/tests").mkdir()
        self._git("init", "-q")
        self.commit()

    def write(self, path: str, text: str) -> None:
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
        done = subprocess.run(
            command,
            cwd=self.folder / cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=120,
            env=kept | {"COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        )
        return Ran(done.returncode, done.stdout)

    def _git(self, *args: str) -> subprocess.CompletedProcess:
        return subprocess.run(["git", *args], cwd=self.folder, check=True, capture_output=True, text=True)


@pytest.fixture
def course(tmp_path) -> Course:
    return Course(tmp_path / "course")
