"""What a learner reads of a wrong kernel: the call, the line with its task, one question, no traceback."""

import pytest

from tools import ROOT
from tools.check.text import refused
from tools.worker import Frame, Raised

pytest.importorskip("triton")

LESSON = "week1/day4/vector_add.py"


def second() -> int:
    """A line of task 2 of the lesson."""
    return (ROOT / LESSON).read_text().splitlines().index("# Task 2") + 2


STORE = "tl.store(out_ptr + mine, x + y, mask=exists)"


@pytest.mark.parametrize("how", [("--sim",), ("--remote",)], ids=["here", "remote"])
def test_a_refused_access_is_told_with_its_task_and_line(course, how):
    course.solve("week1/day4")
    course.write(LESSON, course.read(LESSON).replace(STORE, "tl.store(out_ptr + mine, x + y)", 1))
    ran = course.pytest("week1/day4", "-k", "ten_elements", *how)
    lines = enumerate(course.read(LESSON).splitlines(), start=1)
    line = next(number for number, text in lines if "tl.store(out_ptr + mine" in text)
    told = ran.text[ran.text.index("  vector_add(x") :].splitlines()[:8]
    assert [text.strip() for text in told] == [
        "vector_add(x: float32[10], y: float32[10], block=4)",
        "",
        f"task 2, add_kernel, line {line}:  tl.store(out_ptr + mine, x + y)",
        "program 2 of 3 stores 4 elements; 2 of them lie past the end of out (10",
        "elements).",
        "First one: element 10.",
        "",
        "The last block is partly empty. Which of its positions exist?",
    ]
    assert "Traceback" not in ran.text and "It raised" not in ran.text


def test_an_assertion_about_counters_says_who_did_the_work(course):
    ran = course.pytest("week1/day4", "--answers=wrong:week1/day4/lets_pytorch_add", "-k", "does_the_adding")
    assert "torch.add did the work; no kernel was launched. Which line launches yours?" in ran.text


def test_an_assertion_about_counters_shows_the_call_that_they_are_of(course):
    answer = "wrong:week1/day4/launches_one_program_more_where_all_blocks_are_full"
    ran = course.pytest("week1/day4", f"--answers={answer}", "-k", "for_each_block_that_has_an_element")
    assert "\n  vector_add(x: float32[5120], y: float32[5120], block=512)\n  add_kernel ran in 11 programs" in ran.text


def test_an_assertion_about_memory_shows_the_call_and_the_lines_that_allocate(course):
    course.solve("week1/day4")
    test = """
import pytest, torch
from tools.check import memory
from week1.day4 import vector_add as lesson

@pytest.mark.task(2)
def test_it():
    used = memory(lesson.vector_add, torch.ones(512), torch.ones(512), block=64)
    assert used.peak == 1024
"""
    course.write("week1/day4/test_vector_add.py", test)
    ran = course.pytest("week1/day4", "--sim")
    assert "vector_add(x: float32[512], y: float32[512], block=64)" in ran.text
    assert "Counted 2,048, needed 1,024: 2 times as much." in ran.text
    told = ran.lines[ran.lines.index("  Counted 2,048, needed 1,024: 2 times as much.") :]
    assert told[1].endswith("made float32[512], 2,048 bytes")
    assert told[2] == "  Which of them does the result need whole, and until when?"


def test_a_question_of_the_tests_own_stands_in_place_of_the_one_about_memory(course):
    course.solve("week1/day4")
    test = """
import pytest, torch
from tools.check import memory
from week1.day4 import vector_add as lesson

@pytest.mark.task(2)
@pytest.mark.parametrize("why", ["Half is enough.\\nIs x copied?", "Half is enough."])
def test_it(why):
    used = memory(lesson.vector_add, torch.ones(512), torch.ones(512), block=64)
    assert used.peak == 1024, why
"""
    course.write("week1/day4/test_vector_add.py", test)
    ran = course.pytest("week1/day4", "--sim")
    assert "2,048 bytes\n  Half is enough.\n  Is x copied?\n" in ran.text
    assert "until when?" not in ran.text
    ran = course.pytest("week1/day4", "--sim", "-k", "enough.]")
    assert "\n  Half is enough.\n\n  The test says  assert used.peak == 1024\n" in ran.text
    assert "2,048 bytes\n  Which of them does the result need whole, and until when?" in ran.text


def test_it_stands_in_place_of_the_one_about_what_is_moved_too(course):
    course.solve("week1/day4")
    test = """
import pytest, torch
from tools.check import count
from week1.day4 import vector_add as lesson

@pytest.mark.task(2)
@pytest.mark.parametrize("why", ["Is x read twice?", "Half is enough."])
def test_it(why):
    counters = count(lesson.vector_add, torch.ones(512), torch.ones(512), block=64)
    assert counters.sectors * 32 <= 1.1 * 1024, why
"""
    course.write("week1/day4/test_vector_add.py", test)
    ran = course.pytest("week1/day4", "--sim", "-k", "twice")
    assert ran.lines[ran.lines.index("  Is x read twice?") - 1].endswith("sectors")
    assert "not at all?" not in ran.text
    ran = course.pytest("week1/day4", "--sim", "-k", "enough")
    assert "\n  Half is enough.\n\n  The test says  " in ran.text
    assert "\n  What is moved more than once, or not at all?" in ran.text


@pytest.mark.parametrize("how", [("--sim",), ("--remote",)], ids=["here", "remote"])
def test_a_function_without_a_way_back_is_no_fault_of_the_course(course, how):
    course.solve("week1/day4")
    test = """
import pytest, torch
from tools.check import count, gradients
from week1.day4 import vector_add as lesson

@pytest.mark.task(2)
def test_it():
    count(gradients(lesson.vector_add), torch.ones(5), torch.ones(5), d_out=torch.ones(5))
"""
    course.write("week1/day4/test_vector_add.py", test)
    ran = course.pytest("week1/day4", *how)
    assert "The result has no grad_fn: autograd knows no way back" in ran.text
    assert "fault of the course" not in ran.text and "NoGradient" not in ran.text


def test_what_the_compiler_rejects_is_told_in_its_words(course):
    course.solve("week1/day4")
    course.write(LESSON, course.read(LESSON).replace("exists = mine < n\n", "exists = {0: mine < n}[0]\n", 1))
    ran = course.pytest("week1/day4", "-k", "sixteen_bytes")
    assert "add_kernel" in ran.text and "exists = {0: mine < n}[0]" in ran.text
    assert "Traceback" not in ran.text and "fault of the course" not in ran.text


def test_a_kernel_that_was_not_launched_is_the_lessons_and_told_in_a_sentence(course):
    ran = course.pytest("week1/day4", "--answers=wrong:week1/day4/lets_pytorch_add", "-k", "sixteen_bytes")
    assert "\n  vector_add launched no kernel add_kernel; launched: none.\n" in ran.text
    assert "Traceback" not in ran.text and "fault of the course" not in ran.text


# The task of a line ---------------------------------------------------------------------------------------


def head(file: str, line: int) -> str:
    message = f"f, line {line}:  x\nIt is refused."
    return refused(Raised("Fault", message, (Frame(file, line, "f", "x"),)))[0]


def test_the_task_is_that_of_the_comment_above():
    assert head(LESSON, second()) == f"task 2, f, line {second()}:  x"
    assert head(LESSON, 3) == "f, line 3:  x"


def test_the_task_is_that_of_the_function_where_the_lines_are_others():
    """A test's own function launched it, or an answer from another folder."""
    for file in (LESSON, "week1/day4/test_vector_add.py"):
        told = refused(Raised("Fault", "add_2d_kernel, line 3:  x\nIt is refused.", (Frame(file, 3, "f", "x"),)))
        assert told[0] == "task 3, add_2d_kernel, line 3:  x"
    assert head("week1/day4/test_vector_add.py", 90) == "f, line 90:  x"


PERSISTENT, BACKWARD = "week2/katas/persistent/persistent.py", "week3/katas/flash_backward/flash_backward.py"


@pytest.mark.parametrize(
    "file, name, whose",
    [
        (PERSISTENT, "sum_row", "given"),
        (PERSISTENT, "wave_bytes", "task 4"),
        (PERSISTENT, "grid_kernel", "given"),
        (BACKWARD, "delta_kernel", "task 1"),  # it has no docstring, and what follows is given
        (BACKWARD, "find_delta", "given"),
    ],
)
def test_what_is_given_is_of_no_task(file, name, whose):
    told = refused(Raised("Fault", f"{name}, line 3:  x\nIt is refused.", (Frame(file, 3, "f", "x"),)))
    assert told[0] == f"{whose}, {name}, line 3:  x"


def test_a_file_that_is_not_there_has_no_tasks():
    assert head("vector_add.py", 60) == "f, line 60:  x"


@pytest.mark.parametrize("file", ["/etc/passwd", "../secrets.py", "week1/../../x.py", ""])
def test_no_file_outside_the_course_is_opened_for_it(file, monkeypatch):
    monkeypatch.setattr("pathlib.Path.read_text", lambda path, **how: pytest.fail(f"{path} was opened"))
    assert head(file, 60) == "f, line 60:  x"


def test_a_refusal_without_a_line_of_the_lesson_keeps_its_own_words():
    assert refused(Raised("Fault", "helper, line 9:  y\nIt is refused.\n\nWhy?", ())) == [
        "helper, line 9:  y",
        "It is refused.",
        "",
        "Why?",
    ]


@pytest.mark.parametrize("kind", ["Refused", "Fault"])  # by the compiler; or seen when the kernel had ended, as a race
def test_what_is_refused_at_the_launch_stands_at_the_kernels_line(kind):
    message = f"add_kernel, line {second()}:  with y:  # a comment\nNumba compiles no with statement for a GPU."
    launch = Frame(LESSON, 90, "add", "add_kernel[1, 32](x)")
    assert refused(Raised(kind, message, (launch,))) == [
        f"task 2, add_kernel, line {second()}:  with y:",
        "Numba compiles no with statement for a GPU.",
    ]


LONG = f"v = tl.load(x_ptr + row[:, None] * {'BLOCK' * 4} + col[None, :], mask=(row < n)[:, None], other=0.0)"


def refusal() -> Raised:
    frame = Frame(LESSON, second(), "f", LONG)
    return Raised("Fault", f"f, line {second()}:  {LONG[:50]}...\nIt is refused.", (frame,))


def test_a_long_line_stands_in_a_line_of_its_own_and_shows_its_pointer_before_its_mask():
    where, source, *rest = refused(refusal())
    assert (where, rest) == (f"task 2, f, line {second()}:", ["It is refused."])
    assert source == f"    {LONG[:69]}..." and len(source) == 76


def test_where_there_is_no_room_for_that_its_middle_is_left_out():
    head, *rest = refused(refusal(), room=2)
    assert rest == ["It is refused."] and len(head) == 76
    assert head.startswith(f"task 2, f, line {second()}:  v =") and head.endswith("other=0.0)")
