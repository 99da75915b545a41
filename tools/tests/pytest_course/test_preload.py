"""A run of lessons imports what its tests need, once, and leaves out what only other runs need."""

import sys

import pytest

from tools.stem import ASLEEP
from tools.tests.conftest import needs_solutions

COUNTED = """# Each import of these leaves a line, in whichever process, and says if its threads sleep.
import importlib.abc, os, pathlib, sys

WITH = {"numpy.version": "OPENBLAS_THREAD_TIMEOUT", "torch": "OMP_WAIT_POLICY"}

class Count(importlib.abc.MetaPathFinder):
    # conftest.py looks for NumPy itself without importing it
    wanted = {"numpy.version", "torch", "triton", "hypothesis", "anyio"}

    def find_spec(self, name, path=None, target=None):
        if name in self.wanted:
            self.wanted = self.wanted - {name}  # other finders ask again
            with open(pathlib.Path(__file__).with_name("imported"), "a") as file:
                print(name, *["asleep"] * (WITH.get(name, "") in os.environ), file=file)

sys.meta_path.insert(0, Count())
"""


def imported(course, unit: str) -> list[str]:
    """Those of the modules above that a green run of this unit imported, each as often as it was."""
    course.solve(unit)
    course.write("sitecustomize.py", COUNTED)
    start = (sys.executable, "-B", "-m", "pytest")  # a real one: a copy of a warm process has imported them
    ran = course.run(*start, "-p", "no:cacheprovider", unit, PYTHONPATH=str(course.folder))
    assert ran.code == 0, ran.text
    return sorted(course.read("imported").splitlines())


@pytest.fixture
def awake(monkeypatch):
    """Nobody has asked for threads that sleep."""
    for name in ASLEEP:
        monkeypatch.delenv(name, raising=False)


@needs_solutions
def test_a_day_of_numpy_is_not_charged_for_pytorch_nor_for_hypothesis(course, awake):
    assert imported(course, "week1/day1") == ["numpy.version asleep"]


@needs_solutions
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux; found another system; nothing to do")
def test_a_day_of_triton_imports_pytorch_once_for_the_tests_and_the_compiler(course, awake):
    simulated_and_compiled = ["triton", "triton"]
    assert imported(course, "week1/day4") == ["numpy.version asleep", "torch asleep", *simulated_and_compiled]
