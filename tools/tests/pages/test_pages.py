"""The interactive pages: each runs, answers to every control, and is what its day promises.

No browser is needed: marimo runs a page's cells, with other controls in place of its own.
"""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import types

import pytest

from tools import ROOT
from tools.course.content import catalogue

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("week*/**/explore_*.py"))
MISSING = "needs marimo; found none; pip install -e '.[pages]' -c constraints.txt"


def lesson(page: str) -> str:
    """The docstring of the lesson of the page's day."""
    unit = catalogue.unit(page.rpartition("/")[0])
    return ast.get_docstring(ast.parse(unit.lesson.read_text(encoding="utf-8")))


def text(page: str) -> str:
    """What the page says, heading and all."""
    return re.search(r'mo\.md\("""(.*?)"""\)', (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[1]


def step(docstring: str, name: str, following: str) -> str:
    return docstring.partition(f"\n{name}\n")[2].partition(f"\n{following}\n")[0]


@pytest.fixture
def app():
    pytest.importorskip("marimo", reason=MISSING)
    return load


def load(page: str):
    spec = importlib.util.spec_from_file_location(page.replace("/", "_").removesuffix(".py"), ROOT / page)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.app


# Without marimo -----------------------------------------------------------------------------------


def test_every_promised_page_exists_and_every_page_is_promised():
    lessons = (unit.lesson.read_text(encoding="utf-8") for unit in catalogue.units())
    assert PAGES == sorted({page for lesson in lessons for page in re.findall(r"\./course (\S+/explore_\S+)", lesson)})


@pytest.mark.parametrize("page", PAGES)
def test_a_lesson_names_its_pages_under_explore(page):
    lines = step(lesson(page), "Explore", "Concept").splitlines()
    assert any(line.startswith(f"    ./course {page}    ") for line in lines)


@pytest.mark.parametrize("unit", catalogue.names())
def test_no_lesson_names_a_page_that_does_not_exist(unit):
    source = catalogue.unit(unit).lesson.read_text(encoding="utf-8")
    assert set(re.findall(r"\./course (\S+/explore_\S+)", source)) <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_its_day_and_ends_with_a_question_after_at_most_three_sentences(page):
    heading, _, words = text(page).strip().partition("\n")
    week, unit = page.removeprefix("week").split("/")[:2]
    assert heading.startswith(f"# Week {week}, {'kata' if unit == 'katas' else unit.replace('day', 'day ')}: ")
    sentences = re.findall(r"[.?](?=\s|$)", words)
    assert 1 <= len(sentences) <= 3 and sentences[-1] == "?"


# With marimo --------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_and_shows_a_picture(app, page):
    outputs, defined = app(page).run()
    assert defined["picture"].startswith("<svg ")
    assert "data:image/svg+xml" in outputs[-1].text


@pytest.mark.parametrize("page", PAGES)
def test_every_control_changes_the_picture_and_no_place_of_it_breaks_it(app, page):
    _, defined = app(page).run()
    controls = {name: value for name, value in defined.items() if hasattr(value, "steps")}
    assert len(controls) >= 2
    at_first = {name: types.SimpleNamespace(value=control.value) for name, control in controls.items()}
    for name, control in controls.items():
        ends = (control.steps[0], control.steps[-1]) if control.steps else (control.start, control.stop)
        for end in set(ends) - {control.value}:
            _, moved = app(page).run(defs=at_first | {name: types.SimpleNamespace(value=end)})
            assert moved["picture"] != defined["picture"], f"{name} = {end} changes nothing"


def test_marimo_has_no_complaint(app):
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "check", "--strict", *PAGES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_page_finds_the_course_from_its_root(app, tmp_path):
    """marimo puts the page's own folder on the path, not the course's; [tool.marimo.runtime] adds that."""
    page, made = tmp_path / PAGES[0], tmp_path / "page.html"
    page.parent.mkdir(parents=True)
    shutil.copy(ROOT / PAGES[0], page)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tools").symlink_to(ROOT / "tools", target_is_directory=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-P", "-m", "marimo", "export", "html", PAGES[0], "-o", str(made)]  # -P: not from here
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "data:image/svg+xml" in made.read_text(encoding="utf-8")
