"""A small checkout with the script `course` in it, and stand-ins for what it starts: nothing is downloaded.

The stand-in for venv makes a .venv whose Python is a few lines of shell; its pip says what pip-says.txt holds
and does what pip-does.sh says. What venv and pip were asked to do is written to asked.txt.
"""

import importlib.util
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path

from tools import ROOT
from tools.selfcheck.recording import recorded

PRESENT = '"pytest>=8"'
ABSENT = '"pytest>=8", "surely-not-installed>=1"'
NOBODY = "http://127.0.0.1:9/whl/cpu"  # refuses at once

PYTHON = """\
#!/bin/sh
case "$1 $2" in
    "-c "*) exit 0 ;;
    "-m pip") echo "$@" >> "$STUBS/asked.txt"; cat "$STUBS/pip-says.txt"; exec sh "$STUBS/pip-does.sh" "$@" ;;
    *) echo "asked .venv: $@" ;;
esac
"""
VENV = """
import pathlib, shutil, sys
stubs, folder = pathlib.Path(__file__).parent, pathlib.Path(sys.argv[1])
print("venv", folder, file=open(stubs / "asked.txt", "a"))
if folder.is_symlink():
    sys.exit("Error: Unable to create directory")  # so says the real one
(folder / "bin").mkdir(parents=True)
shutil.copy(stubs / "python.sh", folder / "bin/python")
"""
REPORTS_ITSELF = "import sys; print('asked this Python: {}', *sys.argv[1:])"
WORKS = """\
  Downloading torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl (526.6 MB)
Progress 263300000 of 526600000
  Downloading pluggy-1.7.0-py3-none-any.whl (27 kB)
Installing collected packages: pluggy, torch
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def told(self, first_line: str) -> bool:
        """Did it leave with 2 and say why, in at most five lines from this one on, without a traceback?"""
        lines = self.err.splitlines()
        return (
            self.code == 2
            and first_line in lines
            and len(lines[lines.index(first_line) :]) <= 5
            and "Traceback" not in self.err
        )


class Checkout:
    """The folder that the script lies in, and what may be done with both."""

    def __init__(self, folder: Path):
        self.root, self.stubs = folder / "the course", folder / "stubs"
        for unit in ("week1/day0", "week1/day1", "week1/katas/transfers", "tools/cli"):
            (self.root / unit).mkdir(parents=True)
        self.stubs.mkdir()
        self.torch_from(NOBODY)
        self.depend(PRESENT)
        self.write("constraints.txt", "pytest==9.2.0\n")
        self.write("tools/__init__.py", "")
        shutil.copy(ROOT / "tools/requirements.py", self.root / "tools")
        self.write("tools/cli/__main__.py", REPORTS_ITSELF.format("tools.cli"))
        self.stub("pytest.py", REPORTS_ITSELF.format("pytest"))
        self.stub("venv.py", VENV)
        self.stub("python.sh", PYTHON)
        self.pip(WORKS)

    def write(self, path: str, text: str) -> Path:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        return self.root / path

    def stub(self, name: str, text: str):
        (self.stubs / name).write_text(text)
        (self.stubs / name).chmod(0o755)

    def pip(self, says: str, does: str = "exit 0"):
        self.stub("pip-says.txt", says)
        self.stub("pip-does.sh", does)

    def torch_from(self, index: str):
        """Put the script here, with another index of CPU builds, for which it waits half a second."""
        text = (ROOT / "course").read_text()
        for ours, here in (
            ('TORCH_CPU = "https://download.pytorch.org/whl/cpu"', f'TORCH_CPU = "{index}"'),
            ("PATIENCE = 4 ", "PATIENCE = 0.5 "),
        ):
            assert text.count(ours) == 1
            text = text.replace(ours, here)
        self.write("course", text).chmod(0o755)

    def depend(self, dependencies: str, **extras: str):
        lists = "".join(f"{extra} = [{packages}]\n" for extra, packages in extras.items())
        self.write(
            "pyproject.toml",
            f'[project]\nname = "tiny"\ndependencies = [{dependencies}]\n[project.optional-dependencies]\n{lists}',
        )

    def asked(self) -> list[str]:
        """What venv and pip were asked to do, in order."""
        file = self.stubs / "asked.txt"
        return file.read_text().splitlines() if file.exists() else []

    def steps(self) -> list[str]:
        """The same in a word each."""
        return ["venv" if line.startswith("venv") else "pip" for line in self.asked()]

    def forget(self):
        (self.stubs / "asked.txt").unlink(missing_ok=True)

    def start(
        self,
        *arguments: str,
        cwd: str = ".",
        before: Sequence[str] = (),
        stderr: int = subprocess.PIPE,
        **variables: str,
    ) -> subprocess.Popen:
        stubs = str(self.stubs)
        variables = {
            "PATH": f"{stubs}:/usr/bin:/bin",
            "PYTHONPATH": stubs,
            "STUBS": stubs,
            "PYTHONDONTWRITEBYTECODE": "1",
        } | variables
        command = [*before, sys.executable, str(self.root / "course"), *arguments]
        return subprocess.Popen(
            command,
            cwd=self.root / cwd,
            env=recorded(variables),
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def run(self, *arguments: str, **how) -> Ran:
        process = self.start(*arguments, **how)
        out, err = process.communicate(timeout=30)
        return Ran(process.returncode, out.strip(), err.strip())

    def script(self):
        """The script as a module, to ask its functions one by one."""
        loader = SourceFileLoader("course_script", str(self.root / "course"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(module)
        return module


def wait_until(happened):
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end, "the script did not come to that point within 60 s"
        time.sleep(0.01)
