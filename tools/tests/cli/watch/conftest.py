"""Courses to watch: one real, one small."""

import sys

import pytest

from tools.tests.cli.watch.watching import DAY, PYTEST, SCRIPT, SMALL, Place, write
from tools.tests.conftest import Course


@pytest.fixture(scope="module")
def real(given, tmp_path_factory) -> tuple[Course, Place]:
    """A copy of the course."""
    course = Course(tmp_path_factory.mktemp("real"), given)
    return course, Place(course.folder, [sys.executable, "-m", "tools.cli", "watch", DAY])


@pytest.fixture
def small(tmp_path) -> Place:
    """A course of one small day, and a stand-in for pytest."""
    write(tmp_path / DAY, SMALL)
    write(tmp_path, {"pytest.py": PYTEST})
    return Place(tmp_path, [sys.executable, "-c", SCRIPT, str(tmp_path)])
