"""A course of one small day, sound in every respect, for tests to break in one place each."""

import textwrap
from pathlib import Path

import pytest

from tools.course.content import catalogue
from tools.selfcheck import static
from tools.tests.selfcheck import small_day

CONFTEST = '''
"""As much of the course's plugin as the self-check asks for."""
import importlib.util, sys
from pathlib import Path
import pytest

def pytest_addoption(parser):
    parser.addoption("--answers")
    parser.addoption("--seed")
    parser.addoption("--remote", action="store_true")
    parser.addini("course_limit", "")
    parser.addini("course_compiler", "")

class Finder:
    def __init__(self, folder):
        self.folder = folder
    def find_spec(self, name, path=None, target=None):
        file = self.folder / Path(*name.split(".")).with_suffix(".py")
        return importlib.util.spec_from_file_location(name, file) if name == "week1.day1.adding" else None

def pytest_configure(config):
    config.addinivalue_line("markers", "task(*numbers)")
    config.addinivalue_line("markers", "gpu")
    finder = Finder(config.rootpath / (config.getoption("--answers") or ""))
    sys.meta_path.insert(0, finder)
    config.add_cleanup(lambda: sys.meta_path.remove(finder))

def pytest_runtest_setup(item):
    if item.get_closest_marker("gpu"):
        pytest.skip("needs an NVIDIA GPU")

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    gpu, task = item.get_closest_marker("gpu") is not None, item.get_closest_marker("task")
    report.course = {"tasks": task.args if task else (), "stage": "correctness", "needs_gpu": gpu,
                     "needs_program": False}
    return report

def pytest_report_teststatus(report):
    if report.failed and "too noisy" in report.longreprtext:
        return "undecided", "u", "UNDECIDED"
'''


class Course:
    """The files of the course below `root`."""

    def __init__(self, root: Path):
        self.root = root
        for path, text in small_day.files().items():
            self.write(path, text)
        self.write("conftest.py", CONFTEST)
        self.write("pytest.ini", "[pytest]\naddopts = --import-mode=importlib\npythonpath = .\n")

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Change the one place in `path` that says `old`."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} says {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def unit(self) -> catalogue.Unit:
        return catalogue.unit("week1/day1", self.root)

    def problems(self) -> list[str]:
        """What the static rules find, in words."""
        rules = static.check_unit(self.unit(), self.root) | static.check_place(self.unit(), self.root)
        return [str(problem) for found in rules.values() for problem in found]


@pytest.fixture
def course(tmp_path) -> Course:
    return Course(tmp_path)
