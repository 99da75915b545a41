"""The stem that the self-check keeps for what compiles: hundreds of wrong answers, each in a process of its own.

A copy of the process of its tests would not do: that one has imported Triton to run kernels, not to compile them.
"""

import os
import re
from pathlib import Path

from tools.stem import Copy, Stem
from tools.worker.forked import SERVES, usable

IMPORTS = re.compile(r"^(?:import|from) (torch|triton|numba)\b", re.MULTILINE)  # that take long
USED_BY_TRITON = {"triton.experimental.gluon", "tools.compiler.build"}  # at its first launch

_stem: Stem | None = None


def keep() -> None:
    """From now on lessons' processes that compile are copies of what this process is now, where that would do."""
    global _stem
    if usable():
        _stem = Stem(here=True)


def copy_of_stem(requests: int, replies: int, environment: dict[str, str], lesson: Path) -> Copy | None:
    """A lesson's process that serves the two pipes; None where no stem is kept."""
    if _stem is None:
        return None
    libraries = set(IMPORTS.findall(lesson.read_text(encoding="utf-8", errors="replace")))
    if "triton" in libraries:
        libraries |= USED_BY_TRITON
    with open(os.devnull) as nothing:
        return _stem.copy(
            f"{SERVES}:serve_lesson",
            environment,
            os.getcwd(),
            stdin=nothing.fileno(),
            pipes=[requests, replies],
            imports=[SERVES, *sorted(libraries)],  # in this order: it decides that Triton compiles there
        )
