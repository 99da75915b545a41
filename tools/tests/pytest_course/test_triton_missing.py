"""Where Triton has no build, each of its days is one skip that says so; other days stay as they are."""

import sys

import pytest

from tools.pytest_course.lessons import missing_triton

HIDE_TRITON = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name == "triton":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
"""


@pytest.fixture
def without_triton(course, tmp_path):
    """Runs of pytest in which no process can import Triton: Python reads sitecustomize.py as it starts."""
    (tmp_path / "sitecustomize.py").write_text(HIDE_TRITON)
    return lambda *args: course.pytest(*args, PYTHONPATH=str(tmp_path))


@pytest.mark.parametrize("how", [(), ("--remote",)], ids=["here", "remote"])
def test_a_triton_day_is_one_skip_that_says_what_is_missing(without_triton, how):
    ran = without_triton("week1/day4", "--answers=reference", *how)
    assert "skipped 1: needs Triton; found none" in ran.text
    assert "Traceback" not in ran.text and "cannot be imported" not in ran.text
    assert "failed" not in ran.text and "Green" not in ran.text


@pytest.mark.parametrize("how", [(), ("-n", "2")], ids=["serial", "two processes"])
def test_a_day_of_which_nothing_can_run_is_passed_over(without_triton, course, how):
    for file in ("week1/day4/vector_add.py", "week1/day4/test_vector_add.py"):  # or each process imports PyTorch first
        course.write(file, course.read(file).replace("import torch\n", ""))
    without_triton("week1/day4", *how)
    status = " ".join(course.run(sys.executable, "-m", "tools.cli", "status").text.split())
    assert "Your first Triton kernel cannot run here; all tests wait for Triton" in status


def test_other_days_run_on(without_triton):
    ran = without_triton("week1/day1", "week1/day4", "--answers=reference", "-k", "flops or one_full_block")
    assert ran.code == 0
    assert "skipped 1: needs Triton" in ran.text and "9 passed, 1 skipped" in ran.text


def test_another_module_that_is_missing_is_the_learners_affair(course):
    lesson = "week1/day4/vector_add.py"
    course.write(lesson, course.read(lesson).replace("import triton\n", "import tritan as triton\n"))
    line = course.read(lesson).splitlines().index("import tritan as triton") + 1
    ran = course.pytest("week1/day4")
    assert f"{lesson}, line {line}: ModuleNotFoundError: No module named 'tritan'" in ran.text
    assert "skipped" not in ran.text


@pytest.mark.parametrize("platform, found", [("darwin", "macOS"), ("win32", "Windows"), ("sunos", "sunos")])
def test_the_reason_names_the_system_and_the_way_out(platform, found, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    assert missing_triton() == (
        f"needs Triton, which has wheels for Linux only; found {found}. Use WSL or a container: docs/SETUP.md says how."
    )
