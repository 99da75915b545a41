"""The forms of the self-check: whole, quick, for authors with more packages; and what it says where one is missing."""

from collections import Counter

import pytest

from tools import ROOT
from tools.selfcheck import check, parts
from tools.selfcheck.findings import Findings
from tools.selfcheck.results import Result, TestResult, Variant
from tools.selfcheck.verdicts import Verdict

UNITS = ["week1/day1", "week1/day2"]


@pytest.fixture
def run(monkeypatch, capsys):
    """run(arguments) -> exit code, names of the jobs that would run, what was printed; nothing is run."""
    monkeypatch.setattr(check, "lacking", lambda extra: run.lacks.get(extra, []))

    def run(*arguments: str, found: tuple[Findings, ...] = ()):
        jobs = []
        monkeypatch.setattr(check, "_run", lambda those, fresh: jobs.extend(those) or list(found))
        code = check.main(list(arguments))
        return code, jobs, capsys.readouterr()

    run.lacks = {}
    return run


def named(jobs) -> list[tuple[str, str]]:
    return list(dict.fromkeys((name, job.func.__name__) for name, job in jobs))


STATIC = [("static", "check_texts"), ("static", "check_files")]


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (UNITS, [("week1/day1", "check_unit"), ("week1/day2", "check_unit"), *STATIC]),
        (["--quick", *UNITS], [("week1/day1", "check_quickly"), ("week1/day2", "check_quickly"), *STATIC]),
        (["--only", "golden"], [("transcripts", "check_transcript")]),
        (["--only", "tools", "--only", "static"], [("tools", "check_tests"), *STATIC]),
        (["--only", "content"], [("content", "check_tests")]),
        (["--tools"], [("tools", "check_tests")]),
        (["--dev"], [("dev", "check_style"), ("dev", "check_dev")]),
    ],
)
def test_a_form_runs_its_parts_and_no_others(run, arguments, wanted):
    assert named(run(*arguments)[1]) == wanted


def test_every_part_runs_in_the_check_of_the_course_or_in_that_of_the_tools(run):
    course, tools = run()[1], run("--tools")[1]
    assert {kind for _, kind in named(course)} == {
        "check_tests",
        "check_unit",
        "check_texts",
        "check_files",
        "check_transcript",
    }
    assert {kind for _, kind in named(tools)} == {"check_tests"}
    tests = [job.args[0] for _, job in course + tools if job.func is parts.check_tests]
    rooms = {file.relative_to(ROOT / "tools/tests").parts[0] for file in ROOT.glob("tools/tests/**/test_*.py")}
    assert sorted([*(path.name for path in tests), "units"]) == sorted(rooms)  # of which each unit runs its own


def test_two_forms_at_once_are_a_usage_error(run, capsys):
    with pytest.raises(SystemExit) as ended:
        check.main(["--quick", "--dev"])
    assert ended.value.code == 2
    assert "not allowed with argument" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, most",
    [
        ([], check.SAMPLE),
        (["week1"], check.SAMPLE),
        (["week1/day1"], None),
        (["week1", "week1/day1"], None),
        (["--mutants", "3"], 3),
        (["week1/day1", "--mutants", "3"], 3),
    ],
)
def test_the_whole_takes_a_sample_of_the_mutants_and_a_unit_all_of_its_own(run, arguments, most):
    jobs = run(*arguments)[1]
    assert {job.keywords["most"] for _, job in jobs if job.func is parts.check_unit} == {most}


# Packages that are missing ------------------------------------------------------------------------


def test_the_whole_says_what_it_left_out_and_is_green_without(run, monkeypatch):
    monkeypatch.setattr(check.floors, "kept", lambda *_: Findings("floors"))
    run.lacks = {"dev": ["marimo"]}
    code, _, printed = run()
    assert code == 0
    assert "dev: left out: tests of pages, notebooks and terminals, and the linter; ./course check --dev" in printed.out
    run.lacks = {}
    printed = run()[2].out
    assert "dev: left out" not in printed
    assert "tools: left out: whoever changes tools/ runs ./course check --tools" in printed


def test_check_dev_without_its_packages_names_them_and_runs_nothing(run):
    run.lacks = {"dev": ["marimo", "ruff"]}
    code, jobs, printed = run("--dev")
    assert (code, jobs) == (2, [])
    assert printed.err == "Not installed: marimo, ruff. ./course check --dev installs them in .venv.\n"


@pytest.mark.parametrize("typed, goes_on", [("y", True), ("YES", True), ("", False), ("n", False)])
def test_on_a_terminal_it_offers_them_once_and_runs_them_at_the_end(run, monkeypatch, typed, goes_on):
    asked, went_on = [], []
    monkeypatch.setattr(check.floors, "kept", lambda *_: Findings("floors"))
    monkeypatch.setattr(check, "at_terminal_of_venv", lambda: True)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or typed)
    monkeypatch.setattr(check.subprocess, "call", lambda command: went_on.append(command[1:]) or 7)
    run.lacks = {"dev": ["marimo"]}
    assert run()[0] == (7 if goes_on else 0)
    assert len(asked) == 1 and asked[0].endswith("[y/N] ") and max(map(len, asked[0].splitlines())) <= 80
    assert went_on == [[ROOT / "course", "check", "--dev"]] * goes_on
    for arguments in ("week1/day1",), ("--quick",), ("--only", "static"):
        run(*arguments)
    assert len(asked) == 1


def test_without_a_terminal_nobody_is_asked(run, monkeypatch):
    monkeypatch.setattr("builtins.input", None)
    run.lacks = {"dev": ["marimo"]}
    run()


def test_a_missing_compiler_is_one_fault_and_says_what_could_not_be_judged(run):
    run.lacks = {"compilers": ["numba-cuda"]}
    day = Findings(
        "week1/day3",
        [Verdict("lesson tests", "week1/day3: test_a", True)],
        unjudged=Counter({"tests of lessons": 6, "wrong answers": 4}),
    )
    code, _, printed = run(found=(day,))
    assert code == 1
    assert printed.out.splitlines()[-5:] == [
        "FAILED packages: not installed: numba-cuda",
        "    not judged for want of it: tests of lessons: 6; wrong answers: 4",
        "    ./course doctor says what to type",
        "",
        "1 passed, 1 failed",
    ]


def kernel(name: str, outcome: str, **facts) -> TestResult:
    return TestResult(f"test_x.py::{name}", name, outcome, stage="compiled", **facts)


def test_what_failed_where_a_compiler_is_missing_is_counted_and_no_fault(course):
    reference = Result(Variant("reference", "", ()), [kernel("test_a", "skipped", needs_program=True)], 0)
    lost = [Verdict(kind, "u: x", False) for kind in ("tests seen red", "wrong answers", "mutants that survived")]
    kept = [Verdict("lesson tests", "u: test_b", False), Verdict("wrong answers", "u: y", True)]
    found = Findings("u", [*lost, *kept], [parts.TO_BE_SHOWN + "test_a", parts.TO_BE_SHOWN + "test_of_a_gpu"])
    parts.without_what_waits(found, reference, [])
    assert found.verdicts == kept
    assert found.notes == [parts.TO_BE_SHOWN + "test_of_a_gpu"]
    assert found.unjudged == {
        "tests of lessons": 1,
        "tests seen red": 1,
        "wrong answers": 1,
        "mutants that survived": 1,
    }


def test_where_only_a_gpu_is_missing_every_fault_stays(course):
    reference = Result(Variant("reference", "", ()), [kernel("test_a", "skipped", needs_gpu=True)], 0)
    faults = [Verdict("wrong answers", "u: x", False)]
    found = parts.without_what_waits(Findings("u", list(faults)), reference, [])
    assert found.verdicts == faults and not found.unjudged


# The parts ----------------------------------------------------------------------------------------


def test_a_sound_unit_is_quickly_judged(course):
    found = parts.check_quickly(course.unit(), course.root, tell=lambda *words: None)
    assert all(verdict.passed for verdict in found.verdicts)
    assert Counter(verdict.kind for verdict in found.verdicts) == {"units": 1, "lesson tests": 2, "tests seen red": 2}


def test_a_reference_that_fails_and_a_test_that_nothing_fails_are_quickly_found(course):
    course.edit("reference/week1/day1/adding.py", "return total(values) / len(values)", "return 0")
    course.edit("week1/day1/test_adding.py", "    assert lesson.total([1, 2, 4]) == 7", "    pass")
    course.write("reference/week1/day1/wrong.toml", "")
    found = parts.check_quickly(course.unit(), course.root, tell=lambda *words: None)
    assert [(verdict.kind, verdict.subject) for verdict in found.verdicts if not verdict.passed] == [
        ("lesson tests", "week1/day1: test_mean_divides_by_the_count"),
        ("tests seen red", "week1/day1: test_total_adds_every_value"),
    ]


def test_wrong_answers_that_cannot_be_read_are_one_fault_quickly_too(course):
    course.write("reference/week1/day1/wrong.toml", "[[wrong]\n")
    [verdict] = parts.check_quickly(course.unit(), course.root, tell=lambda *words: None).verdicts
    assert not verdict.passed and "is not valid TOML" in verdict.detail


TESTS = """
import pytest
def test_a(): pytest.importorskip("{package}")
def test_b(): pass
def test_c(): assert 0
"""


def test_tests_of_the_tools_count_when_they_passed_and_not_when_they_were_skipped(course):
    course.write("conftest.py", "")
    course.write("tools/tests/test_it.py", TESTS.format(package="surely_not_installed"))
    found = parts.check_tests(course.root / "tools" / "tests", course.root, tell=lambda *words: None)
    assert [(verdict.subject, verdict.passed) for verdict in found.verdicts] == [
        ("tools/tests/test_it.py::test_b", True),
        ("tools/tests/test_it.py::test_c", False),
    ]
    assert sum(found.skips.values()) == 1


STOPS = "def pytest_runtest_logfinish(nodeid, location):\n    if 'stop' in nodeid: raise KeyboardInterrupt\n"


def test_what_pytest_left_when_it_stopped_is_run_by_a_second_process_and_noted(course):
    course.write("conftest.py", f"import os, pathlib\nonce = pathlib.Path('once')\n{STOPS}".replace(
        "'stop' in nodeid", "'stop' in nodeid and not once.exists() and not once.touch()"))  # fmt: skip
    course.write("tools/tests/test_it.py", "def test_stops(): pass\ndef test_b(): pass\n")
    course.write("tools/tests/test_other.py", "def test_a(): pass\n")
    found = parts.check_tests(course.root / "tools" / "tests", course.root, tell=lambda *words: None)
    assert [verdict.subject.partition("::")[2] for verdict in found.verdicts if verdict.passed] == [
        "test_stops", "test_b", "test_a",
    ]  # fmt: skip
    assert len(found.verdicts) == 3
    assert "stopped after tools/tests/test_it.py::test_stops, exit code 2; a second process ran" in found.notes[0]


def test_files_that_the_second_process_leaves_too_are_a_fault(course):
    """pytest may stop early, and what it has not run would be missed by nobody."""
    course.write("conftest.py", STOPS)
    course.write("tools/tests/test_it.py", "def test_a(): pass\n")
    course.write("tools/tests/test_other.py", "def test_stops(): pass\ndef test_b(): pass\n")
    found = parts.check_tests(course.root / "tools" / "tests", course.root, tell=lambda *words: None)
    told, fault = found.verdicts
    assert told.passed and not fault.passed
    assert "exit code 2; no test was told of: tools/tests/test_other.py\n" in fault.detail
    assert "KeyboardInterrupt" in fault.detail


def test_a_file_that_is_skipped_as_a_whole_is_told(course):
    course.write("conftest.py", "")
    skipped = "import pytest\npytest.importorskip('surely_not_installed')\n"
    course.write("tools/tests/test_it.py", skipped)
    course.write("tools/tests/test_other.py", "def test_a(): pass\n")
    found = parts.check_tests(course.root / "tools" / "tests", course.root, tell=lambda *words: None)
    assert [verdict.subject for verdict in found.verdicts] == ["tools/tests/test_other.py::test_a"]
    assert sum(found.skips.values()) == 1


def test_each_room_of_tests_has_a_process_of_its_own(course):
    course.write("tools/tests/small/deep/test_it.py", "")
    course.write("tools/tests/large/test_it.py", TESTS)
    course.write("tools/tests/golden/day1.txt", "no test")
    course.write("tools/tests/conftest.py", "")
    course.write("tools/tests/test_it.py", "")
    assert [path.name for path in parts.tests_of("tools", course.root)] == ["large", "small", "test_it.py"]


def test_the_part_for_authors_runs_the_files_that_ask_for_its_packages_a_process_for_each_room(course, monkeypatch):
    course.write("conftest.py", "")
    for file in ("one/test_it.py", "two/test_it.py", "two/test_more.py"):
        course.write(f"tools/tests/{file}", TESTS.format(package="surely_not_installed"))
    course.write("tools/tests/two/test_other.py", TESTS.format(package="pytest"))
    monkeypatch.setattr(parts, "of_extra", lambda extra: {"dev": ["surely_not_installed"]}[extra])
    rooms = parts.dev_tests(course.root)
    found = [parts.check_dev(files, course.root, tell=lambda *words: None) for files in rooms]
    assert [[verdict.subject.removeprefix("tools/tests/") for verdict in room.verdicts] for room in found] == [
        [f"two/{file}.py::{test}" for file in ("test_it", "test_more") for test in ("test_b", "test_c")],
        ["one/test_it.py::test_b", "one/test_it.py::test_c"],
    ]


def test_the_part_for_authors_runs_the_linters(course):
    linted = [verdict.subject for verdict in parts.check_style(course.root, tell=lambda *words: None).verdicts]
    assert linted == ["ruff check .", "ruff format --check .", "mypy", "lint-imports"]


def test_every_package_for_authors_is_asked_for_by_some_test_or_is_a_linter_that_runs():
    for package in set(parts.of_extra("dev")) - parts.LINTERS.keys():
        assert parts.asking_for([package], ROOT), package
