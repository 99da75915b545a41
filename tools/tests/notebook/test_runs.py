"""Notebooks that are executed, cell by cell, by a real kernel in a copy of the course."""

import re

import pytest

from tools.cli.notebook import run
from tools.tests.conftest import needs_solutions

nbformat = pytest.importorskip("nbformat", reason="needs nbformat; found none; pip install -e '.[notebook]'")
nbclient = pytest.importorskip("nbclient", reason="needs nbclient; found none; pip install -e '.[notebook]'")
pytest.importorskip("ipykernel", reason="needs ipykernel; found none; pip install -e '.[notebook]'")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Client(nbclient.NotebookClient):
    """Without nbclient's imitation of output widgets: it sends to the kernel while a reply is awaited, which then is
    lost at times, and waited for without end (19 of 55 notebooks with 20 sliders each; 0 of 467 without it)."""

    def on_comm_open_jupyter_widget(self, msg) -> None:
        return None


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
    Client(notebook, timeout=60, resources={"metadata": {"path": str(course.folder)}}).execute()
    return {cell.id: printed(cell) for cell in notebook.cells if cell.cell_type == "code"}


def printed(cell) -> str:
    parts = [
        out.get("text") or out.get("data", {}).get("text/html", "") or out.get("data", {}).get("text/plain", "")
        for out in cell.outputs
    ]
    return COLOUR.sub("", "".join(parts))


@needs_solutions
@pytest.mark.parametrize(
    "day, tested, green",
    [("week1/day1", (), "1, 2, 3, 4, 5, 6"), ("week1/day4", (2,), "1, 2, 3, 4"), ("week1/day6", (), "1, 2, 3, 4")],
)
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
