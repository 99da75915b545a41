"""A finding of the doctor: one concern, judged; and the commands that its remedies name."""

import shutil
import sys
import textwrap
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tools import ROOT

COMPILERS = "compilers"  # the extra of pyproject.toml that brings NVIDIA's


def pip(arguments: str) -> str:
    """The command that has the pip of this very environment do that, from the course's folder."""
    python = Path(sys.executable)
    if find_spec("pip") is None:  # uv makes such environments
        return f"uv pip {arguments} --python {python}"
    if python.is_relative_to(ROOT):
        return f"{python.relative_to(ROOT)} -m pip {arguments}"
    found = shutil.which("python3")
    return f"{'python3' if found and Path(found) == python else python} -m pip {arguments}"


def install(extra: str = "") -> str:
    """The command that installs the course's packages, with those of an extra."""
    what = f"'.[{extra}]'" if extra else "."
    return pip(f"install -e {what} -c constraints.txt")


REINSTALL = f"In the folder of the course:\n  {install()}"


@dataclass(frozen=True)
class Finding:
    """One concern, judged. `remedy` says what to do, commands on lines of their own; empty: nothing to do."""

    name: str
    state: str  # "real", "simulated", "missing" (it can wait), or "problem" (lessons would fail)
    found: str
    remedy: str = ""

    @property
    def text(self) -> str:
        """The words for a learner when it is a problem: at most five lines of 76 columns."""
        parts = [f"{self.name}: {self.found}.", *self.remedy.splitlines()]
        return "\n".join(
            line for part in parts for line in textwrap.wrap(part, 76, break_long_words=False, break_on_hyphens=False)
        )
