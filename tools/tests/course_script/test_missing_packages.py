"""pytest in a Python that lacks one of the course's packages: three lines instead of a traceback."""

import os
import subprocess
import sys

import pytest

from tools import ROOT


@pytest.fixture
def without(tmp_path):
    """without(package, arguments) -> exit code and lines of pytest, run where that package cannot be imported."""

    def run(package: str, *arguments: str) -> tuple[int, list[str]]:
        (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{package!r}] = None")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COURSE_"))}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=ROOT,
            text=True,
            env=kept | {"PYTHONPATH": str(tmp_path), "COLUMNS": "80"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        return done.returncode, [line.strip() for line in done.stdout.splitlines() if line.strip()]

    return run


def told(package: str) -> list[str]:
    return [
        f"ERROR {package} is not installed for this Python, {sys.executable}.",
        "./course sets up all that the course needs, once: ./course week1/day1",
        "To do it by hand: docs/SETUP.md.",
    ]


@pytest.mark.parametrize(
    "arguments", [["week1/day1"], ["week1/day4"], ["week1/day1", "--hint"], ["tools/tests/models"]]
)
def test_without_numpy_three_lines_say_so(without, arguments):
    code, lines = without("numpy", *arguments)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert lines == [told("NumPy")[0].replace("ERROR", "ERROR:"), *told("NumPy")[1:]]


@pytest.mark.parametrize(
    "package, name, path",
    [("torch", "PyTorch", "week1/day4"), ("ml_dtypes", "ml_dtypes", "tools/tests/models/test_formats.py")],
)
def test_without_another_package_the_tests_that_need_it_say_so(without, package, name, path):
    code, lines = without(package, path)
    assert code == pytest.ExitCode.INTERRUPTED
    text = "\n".join(lines)
    assert "\n".join(told(name)[1:]) in text and told(name)[0].removeprefix("ERROR ") in text
    assert "Traceback" not in text and "valid Python names" not in text


def test_without_pytorch_a_day_of_numpy_is_worked_all_the_same(without):
    code, lines = without("torch", "week1/day1", "--answers=reference", "-k", "naive")
    assert code == 0, lines
