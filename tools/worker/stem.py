"""Stems that the self-check keeps for lessons' processes: one of hundreds of wrong answers each, or of a remote run.

They are what its process was before it ran a test: a copy of a later one would know what it has imported since.
"""

import os
import re
from pathlib import Path

from tools.stem import Copy, Stem
from tools.worker.forked import SERVES, usable

IMPORTS = re.compile(r"^(?:import|from) (torch|triton|numba)\b", re.MULTILINE)  # that take long
USED_BY_TRITON = {"triton.experimental.gluon", "tools.compiler.build"}  # at its first launch

MODES = ("interpret", "compile")  # one decides otherwise than the other when Triton is imported

_stems: dict[str, Stem] = {}


def keep() -> None:
    """From now on lessons' processes in these modes are copies of what this process is now, where that would do."""
    if usable():
        _stems.update((mode, Stem(here=True)) for mode in MODES)


def copy_of_stem(mode: str, requests: int, replies: int, environment: dict[str, str], lesson: Path) -> Copy | None:
    """A lesson's process that serves the two pipes; None where no stem is kept for its mode."""
    if mode not in _stems:
        return None
    libraries = set(IMPORTS.findall(lesson.read_text(encoding="utf-8", errors="replace")))
    if mode == "compile" and "triton" in libraries:
        libraries |= USED_BY_TRITON
    with open(os.devnull) as nothing:
        return _stems[mode].copy(
            f"{SERVES}:serve_lesson",
            environment,
            os.getcwd(),
            stdin=nothing.fileno(),
            pipes=[requests, replies],
            imports=[SERVES, *sorted(libraries)],  # in this order: the first decides what Triton does there
        )
