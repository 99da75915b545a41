"""What a run of lessons does and says, from the command line, in a copy of the course."""

import re
import sys

import pytest

from tools.course.learner import journal
from tools.tests.conftest import needs_solutions

LESSON = "week1/day1/numpy_baseline.py"
TESTS = "week1/day1/test_numpy_baseline.py"

FEW = """
import pytest
from week1.day1 import numpy_baseline as lesson


@pytest.mark.task(2)
def test_flops_of_one_product():
    assert lesson.matmul_flops(1, 1, 1) == 2


@pytest.mark.task(2)
@pytest.mark.edge
def test_flops_of_nothing():
    assert lesson.matmul_flops(0, 3, 3) == 0


@pytest.mark.task(6)
def test_bytes_of_one_product():
    assert lesson.matmul_min_bytes(1, 1, 1, 8) == 24
"""


COUNTED = """

@pytest.mark.task(2, 6)
@pytest.mark.counters
def test_bytes_beside_flops():
    assert lesson.matmul_min_bytes(1, 1, 1, 8) == 12 * lesson.matmul_flops(1, 1, 1) + 1
"""


@pytest.fixture
def few(course):
    """The course with three tests on day 1."""
    course.write(TESTS, FEW)
    return course


def fill(course, function: str, body: str) -> None:
    marker = re.compile(rf'    raise NotImplementedError\("week1/day1 task \d: {function}"\)')
    course.write(LESSON, marker.sub(body, course.read(LESSON), count=1))


def test_a_stub_shows_each_task_and_the_first_gap(few):
    ran = few.pytest("week1/day1")
    assert ran.code == 1
    assert "  to write  task 2  matmul_flops" in ran.lines
    assert "  Task 2 is yours to write: matmul_flops,\n  in week1/day1/numpy_baseline.py, at line" in ran.text
    assert "2 failed, 1 waits for task 2" in ran.lines[-1]


def test_a_forgotten_return_is_no_fault_of_the_course(few):
    course_test = few.read(TESTS).replace("matmul_flops(1, 1, 1) == 2", "matmul_flops(1, 1, 1) / 2 == 1")
    few.write(TESTS, course_test)
    fill(few, "matmul_flops", "    pass")
    ran = few.pytest("week1/day1")
    assert "A function of the lesson returned None. Is a return missing?" in ran.text
    assert "assert lesson.matmul_flops(1, 1, 1) / 2 == 1" in ran.text
    assert "fault of the course" not in ran.text


def test_later_tests_of_a_failed_task_wait(few):
    fill(few, "matmul_flops", "    return 3")
    fill(few, "matmul_min_bytes", "    return 24")
    ran = few.pytest("week1/day1")
    assert "1 failed, 1 passed, 1 waits for task 2" in ran.lines[-1]
    assert "The test says  assert lesson.matmul_flops(1, 1, 1) == 2" in ran.text
    assert "here  assert 3 == 2" in ran.text


def test_a_count_waits_for_the_counts_of_an_earlier_task_that_it_names(few):
    fill(few, "matmul_flops", "    return 2 * m * n * k")
    fill(few, "matmul_min_bytes", "    return 24")
    few.write(TESTS, FEW.replace("edge", "counters").replace("== 0", "== 1") + COUNTED)
    ran = few.pytest("week1/day1")
    assert "1 failed, 2 passed, 1 waits for task 2" in ran.lines[-1]
    assert "  red       task 2  matmul_flops" in ran.lines and "red       task 6" not in ran.text


def test_the_seed_is_told_where_a_test_has_drawn_from_it(few):
    few.write(TESTS, FEW.replace("_of_one_product()", "_of_one_product(rng)"))
    fill(few, "matmul_flops", "    return 3")
    assert "repeats them" not in few.pytest("week1/day1").text
    few.write(TESTS, few.read(TESTS).replace("    assert", "    rng.random()\n    assert", 1))
    assert "Inputs of seed 5: --seed=5 repeats them.\n" in few.pytest("week1/day1", "--seed=5").text


def test_a_message_of_an_assert_is_told_once_above_the_values(few):
    said = 'f"{flops} flops: how many of a product are additions?\\nA second line."'
    asks = f"flops = lesson.matmul_flops(1, 1, 1)\n    assert flops == 2, {said}"
    few.write(TESTS, few.read(TESTS).replace("assert lesson.matmul_flops(1, 1, 1) == 2", asks))
    fill(few, "matmul_flops", "    return 3")
    ran = few.pytest("week1/day1")
    told = ran.text[ran.text.index("  3 flops: how many") :].splitlines()
    assert told[:5] == [
        "  3 flops: how many of a product are additions?",
        "  A second line.",
        "",
        "  The test says  assert flops == 2",
        "           here  assert 3 == 2",
    ]
    assert ran.text.count("how many of a product") == 1


@pytest.mark.parametrize("finding", ["not is_odd", "is_even"])
def test_the_name_of_a_finding_adds_nothing_to_a_question(few, finding):
    asks = "flops = lesson.matmul_flops(1, 1, 1)\n    is_odd, is_even = flops % 2 == 1, flops % 2 == 0\n"
    asks += f"    assert {finding}, '3 is odd. Why?'"
    few.write(TESTS, few.read(TESTS).replace("    assert lesson.matmul_flops(1, 1, 1) == 2", f"    {asks}"))
    fill(few, "matmul_flops", "    return 3")
    ran = few.pytest("week1/day1")
    assert "  3 is odd. Why?" in ran.lines
    assert "The test says" not in ran.text
    few.write(TESTS, few.read(TESTS).replace("Why?", "So it is."))
    assert f"The test says  assert {finding}" in few.pytest("week1/day1").text


def test_what_a_helper_of_the_test_says_stands_alone(few):
    asks = 'said = "3 flops, of them no addition."\n    raise AssertionError(said)'
    few.write(TESTS, few.read(TESTS).replace("assert lesson.matmul_flops(1, 1, 1) == 2", asks))
    fill(few, "matmul_flops", "    return 3")
    ran = few.pytest("week1/day1")
    assert "  3 flops, of them no addition." in ran.lines
    assert "raise AssertionError" not in ran.text and "The test says" not in ran.text


def test_a_reason_that_is_none_is_not_told(few):
    asks = "flops = lesson.matmul_flops(1, 1, 1)\n    assert flops == 2, 'halved' if flops == 1 else None"
    few.write(TESTS, few.read(TESTS).replace("assert lesson.matmul_flops(1, 1, 1) == 2", asks))
    fill(few, "matmul_flops", "    return 3")
    text = few.pytest("week1/day1").text
    assert "here  assert 3 == 2" in text and "None" not in text


def test_where_an_object_is_in_memory_is_not_told(few):
    asks = "import numpy as np\n    assert not np.isnan(np.full(3, lesson.matmul_flops(1, 1, 1))).any()"
    few.write(TESTS, few.read(TESTS).replace("assert lesson.matmul_flops(1, 1, 1) == 2", asks))
    fill(few, "matmul_flops", '    return float("nan")')
    ran = few.pytest("week1/day1")
    assert "here  assert not" in ran.text and "0x" not in ran.text and "built-in" not in ran.text


def test_tests_that_are_picked_singly_do_not_wait(few):
    ran = few.pytest("week1/day1", "-k", "flops")
    assert "2 failed, 1 deselected" in ran.lines[-1]


@needs_solutions
def test_bare_pytest_works_the_current_day_and_says_so(few):
    few.solve("week1/day0")
    assert few.pytest("week1/day0").code == 0
    ran = few.pytest()
    assert ran.lines[0] == "Your current day: week1/day1 (pytest --all runs everything)"
    assert "2 failed" in ran.lines[-1]


@pytest.mark.parametrize("how", [["-n", "2"], ["--remote"], ["-q"], ["--sim"]])
def test_every_way_to_run_finds_the_same(few, how):
    assert re.match(r"2 failed, 1 waits for task 2 in", few.pytest("week1/day1", *how).lines[-1])


def test_the_processes_of_lessons_end_with_the_run_that_started_them(few):
    """One program may make many runs, as the self-check does: it must not collect hundreds of processes."""
    script = (
        "import pytest; from tools.worker.process import Process\n"
        "ended = []; end = Process.end; Process.end = lambda self: (ended.append(self), end(self))\n"
        "pytest.main(['week1/day1', '--remote', '-p', 'no:cacheprovider'], plugins=[object()])\n"
        "print('ended', len(ended))"
    )
    assert few.run(sys.executable, "-c", script).lines[-1] == "ended 1"


def test_works_inside_a_day_folder(few):
    assert "2 failed, 1 waits for task 2" in few.pytest(cwd="week1/day1").lines[-1]


@pytest.mark.parametrize("how", [[], ["-n", "2"]], ids=["direct", "two processes"])
def test_the_lessons_own_file_stands_for_its_tests(few, how):
    ran = few.pytest("numpy_baseline.py", *how, cwd="week1/day1")
    assert "2 failed, 1 waits for task 2" in ran.lines[-1] and "  to write  task 2  matmul_flops" in ran.lines


def test_verbose_gives_pytests_own_report_with_the_headline_of_the_course(few):
    ran = few.pytest("week1/day1", "-v")
    assert "course: your files | " in ran.text
    assert "AFTER TASK 2" in ran.text.upper()


def test_a_lesson_test_without_a_task_is_a_collection_error(few):
    few.write(TESTS, FEW.replace("@pytest.mark.task(6)\n", ""))
    ran = few.pytest("week1/day1")
    assert ran.code == 2
    assert f"{TESTS}::test_bytes_of_one_product names no task: add @pytest.mark.task(N)." in ran.text


def test_a_misspelt_mark_is_refused(few):
    few.write(TESTS, FEW.replace("mark.edge", "mark.egde"))
    ran = few.pytest("week1/day1")
    assert ran.code == 2 and "'egde' not found in `markers`" in ran.text


def test_red_turns_outcomes_round(few):
    fill(few, "matmul_flops", "    return 2 * m * n * k")
    ran = few.pytest("week1/day1", "--red")
    assert "2 failed, 1 passed" in ran.lines[-1]
    assert "It passes on the untouched stub." in ran.text


@needs_solutions
def test_answers_replace_the_lesson_and_leave_no_progress(few):
    ran = few.pytest("week1/day1", "--answers=reference")
    assert ran.code == 0 and "answers: reference" in ran.lines[0]
    assert not (few.folder / ".course/progress.json").exists()


@needs_solutions
def test_a_skip_names_what_is_missing_what_was_found_and_what_to_do(few):
    few.write(TESTS, FEW.replace("@pytest.mark.task(6)", "@pytest.mark.task(6)\n@pytest.mark.hopper"))
    ran = few.pytest("week1/day1", "--answers=reference", "--sim")
    assert "skipped 1: needs a Hopper GPU (9.x); " in ran.text.replace("\n  ", " ")


SEEDED = """
import pytest


@pytest.mark.task(2)
def test_prints_its_numbers(rng, capsys):
    with capsys.disabled():
        print("drew", rng.integers(10**9))
"""


def test_a_seed_repeats_the_inputs_and_another_changes_them(few):
    few.write(TESTS, SEEDED)
    drawn = [re.search(r"drew (\d+)", few.pytest("week1/day1", f"--seed={seed}").text)[1] for seed in (7, 7, 8)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_seed_is_shared_by_all_processes_of_xdist(few):
    noted = 'open("drew", "w").write(str(rng.integers(10**9)))'
    few.write(TESTS, SEEDED.replace('print("drew", rng.integers(10**9))', noted))
    drawn = []
    for how in ([], ["-n", "2"]):
        few.pytest("week1/day1", "--seed=5", *how)
        drawn.append(few.read("drew"))
    assert drawn[0] == drawn[1]


def test_a_green_task_is_recorded_and_an_open_one_is_not(few):
    fill(few, "matmul_flops", "    return 2 * m * n * k")
    few.pytest("week1/day1")
    recorded = few.read(".course/progress.json")
    assert '"task": 2' in recorded and '"state": "simulated"' in recorded
    assert few.status() == f" M {LESSON}\n M {TESTS}\n"


def told(course) -> list[tuple]:
    """What the journal of a course says, without times."""
    return [(entry.kind, entry.unit, entry.facts) for entry in journal.read(course.folder)]


PASSED = ("passed", "week1/day1", {"task": 2, "state": "passed", "card": None, "kernel": False})


def test_the_journal_tells_when_a_day_was_opened_what_passed_and_which_hints_were_taken(few):
    few.pytest("week1/day1", "--hint", CI="")
    fill(few, "matmul_flops", "    return 2 * m * n * k")
    few.pytest("week1/day1", "-n", "2", CI="")
    few.pytest("week1/day1", "--remote", CI="")
    assert told(few) == [("opened", "week1/day1", {}), ("hint", "week1/day1", {"task": 2, "rung": 1}), PASSED]


@pytest.mark.parametrize(
    "arguments, ci", [(["--answers=reference"], ""), (["--red"], ""), (["--collect-only"], ""), ([], "true")]
)
@needs_solutions
def test_a_run_that_is_not_a_learners_leaves_no_journal(few, arguments, ci):
    few.pytest("week1/day1", *arguments, CI=ci)
    assert not (few.folder / "journal").exists()


def test_a_journal_that_cannot_be_kept_costs_one_line(few):
    few.write("journal", "a file where the folder should be")
    ran = few.pytest("week1/day1", CI="")
    assert "journal/journal.jsonl cannot be written (File exists)." in ran.lines
    assert ran.code == 1 and "Traceback" not in ran.text


def test_hint_shows_the_next_rung_and_remembers(few):
    headings = [re.search(r"Hint (\d) of 3 for task 2", few.pytest("week1/day1", "--hint").text)[1] for _ in range(3)]
    assert headings == ["1", "2", "3"]


TIMED = """
import time
import pytest


@pytest.mark.task(2)
{mark}
def test_notes_when_it_ran():
    with open("{name}", "w") as note:
        start = time.time()
        time.sleep({seconds})
        note.write(f"{{start}} {{time.time()}}")
"""


@pytest.mark.parametrize("mark, seconds, alone", [("@pytest.mark.speed", 0.6, True), ("@pytest.mark.edge", 3, False)])
def test_a_speed_test_never_runs_beside_another(few, mark, seconds, alone):
    """Other tests do run side by side: three seconds are enough for both processes to be at work."""
    few.write(TESTS, TIMED.format(mark=mark, name="one", seconds=seconds))
    few.write("week1/day0/test_ready_check.py", TIMED.format(mark="", name="two", seconds=seconds))
    few.pytest("week1/day0", "week1/day1", "-n", "2")
    (one_start, one_end), (two_start, two_end) = (map(float, few.read(name).split()) for name in ("one", "two"))
    assert (one_end <= two_start or two_end <= one_start) == alone
