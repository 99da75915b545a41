"""The running table of week 1: one product of two matrices, from three Python loops to autotuned tiles.

Speeds come from benchmarks/*.json, traffic from what the reference solutions predict, which the days' own tests compare
with what is counted. `python -m tools.bench page` writes it between two marks in week1/README.md.
"""

import json
import re
import textwrap
from dataclasses import dataclass
from statistics import median

from tools import ROOT
from tools.course.content import catalogue
from tools.course.learner.lesson import lesson_of

FILE = ROOT / "week1/README.md"
BETWEEN = re.compile(r"(?<=<!-- journey -->\n).*?(?=<!-- end of journey -->)", re.DOTALL)
SIDE = 256  # of the matrices whose traffic is told
HEAD = ["| day | implementation | bytes asked for | GFLOPS | at | what changed |", "|---|---|---:|---:|---:|---|"]


@dataclass(frozen=True)
class Step:
    """A row. tiles: what predict_traffic of the day takes after the three sizes; None where a day has no such."""

    unit: str
    function: str
    name: str
    changed: str
    tiles: tuple[int, ...] | None = None


STEPS = (
    Step("week1/day1", "matmul_naive", "three Python loops", "where everybody begins"),
    Step("week1/day1", "matmul_blocked", "NumPy, block by block", "a library's product inside three loops"),
    Step("week1/day1", "matmul_numpy", "NumPy", "one call: all cores, vector instructions, caches"),
    Step("week1/day2", "matmul_on_gpu", "CuPy, both ways", "a GPU, and the way there and back"),
    Step("week1/day5", "matmul", "Triton, one result a program", "a kernel of your own; nothing is shared", ()),
    Step("week1/day6", "matmul", "Triton, tiles of 32", "each element that is loaded serves 32 results", (32, 32, 32)),
    Step("week1/day7", "matmul_simple", "CUDA, one result a thread", "neighbours load neighbours", (1,)),
    Step("week1/day7", "matmul_tiled", "CUDA, tiles of 32", "tiles in shared memory, and two barriers", (32,)),
    Step("week1/day7", "matmul_dot", "Triton, autotuned", "larger tiles, and numbers kept in registers"),
)


def table(measured: dict) -> str:
    """The rows as Markdown. measured: what tools.bench.record found."""
    contests = {(each["unit"], each["function"]): each for each in measured["contests"]}
    rows = [_row(step, contests[step.unit, step.function]) for step in STEPS]
    last = contests[STEPS[-1].unit, STEPS[-1].function]
    rows.append(f"| | {last['rival']} | | {_gflops(last, rival=True)} | {_side(last)} | the rival |")
    made = (
        f"GFLOPS for square float32 matrices, *at* so many rows, on an {measured['card'].split(' (')[0]}; day 1 in "
        f"float64 on its host, {measured['host']}; {measured['date']}. Bytes for {SIDE} rows: what the programs "
        "ask for, caches or not, predicted and counted."
    )
    return "\n".join([*HEAD, *rows, "", *textwrap.wrap(made, 120)]) + "\n"


def _row(step: Step, contest: dict) -> str:
    traffic = "" if step.tiles is None else f"{_traffic(step):,}"
    day = step.unit.removeprefix("week1/day")
    return (
        f"| {day} | `{step.function}`: {step.name} | {traffic} | {_gflops(contest)} | {_side(contest)} "
        f"| {step.changed} |"
    )


def _traffic(step: Step) -> int:
    from tools.bench.record import reference

    assert step.tiles is not None
    lesson = lesson_of(reference(catalogue.unit(step.unit)))
    return lesson.predict_traffic(SIDE, SIDE, SIDE, *step.tiles)


def _gflops(contest: dict, rival: bool = False) -> str:
    rate = contest["flops"] / median(pair[rival] for run in contest["runs"] for pair in run) / 1e9
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _side(contest: dict) -> str:
    return contest["shape"].split(" x ")[0]


def text() -> str:
    """week1/README.md with the table as it should be."""
    measured = json.loads((ROOT / "benchmarks/h200.json").read_text(encoding="utf-8"))
    return BETWEEN.sub(lambda _: table(measured), FILE.read_text(encoding="utf-8"))
