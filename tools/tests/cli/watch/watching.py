"""What the courses to watch are made of, and what a test needs to watch them."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.selfcheck.recording import recorded

DAY = "week1/day1"
LESSON = f"{DAY}/numpy_baseline.py"
LONG = 120  # seconds until a test gives up: a loaded machine takes half a minute for a whole day
SCRIPT = """import pathlib, sys
from tools.cli.__main__ import main
from tools.cli.watch import file_watcher
file_watcher.QUIET = 0.3  # a loaded machine may stop a test for a while between two files that it saves
sys.exit(main(["watch"], pathlib.Path(sys.argv[1])))"""
WAITING = "h hint for task 1, l list, a all, q quit"

DOUBLE = """# Task 1
def double(x):
    {}
"""
SMALL = {  # a day of one task
    "day.toml": 'title = "Small"\nminutes = 5\n[hints]\n1 = ["How often?", "Twice.", "2 * x"]\n',
    "small.py": DOUBLE.format("return x"),
    "test_small.py": "",
}
ENDLESS = "open('running', 'w').write(str(__import__('os').getpid()))\n    while True: pass"
PYTEST = """# Stands in for pytest, and starts at once.
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import small
print("your files | no GPU\\n.F-.     [100%]")
print(pathlib.Path(sys.argv[1], "day.toml").read_text().split('"')[1])
print("  red       task 1  double\\n" + "  waiting   task 2\\n" * 2 + "skipped 1: needs a GPU\\n  none here\\n")
got = small.double(3)
if got != 6:
    print(f"FAILED test_doubles\\n  in week1/day1/test_small.py, line 6\\n\\n  got {got}\\n")
    print("Stuck? The next hint for task 1: pytest week1/day1 --hint")
print("1 test")
sys.exit(got != 6)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@dataclass(frozen=True)
class Place:
    """A course to watch, and how to."""

    root: Path
    command: list[str]

    def double(self, body: str) -> None:
        """Save the small day's lesson."""
        write(self.root / DAY, {"small.py": DOUBLE.format(body)})


def running(place: Place) -> int:
    """The process in which ENDLESS runs, once it does."""
    file, end = place.root / "running", time.monotonic() + LONG
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return int(file.read_text())


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COURSE_", "COLUMNS", "LINES"))}
    more = {"PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    return recorded(kept | more)
