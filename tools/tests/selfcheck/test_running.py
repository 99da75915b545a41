"""Variants run in one process, and a process that dies costs one variant only."""

import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tools.selfcheck import parts, supervise
from tools.selfcheck.mutants import mutants
from tools.selfcheck.results import Variant
from tools.selfcheck.supervise import run_variants
from tools.selfcheck.variants import sample, variants


def lesson(course, name: str, body: str) -> Variant:
    """A variant whose `total` does `body`."""
    course.write(
        f"{name}/week1/day1/adding.py",
        f"import os, time\ndef total(values):\n    {body}\ndef mean(values):\n    return 3\n",
    )
    return Variant("mutant", name, ("-q", "-p", "no:cacheprovider", "-x", "week1", f"--answers={name}"), limit=1.0)


def test_a_sound_unit_comes_out_with_nothing_to_mend(course):
    told = []
    found = parts.check_unit(course.unit(), course.root, tell=lambda phase, detail: told.append((phase, detail)))
    assert [verdict for verdict in found.verdicts if not verdict.passed] == []
    assert Counter(verdict.kind for verdict in found.verdicts) == {
        "units": 1, "lesson tests": 2, "lesson tests, remote": 2, "tests seen red": 2,
        "wrong answers": 6, "mutants killed": 5,
    }  # fmt: skip
    assert told[:3] == [("reference", "1 of 1  "), ("stub", "1 of 1  "), ("wrong", "1 of 6  keeps_the_last")]


def test_two_processes_that_share_the_variants_come_to_the_same_verdicts_in_the_same_order(course):
    alone, shared = (
        parts.check_unit(course.unit(), course.root, tell=lambda *words: None, processes=number) for number in (1, 2)
    )
    assert shared.verdicts == alone.verdicts


OPTION = "def pytest_addoption(parser):\n    parser.addoption('--unit')\n"


@pytest.mark.parametrize("body, passed", [
    ("assert request.config.getoption('--unit') == 'week1/day1'", [True]),
    ("assert False", [False]),
    ("os._exit(3)", [False]),
    ("pytest.skip('needs a GPU')", []),
])  # fmt: skip
def test_a_test_that_is_made_for_the_unit_is_one_of_its_checks(course, body, passed):
    course.write("tools/tests/units/conftest.py", OPTION)
    course.write("tools/tests/units/test_it.py", f"import os, pytest\ndef test_it(request):\n    {body}\n")
    found = parts.check_unit(course.unit(), course.root, tell=lambda *words: None)
    assert [verdict.passed for verdict in found.verdicts if verdict.kind == "tests of the unit"] == passed
    assert found.skips == ({} if passed else {"needs a GPU": 1})


@pytest.mark.parametrize("text, passed", [("", []), ("import nothing", [False, False])], ids=["none", "broken"])
def test_a_unit_may_have_no_test_of_its_own_but_no_broken_one(course, text, passed):
    course.write("tools/tests/units/conftest.py", OPTION)
    course.write("tools/tests/units/test_it.py", text)
    found = parts.check_unit(course.unit(), course.root, tell=lambda *words: None)
    assert [verdict.passed for verdict in found.verdicts if verdict.kind == "tests of the unit"] == passed


@pytest.mark.parametrize("path, text, words", [
    ("reference/week1/day1/wrong.toml", "[[wrong]\n", "reference/week1/day1/wrong.toml is not valid TOML: "),
    ("reference/week1/day1/excused.toml", "[[excused]\n", "excused.toml is not valid TOML: "),
    ("week1/day1/adding.py", "def total(:\n", "invalid syntax (adding.py, line 1)"),
])  # fmt: skip
def test_a_unit_whose_files_cannot_be_read_is_one_fault(course, path, text, words):
    course.write(path, text)
    [verdict] = parts.check_unit(course.unit(), course.root, tell=lambda phase, detail: None).verdicts
    assert not verdict.passed and verdict.detail.startswith(words)


def test_a_wrong_answer_meets_the_tests_that_are_judged(course):
    of_task_1, of_task_2 = "test_total_adds_every_value", "test_mean_divides_by_the_count"
    plan = [
        replace(
            lesson(course, name, "return 8"),
            kind="wrong",
            arguments=("-q", "week1", f"--answers={name}"),
            rejected_by=(test,),
        )
        for name, test in [("early", of_task_1), ("late", of_task_2)]
    ]
    early, late = run_variants(plan, course.root, tell=lambda variant: None)
    assert [test.function for test in early.tests] == [of_task_1]
    assert [(test.function, test.tasks) for test in late.tests] == [(of_task_1, (1,)), (of_task_2, (2,))]


@pytest.mark.parametrize("name, earlier", [("keeps_the_last", True), ("forgets_to_divide", False)])
def test_of_earlier_tasks_those_run_that_the_change_may_turn(course, name, earlier):
    plan = variants(course.unit(), course.root, course.root / "answers", most=0)
    [variant] = [each for each in plan if each.name == name]
    of_task_1, of_task_2 = "test_total_adds_every_value", "test_mean_divides_by_the_count"
    [result] = run_variants([replace(variant, rejected_by=(of_task_2,))], course.root, tell=lambda variant: None)
    assert [test.function for test in result.tests] == [of_task_1] * earlier + [of_task_2]


CASES = """@pytest.mark.parametrize("wanted", [3, 5, 7, 11])
def test_total_adds_every_value(wanted):"""


@pytest.mark.parametrize("says, run", [("8 == 3", 1), ("8 == 7", 3), ("8 == 9", 4)])
def test_cases_end_when_one_has_failed_in_the_words_that_are_asked_for(course, says, run):
    text = course.unit().tests.read_text().replace("def test_total_adds_every_value():", CASES)
    course.write("week1/day1/test_adding.py", text.replace("[1, 2, 4]) == 7", "[1, 2, 4]) == wanted"))
    variant = replace(
        lesson(course, "eight", "return 8"),
        kind="wrong",
        arguments=("-q", "week1", "--answers=eight"),
        rejected_by=("test_total_adds_every_value",),
        says=says,
    )
    [result] = run_variants([variant], course.root, tell=lambda variant: None)
    assert (result.exit, len(result.tests)) == (1, run)


NOISY = """    with open("log.txt", "r+") as log:
        before = len(log.read())
        log.write("x")
    assert before >= {}, "too noisy"
"""


@pytest.mark.parametrize("disturbed, outcome, runs", [(0, "passed", 1), (2, "passed", 3), (3, "undecided", 3)])
def test_a_speed_that_was_undecided_is_measured_again_and_nothing_else_is(disturbed, outcome, runs, course):
    course.write("log.txt", "")
    course.edit("week1/day1/test_adding.py", "    assert lesson.mean([1, 2, 6]) == 3", NOISY.format(disturbed))
    reference = Variant("reference", "", ("-q", "-p", "no:cacheprovider", "week1", "--answers=reference"))
    [result] = run_variants([reference], course.root, tell=lambda variant: None)
    assert [test.outcome for test in result.tests] == ["passed", outcome]
    assert (course.root / "log.txt").read_text() == "x" * runs


def test_what_a_stub_never_stores_is_a_known_number(course):
    """By chance it might be what a wrong answer gives, and then the stub's failure would say the same words."""
    given = "    result = START\n    raise"
    course.edit("week1/day1/adding.py", given, "    import torch\n    return torch.empty(1).item()\n    raise")
    plan = [
        Variant(kind, "", ("-q", "-p", "no:cacheprovider", "week1", f"--answers={answers}"))
        for kind, answers in (("reference", "reference"), ("stub", "."))
    ]
    course.edit("reference/week1/day1/adding.py", "    result = START", "    import torch\n    result = START")
    _, result = run_variants(plan, course.root, tell=lambda variant: None)
    assert "96.0 == 7" in result.failed[0].text


def test_a_test_for_a_gpu_is_skipped_and_listed(course):
    course.edit("week1/day1/test_adding.py", "@pytest.mark.task(2)", "@pytest.mark.gpu\n@pytest.mark.task(2)")
    found = parts.check_unit(course.unit(), course.root, tell=lambda phase, detail: None)
    failed = {verdict.kind for verdict in found.verdicts if not verdict.passed}
    assert failed == {"mutants that survived"}
    assert found.skips == {"needs an NVIDIA GPU": 1}
    assert found.notes == [
        f"to be shown red where nothing is skipped: {name}"
        for name in ("test_mean_divides_by_the_count", "forgets_to_divide", "turns_it_round", "takes_the_median")
    ]


def test_processes_that_die_or_hang_cost_their_variant_alone(course, monkeypatch):
    monkeypatch.setattr(supervise, "PATIENCE", 8.0)
    plan = [
        lesson(course, "right", "return 7"),
        lesson(course, "crash", "os.abort()"),
        lesson(course, "leave", "os._exit(0)"),
        lesson(course, "hang", "time.sleep(60)"),
        lesson(course, "noisy", "print('x' * 1_000_000); return 8"),
    ]
    right, crash, leave, hang, noisy = run_variants(plan, course.root, tell=lambda variant: None)
    assert [test.outcome for test in right.tests] == ["passed", "passed"] and right.exit == 0
    assert (crash.died, leave.died) == ("the process died (Aborted)", "the process died (exit code 0)")
    assert hang.died.startswith("the process hung") and " in total\n" in hang.died  # where it sleeps
    assert [test.function for test in noisy.failed] == ["test_total_adds_every_value"]


# Takes memory in pieces and keeps them, until there is no room even for the words of a report
TAKES_ALL = """\
size, taken = 1 << 32, []
    while size:
        try:
            taken.append(bytes(size))
        except MemoryError:
            size //= 2
    raise MemoryError"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux; found another system; nothing to do")
def test_a_mutant_that_wants_all_of_the_memory_is_refused_it(course):
    plan = [
        lesson(course, "greedy", "return bytearray(9 << 30)"),
        lesson(course, "piecemeal", TAKES_ALL),
        lesson(course, "right", "return 7"),
    ]
    *greedy, right = run_variants(plan, course.root, tell=lambda variant: None)
    for result in greedy:
        assert "MemoryError" in result.failed[0].text and not result.died
    assert [test.outcome for test in right.tests] == ["passed", "passed"]


def test_whoever_stops_the_check_ends_every_run_and_no_process_takes_its_place(course, monkeypatch):
    """Ctrl-C used to cost each unit one variant, after which a new process did the rest."""
    monkeypatch.setattr(supervise, "_stopping", threading.Event())
    began = threading.Event()
    plan = [lesson(course, name, "time.sleep(0.9); return 7") for name in ("a", "b", "c", "d")]
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(run_variants, plan, course.root, lambda variant: began.set())
        assert began.wait(60)
        supervise.stop_all()
        with pytest.raises(supervise.Stopped):
            run.result(timeout=10)


def test_a_process_that_cannot_begin_is_our_own_fault(course):
    course.write("pytest.ini", "[pytest]\n")
    (course.root / "tools").mkdir()
    course.write("tools/__init__.py", "raise SystemExit('no tools here')\n")
    with pytest.raises(RuntimeError, match="ended before it began"):
        run_variants([lesson(course, "right", "return 7")], course.root, tell=lambda variant: None)


def test_a_sample_of_mutants_is_always_the_same_and_in_order():
    every = mutants("def f(a, b):\n    return a + b * 2 - 1\n", {"f": 0})
    assert sample(every, None) == every == sample(every, 1000)
    chosen = sample(every, 3)
    assert len(chosen) == 3 and chosen == sample(every, 3) == [mutant for mutant in every if mutant in chosen]


def test_a_sample_takes_no_mutant_that_is_excused(course):
    def names(most: int | None, excused: list[str]) -> list[str]:
        plan = variants(course.unit(), course.root, course.root / f"answers{most}{excused}", most, excused)
        return [variant.name for variant in plan if variant.kind == "mutant"]

    every = names(None, [])
    first, *others = every
    assert first in names(len(every), []) and names(len(every), [first]) == others
    assert names(None, [first]) == every  # an excuse that nothing needs any more must come to light


def test_temporary_files_lie_in_memory_where_there_is_room(monkeypatch, tmp_path):
    monkeypatch.setattr(supervise, "IN_MEMORY", str(tmp_path))
    monkeypatch.setattr(supervise, "ROOM", 1)
    assert supervise.folder_in_memory() == str(tmp_path)
    monkeypatch.setattr(supervise, "ROOM", 1 << 62)
    assert supervise.folder_in_memory() is None
    monkeypatch.setattr(supervise, "IN_MEMORY", str(tmp_path / "not there"))
    assert supervise.folder_in_memory() is None
