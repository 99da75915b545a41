"""What a learner sees, word for word: real runs of pytest in a copy of the course, compared with committed transcripts.

`python -m tools.course.selfcheck.golden --write` writes them anew, into tools/tests/golden; read the difference.
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
from tools.course.answers import Wrong, apply, reference_file
from tools.course.selfcheck.judge import Verdict

UNIT = "week1/day1"
MOST_LINES, MOST_COLUMNS = 25, 80
TIMEOUT = 120.0
SHOWN = 20  # lines of a difference

# What is put into arithmetic_intensity, which one test calls.
ACCIDENTS = {
    "crash": "import ctypes\nctypes.string_at(0)",
    "time_limit": "while True:\n    pass",
}
SITUATIONS = {
    "stub": (),
    "wrong_running_sum": (f"--answers=wrong:{UNIT}/naive_never_resets_the_sum",),
    "wrong_ragged_rows": (f"--answers=wrong:{UNIT}/blocked_drops_the_ragged_rows",),
    "crash": ("--answers=accidents/crash",),
    "time_limit": ("--answers=accidents/time_limit", "-o", "course_limit=6"),
}
MODES = {"serial": (), "two_processes": ("-n", "2"), "remote": ("--remote",)}


@dataclass(frozen=True)
class Transcript:
    """One run of pytest and the name of the file that holds what it prints."""

    name: str
    arguments: tuple[str, ...]

    def run(self, course: Path) -> str:
        """What it prints today, normalised, with the exit code below."""
        command = [sys.executable, "-m", "pytest", UNIT, "--seed=28", *self.arguments]
        done = subprocess.run(
            command, cwd=course, env=_environment(), text=True, timeout=TIMEOUT,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return normalised(f"$ {' '.join(['pytest', *command[3:]])}\n{done.stdout}\nexit code {done.returncode}\n")


TRANSCRIPTS = [
    Transcript(f"{situation}_{mode}", (*arguments, *extra))
    for situation, arguments in SITUATIONS.items()
    for mode, extra in MODES.items()
]


def check(transcript: Transcript, course: Path, folder: Path) -> Verdict:
    """Compare a run with its file in `folder`, and with what any transcript must keep to."""
    found = transcript.run(course)
    file = folder / f"{transcript.name}.txt"
    faults = list(faults_of(found))
    if not file.exists():
        faults.append(f"there is no {file.name} yet; run: python -m tools.course.selfcheck.golden --write")
    elif (wanted := file.read_text(encoding="utf-8")) != found:
        lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), "committed", "now", n=1, lineterm="")
        faults += list(lines)[:SHOWN]
    return Verdict("transcripts", transcript.name, not faults, "\n".join(faults))


def faults_of(text: str) -> list[str]:
    """What makes a transcript unfit to be read: too long, too wide, or full of this machine's paths."""
    lines = text.strip().splitlines()[1:-1]  # without the command and the exit code
    faults = [f"{len(lines)} lines; at most {MOST_LINES}"] if len(lines) > MOST_LINES else []
    faults += [f"wider than {MOST_COLUMNS} columns: {line}" for line in lines if len(line) > MOST_COLUMNS]
    faults += [f"a path of this machine: {line}" for line in lines if re.search(r"(?<![\w.<])/\w+/|[A-Z]:\\", line)]
    return faults


def normalised(text: str) -> str:
    """Without what differs from run to run and machine to machine: seeds, times, where it ran."""
    text = re.sub(r"([Ss]eed[ =])\d+", r"\1N", text)
    text = re.sub(r"\b\d+\.\d+ ?s\b( \(\d:\d\d:\d\d\))?", "N s", text)
    text = re.sub(r"\| [^|\n]* \|", "| MACHINE |", text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def copy_of_the_course(root: Path, folder: Path) -> Path:
    """A copy to run in, so that the author's own progress stays untouched; with the lessons that have accidents."""
    course = folder / "course"
    shutil.copytree(root, course, ignore=shutil.ignore_patterns(".*", "*.egg-info", "build", "golden"))
    reference = reference_file(UNIT, root)
    for name, code in ACCIDENTS.items():
        file = course / "accidents" / name / UNIT / reference.name
        file.parent.mkdir(parents=True)
        accident = Wrong(UNIT, name, (), "", function="arithmetic_intensity", code=code)
        file.write_text(apply(accident, reference.read_text(encoding="utf-8")), encoding="utf-8")
    return course


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "COURSE", "PYTHONPATH"))}
    return {**kept, "COLUMNS": str(MOST_COLUMNS), "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def write(folder: Path) -> None:
    """Run all, two at a time, and write what they print."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        course = copy_of_the_course(ROOT, Path(scratch))
        for transcript, text in zip(TRANSCRIPTS, pool.map(lambda t: t.run(course), TRANSCRIPTS)):
            (folder / f"{transcript.name}.txt").write_text(text, encoding="utf-8")
            print(f"{transcript.name}: {'; '.join(faults_of(text)) or 'written'}")


GOLDEN = ROOT / "tools" / "tests" / "golden"

if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write(GOLDEN)
