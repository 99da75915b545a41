"""What a test adds to an error of the lesson, a question mostly, stands below the lesson's line."""

import pytest

from tools.tests.pytest_course.test_runs import FEW, TESTS, fill

ASKING = """    try:
        lesson.matmul_flops(1, 1, 1)
    except TypeError as raised:
        raised.add_note("A product of two shapes is asked for here, and each has two numbers: which of them is k?")
        raise"""


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
def test_a_note_of_the_test_stands_below_the_lessons_line(course, how):
    course.write(TESTS, FEW.replace("    assert lesson.matmul_flops(1, 1, 1) == 2", ASKING))
    fill(course, "matmul_flops", "    return sum(m)")
    ran = course.pytest("week1/day1", *how)
    assert "It raised TypeError: 'int' object is not iterable" in ran.text
    place = ran.lines.index("      return sum(m)")
    assert [line.strip() for line in ran.lines[place + 1 : place + 3]] == [
        "A product of two shapes is asked for here, and each has two numbers: which",
        "of them is k?",
    ]


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
def test_what_a_test_requires_is_told_in_its_own_words_alone(course, how):
    asks = "One number came back, which is as it should be, but it is 1 and 2 was wanted: what else is one?"
    requires = f'    require(lesson.matmul_flops(1, 1, 1) == 2, "{asks}")'
    tests = FEW.replace("    assert lesson.matmul_flops(1, 1, 1) == 2", requires)
    course.write(TESTS, f"from tools.check import require\n{tests}")
    fill(course, "matmul_flops", "    return m")
    ran = course.pytest("week1/day1", *how)
    place = next(number for number, line in enumerate(ran.lines) if "One number came back" in line)
    assert ran.lines[place + 1].strip() == "wanted: what else is one?"
    assert "test_flops_of_one_product" in ran.text and "The test says" not in ran.text
