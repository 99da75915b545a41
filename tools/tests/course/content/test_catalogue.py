"""The catalogue finds the units, keeps their order, and reads tasks from whatever the learner left."""

import os
import stat

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.catalogue import BrokenCourseFile, NoSuchUnit, Task
from tools.tests.course.miniature import DAY, LESSON, make, write

# Finding units ------------------------------------------------------------------------------------


def test_units_come_by_week_then_days_by_number_then_katas(tmp_path):
    for name in ["week10/day1", "week2/day1", "week1/katas/simd", "week1/day10", "week1/day2", "week1/katas/locality"]:
        write(tmp_path, name)
    assert [unit.name for unit in catalogue.units(tmp_path)] == [
        "week1/day2", "week1/day10", "week1/katas/locality", "week1/katas/simd", "week2/day1", "week10/day1",
    ]  # fmt: skip


@pytest.mark.parametrize("folder", ["week1/day1/old", "week1/days", "week/day1", "reference/week1/day1", "week1/katas"])
def test_other_folders_with_a_day_toml_are_no_units(tmp_path, folder):
    write(tmp_path, folder)
    assert catalogue.names(tmp_path) == []


def test_a_folder_without_a_day_toml_is_no_unit(tmp_path):
    (write(tmp_path) / "day.toml").unlink()
    assert catalogue.units(tmp_path) == []


def test_a_unit_knows_its_files_and_its_module(tmp_path):
    day, kata = make(tmp_path), make(tmp_path, "week1/katas/simd")
    assert day.folder == tmp_path / "week1/day1"
    assert (day.lesson, day.tests) == (day.folder / "small.py", day.folder / "test_small.py")
    assert (day.module, day.week, day.is_kata) == ("week1.day1.small", "week1", False)
    assert (kata.module, kata.week, kata.is_kata) == ("week1.katas.simd.small", "week1", True)


@pytest.mark.parametrize("name", ["week1/day1", "week1/day1/", "./week1/day1", ".\\week1\\day1"])
def test_a_name_may_be_written_as_a_shell_completes_it(tmp_path, name):
    write(tmp_path)
    assert catalogue.unit(name, tmp_path).name == "week1/day1"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("week1/day11", "There is no day or kata 'week1/day11'. Did you mean week1/day1?"),
        ("day1", "There is no day or kata 'day1'. Did you mean week1/day1?"),
        ("../week1/day1", "There is no day or kata '../week1/day1'. Did you mean week1/day1?"),
        ("status", "There is no day or kata 'status'. ./course status lists them."),
        ("", "There is no day or kata ''. ./course status lists them."),
    ],
)
def test_a_name_that_is_none_gets_the_nearest_one(tmp_path, name, says):
    write(tmp_path)
    with pytest.raises(NoSuchUnit) as caught:
        catalogue.unit(name, tmp_path)
    assert str(caught.value) == says


def test_one_unit_loads_while_another_is_broken(tmp_path):
    write(tmp_path, "week1/day1")
    write(tmp_path, "week1/day2", day="title =")
    assert catalogue.unit("week1/day1", tmp_path).title == "Small"
    with pytest.raises(BrokenCourseFile):
        catalogue.units(tmp_path)


# The lesson and its tests -------------------------------------------------------------------------


def test_a_lost_lesson_is_named_with_the_command_that_brings_it_back(tmp_path):
    (write(tmp_path) / "small.py").unlink()
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == (
        "week1/day1/small.py: is missing; this brings it back: git restore week1/day1/small.py"
    )


@pytest.mark.parametrize(("extra", "found"), [((), "none"), (("test_a.py", "test_b.py"), "test_a.py, test_b.py")])
def test_a_unit_has_exactly_one_test_file(tmp_path, extra, found):
    folder = write(tmp_path)
    (folder / "test_small.py").unlink()
    for name in extra:
        (folder / name).touch()
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == f"week1/day1: must hold one file test_*.py; found {found}"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom file permissions bind")
@pytest.mark.parametrize("name", ["small.py", "day.toml"])
def test_a_file_that_may_not_be_read_is_named(tmp_path, name):
    (write(tmp_path) / name).chmod(stat.S_IWUSR)
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == f"week1/day1/{name}: cannot be read (Permission denied)"


@pytest.mark.parametrize("name", ["small.py", "day.toml"])
def test_a_folder_in_place_of_a_file_is_named(tmp_path, name):
    folder = write(tmp_path)
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.raises(BrokenCourseFile) as caught:
        catalogue.unit("week1/day1", tmp_path)
    assert str(caught.value) == f"week1/day1/{name}: cannot be read (Is a directory)"


# Tasks --------------------------------------------------------------------------------------------


STUB_TASKS = (Task(1, "gap", ("double", "halve"), 8), Task(2, "gap", ("kernel",), 19))


def test_tasks_are_the_numbered_parts_of_the_stub(tmp_path):
    assert make(tmp_path).tasks == STUB_TASKS


def test_filling_the_gaps_changes_no_task(tmp_path):
    solved = LESSON.replace('raise NotImplementedError("week1/day1 task 1: double")', "return 2 * x")
    solved = solved.replace('raise NotImplementedError("week1/day1 task 1: halve")', "return x / 2")
    assert make(tmp_path, lesson=solved).tasks == STUB_TASKS


def test_a_unit_says_how_long_it_takes(tmp_path):
    assert make(tmp_path, "week1/day1").duration == "30 minutes"
    long = DAY.replace("minutes = 30", "minutes = 120\nsittings = 2")
    assert make(tmp_path, "week1/day2", day=long).duration == "120 minutes in 2 sittings"


def test_private_helpers_belong_to_no_task(tmp_path):
    helped = LESSON.replace("def halve", "def _half(x):\n    return x // 2\n\n\ndef halve")
    assert make(tmp_path, lesson=helped).tasks[0].functions == ("double", "halve")


def test_a_class_may_be_what_a_task_asks_for(tmp_path):
    cache = 'class Cache:\n    def read(self):\n        raise NotImplementedError("week1/day1 task 3: f")\n'
    lesson = f"{LESSON}\n\n# Task 3\n{cache}"
    assert make(tmp_path, lesson=lesson).tasks[2] == Task(3, "gap", ("Cache",), 25)


def test_the_marker_in_a_gap_counts_when_its_comment_is_gone(tmp_path):
    lesson = LESSON.replace("# Task 1\n", "").replace("# Task 2\n", "")
    assert make(tmp_path, lesson=lesson).tasks == (Task(1, "gap", ("double", "halve"), None), Task(2, "gap"))


@pytest.mark.parametrize(
    "lesson",
    [
        LESSON.replace("pass", "return ("),
        LESSON.replace("pass", "x = '\0'"),
        LESSON.replace("pass", "x = " + "-" * 100_000 + "1"),
    ],
    ids=["open bracket", "null byte", "too deep to parse"],
)
def test_a_lesson_that_does_not_parse_keeps_its_tasks(tmp_path, lesson):
    assert make(tmp_path, lesson=lesson).tasks == (Task(1, "gap", (), 8), Task(2, "gap", (), 19))


def test_a_lesson_that_is_not_utf8_keeps_its_tasks(tmp_path):
    folder = write(tmp_path)
    (folder / "small.py").write_bytes(LESSON.replace("small", "sm\xe4ll").encode("latin-1"))
    assert catalogue.unit("week1/day1", tmp_path).tasks == STUB_TASKS


@pytest.mark.filterwarnings("error")
def test_a_doubtful_escape_in_a_lesson_is_left_to_its_import(tmp_path):
    assert make(tmp_path, lesson=LESSON + 'PATTERN = "\\d"\n').tasks == STUB_TASKS


def test_task_kinds_name_the_tasks_that_are_no_gaps(tmp_path):
    unit = make(tmp_path, day=DAY + '[task_kinds]\n0 = "setup"\n2 = "repair"\n')
    assert unit.tasks == (Task(0, "setup"), STUB_TASKS[0], Task(2, "repair", ("kernel",), 19))


def test_repairs_name_the_functions_that_a_task_hands_over(tmp_path):
    day = DAY + '[task_kinds]\n1 = "repair"\n\n[repairs]\n1 = ["halve"]\n'
    assert make(tmp_path, day=day).tasks[0].repairs == ("halve",)


# The course itself --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalogue.names())
def test_every_unit_of_this_course_loads_and_its_tasks_stand_in_its_lesson(name):
    unit = catalogue.unit(name)
    assert unit.tasks
    assert all(task.functions and task.line for task in unit.tasks if task.kind != "setup")
    assert {unit.name for unit in catalogue.units()} >= set(unit.needs)


def test_this_course_begins_with_week1():
    assert catalogue.names(ROOT)[0].startswith("week1/day")
