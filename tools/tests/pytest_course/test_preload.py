"""A run of lessons imports what its tests need, once, and leaves out what only other runs need."""

import sys

import pytest

from tools.tests.conftest import needs_solutions

COUNTED = """# Each import of these leaves a line, in whichever process.
import importlib.abc, os, pathlib, sys

class Count(importlib.abc.MetaPathFinder):
    wanted = {"numpy", "torch", "triton", "hypothesis", "anyio"}

    def find_spec(self, name, path=None, target=None):
        if name in self.wanted:
            self.wanted = self.wanted - {name}  # other finders ask again
            with open(pathlib.Path(__file__).with_name("imported"), "a") as file:
                print(name, file=file)
                if name == "torch":
                    print("with threads that sleep:", os.environ.get("OMP_WAIT_POLICY"), file=file)

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


@needs_solutions
def test_a_day_of_numpy_is_not_charged_for_pytorch_nor_for_hypothesis(course):
    assert imported(course, "week1/day1") == ["numpy"]


@needs_solutions
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux; found another system; nothing to do")
def test_a_day_of_triton_imports_pytorch_once_for_the_tests_and_the_compiler(course, monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    simulated_and_compiled = ["triton", "triton"]
    asleep = "with threads that sleep: PASSIVE"
    assert imported(course, "week1/day4") == ["numpy", "torch", *simulated_and_compiled, asleep]
