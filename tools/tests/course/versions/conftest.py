"""A small course under git with two days, made anew for each test, and nobody's own settings."""

import shutil

import pytest

from tools.tests.course.versions.edits import STUB
from tools.tests.course.versions.under_git import ALONE, IDENTITY, begin


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    for name, value in {**IDENTITY, **ALONE}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    root = tmp_path_factory.mktemp("template") / "course"
    root.mkdir()
    (root / "tools.py").write_text("# a tool\n")
    return begin(root, "week1/day1", "week1/day2", lesson=STUB)


@pytest.fixture
def root(template, tmp_path):
    return shutil.copytree(template, tmp_path / "course")
