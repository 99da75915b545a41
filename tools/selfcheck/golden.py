"""Transcripts of what a learner sees: real runs of pytest in a copy of the course, and the committed texts.

`python -m tools.selfcheck.golden --write` writes them anew, into tools/tests/golden; read the changes.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.course.content.answers import Wrong, apply, materialise, reference_file
from tools.selfcheck.recording import recorded
from tools.selfcheck.results import TRIES
from tools.selfcheck.supervise import folder_in_memory
from tools.selfcheck.verdicts import Verdict

UNIT = "week1/day1"
MOST_LINES, MOST_COLUMNS = 25, 80
TIMEOUT = 300.0  # seconds; five where nothing else runs
SHOWN = 20  # lines of a difference
SEED = 28

MODES = {"serial": (), "two_processes": ("-n", "2"), "remote": ("--remote",)}


def _accident(name: str, code: str) -> Wrong:
    """The reference with `code` for its first function: the speed tests, which want a quiet machine, then wait."""
    return Wrong(UNIT, name, (), "", function="matmul_naive", code=code)


@dataclass(frozen=True)
class Transcript:
    """A learner's file (the stub, or the reference with a mistake in it) and how pytest is run on it."""

    name: str
    mistake: str | Wrong | None  # a wrong answer by name, or one of our own
    arguments: tuple[str, ...]

    def run(self, root: Path) -> str:
        """What pytest prints today, normalised, with the exit code below; anew while a speed is undecided."""
        for _ in range(TRIES):
            text = self._run_once(root)
            if "\n  undecided " not in text:
                break
        return text

    def _run_once(self, root: Path) -> str:
        """In a copy of the course."""
        command = [sys.executable, "-m", "pytest", UNIT, f"--seed={SEED}", *self.arguments]
        with tempfile.TemporaryDirectory(prefix="course-check-", dir=folder_in_memory()) as folder:
            course = _copy_of_the_course(root, Path(folder))
            self._make_mistake(course)
            done = subprocess.run(
                command, cwd=course, env=recorded(_environment(folder), course), text=True, timeout=TIMEOUT,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        return normalised(
            f"$ {' '.join(['pytest', *command[3:]])}\n{done.stdout.rstrip()}\n\nexit code {done.returncode}\n"
        )

    def _make_mistake(self, course: Path) -> None:
        if isinstance(self.mistake, str):
            materialise(f"{UNIT}/{self.mistake}", course, course)
        elif self.mistake:
            reference = reference_file(UNIT, course)
            lesson = apply(self.mistake, reference.read_text(encoding="utf-8"))
            (course / UNIT / reference.name).write_text(lesson, encoding="utf-8")


SITUATIONS = {
    "stub": (None, ()),
    "running_sum": ("naive_never_resets_the_sum", ()),
    "ragged_rows": ("blocked_drops_the_ragged_rows", ()),
    "crash": (_accident("crash", "import ctypes\nctypes.string_at(0)"), ()),
    "time_limit": (_accident("time_limit", "while True: pass"), ("-o", "course_limit=2")),
}
TRANSCRIPTS = [
    Transcript(f"{situation}_{mode}", mistake, (*arguments, *extra))
    for situation, (mistake, arguments) in SITUATIONS.items()
    for mode, extra in MODES.items()
]


def check(transcript: Transcript, root: Path, folder: Path) -> Verdict:
    """Compare a run with its file in `folder`, and with what any transcript must keep to."""
    try:
        found = transcript.run(root)
    except subprocess.TimeoutExpired as late:
        return Verdict("transcripts", transcript.name, False, f"pytest had not ended after {late.timeout:.0f} s")
    file = folder / f"{transcript.name}.txt"
    faults = list(faults_of(found))
    if not file.exists():
        faults.append(f"there is no {file.name} yet; run: python -m tools.selfcheck.golden --write")
    elif (wanted := file.read_text(encoding="utf-8")) != found:
        lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), "committed", "now", n=1, lineterm="")
        faults += list(lines)[:SHOWN]
    return Verdict("transcripts", transcript.name, not faults, "\n".join(faults))


def faults_of(text: str) -> list[str]:
    """What makes a transcript unfit to be read: too long, too wide, or full of this machine's paths."""
    lines = text.strip().splitlines()[1:-2]  # without the command, and the exit code below an empty line
    faults = [f"{len(lines)} lines; at most {MOST_LINES}"] if len(lines) > MOST_LINES else []
    faults += [f"wider than {MOST_COLUMNS} columns: {line}" for line in lines if len(line) > MOST_COLUMNS]
    faults += [f"a path of this machine: {line}" for line in lines if re.search(r"(?<![\w.<])/\w+/|[A-Z]:\\", line)]
    return faults


def normalised(text: str) -> str:
    """Without what differs between runs, or moves with any edit: seeds, times, machine, line numbers."""
    text = re.sub(r"([Ss]eed[ =])\d+", r"\1N", text)
    text = re.sub(r"\bline \d+", "line N", text)
    text = re.sub(r"\b\d+\.\d+ ?s\b( \(\d:\d\d:\d\d\))?", "N s", text)
    text = re.sub(r"\| [^|\n]* \|", "| MACHINE |", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def _copy_of_the_course(root: Path, folder: Path) -> Path:
    """A copy, so that neither the author's files nor their progress are touched."""
    course = folder / "course"
    shutil.copytree(root, course, ignore=shutil.ignore_patterns(".*", "*.egg-info", "build", "tests"))
    return course


def _environment(temporary: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COURSE", "PYTHONPATH"))}
    own = {"COLUMNS": str(MOST_COLUMNS), "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **own, "PYTEST_DEBUG_TEMPROOT": temporary}


def write(folder: Path) -> None:
    """Run all, two at a time, and write what they print."""
    folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        for transcript, text in zip(TRANSCRIPTS, pool.map(lambda each: each.run(ROOT), TRANSCRIPTS), strict=True):
            (folder / f"{transcript.name}.txt").write_text(text, encoding="utf-8")
            print(f"{transcript.name}: {'; '.join(faults_of(text)) or 'written'}")


GOLDEN = ROOT / "tools" / "tests" / "golden"

if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write(GOLDEN)
