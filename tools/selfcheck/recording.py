"""The recording of what a job of the self-check reads, in all of the processes that it starts.

with recording() as log:
    ...             # processes are started with the environment `recorded(...)`
read(log)           # paths below the course; UNSEEN if a program was started that we cannot look into

Where a job runs tests of tools, what only some test files read is told apart: `of(log, test_file)`.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType

from tools import ROOT
from tools.selfcheck.recorder import sitecustomize as recorder

UNSEEN, COPY, READER = recorder.UNSEEN, recorder.COPY, recorder.READER
UNSURE = "!"  # in a log: what test files read cannot be told apart
VARIABLES = (recorder.LOG, recorder.ROOT, READER)  # that processes of a job have to be given
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
    ours = {recorder.LOG: str(log), recorder.ROOT: str(root), READER: ""} if log else {}
    inherited = _inherited()
    if not (ours or inherited):
        return dict(environment)
    wanted = {name: os.pathsep.join(each[name] for each in (ours, inherited) if each) for name in VARIABLES}
    at_work = active() or recorder  # in a copy of the course: the one that is at work, by which processes are known
    paths = [at_work.FOLDER, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    return {**environment, **wanted, "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths)))}


def _inherited() -> dict[str, str]:
    """What this process was told, if it is itself recorded."""
    return {name: os.environ.get(name, "") for name in VARIABLES} if recorder.LOG in os.environ else {}


def read(log: Path) -> set[str]:
    """The paths that were opened, relative to the course, and UNSEEN if there may be more."""
    return {path for path, _ in _lines(log) if path != UNSURE and not path.startswith("@")}


def of(log: Path, reader: str) -> set[str]:
    """Those of the paths that this test file may have read: no other test file did it alone."""
    lines = _lines(log)
    if any(path == UNSURE for path, _ in lines):
        return read(log)
    made_by = {path: by for path, by in lines if path.startswith("@")}  # place of a copy -> the test file that made it
    paths = ((path, made_by.get(by, "") if by.startswith("@") else by) for path, by in lines)
    return {path for path, by in paths if by in ("", reader) and not path.startswith("@")}


def _lines(log: Path) -> set[tuple[str, str]]:
    """(path, reader) of each line; "" reads for the whole job."""
    lines = log.read_text("utf-8", "surrogateescape").splitlines() if log.exists() else []
    return {(path, reader) for path, _, reader in (line.partition("\t") for line in lines)}


# In a process that is recorded ---------------------------------------------------------------------


def start() -> None:
    """Begin in a copy of a process that was not recorded: what that one had imported is read too."""
    if recorder.LOG not in os.environ or active():
        return
    sys.modules["sitecustomize"] = recorder
    recorder.start(*(os.environ.get(name, "") for name in VARIABLES))
    for module in list(sys.modules.values()):
        if file := getattr(module, "__file__", None):
            recorder.hook("open", (file, "r", os.O_RDONLY))


def active() -> ModuleType | None:
    """The recorder at work in this process, or None."""
    module = sys.modules.get("sitecustomize")
    return module if getattr(module, "records", None) else None


@contextmanager
def copying(folder: Path) -> Iterator[None]:
    """What this thread reads in the block goes into a copy of the course, `folder`: it is read where the copy is."""
    assert folder.name == COPY
    module, thread = active(), threading.get_ident()
    if module is None:
        yield
        return
    for record in module.records:
        record.write(f"@{os.path.realpath(folder.parent)}", record.reader)
    module.paused.add(thread)
    try:
        yield
    finally:
        module.paused.discard(thread)
