"""A lesson that replaces what judges it is neither green nor recorded, and a line says why."""

import pytest

from tools.pytest_course.judges import Judges
from tools.tests.pytest_course.test_bad_input import at_import
from tools.tests.pytest_course.test_runs import FEW, TESTS, fill

CHEATS = {
    "runtest": (
        "import _pytest.python; _pytest.python.Function.runtest = lambda self: None",
        "_pytest.python.Function.runtest",
    ),
    "code": (
        "import _pytest.python; _pytest.python.Function.runtest.__code__ = (lambda self: None).__code__",
        "_pytest.python.Function.runtest",
    ),
    "the course's own": (
        "import tools.check.verify; tools.check.verify.verify = lambda *a: None",
        "tools.check.verify.verify",
    ),
    "the name in a test": ("import tools.check; tools.check.assert_matches = print", "tools.check.assert_matches"),
}


@pytest.mark.parametrize("line, name", CHEATS.values(), ids=CHEATS)
def test_a_run_under_other_judges_is_not_recorded(course, line, name):
    course.write(TESTS, FEW)
    fill(course, "matmul_flops", "    return 2 * m * n * k")
    at_import(line)(course)
    ran = course.pytest("week1/day1", CI="")
    told = " ".join(ran.text.split())
    assert f"Not recorded: the lesson put something else in place of {name}, which judges it." in told
    assert "green" not in ran.text.lower() and "Traceback" not in ran.text
    assert not (course.folder / ".course/progress.json").exists() and not (course.folder / "journal").exists()


def test_in_its_own_process_a_lesson_reaches_no_judge(course):
    course.write(TESTS, FEW)
    at_import(CHEATS["runtest"][0])(course)
    ran = course.pytest("week1/day1", "--remote")
    assert "2 failed" in ran.lines[-1] and "Not recorded" not in ran.text


def test_judges_that_stay_are_not_suspected():
    import _pytest.python

    judges, before = Judges(), _pytest.python.Function.runtest
    assert judges.replaced() == []
    _pytest.python.Function.runtest = lambda self: None
    try:
        assert judges.replaced() == ["_pytest.python.Function.runtest"]
    finally:
        _pytest.python.Function.runtest = before
    assert judges.replaced() == []
