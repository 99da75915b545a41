"""Writes the notebook of a day, as the plain data of which an .ipynb consists (nbformat 4.5). No package is needed."""

import json
from typing import Any

from tools.course.content import answers
from tools.course.content.catalogue import Unit
from tools.course.content.day_file import Question
from tools.course.content.source import decode
from tools.course.versions.remote import pushed_branch, web_address
from tools.notebook import text

FOLDER = "course"  # of the copy that Colab fetches, in /content
HIDDEN = {"cellView": "form", "jupyter": {"source_hidden": True}}  # Colab's word for it, and JupyterLab's
# Concept -> (picture of tools/draw/explore, its sliders: (at first, least, most) or what to choose from).
PICTURES = {
    "mask": ("programs", "n=(10, 0, 64), block=[4, 8, 16, 32]"),
    "tile": ("tiles", "m=(40, 1, 64), n=(24, 1, 64), tile_m=[16, 8, 32], tile_n=[16, 8, 32]"),
    "warp": ("warps", "x=(16, 1, 64), y=(4, 1, 8)"),
    "divergence": ("branches", "threads=(64, 1, 128), alike=[1, 2, 8, 16, 32, 64]"),
    "sector": ("sectors", "stride=(1, 0, 16), offset=(0, 0, 7), itemsize=[4, 2, 8]"),
    "coalescing": ("sectors", "stride=(1, 0, 16), offset=(0, 0, 7), itemsize=[4, 2, 8]"),
    "bank": ("banks", "stride=(1, 0, 40)"),
    "cache line": ("sectors", "stride=(1, 0, 16), offset=(0, 0, 7), itemsize=[8, 4]"),
    "wave": ("waves", "blocks=(12, 1, 48), sms=(4, 2, 8), per_sm=(2, 1, 4)"),
    "memory hierarchy": ("memory", "kib=[256, 16, 64, 1024, 4096, 16384, 65536, 262144], at_once=[1, 2, 4, 8, 16, 32]"),
    "pipeline": ("pipeline", "load=(3, 0, 12), compute=(2, 1, 12), tiles=(4, 1, 16), stages=(2, 1, 6)"),
    "reuse": ("tiled_matmul", "row=(20, 0, 39), col=(3, 0, 23), p=(5, 0, 31), tile=[16, 1, 4, 8]"),
    "fragment": ("fragments", "lane=(0, 0, 31)"),
    "array of structs": ("structs", "fields=(4, 1, 8), wanted=(1, 1, 8), first=(0, 0, 31)"),
    "stride": ("view", "rows=(2, 1, 5), cols=(3, 1, 8), row_stride=(3, 0, 12), col_stride=(1, 0, 12)"),
}

SETUP = """\
# Run this first. On Colab it fetches the course; elsewhere it finds the folder in which this notebook lies.
ADDRESS = {address!r}  # of your copy of the course; only Colab needs it
BRANCH = {branch!r}  # of that copy; empty: its main one
UNIT = {unit!r}

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

places = [Path.cwd(), *Path.cwd().parents, Path("/content/{folder}")]
root = next((place for place in places if (place / UNIT / "day.toml").is_file()), None)
if root is None and "google.colab" in sys.modules:
    if not ADDRESS:
        sys.exit("Put the address of your copy of the course into ADDRESS, in the second line, and run again.")
    root = Path("/content/{folder}")
    branch = ["--branch", BRANCH] if BRANCH else []
    subprocess.run(["git", "clone", "--quiet", *branch, ADDRESS, str(root)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-e", str(root)], check=True)
if root is None:
    sys.exit(f"There is no {{UNIT}} here. Put this notebook into a folder of the course and run again.")
os.chdir(root)
sys.path.insert(0, str(root))

from tools.notebook.magic import begin, lesson, shell
from tools.notebook.widgets import ask, sliders

begin(UNIT{solution})"""


def build(unit: Unit, solution: bool = False) -> dict:
    """The notebook: with the lesson as it stands, or with the reference's code.

    Raises BadAnswer, NotText, SyntaxError.
    """
    lesson = decode(unit.lesson.read_bytes())
    reference = answers.reference_file(unit.name, unit.root) if solution else None
    code = text.sections(reference.read_text(encoding="utf-8") if reference else lesson)
    says = text.steps(text.docstring(lesson))
    cells = [
        *_beginning(unit, says, solution),
        *_explore(says),
        *_concept(unit, says),
        *_tasks(unit, lesson, code, says),
        *_verify(says),
        *_quiz(unit),
        *_reading(unit),
    ]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "colab": {"provenance": []},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def dump(notebook: dict) -> str:
    """The notebook as the text of its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


# Cells --------------------------------------------------------------------------------------------


def _markdown(name: str, source: str) -> dict:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(name: str, source: str, **metadata: Any) -> dict:
    return {
        "cell_type": "code",
        "id": name,
        "metadata": metadata,
        "source": source.splitlines(keepends=True),
        "execution_count": None,
        "outputs": [],
    }


def _beginning(unit: Unit, says: dict[str, str], solution: bool) -> list[dict]:
    what = (
        f"A task's cell begins with `%%task`: running it writes your code into `{unit.name}/{unit.lesson.name}`, "
        "in place of the gap, and runs the task's tests."
    )
    if solution:
        what = (
            "**This is the solution**, for instructors: its cells hold the reference, and run beside the lesson "
            "without changing it."
        )
    head = [f"# {unit.name}: {unit.title}", f"About {unit.minutes} minutes. {what}"]
    if says.get(""):
        head.append(text.markdown(says[""]))
    setup = SETUP.format(
        address=(web_address(unit.root) or ""),
        branch=pushed_branch(unit.root) or "",
        unit=unit.name,
        folder=FOLDER,
        solution=", solution=True" if solution else "",
    )
    return [
        _markdown("title", "\n\n".join(head)),
        _code("setup", setup),
        _markdown("challenge", "## Challenge\n\n" + text.markdown(says.get("Challenge", ""))),
    ]


def _explore(says: dict[str, str]) -> list[dict]:
    cells = [_markdown("explore", "## Explore")]
    for number, (kind, part) in enumerate(text.explore(says.get("Explore", "")), start=1):
        name = f"explore-{number}"
        cells.append(_code(name, part) if kind == "command" else _markdown(name, part))
    return cells


def _concept(unit: Unit, says: dict[str, str]) -> list[dict]:
    cells = [_markdown("concept", "## Concept\n\n" + text.markdown(says.get("Concept", "")))]
    shown: dict[str, Any] = {}
    for concept in unit.concepts:
        if concept in PICTURES:
            shown.setdefault(*PICTURES[concept])
    for picture, ranges in shown.items():
        source = f"from tools.draw import explore\n\nsliders(explore.{picture}, {ranges})"
        cells.append(_code(f"picture-{picture}", source))
    return cells


def _tasks(unit: Unit, source: str, code: dict[int, str], says: dict[str, str]) -> list[dict]:
    lines = text.task_lines(says.get("Code it", ""))
    about = f"## Code it\n\nGiven, above the first task:\n\n```python\n{text.given(source)}\n```"
    cells = [_markdown("code-it", about)]
    for task in unit.tasks:
        words = f"### Task {task.number}\n\n{lines.get(task.number, '')}"
        if task.number in unit.hints:
            words += f"\n\nStuck? `%hint {task.number}` in a cell of its own shows the next of three hints."
        cells.append(_markdown(f"about-task-{task.number}", words))
        own = f"%%task {task.number}\n{code[task.number]}" if task.number in code else f"%tests {task.number}"
        cells.append(_code(f"task-{task.number}", own))
    return cells


def _verify(says: dict[str, str]) -> list[dict]:
    lines = says.get("Verify", "").split("\n")
    words = "\n".join(line for line in lines if not text.COMMAND.match(line))
    return [
        _markdown("verify", f"## Verify\n\n{text.markdown(words)}\n\nAll tests of the day:"),
        _code("tests", "%tests"),
    ]


def _quiz(unit: Unit) -> list[dict]:
    if not unit.quiz:
        return []
    cells = [_markdown("quiz", "## Quiz\n\nRun a cell, then choose. The reason comes at once, for right and wrong.")]
    cells += [
        _code(f"quiz-{number}", f"# @title Question {number}\n{_question(each)}", **HIDDEN)
        for number, each in enumerate(unit.quiz, start=1)
    ]
    return cells


def _question(question: Question) -> str:
    if not question.choices:
        return f"ask(\n    {question.question!r},\n    number={question.number!r},\n    why={question.why!r},\n)"
    choices = "".join(f"        ({c.text!r}, {c.right!r}, {c.why!r}),\n" for c in question.choices)
    return f"ask(\n    {question.question!r},\n    choices=[\n{choices}    ],\n)"


def _reading(unit: Unit) -> list[dict]:
    if not unit.reading:
        return []
    lines = [f"- **{text.escape(r.title)}**, {text.escape(r.author)}. {text.escape(r.why)}" for r in unit.reading]
    return [_markdown("reading", "## Reading\n\n" + "\n".join(lines))]
