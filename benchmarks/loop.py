"""The loop of a day, measured: from an edit of the lesson to the verdict of its tests, for every unit of the course.

    python -m benchmarks.loop                       all units; prints a table and writes benchmarks/loop/HERE.json
    python -m benchmarks.loop week1/day4 --runs 3   some of them; --to FILE writes elsewhere, --watch 0 leaves watch out

In a copy of the course whose lessons are the references, so each run is what a learner's own `pytest UNIT` is. Each
follows an edit: a comment at the end of the lesson (no kernel changes), or one at its top (every kernel moves down a
line, and has to be compiled anew). Processor seconds are those of the process and all that it started; on a machine
with other work they are the ones to compare. The watch is timed from a save to the verdict, of wrong answers of the
unit, taken from all over its tasks: as each turns a green lesson red, and as it is saved again, while one test fails.
`pace` is what a fixed piece of Python took just before: a virtual machine's processor is at times half as fast as at
others.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from math import nan
from pathlib import Path
from platform import python_version
from statistics import median

from benchmarks.watched import Watched
from tools import ROOT
from tools.bench import machine
from tools.course.content import catalogue
from tools.course.content.answers import apply, wrong_answers
from tools.course.content.catalogue import Unit

PACKAGES = ("torch", "triton", "numba-cuda", "numpy", "pytest", "hypothesis")
LEFT_BEHIND = (".git", ".venv", ".course", "__pycache__", ".pytest_cache", ".hypothesis", "tests", "journal", "build")
TIMES = f"{'CPU s':>9}{'wall':>7}"
COLUMNS = {"edit": "after an edit", "moved": "kernels moved", "turned": "turned red", "watch": "red again"}
HEAD = f"{'':27}{''.join(f'{each:>16}' for each in COLUMNS.values())}\n{'unit':27}{TIMES * len(COLUMNS)}{'pace':>7}"
ADDITIONS = 10_000_000


def main() -> int:
    asked = _arguments()
    names = asked.units or catalogue.names()
    with tempfile.TemporaryDirectory(prefix="course-loop-") as folder:
        root = course_of_references(Path(folder, "course"))
        found = {name: {} for name in names}
        print(HEAD, flush=True)
        for name in names:
            found[name] = measured(catalogue.unit(name, root), asked.runs, asked.watch)
            print(_row(name, found[name]), flush=True)
    print(_row("median", _overall(found, median)), _row("most", _overall(found, max)), sep="\n")
    asked.to.parent.mkdir(exist_ok=True)
    asked.to.write_text(json.dumps(described(asked.runs, found), indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop", description=__doc__.split("\n")[0])
    parser.add_argument("units", nargs="*", metavar="UNIT")
    parser.add_argument("--runs", type=int, default=5, help="of which the median is told")
    parser.add_argument("--watch", type=int, default=5, help="saves while ./course watch runs; 0 for none")
    default = ROOT / "benchmarks" / "loop" / f"{os.cpu_count()}_cores.json"
    parser.add_argument("--to", type=Path, default=default, metavar="FILE")
    return parser.parse_args()


def course_of_references(folder: Path) -> Path:
    """A copy of the course in which every lesson is solved."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    shutil.copytree(ROOT / "reference", folder, ignore=shutil.ignore_patterns("*.toml"), dirs_exist_ok=True)
    return folder


def measured(unit: Unit, runs: int, saves: int) -> dict:
    """Medians of processor and wall seconds, by kind of edit. Raises RuntimeError where a run is not green."""
    command = [sys.executable, "-m", "pytest", unit.name]
    for edit in (edit_at_the_end, edit_at_the_top):  # caches are filled, as they are for a learner
        edit(unit)
        timed(command, unit.root)
    found: dict = {
        "pace": pace(),
        "edit": _medians(unit, runs, edit_at_the_end, lambda: timed(command, unit.root)),
        "moved": _medians(unit, runs, edit_at_the_top, lambda: timed(command, unit.root)),
    }
    for kind, times in watched_mistakes(unit, saves).items() if saves else ():
        cpu, wall = (list(column) for column in zip(*times))
        found[kind] = {"cpu": round(median(cpu), 2), "wall": round(median(wall), 2), "most": round(max(wall), 2)}
    return found


def watched_mistakes(unit: Unit, most: int) -> dict[str, list[tuple[float, float]]]:
    """Processor and wall seconds from a save to the verdict, of as many wrong answers of the unit; by kind of save."""
    right, times = unit.lesson.read_text(encoding="utf-8"), {}
    every = wrong_answers(unit.name)
    with Watched(unit) as watched:
        for wrong in every[:: max(1, len(every) // most)][:most]:
            broken = apply(wrong, right)
            for kind, text in (("green", right), ("turned", broken), ("watch", broken + "# an edit\n")):
                watched.at_rest()
                unit.lesson.write_text(text, encoding="utf-8")
                times.setdefault(kind, []).append(watched.verdict())
    unit.lesson.write_text(right, encoding="utf-8")
    return {kind: each for kind, each in times.items() if kind in COLUMNS}


def _medians(
    unit: Unit, runs: int, edit: Callable[[Unit], None], time_it: Callable, before: Callable = lambda: None
) -> dict[str, float]:
    pairs = []
    for _ in range(runs):
        before()
        edit(unit)
        pairs.append(time_it())
    processor, wall = (round(median(column), 2) for column in zip(*pairs))
    return {"cpu": processor, "wall": wall}


def pace() -> float:
    """Processor seconds of ten million additions."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return round(time.process_time() - began, 2)


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Processor seconds, of the children too, and wall seconds of a command that must succeed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as text:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=text, stderr=text, env=environment(folder)
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command[1:])} ended with {process.returncode}:\n{text.read().decode()}")
    return used.ru_utime + used.ru_stime, time.monotonic() - began


def environment(folder: Path) -> dict[str, str]:
    """That of a learner's shell: nothing of this run, and Python may keep what it compiles."""
    left_out = ("PYTEST_", "COURSE_", "PYTHONDONTWRITEBYTECODE")
    return {k: v for k, v in os.environ.items() if not k.startswith(left_out)} | {"PYTHONPATH": str(folder)}


def edit_at_the_end(unit: Unit) -> None:
    with unit.lesson.open("a", encoding="utf-8") as lesson:
        lesson.write("# an edit\n")


def edit_at_the_top(unit: Unit) -> None:
    unit.lesson.write_text(f"# an edit\n{unit.lesson.read_text(encoding='utf-8')}", encoding="utf-8")


def described(runs: int, found: dict[str, dict]) -> dict:
    """The figures and what they were measured with; no path and no name of this machine."""
    return {
        "host": machine.cpu(),
        "load": [round(load, 1) for load in os.getloadavg()],  # of other work too, which makes wall times longer
        "date": date.today().isoformat(),
        "versions": {"python": python_version()} | {name: _version(name) for name in PACKAGES},
        "command": "python -m benchmarks.loop",
        "runs": runs,
        "units": found,
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _overall(found: dict[str, dict], of: Callable) -> dict:
    kinds = [kind for kind in COLUMNS if all(kind in each for each in found.values())]
    times = {kind: {key: of(each[kind][key] for each in found.values()) for key in ("cpu", "wall")} for kind in kinds}
    return times | {"pace": of(each["pace"] for each in found.values())}


def _row(name: str, found: dict) -> str:
    times = (found.get(kind, {"cpu": nan, "wall": nan}) for kind in COLUMNS)
    return f"{name:27}" + "".join(f"{each['cpu']:9.2f}{each['wall']:7.2f}" for each in times) + f"{found['pace']:7.2f}"


if __name__ == "__main__":
    sys.exit(main())
