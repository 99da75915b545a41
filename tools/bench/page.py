"""BENCHMARKS.md, by machine and week: each figure is from benchmarks/*.json and from nothing else."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import median

from tools import ROOT
from tools.course.content.week_file import week

FILE = "BENCHMARKS.md"
HEAD = """\
# Benchmarks

Every figure here is computed from the pairs in `benchmarks/*.json`; `./course pages` writes this page, and a test
compares the two. Each run times the reference solution and its rival in turn, in random order; *ratio* is the
median of rival time over ours, so above 1 is faster than the rival. The worst of the runs counts.
Where a function of the same shape stands in two sections, the later one holds.
"""


TABLE = (
    "| unit | function | shape | rival | worst ratio | all runs | GB/s | GFLOP/s |\n"
    "|---|---|---|---|---:|---|---:|---:|\n"
)


def text(root: Path = ROOT) -> str:
    """The whole page. Raises BrokenCourseFile."""
    files = sorted((root / "benchmarks").glob("*.json"))
    return "\n".join([HEAD, *(_machine(json.loads(file.read_text(encoding="utf-8")), root) for file in files)])


def _machine(found: dict, root: Path) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    made = f"CUDA driver {found['driver']}; {versions}; `{found['command']}`."
    if any(contest["on"] == "cpu" for contest in found["contests"]):
        made += f" Rows marked *host* ran on its CPU, {found['host']}."
    return "\n".join([f"## {found['card']}, {found['date']}\n", f"{made}\n", *_weeks(found["contests"], root)])


def _weeks(contests: list[dict], root: Path) -> Iterator[str]:
    """A table for each week."""
    for name, rows in groupby(contests, key=lambda contest: contest["unit"].partition("/")[0]):
        yield f"### {week(name, root).heading}\n\n{TABLE}" + "".join(f"{_row(row)}\n" for row in rows)


def _row(contest: dict) -> str:
    ratios = [median(rival / own for own, rival in run) for run in contest["runs"]]
    seconds = median(own for run in contest["runs"] for own, _ in run)
    runs = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    where = " *host*" if contest["on"] == "cpu" else ""
    rates = " | ".join(
        f"{contest[work] / seconds / 1e9:,.3g}"
        if contest[work] / seconds < 1e12
        else f"{contest[work] / seconds / 1e9:,.0f}"
        for work in ("moved", "flops")
    )
    return (
        f"| {contest['unit']}{where} | `{contest['function']}` | {contest['shape']} | `{contest['rival']}` "
        f"| {min(ratios):.3f} | {runs} | {rates} |"
    )
