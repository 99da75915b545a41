"""Notebooks that are executed, cell by cell, by a real kernel in a copy of the course."""

import re
import subprocess
import sys

import pytest

from tools.cli.notebook import run
from tools.tests.conftest import needs_solutions

nbformat = pytest.importorskip("nbformat", reason="needs nbformat; found none; pip install -e '.[notebook]'")
pytest.importorskip("nbclient", reason="needs nbclient; found none; pip install -e '.[notebook]'")
pytest.importorskip("ipykernel", reason="needs ipykernel; found none; pip install -e '.[notebook]'")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=None).execute()
nbformat.write(notebook, sys.argv[1])
"""
# Seconds for a notebook, which needs 6 to 12. A second try gets as many: now and then Jupyter loses a message and waits
# for it for ever, in 2 of 100 notebooks of 20 cells that did nothing but show widgets (ipykernel 6.31,
# jupyter_client 8.10, nbclient 0.11, pyzmq 27.3).
LIMIT = 40


def execute(course, day, tested=(), solution=False) -> dict[str, str]:
    """What each code cell of the day's notebook printed, by the cell's name. An error in a cell is raised.

    Only the cells of the tasks in `tested` test at once; the last cell tests all of them.
    """
    file = course.folder / "day.ipynb"
    assert run(day, course.folder, solution=solution, output=file) == 0
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        first = cell.source.split("\n")[0]
        if first.startswith("%%task") and first not in [f"%%task {task}" for task in tested]:
            cell.source = cell.source.replace("\n", " later\n", 1)
    nbformat.write(notebook, file)
    execute_in_place(file)
    notebook = nbformat.read(file, as_version=4)
    return {cell.id: printed(cell) for cell in notebook.cells if cell.cell_type == "code"}


def execute_in_place(file) -> None:
    for last in (False, True):
        try:
            subprocess.run([sys.executable, "-c", EXECUTE, file], cwd=file.parent, timeout=LIMIT, check=True)
            return
        except subprocess.TimeoutExpired:
            if last:
                raise


def printed(cell) -> str:
    parts = [out.get("text") or out.get("data", {}).get("text/html", "") or out.get("data", {}).get("text/plain", "")
             for out in cell.outputs]
    return COLOUR.sub("", "".join(parts))


@needs_solutions
@pytest.mark.parametrize("day, tested, green", [
    ("week1/day1", (), "1, 2, 3, 4, 5, 6"),
    ("week1/day4", (2,), "1, 2, 3, 4"),
    ("week1/day6", (), "1, 2, 3, 4"),
])
def test_the_solution_is_green_and_leaves_the_lesson_alone(course, day, tested, green):
    cells = execute(course, day, tested, solution=True)
    assert f"  green     tasks {green}\n" in cells["tests"]
    for task in tested:
        assert f"  green     task {task}\n" in cells[f"task-{task}"]
    assert course.status() == "?? day.ipynb\n"


def test_the_learners_notebook_shows_gaps_as_red_and_goes_on(course):
    cells = execute(course, "week1/day4", tested=(1,))
    assert "  to write  task 1  linear_index, coordinate\n" in cells["task-1"]
    assert "FAILED test_linear_index_counts_along_rows\n" in cells["task-1"]
    assert "  to write  task 3  add_2d_kernel, add_2d\n" in cells["tests"]
    assert "VBox" in cells["quiz-2"]
    assert course.status() == "?? day.ipynb\n"  # an unchanged cell leaves the lesson unchanged, byte for byte
