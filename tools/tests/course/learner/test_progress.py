"""What runs show adds up to open, started, simulated or confirmed, and outlives edits and reruns."""

from datetime import date

import pytest

from tools.course.learner.progress import (
    CONFIRMED,
    HERE,
    OPEN,
    PASSED,
    SIMULATED,
    STARTED,
    WAITING,
    Check,
    Plan,
    Progress,
    Result,
    Wait,
    file_hash,
)
from tools.tests.course.miniature import LESSON, make

TODAY, TOMORROW = date(2026, 11, 20), date(2026, 11, 21)
CARD = "NVIDIA H200"
CHECKS = [Check(1, "correctness"), Check(2, "correctness"), Check(2, "speed", needs_gpu=True)]


def result(task, state=SIMULATED, stage="correctness"):
    return Result(task, stage, state, CARD if state == CONFIRMED else None)


def run(unit, root, results, when=TODAY, checks=CHECKS):
    """What one run of `unit` leaves behind, as the next run finds it."""
    Progress.load(root).record(unit, results, file_hash(unit.lesson), when, checks)
    return Progress.load(root).state(unit)


@pytest.mark.parametrize(
    ("results", "overall", "done"),
    [
        ([], OPEN, set()),
        ([result(1, OPEN), result(2, OPEN)], OPEN, set()),
        ([result(1)], STARTED, {1}),
        ([result(1), result(2)], SIMULATED, {1, 2}),
        ([result(1), result(2), result(2, OPEN, "speed")], SIMULATED, {1, 2}),
        ([result(1), result(2), result(2, CONFIRMED, "speed")], CONFIRMED, {1, 2}),
        ([result(1, CONFIRMED), result(2, CONFIRMED), result(2, CONFIRMED, "speed")], CONFIRMED, {1, 2}),
        ([result(1), result(2, CONFIRMED, "speed")], STARTED, {1}),
    ],
)
def test_a_unit_is_simulated_without_and_confirmed_with_its_gpu_tests(tmp_path, results, overall, done):
    state = run(make(tmp_path), tmp_path, results)
    assert (state.overall, state.done) == (overall, done)


def test_a_unit_without_gpu_tests_is_passed_on_any_machine(tmp_path):
    checks = [Check(1, "correctness"), Check(2, "correctness")]
    state = run(make(tmp_path), tmp_path, [result(1, CONFIRMED), result(2, CONFIRMED)], checks=checks)
    assert state.overall == PASSED


def test_a_unit_that_needs_a_gpu_throughout_is_confirmed_or_not(tmp_path):
    unit, checks = make(tmp_path), [Check(1, "speed", True), Check(2, "speed", True)]
    assert run(unit, tmp_path, [result(1, CONFIRMED, "speed")], checks=checks).overall == STARTED
    state = run(unit, tmp_path, [result(2, CONFIRMED, "speed")], checks=checks)
    assert (state.overall, state.done) == (CONFIRMED, {1, 2})


def test_a_stage_with_tests_of_both_sorts_needs_both(tmp_path):
    unit, checks = make(tmp_path), [Check(1, "speed"), Check(1, "speed", True)]
    assert run(unit, tmp_path, [result(1, SIMULATED, "speed")], checks=checks).overall == SIMULATED
    assert run(unit, tmp_path, [result(1, CONFIRMED, "speed")], checks=checks).overall == CONFIRMED


def test_runs_of_a_part_add_up(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1)])
    assert run(unit, tmp_path, [result(2)], checks=None).overall == SIMULATED


def test_before_the_first_whole_run_a_unit_is_at_most_started(tmp_path):
    state = run(make(tmp_path), tmp_path, [result(1), result(2)], checks=None)
    assert (state.overall, state.done) == (STARTED, set())


def test_a_failure_reopens_what_passed_before(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1), result(2)])
    state = run(unit, tmp_path, [result(1, OPEN)])
    assert (state.overall, state.done) == (STARTED, {2})


def test_of_several_results_the_weakest_counts(tmp_path):
    for order in ([SIMULATED, OPEN, CONFIRMED], [CONFIRMED, SIMULATED, OPEN]):
        unit = make(tmp_path / order[0])
        state = run(unit, tmp_path / order[0], [result(1, CONFIRMED), result(1)] + [result(2, each) for each in order])
        assert state.entries[1, "correctness"].state == SIMULATED
        assert (2, "correctness") not in state.entries


def test_the_same_file_keeps_its_card_and_its_first_date(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1, CONFIRMED)], TODAY)
    for again in (SIMULATED, CONFIRMED):
        entry = run(unit, tmp_path, [result(1, again)], TOMORROW).entries[1, "correctness"]
        assert (entry.state, entry.card, entry.date) == (CONFIRMED, CARD, "2026-11-20")


def test_a_gpu_confirms_what_was_simulated(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1)], TODAY)
    entry = run(unit, tmp_path, [result(1, CONFIRMED)], TOMORROW).entries[1, "correctness"]
    assert (entry.state, entry.card, entry.date) == (CONFIRMED, CARD, "2026-11-21")


def test_an_edit_is_marked_and_what_passed_still_counts(tmp_path):
    unit = make(tmp_path)
    assert not run(unit, tmp_path, [result(1), result(2)]).edited
    unit.lesson.write_text(LESSON + "# one more thought\n", encoding="utf-8")
    state = Progress.load(tmp_path).state(unit)
    assert (state.overall, state.edited) == (SIMULATED, True)


def test_a_run_of_the_edited_file_says_how_far_that_is(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1, CONFIRMED), result(2)], TODAY)
    unit.lesson.write_text(LESSON + "# one more thought\n", encoding="utf-8")
    assert run(unit, tmp_path, [result(1)], TOMORROW).edited  # task 2 passed with the old file only
    state = run(unit, tmp_path, [result(2)], TOMORROW)
    assert not state.edited
    assert {entry.state for entry in state.entries.values()} == {SIMULATED}


def test_what_no_test_checks_any_more_is_forgotten(tmp_path):
    unit = make(tmp_path)
    run(unit, tmp_path, [result(1), result(2)])
    assert run(unit, tmp_path, [], checks=CHECKS[:1]).entries.keys() == {(1, "correctness")}


def test_the_newest_confirmation_stands_for_the_unit(tmp_path):
    unit = make(tmp_path)
    assert run(unit, tmp_path, [result(1)], TODAY).confirmation is None
    assert run(unit, tmp_path, [result(2, CONFIRMED)], TOMORROW).confirmation.date == "2026-11-21"
    assert run(unit, tmp_path, [result(1, CONFIRMED)], TODAY).confirmation.date == "2026-11-21"


@pytest.mark.parametrize(("state", "card"), [(CONFIRMED, None), (SIMULATED, CARD), (STARTED, None), ("passed", None)])
def test_no_run_can_show_a_confirmation_without_a_card_or_a_state_of_its_own_making(state, card):
    with pytest.raises(ValueError, match="not a result"):
        Result(1, "correctness", state, card)


def test_the_hash_stands_for_the_content(tmp_path):
    file = tmp_path / "a.py"
    assert file_hash(file) == ""
    file.write_text("1")
    first = file_hash(file)
    file.write_text("2")
    assert first and file_hash(file) not in ("", first)
    file.write_text("1")
    assert file_hash(file) == first


def test_the_current_unit_is_the_first_open_day_and_katas_wait_for_the_days(tmp_path):
    units = [make(tmp_path, name) for name in ["week1/day0", "week1/day1", "week1/katas/simd", "week2/day1"]]
    for expected in ["week1/day0", "week1/day1", "week2/day1", "week1/katas/simd"]:
        current = Progress.load(tmp_path).current(units)
        assert current.name == expected
        run(current, tmp_path, [result(1)])
        assert Progress.load(tmp_path).current(units) == current  # started is not done
        run(current, tmp_path, [result(2)])
    assert Progress.load(tmp_path).current(units) is None


def test_each_task_has_a_state_of_its_own(tmp_path):
    unit = make(tmp_path)
    assert run(unit, tmp_path, [result(1)]).reached == {1: PASSED, 2: OPEN}
    assert run(unit, tmp_path, [result(2)]).reached == {1: PASSED, 2: SIMULATED}
    assert run(unit, tmp_path, [result(2, CONFIRMED, "speed")]).reached == {1: PASSED, 2: CONFIRMED}
    assert run(unit, tmp_path, [result(2, OPEN)]).reached == {1: PASSED, 2: OPEN}


def test_a_task_that_only_a_gpu_can_check_is_confirmed_or_open(tmp_path):
    unit, checks = make(tmp_path), [Check(1, "speed", True), Check(2, "correctness")]
    assert run(unit, tmp_path, [], checks=checks).reached == {1: OPEN, 2: OPEN}
    assert run(unit, tmp_path, [result(1, CONFIRMED, "speed")], checks=checks).reached == {1: CONFIRMED, 2: OPEN}


def test_a_plan_decides_which_day_is_first_and_the_days_before_it_come_after_the_others(tmp_path):
    names = ["week1/day1", "week1/day2", "week2/day1", "week1/katas/simd", "week2/katas/sort"]
    units = [make(tmp_path, name) for name in names]
    Progress.load(tmp_path).follow(Plan("week2/day1", "quick"))
    for name in ("week2/day1", "week1/day1", "week1/day2", "week1/katas/simd", "week2/katas/sort"):
        current = Progress.load(tmp_path).current(sorted(units, key=lambda unit: (unit.week, unit.is_kata)))
        assert current.name == name
        run(current, tmp_path, [result(1), result(2)])


def test_a_plan_for_a_day_that_is_not_there_changes_nothing(tmp_path):
    unit, progress = make(tmp_path), Progress.load(tmp_path)
    progress.follow(Plan("week9/day1", "quick"))
    assert progress.current([unit]) == unit


def test_the_newest_plan_is_the_one_to_follow(tmp_path):
    for plan in (Plan("week1/day1", "standard"), Plan("week1/day3", "quick")):
        Progress.load(tmp_path).follow(plan)
    run(make(tmp_path), tmp_path, [result(1)])  # a run keeps it
    assert Progress.load(tmp_path).plan == Plan("week1/day3", "quick")


# What waits for a package --------------------------------------------------------------------------

WAIT = Wait(2, "compiled", "numba-cuda", 3)


def wait(unit, root, results, waits, checks=CHECKS):
    Progress.load(root).record(unit, results, file_hash(unit.lesson), TODAY, checks, waits)
    return Progress.load(root).state(unit)


@pytest.mark.parametrize(("results", "overall", "reached"), [
    ([result(1), result(2)], HERE, HERE),
    ([result(1), result(2), result(2, CONFIRMED, "speed")], HERE, HERE),
    ([result(1)], STARTED, OPEN),
    ([], OPEN, OPEN),
])  # fmt: skip
def test_what_waits_is_no_progress_and_holds_nobody_back(tmp_path, results, overall, reached):
    state = wait(make(tmp_path), tmp_path, results, [WAIT])
    assert (state.overall, state.reached[2], state.waits) == (overall, reached, {WAIT})
    assert state.finished == (overall == HERE)


def test_a_task_of_which_everything_waits_is_neither_done_nor_to_do(tmp_path):
    state = wait(make(tmp_path), tmp_path, [result(1)], [WAIT], [Check(1, "correctness")])
    assert (state.overall, state.done, state.blocked) == (HERE, {1}, {2})


def test_a_unit_of_which_everything_waits_is_passed_over(tmp_path):
    first, second = make(tmp_path, "week1/day1"), make(tmp_path, "week1/day2")
    state = wait(first, tmp_path, [], [Wait(0, "", "Triton", 0)], [])
    assert (state.overall, state.finished) == (WAITING, False)
    assert Progress.load(tmp_path).current([first, second]) == second


def test_what_waited_is_forgotten_when_it_runs(tmp_path):
    unit = make(tmp_path)
    wait(unit, tmp_path, [result(1), result(2)], [WAIT])
    assert wait(unit, tmp_path, [result(1), result(2)], []).overall == SIMULATED
