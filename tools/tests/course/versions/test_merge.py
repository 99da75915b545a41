"""Of three versions of a lesson one is made, in which every line stands that the learner wrote."""

import re

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.answers import reference_file
from tools.course.content.gaps import find_gaps
from tools.course.versions import merge
from tools.course.versions.parts import DOCSTRING, lines_of, parts
from tools.tests.conftest import needs_solutions
from tools.tests.course.miniature import LESSON

GAP = '    raise NotImplementedError("week1/day1 task 1: double")\n'
SOLVED = LESSON.replace(GAP, "    y = x\n    return x + y\n")


def merged(mine: str, course: str, base: str = LESSON) -> merge.Merged:
    return merge.lesson(base.encode(), mine.encode(), course.encode())


def text(*versions: str) -> str:
    return merged(*versions).text.decode()


def test_what_only_one_side_changed_is_taken():
    new = LESSON.replace("Half of x", "The half of x")
    assert text(LESSON, new) == new
    assert text(SOLVED, LESSON) == SOLVED


def test_a_new_docstring_arrives_above_a_filled_gap():
    new = LESSON.replace('"""Twice x."""', '"""Twice x.\n\n    x: any integer.\n    """')
    result = merged(SOLVED, new)
    assert result.text.decode() == new.replace(GAP, "    y = x\n    return x + y\n")
    assert (result.kept, result.signatures, result.elsewhere) == ((), (), False)


def test_a_filled_gap_stays_where_the_course_changed_it_and_is_named():
    new = LESSON.replace(GAP, "    y = 2\n" + GAP)
    result = merged(SOLVED, new)
    assert result.text.decode() == SOLVED
    assert (result.kept, result.elsewhere) == (("double",), False)


def test_a_gap_that_is_still_one_takes_the_courses_given_statements():
    new = LESSON.replace(GAP, "    y = 2\n" + GAP)
    assert text(LESSON, new) == new


def test_a_new_signature_arrives_and_its_function_is_named():
    new = LESSON.replace("def double(x: int)", "def double(x: int, times: int = 2)")
    result = merged(SOLVED, new)
    assert result.text.decode() == SOLVED.replace("def double(x: int)", "def double(x: int, times: int = 2)")
    assert (result.signatures, result.kept) == (("double",), ())


def test_comments_below_a_signature_and_below_a_body_belong_to_the_body():
    mine = LESSON.replace(GAP, "    # first think\n\n    return 2 * x\n\n    # done, I hope\n")
    new = LESSON.replace('"""Twice x."""', '"""Two times x."""').replace("def halve", "def half")
    result = text(mine, new)
    assert "    # first think\n\n    return 2 * x\n\n    # done, I hope\n" in result
    assert "Two times x" in result and "def half(" in result


def test_a_helper_of_the_learners_and_a_new_task_of_the_courses_both_stand():
    helper = "def _square(x):\n    return x * x\n\n\n"
    mine = SOLVED.replace("# Task 2\n", helper + "# Task 2\n")
    assert text(mine, LESSON + TASK_3) == mine + TASK_3


TASK_3 = '\n\n# Task 3\ndef third(x: int) -> int:\n    raise NotImplementedError("week1/day1 task 3: third")\n'


@pytest.mark.parametrize("ends_with", ["    # done, I hope\n", "\n\ndef _mine(x):\n    return x\n"])
def test_a_new_task_arrives_below_what_the_learner_put_at_the_end(ends_with):
    mine = SOLVED.replace("    pass  # store what double returns\n", "    x_ptr[0] = n\n") + ends_with
    result = merged(mine, LESSON + TASK_3)
    assert result.text.decode() == mine + TASK_3 and not result.elsewhere


def test_comments_above_the_first_statement_are_part_of_a_body_without_a_docstring():
    """The course's new last line of a signature is next to them."""
    base = "def kernel(x_ptr,\n           n):\n    pass\n"
    mine = base.replace("    pass\n", "    # mine\n    return n\n")
    new = base.replace("           n):\n", "           n, m):\n")
    result = merged(mine, new, base)
    assert result.text.decode() == mine.replace("n):", "n, m):") and not result.elsewhere


def test_where_both_changed_the_same_line_the_learners_stands_and_that_is_said():
    result = merged(LESSON.replace("SIZE = 4", "SIZE = 8"), LESSON.replace("SIZE = 4", "SIZE = 16"))
    assert "SIZE = 8\n" in result.text.decode() and "16" not in result.text.decode()
    assert result.elsewhere


def test_a_function_that_the_course_gave_up_stays_where_the_learner_wrote_it():
    new = LESSON[: LESSON.index("def double")] + LESSON[LESSON.index("def halve") :]
    result = merged(SOLVED, new)
    assert "    y = x\n    return x + y\n" in result.text.decode() and result.elsewhere
    assert text(LESSON, new) == new


def test_a_function_that_the_course_renamed_keeps_the_learners_body():
    new = LESSON.replace("def double", "def twice").replace("task 1: double", "task 1: twice")
    assert "    y = x\n    return x + y\n" in text(SOLVED, new)


def test_functions_in_another_order_lose_nothing():
    start, middle, end = (LESSON.index(word) for word in ("def double", "def halve", "# Task 2"))
    new = LESSON[:start] + LESSON[middle:end] + LESSON[start:middle] + LESSON[end:]
    result = text(SOLVED, new)
    assert "    y = x\n    return x + y\n" in result and "\x01" not in result
    compile(result, "lesson", "exec")


BROKEN = {
    "in the gap": SOLVED.replace("return x + y", "return (x + y"),
    "in another gap": SOLVED.replace('raise NotImplementedError("week1/day1 task 1: halve")', "return x /"),
    "an indentation": SOLVED.replace("    y = x", "   y = x"),
    "a keyword": SOLVED.replace("y = x", "y = = x"),
}


@pytest.mark.parametrize("mine", BROKEN.values(), ids=BROKEN.keys())
def test_a_syntax_error_in_a_gap_does_not_keep_news_from_the_docstring_above_it(mine):
    new = LESSON.replace('"""Twice x."""', '"""Twice x.\n\n    x: any integer.\n    """')
    assert text(mine, new) == mine.replace('"""Twice x."""', '"""Twice x.\n\n    x: any integer.\n    """')


def test_a_docstring_without_an_end_keeps_every_line_of_the_learner():
    mine = SOLVED.replace('"""Half of x."""', '"""Half of x.')
    new = LESSON.replace("Week 1, day 1: small", "Week 1, day 1: tiny")
    assert text(mine, new) == mine.replace("small", "tiny")


def test_windows_ends_of_lines_are_no_change_and_stay():
    new = LESSON.replace("Twice x", "Two times x")
    mine = SOLVED.replace("\n", "\r\n")
    assert text(mine, new) == SOLVED.replace("Twice x", "Two times x").replace("\n", "\r\n")
    assert merge.same(LESSON.encode(), LESSON.replace("\n", "\r\n").encode())
    assert not merge.same(LESSON.encode(), SOLVED.encode())


def test_a_byte_order_mark_stays():
    new = LESSON.replace("Twice x", "Two times x")
    result = merged("\ufeff" + SOLVED, new)
    assert result.text == ("\ufeff" + SOLVED.replace("Twice x", "Two times x")).encode()


def test_letters_in_another_encoding_stay_as_they_are():
    mine = SOLVED.encode().replace(b"y = x", b"y = x  # gr\xf6\xdfer")
    result = merge.lesson(LESSON.encode(), mine, LESSON.replace("Half of x", "The half of x").encode())
    assert result.text == mine.replace(b"Half of x", b"The half of x")


def test_a_body_on_the_line_of_its_signature_stays():
    mine = LESSON.replace('    """Twice x."""\n' + GAP, "").replace("-> int:\n", "-> int: return 2 * x\n", 1)
    assert "def double(x: int) -> int: return 2 * x\n" in text(mine, LESSON.replace("Twice x", "Two times x"))


def test_two_functions_of_one_name_both_stay():
    mine = SOLVED + "\n\ndef double(x):\n    return x << 1\n"
    result = text(mine, LESSON.replace("Half of x", "The half of x"))
    assert result == mine.replace("Half of x", "The half of x")


def test_methods_are_gaps_too():
    base = 'class Cache:\n    def get(self):\n        """One."""\n        raise NotImplementedError\n'
    mine, new = base.replace("raise NotImplementedError", "return 1"), base.replace("One.", "The one.")
    assert text(mine, new, base) == mine.replace("One.", "The one.")


def test_a_decorator_and_a_signature_of_several_lines_are_outside_of_the_gap():
    base = "@triton.jit\ndef kernel(x_ptr,\n           n):\n    pass  # store\n"
    mine = base.replace("    pass  # store\n", "    tl.store(x_ptr, 1)\n")
    new = base.replace("           n)", "           n, BLOCK: tl.constexpr)").replace("@triton.jit", "@triton.jit()")
    result = merged(mine, new, base)
    assert result.text.decode() == new.replace("    pass  # store\n", "    tl.store(x_ptr, 1)\n")
    assert result.signatures == ("kernel",)


def test_other_files_merge_by_lines_and_the_learners_stand():
    base = "".join(f"line {number}\n" for number in range(20))
    mine = base.replace("line 3\n", "mine\n").replace("line 10\n", "mine too\n")
    new = base.replace("line 10\n", "course\n").replace("line 18\n", "new\n")
    result = merge.plain(base.encode(), mine.encode(), new.encode())
    assert result.text.decode() == mine.replace("line 18\n", "new\n") and result.elsewhere
    assert not merge.plain(base.encode(), base.encode(), new.encode()).elsewhere


def test_lines_that_look_like_gits_marks_stay_lines():
    marks = "<<<<<<< mine\n=======\n>>>>>>>\n" + "=" * 80 + "\n"
    base = f"one\n{marks}two\nthree\n"
    mine, new = base.replace("one", "eins"), base.replace("three", "drei")
    result = merge.plain(base.encode(), mine.encode(), new.encode())
    assert result.text.decode() == f"eins\n{marks}two\ndrei\n"


def test_a_file_that_is_no_text_stays_the_learners():
    assert merge.plain(b"\0\1", b"\0\2", b"\0\3") == merge.Merged(b"\0\2", elsewhere=True)


def test_were_a_line_of_the_learners_lost_the_learners_file_would_stay_whole(monkeypatch):
    """No merge is known to do that; the check stands behind all of them."""
    monkeypatch.setattr(merge, "_by_parts", lambda *_: (LESSON, False, (), ()))
    result = merged(SOLVED, LESSON.replace("Half of x", "The half of x"))
    assert result.text.decode() == SOLVED and result.elsewhere


# The lessons of this course ----------------------------------------------------------------------

UNITS = catalogue.names(ROOT)


@pytest.mark.parametrize("name", UNITS)
def test_each_gap_of_each_lesson_is_a_part_of_its_own(name):
    stub = catalogue.unit(name, ROOT).lesson.read_text(encoding="utf-8")
    found = parts(stub)
    gaps = find_gaps(stub)
    assert {gap.function for gap in gaps} <= found.keys()
    assert all(found[gap.function][0] < gap.line <= found[gap.function][1] for gap in gaps)


@needs_solutions
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("harm", ["", "return ("], ids=["whole", "with a syntax error"])
def test_a_solved_lesson_takes_new_docstrings_and_signatures_and_keeps_every_body(name, harm):
    unit = catalogue.unit(name, ROOT)
    stub = unit.lesson.read_text(encoding="utf-8")
    mine = reference_file(name, ROOT).read_text(encoding="utf-8")
    mine += f"\n\ndef _mine():\n    {harm or 'pass'}\n"
    course = re.sub(r'^(    (?:    )?)"""', r'\1"""New: ', stub, flags=re.MULTILINE)
    course = re.sub(r"^def (\w+)\((?=[a-z])", r"def \1(new, ", course, flags=re.MULTILINE)
    result = merge.lesson(stub.encode(), mine.encode(), course.encode())
    text = result.text.decode()
    for part, (start, end) in parts(mine).items():
        if not part.startswith(DOCSTRING):
            assert "".join(lines_of(mine)[start:end]) in text, part
    assert text.count("(new, ") == course.count("(new, ") > 0
    assert text.count('"""New: ') == course.count('"""New: ')
    assert not result.elsewhere and not result.kept
