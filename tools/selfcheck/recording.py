"""The recording of what a job of the self-check reads, in all of the processes that it starts.

with recording() as log:
    ...             # processes are started with the environment `recorded(...)`
read(log)           # paths below the course; UNSEEN if a program was started that we cannot look into
"""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from tools import ROOT
from tools.selfcheck.recorder import sitecustomize as recorder

UNSEEN = recorder.UNSEEN
_log: ContextVar[Path | None] = ContextVar("log of this thread's job", default=None)


@contextmanager
def recording() -> Iterator[Path]:
    """The file in which the processes of this thread's job write what they read, until the end of the block."""
    with tempfile.TemporaryDirectory(prefix="course-inputs-") as folder:
        log = Path(folder) / "log"
        token = _log.set(log)
        try:
            yield log
        finally:
            _log.reset(token)


def recorded(environment: Mapping[str, str], root: Path = ROOT) -> dict[str, str]:
    """The environment, with what has a process recorded if its job is; `root`: the course, or the copy it runs in."""
    log = _log.get()
    wanted = {recorder.LOG: str(log), recorder.ROOT: str(root)} if log else _inherited()
    if not wanted:
        return dict(environment)
    paths = [recorder.FOLDER, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    return {**environment, **wanted, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths)))}


def _inherited() -> dict[str, str]:
    """What this process was told, if it is itself recorded."""
    return {name: os.environ[name] for name in (recorder.LOG, recorder.ROOT) if name in os.environ}


def read(log: Path) -> set[str]:
    """The paths that were opened, relative to the course, and UNSEEN if there may be more."""
    return set(log.read_text("utf-8", "surrogateescape").splitlines()) if log.exists() else set()
