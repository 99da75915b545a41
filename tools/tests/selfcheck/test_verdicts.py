"""Verdicts: what the results of a unit's variants mean."""

from dataclasses import replace

import pytest

from tools.course.content.answers import BadAnswer, Broken, Wrong
from tools.selfcheck import verdicts
from tools.selfcheck.results import Result, TestResult, Variant


def case(name: str, outcome: str, text: str = "", tasks=(1,), needs_gpu=False) -> TestResult:
    return TestResult(f"test_x.py::{name}", name.split("[")[0], outcome, text, tasks, needs_gpu=needs_gpu)


def result(*tests: TestResult, kind="wrong", name="", exit=0, died="") -> Result:
    return Result(Variant(kind, name, ()), list(tests), exit, 1.0, died)


def faults(verdicts) -> list[str]:
    return [f"{v.subject}: {v.detail}" for v in verdicts if v and not v.passed]


def wrong(*rejected_by: str, says="off by one") -> Wrong:
    return Wrong("week1/day1", "counts_wrongly", rejected_by, says)


STUB = result(case("test_a", "failed", "Task 1 is yours to write"), case("test_b", "failed", "Task 2", (2,)))


# The reference -----------------------------------------------------------------------------------


def test_a_reference_passes_or_is_skipped_for_want_of_a_gpu_and_a_skip_is_no_pass():
    good = result(case("test_a", "passed"), case("test_b", "skipped", "needs an NVIDIA GPU", needs_gpu=True))
    found = list(verdicts.judge_reference("week1/day1", good, "lesson tests"))
    assert [(v.subject, v.passed) for v in found] == [("week1/day1: test_a", True)]


@pytest.mark.parametrize("outcome", ["failed", "undecided", "skipped", "after an open task"])
def test_any_other_outcome_of_a_reference_is_a_fault(outcome):
    bad = result(case("test_a[3]", outcome, "got 1\n\nwanted 2"))
    assert faults(verdicts.judge_reference("week1/day1", bad, "lesson tests")) == [
        f"week1/day1: test_a[3]: {outcome}\n    got 1\n    wanted 2"
    ]


def test_a_reference_that_runs_no_test_is_a_fault():
    assert faults(verdicts.judge_reference("week1/day1", result(exit=4), "x")) == [
        "week1/day1: no test ran (exit code 4)"
    ]
    died = result(case("test_a", "passed"), died="the process hung")
    assert faults(verdicts.judge_reference("week1/day1", died, "x")) == ["week1/day1: the process hung"]


def test_of_a_traceback_the_error_is_quoted():
    bad = result(case("test_a", "failed", "def test_a():\n>   f()\nE   ValueError: no\n\nx.py:3: ValueError"))
    assert faults(verdicts.judge_reference("u", bad, "x")) == ["u: test_a: failed\n    E   ValueError: no"]


# Killing -----------------------------------------------------------------------------------------


def test_a_test_is_killed_by_the_stub_in_all_its_cases():
    stub = result(case("test_a[1]", "failed"), case("test_a[2]", "passed"), case("test_b", "failed"))
    assert faults(verdicts.judge_killed("u", stub, [])) == [
        "u: test_a: is not red on the stub, and no wrong answer shows that it can fail"
    ]


def test_a_test_is_killed_by_a_wrong_answer_that_names_it():
    stub = result(case("test_a", "passed"), case("test_b", "passed"))
    entry = Broken("week1/day0", "old_python", ("test_a",), "older", {})
    red = result(case("test_a", "failed"), case("test_b", "failed"))
    assert [v.subject for v in verdicts.judge_killed("u", stub, [(entry, red)]) if not v.passed] == ["u: test_b"]
    assert len(faults(verdicts.judge_killed("u", stub, [(entry, result(case("test_a", "passed")))]))) == 2


def test_where_no_wrong_answer_runs_a_test_is_red_on_the_stub_or_named_by_one():
    stub = result(case("test_a", "failed"), case("test_b", "passed"), case("test_c", "passed"))
    found = list(verdicts.judge_stub("u", stub, [wrong("test_b")]))
    assert [(v.subject, v.passed) for v in found] == [("u: test_a", True), ("u: test_c", False)]


def test_a_test_for_a_gpu_or_a_program_waits_for_one():
    stub = result(case("test_a", "failed"), case("test_g", "skipped", needs_gpu=True),
                  replace(case("test_p", "skipped"), needs_program=True))  # fmt: skip
    assert faults(verdicts.judge_killed("u", stub, [])) == []
    assert faults(verdicts.judge_reference("u", result(*stub.tests[1:]), "x")) == []
    assert verdicts.waiting(stub) == ["test_g", "test_p"]


# Wrong answers -----------------------------------------------------------------------------------


def test_a_wrong_answer_is_rejected_by_name_and_in_its_words():
    found = result(case("test_a", "passed"), case("test_b", "failed", "it is off\nby one here", (2,)))
    assert verdicts.judge_wrong("u", wrong("test_b"), found, STUB).passed


FOUND = {
    "the test passes": (wrong("test_b"), result(case("test_b", "passed")), "test_b does not reject it"),
    "the test did not run": (wrong("test_b"), result(), "test_b does not reject it"),
    "the words are missing": (
        wrong("test_b"), result(case("test_b", "failed", "got 3")),
        "the failure text does not say 'off by one':\n    got 3",
    ),
    "the process died": (wrong("test_b"), result(died="the process hung"), "the process hung"),
    "the stub says it too": (
        wrong("test_b", says="yours to write"), result(case("test_b", "failed", "yours to write")),
        "the stub's failure text says 'yours to write' too",
    ),
    "an earlier task fails": (
        wrong("test_b"), result(case("test_a", "failed"), case("test_b", "failed", "off by one", (2,))),
        "test_a, of an earlier task, fails too",
    ),
}  # fmt: skip


@pytest.mark.parametrize("entry, found, words", FOUND.values(), ids=FOUND)
def test_a_wrong_answer_that_proves_too_little_is_a_fault(entry, found, words):
    assert faults([verdicts.judge_wrong("u", entry, found, STUB)]) == [f"u: counts_wrongly: {words}"]


def test_every_test_that_is_named_must_reject():
    found = result(case("test_a", "failed", "off by one"), case("test_b", "passed"))
    assert faults([verdicts.judge_wrong("u", wrong("test_a", "test_b"), found, STUB)]) == [
        "u: counts_wrongly: test_b does not reject it"
    ]


def test_a_wrong_answer_for_a_gpu_test_waits_for_one():
    found = result(case("test_g", "skipped", needs_gpu=True))
    assert verdicts.judge_wrong("u", wrong("test_g"), found, STUB) is None


# Mutants -----------------------------------------------------------------------------------------


GREEN = result(case("test_a", "passed"), kind="reference")


def mutant(name: str, *tests, **facts) -> Result:
    return result(*tests, kind="mutant", name=name, **facts)


def test_a_mutant_is_killed_by_a_failure_or_by_its_own_death():
    killed = [mutant("m1", case("test_a", "failed"), exit=1), mutant("m2", exit=None, died="the process hung")]
    assert [v.kind for v in verdicts.judge_mutants("u", killed, GREEN, {})] == ["mutants killed"] * 2


def test_a_survivor_is_named_unless_it_is_excused():
    survivors = [mutant("m1", case("test_a", "passed")), mutant("m2", case("test_a", "passed"))]
    found = list(verdicts.judge_mutants("u", survivors, GREEN, {"m1": "the same value"}))
    assert [(v.kind, v.subject, v.passed) for v in found] == [
        ("mutants excused", "u: m1", True), ("mutants that survived", "u: m2", False),
    ]  # fmt: skip


def test_an_excuse_that_nothing_needs_is_a_fault():
    killed = [mutant("m1", case("test_a", "failed"), exit=1)]
    assert faults(verdicts.judge_mutants("u", killed, GREEN, {"m1": "why", "m9": "why"})) == [
        "reference/u/excused.toml: no mutant that survives is called 'm1'",
        "reference/u/excused.toml: no mutant that survives is called 'm9'",
    ]


def test_an_excuse_stands_when_only_a_speed_test_notices():
    timed = TestResult("test_x.py::test_fast", "test_fast", "failed", tasks=(1,), stage="speed")
    found = list(verdicts.judge_mutants("u", [mutant("m1", timed, exit=1)], GREEN, {"m1": "as slow"}))
    assert [(v.kind, v.passed) for v in found] == [("mutants excused", True)]


def test_a_mutant_that_pytest_could_not_run_was_not_killed():
    assert faults(verdicts.judge_mutants("u", [mutant("m1", exit=4)], GREEN, {})) == [
        "u: m1: pytest could not judge it (exit code 4)"
    ]


def test_mutants_prove_nothing_while_the_reference_is_red():
    red = result(case("test_a", "failed"), kind="reference")
    killed = [mutant("m1", case("test_a", "failed"), exit=1)]
    assert faults(verdicts.judge_mutants("u", killed, red, {})) == [
        "u: a test that the reference fails too proves nothing; see above"
    ]


def test_excuses_are_read_by_name(tmp_path):
    file = tmp_path / "excused.toml"
    assert verdicts.excuses(file) == {}
    file.write_text('[[excused]]\nmutant = "f: without x"\nwhy = "x is 0 already"\n')
    assert verdicts.excuses(file) == {"f: without x": "x is 0 already"}


@pytest.mark.parametrize("text, words", [
    ("[[excused]\n", "is not valid TOML: Expected ']]'"),
    ('[[excused]]\nmutant = "f: without x"\n', "holds [[excused]] entries, each with a mutant and a why."),
    ("", "holds [[excused]] entries, each with a mutant and a why."),
])  # fmt: skip
def test_excuses_that_break_the_rules_are_refused_in_one_line(tmp_path, text, words):
    file = tmp_path / "excused.toml"
    file.write_text(text)
    with pytest.raises(BadAnswer) as caught:
        verdicts.excuses(file)
    assert str(caught.value).startswith(f"excused.toml {words}")
