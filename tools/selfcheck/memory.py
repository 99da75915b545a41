"""Verdicts that are remembered: what a job found, and the inputs of which all must be as they were.

Each job has a file below .course/check. It is removed when the job starts and written when all of it has passed, so
that a failure runs again, as does whatever was stopped. An input is a file that some process of the job opened, or
one of those that every job depends on (`always`); where a program was started that nobody could look into, all are.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tools.selfcheck.findings import Findings
from tools.selfcheck.inputs import NAMES, Snapshot, loaded, snapshot
from tools.selfcheck.recording import UNSEEN
from tools.selfcheck.verdicts import Verdict

FORM = 1  # of the files; another number forgets them all
EVERYWHERE = {"conftest.py", "pyproject.toml", "constraints.txt", NAMES}
EVERYTHING = UNSEEN  # in place of a path


class Memory:
    """The verdicts of the course at `root` that hold for its content now. fresh: none of them does."""

    def __init__(self, root: Path, fresh: bool = False) -> None:
        self.root, self.folder, self.fresh = root, root / ".course" / "check", fresh
        self.before = snapshot(root)
        self.recalled = 0

    def recall(self, job: str) -> Findings | None:
        """What the job found when its inputs were the same; else None, and it is forgotten until `keep`."""
        file = self._file(job)
        try:
            table = json.loads(file.read_text(encoding="utf-8"))
            if not self.fresh and table["form"] == FORM and table["job"] == job and holds(table, self.before):
                self.recalled += 1
                return _findings(table["findings"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # none, or one that cannot be read
        file.unlink(missing_ok=True)
        return None

    def keep(self, job: str, found: Findings, read: Iterable[str]) -> None:
        """Remember what the job found, if all of it passed and none of its inputs changed meanwhile."""
        if not found.passed:
            return
        inputs = depends_on({*read, *loaded(self.root)}, self.before)
        if snapshot(self.root).inputs(inputs) != inputs:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        table = {"form": FORM, "job": job, "environment": self.before.environment, "inputs": inputs,
                 "findings": _table(found)}  # fmt: skip
        part = self._file(job).with_suffix(".part")
        part.write_text(json.dumps(table), encoding="utf-8")
        part.replace(self._file(job))

    def _file(self, job: str) -> Path:
        return self.folder / f"{hashlib.blake2b(job.encode(), digest_size=12).hexdigest()}.json"


def depends_on(read: Iterable[str], now: Snapshot) -> dict[str, str]:
    """Path -> hash of all that a job depends on which read these: a path that ends in "/" means all below.

    What is installed, made or hidden is left out: it is part of the environment, or made of what is listed.
    """
    wanted = set(read)
    if EVERYTHING in wanted:
        return dict(now.files)
    folders = tuple(path for path in wanted if path.endswith("/"))
    return now.inputs(path for path in now.files if path in wanted or always(path) or path.startswith(folders))


def always(path: str) -> bool:
    """Does every job depend on it? So it is with settings, the check itself, and what compilers read unseen."""
    unseen = path.startswith("tools/") and not path.endswith((".py", "/floors.toml")) and "/golden/" not in path
    return path in EVERYWHERE or unseen or path.startswith("tools/selfcheck/")


def holds(table: dict, now: Snapshot) -> bool:
    """Are all inputs that a job's file names as they were?"""
    inputs = table["inputs"]
    return table["environment"] == now.environment and bool(inputs) and now.inputs(inputs) == inputs


def _table(found: Findings) -> dict:
    """As JSON has it. Without the time: it was spent long ago."""
    return {"name": found.name, "verdicts": [asdict(verdict) for verdict in found.verdicts], "notes": found.notes,
            "skips": dict(found.skips), "unjudged": dict(found.unjudged)}  # fmt: skip


def _findings(table: dict) -> Findings:
    return Findings(**table | {
        "verdicts": [Verdict(**verdict) for verdict in table["verdicts"]],
        "skips": Counter(table["skips"]),
        "unjudged": Counter(table["unjudged"]),
    })  # fmt: skip
