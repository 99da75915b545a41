"""A function or a constant that the lesson has lost is the learner's to mend, and a few lines say how."""

import pytest

from tools.tests.pytest_course.test_bad_input import line_of, message
from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS

BACK = "All of it back, your work kept beside it: ./course reset week1/day1"
GIVEN = "As it was given: def matmul_flops(m: int, n: int, k: int) -> int:"
MISSING = f"The tests use matmul_flops, and {LESSON} has nothing of that name."
CONSTANT = FEW.replace("lesson.matmul_flops(1, 1, 1) == 2", "lesson.BLOCK == 64")
AT_IMPORT = FEW.replace("@pytest.mark.edge", "@pytest.mark.parametrize('block', [lesson.BLOCK])\n@pytest.mark.edge")


def renamed(text):
    return text.replace("matmul_flops", "matmul_flop")


HARMS = [
    ("renamed", FEW, renamed, [MISSING, "The nearest that it has is matmul_flop.", GIVEN, BACK]),
    ("empty", FEW, lambda text: "", [MISSING, GIVEN, BACK]),
    ("only a class", FEW, lambda text: "class Lesson:\n    pass\n", [MISSING, GIVEN, BACK]),
    (
        "no constant",
        CONSTANT,
        lambda text: text.replace("BLOCK = 64", "").replace("block: int = BLOCK", "block=64"),
        [
            f"The tests use BLOCK, and {LESSON} has nothing of that name.",
            "As it was given: BLOCK = 64  # three 64 x 64 tiles of float64 are 98,304 ...",
            BACK,
        ],
    ),
    (
        "not at the end",
        FEW,
        lambda text: f"{text}\ndel matmul_flops\n",
        [
            f"The tests use matmul_flops. Line LINE of {LESSON} has that name, "
            "but what it stands for after the import is no function and no plain constant.",
            GIVEN,
            BACK,
        ],
    ),
    (
        "overwritten",
        FEW,
        lambda text: f"{text}\nmatmul_flops = 3\n",
        [f"The tests call matmul_flops, and in {LESSON} it stands for 3.", GIVEN, BACK],
    ),
]


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
@pytest.mark.parametrize("tests, harm, told", [case[1:] for case in HARMS], ids=[case[0] for case in HARMS])
def test_a_name_that_the_lesson_lost_is_told_with_the_way_back(course, tests, harm, told, how):
    course.write(TESTS, tests)
    course.commit()
    course.write(LESSON, harm(course.read(LESSON)))
    ran = course.pytest("week1/day1", *how)
    assert ran.code == 1
    wanted = " ".join(told).replace("LINE", str(line_of("def matmul_flops")))
    assert " ".join(message(ran)[1:]) == wanted and len(message(ran)) <= 6
    assert "fault of the course" not in ran.text and "this machine" not in ran.text


def test_a_name_that_is_missing_while_tests_are_collected_is_told_too(course):
    course.write(TESTS, AT_IMPORT)
    course.commit()
    course.write(LESSON, "")
    ran = course.pytest("week1/day1")
    assert ran.code == 2
    assert message(ran)[0] == LESSON
    assert " ".join(message(ran)[1:]).startswith(f"The tests use BLOCK, and {LESSON} has nothing of that name.")


def test_a_name_that_the_stub_never_had_is_a_fault_of_the_course(course):
    course.write(TESTS, FEW.replace("lesson.matmul_flops", "lesson.matmul_flips", 1))
    course.commit()
    assert "This looks like a fault of the course" in course.pytest("week1/day1").text


def test_without_git_there_is_nothing_to_go_back_to_and_the_name_is_told(course):
    course.write(TESTS, FEW)
    course.write(LESSON, renamed(course.read(LESSON)))
    (course.folder / ".git").rename(course.folder / "not-git")
    told = message(course.pytest("week1/day1"))
    assert " ".join(told[1:]) == f"{MISSING} The nearest that it has is matmul_flop."
