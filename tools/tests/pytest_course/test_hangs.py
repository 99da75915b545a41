"""A function that does not end costs its limit once, wherever it hangs; what has good reason to take long is let be."""

import re

import pytest

from tools.tests.conftest import needs_solutions
from tools.tests.pytest_course.test_bad_input import at_import, block_line, end_soon, message
from tools.tests.pytest_course.test_runs import FEW, LESSON, TESTS, fill

LIMIT = ("-o", "course_limit=1")
HOW = pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
QUESTION = "Does every loop come closer to its end?"
NJIT = """    import numba
    @numba.njit
    def last(x):
        while x < 2: x = x * 1
        return x
    return last(1)"""
LOOPS = {
    "python": ("    while True: pass", "while True: pass"),
    "sleeps": ("    import time; time.sleep(100)", "import time; time.sleep(100)"),
    "waits for itself": (
        "    import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
        "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    ),
    "catches everything": (
        "    while True:\n        try: sum(iter(int, 1))\n        except Exception: pass",
        "try: sum(iter(int, 1))",
    ),
    "native": ("    return sum(iter(int, 1))", "return sum(iter(int, 1))"),
    "numba": (NJIT, "return last(1)"),
}


@HOW
@pytest.mark.parametrize("body, line", LOOPS.values(), ids=LOOPS)
def test_a_call_that_does_not_end_is_one_failure_with_its_line(course, body, line, how):
    if "numba" in body:
        pytest.importorskip("numba", reason="needs Numba; found none; pip install numba")
    course.write(TESTS, FEW.replace("@pytest.mark.task(6)", "@pytest.mark.task(2)"))
    fill(course, "matmul_flops", body)
    end_soon(course)
    ran = course.pytest("week1/day1", *LIMIT, *how)
    assert re.search(r"^1 failed, 2 wait for task 2 in", ran.lines[-1])
    told = message(ran)
    assert "It did not end within 1 s." in told and told[-1] == QUESTION
    assert re.fullmatch(rf"{LESSON}, line \d+: {re.escape(line)}", told[-2])


LOOPS_WITH_NAMES = {
    "for i in range(1 << 60):": ("    for i in range(1 << 60):\n        1\n        2\n", r"There i is \d+\."),
    "while i < m:": (  # neither the loop in it nor the one around it goes on for ever
        "    for i in range(2):\n        while i < m:\n            for j in range(3): sum([j])\n",
        r"There i is 0, m is \d+\.",
    ),
    "while x and done < 1:": (
        "    x, done = [m], 0.25\n    while x and done < 1:\n        sum(x)\n",
        "There done is 0.25.",
    ),
}


@pytest.mark.parametrize("head", LOOPS_WITH_NAMES)
def test_the_loop_is_told_with_what_its_names_held(course, head):
    body, values = LOOPS_WITH_NAMES[head]
    fill(course, "matmul_flops", body)
    told = message(course.pytest("week1/day1", *LIMIT))
    assert head in "\n".join(told) and re.fullmatch(values, told[-2]) and told[-1] == QUESTION


def test_a_loop_in_another_process_is_told_with_its_line_alone(course):
    fill(course, "matmul_flops", LOOPS_WITH_NAMES["while x and done < 1:"][0])
    told = message(course.pytest("week1/day1", *LIMIT, "--remote"))
    assert "while x and done < 1:" in " ".join(told) and not any(line.startswith("There") for line in told)


@HOW
@needs_solutions
def test_tests_that_need_a_function_that_does_not_end_wait_for_it(course, how):
    course.solve("week1/day1")
    course.write(LESSON, course.read(LESSON).replace("    return 2 * m * n * k\n", "    while True: pass\n"))
    ran = course.pytest("week1/day1", "-o", "course_limit=2", *how)  # the day's own loops take a second
    assert "F-...--------" in ran.text  # task 2, then those of task 4, which needs it
    assert "  red       task 2  matmul_flops" in ran.lines and "  waiting   task 6  matmul_min_bytes, " in ran.text


@needs_solutions
def test_after_the_first_time_a_second_is_enough(course):
    course.solve("week1/day1")
    course.write(LESSON, course.read(LESSON).replace("    return 2 * m * n * k\n", "    while True: pass\n"))
    ran = course.pytest("week1/day1", "-o", "course_limit=2", "-k", "gflops_divide or flops_count", "-v")
    assert "It did not end within 2 s.\n" in ran.text
    assert "It did not end within 1 s, and not before either.\n" in ran.text


@pytest.mark.parametrize("line", ["while True: pass", "sum(iter(int, 1))"], ids=["python", "native"])
@HOW
def test_an_import_that_does_not_end_is_told_with_its_line(course, line, how):
    at_import(line)(course)
    end_soon(course)
    ran = course.pytest("week1/day1", *LIMIT, *how)
    assert message(ran) == [
        f"{LESSON}: importing it does not end.",
        f"{LESSON}, line {block_line()}: {line}",
        "Is there a loop outside the functions?",
    ]


PATIENT = """

@pytest.mark.task(2)
@pytest.mark.{stage}
def test_takes_its_time():
    import time
    time.sleep(2)
"""


@pytest.mark.parametrize("stage, outcome", [("speed", "4 passed"), ("compiled", "4 passed"), ("edge", "1 failed")])
def test_a_test_of_speed_has_more_time_and_so_has_one_that_compiles(course, stage, outcome):
    course.write(TESTS, FEW.replace("lesson.matmul_min_bytes(1, 1, 1, 8) == 24", "True") + PATIENT.format(stage=stage))
    fill(course, "matmul_flops", "    return 2 * m * n * k")
    assert outcome in course.pytest("week1/day1", "-o", "course_limit=1").lines[-1]


def test_a_library_that_takes_long_to_import_is_not_the_lessons_affair(course):
    course.write("slow_library.py", "import time\ntime.sleep(1.5)\n")
    course.write(TESTS, FEW.replace("@pytest.mark.task(6)", "@pytest.mark.task(2)"))
    at_import("import slow_library")(course)
    fill(course, "matmul_flops", "    return 2 * m * n * k")
    for how in ([], ["--remote"]):
        ran = course.pytest("week1/day1", "-o", "course_limit=1", *how, PYTHONPATH=str(course.folder))
        assert "importing it does not end" not in ran.text
