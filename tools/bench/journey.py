"""The running table of a week: one piece of work, step by step faster. The steps stand in week.toml.

Speeds come from the first file of benchmarks/ with this week's contests on an H200. A week whose steps predict bytes
shows these, which the units' own tests compare with what is counted; another shows the worst ratio to the rival. The
table stands between two marks in the week's README.
"""

import json
import textwrap
from pathlib import Path
from statistics import median

from tools import ROOT
from tools.course.content.generated import filled
from tools.course.content.strict import BrokenCourseFile
from tools.course.content.week_file import FILE, Journey, Step, Week
from tools.course.learner.lesson import lesson_of

MEASURED = "benchmarks/h200*.json"
HEAD = ["| day | implementation | {column} | GFLOPS | at | what changed |", "|---|---|---:|---:|---:|---|"]
BYTES, RATIO = "bytes asked for", "of the rival's speed"


def page(week: Week, text: str, root: Path = ROOT) -> str:
    """The README of a week with its running table as it should be, if it has one. Raises BrokenCourseFile."""
    if week.journey is None:
        return text
    measured = _measured(week, root)
    known = {(each["unit"], each["function"]) for each in measured["contests"]}
    for step in week.journey.steps:
        if (step.unit.name, step.function) not in known:
            unmeasured = f"journey: {step.function} of {step.unit.name} is not in {MEASURED}"
            raise BrokenCourseFile(Path(week.name, FILE), None, unmeasured)
    return filled(text, "journey", table(week.journey, measured), f"{week.name}/README.md")


def _measured(week: Week, root: Path) -> dict:
    """What tools.bench.record found in the run with contests of this week; no contests if there was none."""
    for file in sorted(root.glob(MEASURED)):
        found = json.loads(file.read_text(encoding="utf-8"))
        if any(contest["unit"].startswith(f"{week.name}/") for contest in found["contests"]):
            return found
    return {"contests": []}


def table(journey: Journey, measured: dict) -> str:
    """The rows as Markdown. measured: what tools.bench.record found."""
    contests = {(each["unit"], each["function"]): each for each in measured["contests"]}
    column = BYTES if any(step.predicted is not None for step in journey.steps) else RATIO
    rows = [_row(step, contests[step.unit.name, step.function], column) for step in journey.steps]
    last = contests[journey.steps[-1].unit.name, journey.steps[-1].function]
    rows.append(
        f"| | {last['rival']} | | {_gflops(last, rival=True)} | {_side(last)} | the rival, in turn with the row above |"
    )
    card = measured["card"].split(" (")[0]
    made = journey.note.format(card=card, host=measured["host"], date=measured["date"])
    head = [line.format(column=column) for line in HEAD]
    return "\n".join([*head, *rows, "", *textwrap.wrap(made, 120)]) + "\n"


def _row(step: Step, contest: dict, column: str) -> str:
    if column == RATIO:
        shown = f"{min(median(rival / own for own, rival in run) for run in contest['runs']):.2f}"
    else:
        shown = "" if step.predicted is None else f"{_traffic(step, step.predicted):,}"
    day = "kata" if "/katas/" in step.unit.name else step.unit.folder.name.removeprefix("day")
    return (
        f"| {day} | `{step.function}`: {step.name} | {shown} | {_gflops(contest)} | {_side(contest)} | {step.changed} |"
    )


def _traffic(step: Step, sizes: tuple[int, ...]) -> int:
    from tools.bench.record import reference

    return lesson_of(reference(step.unit)).predict_traffic(*sizes)


def _gflops(contest: dict, rival: bool = False) -> str:
    rate = contest["flops"] / median(pair[rival] for run in contest["runs"] for pair in run) / 1e9
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def _side(contest: dict) -> str:
    return contest["shape"].split(" x ")[0]
