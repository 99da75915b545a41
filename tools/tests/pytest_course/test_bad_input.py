"""Bad input: whatever is typed or written, a few plain lines come back, no traceback, and no file changes."""

import os

import pytest

from tools import ROOT
from tools.tests.conftest import needs_solutions

LESSON = "week1/day1/numpy_baseline.py"
FLOPS = '    raise NotImplementedError("week1/day1 task 2: matmul_flops")'
GRACE = "GRACE = 3.0"


def line_of(text: str) -> int:
    """Where that stands in the lesson, as it was given."""
    return 1 + (ROOT / LESSON).read_text(encoding="utf-8").partition(text)[0].count("\n")


def block_line() -> int:
    return line_of("BLOCK = 64")


def in_flops(body: str):
    return lambda course: course.write(LESSON, course.read(LESSON).replace(FLOPS, f"    {body}"))


def at_import(line: str):
    return lambda course: course.write(LESSON, course.read(LESSON).replace("BLOCK = 64", f"{line}\nBLOCK = 64"))


def nothing(course):
    pass


def end_soon(course) -> None:
    """What hears no alarm is ended half a second after its limit, not three."""
    guard = course.read("tools/worker/guard.py")
    assert GRACE in guard
    course.write("tools/worker/guard.py", guard.replace(GRACE, "GRACE = 0.5"))


def tampered(path: str, old: str, new: str):
    return lambda course: course.write(path, course.read(path).replace(old, new, 1))


# What is asked or damaged, the arguments, the exit code, how the message begins (its first line)
USAGE = [
    ("missing day", nothing, ["week1/day99"], 4, "ERROR: There is no day or kata 'week1/day99'."),
    (
        "no such answers",
        nothing,
        ["week1/day1", "--answers=refrence"],
        4,
        "ERROR: --answers=refrence: there is no such folder. Use reference, wrong:UNIT/NAME or a folder.",
    ),
    (
        "answers without this day",
        nothing,
        ["week1/day1", "--answers=tools"],
        4,
        "ERROR: --answers=tools: it has no week1/day1/numpy_baseline.py.",
    ),
    (
        "a page",
        nothing,
        ["week1/day3/explore_warps.py"],
        4,
        "ERROR: week1/day3/explore_warps.py holds no tests; those of its unit: ./course week1/day3",
    ),
    (
        "what bench measures with",
        nothing,
        ["week1/day1/bench_numpy_baseline.py"],
        4,
        "ERROR: week1/day1/bench_numpy_baseline.py holds no tests; those of its unit: ./course week1/day1",
    ),
    (
        "broken day.toml",
        tampered("week1/day1/day.toml", 'title = "', "title = "),
        ["week1/day1"],
        4,
        "ERROR: week1/day1/day.toml:1: not valid TOML: ",
    ),
    (
        "broken day.toml, bare pytest",
        tampered("week1/day0/day.toml", 'title = "', "title = "),
        [],
        4,
        "ERROR: week1/day0/day.toml:1: not valid TOML: ",
    ),
]


AUTHORS_USAGE = [
    (
        "no such wrong answer",
        nothing,
        ["week1/day1", "--answers=wrong:week1/day1/naive_walks"],
        4,
        "ERROR: --answers=wrong:week1/day1/naive_walks: week1/day1 has no wrong answer 'naive_walks'.",
    ),
    (
        "broken wrong.toml",
        tampered("reference/week1/day1/wrong.toml", "[[wrong]]", "[[wrong]"),
        ["week1/day1", "--answers=wrong:week1/day1/naive_forgets_to_return"],
        4,
        "ERROR: --answers=wrong:week1/day1/naive_forgets_to_return: reference/week1/day1/wrong.toml is not valid TOML",
    ),
]
CASES = [pytest.param(*case[1:], id=case[0]) for case in USAGE]
CASES += [pytest.param(*case[1:], id=case[0], marks=needs_solutions) for case in AUTHORS_USAGE]


@pytest.mark.parametrize("harm, args, code, first", CASES)
def test_a_mistaken_request_is_answered_in_a_few_lines(course, harm, args, code, first):
    harm(course)
    course.commit()
    ran = course.pytest(*args)
    assert ran.code == code
    assert ran.lines[0].startswith(first)
    assert len(ran.lines) <= 5 and "Traceback" not in ran.text
    assert course.status() == ""


# What the lesson does, and the message that begins with; the day's other tests are not lost
IMPORTS = [
    ("syntax error", at_import("def broken(:"), f"{LESSON}, line BLOCK: SyntaxError: invalid syntax"),
    ("raises", at_import("1 / 0"), f"{LESSON}, line BLOCK: ZeroDivisionError: division by zero"),
    ("calls sys.exit", at_import("import sys; sys.exit(0)"), f"{LESSON}, line BLOCK: SystemExit: 0"),
    ("loops for ever", at_import("while True: pass"), f"{LESSON}: importing it does not end."),
    ("segfaults", at_import("import ctypes; ctypes.string_at(0)"), f"{LESSON} cannot be imported: "),
]


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
@pytest.mark.parametrize("harm, first", [case[1:] for case in IMPORTS], ids=[case[0] for case in IMPORTS])
def test_a_lesson_that_cannot_be_imported_is_one_short_error(course, harm, first, how):
    harm(course)
    course.commit()
    ran = course.pytest("week1/day1", "-o", "course_limit=1", *how)
    assert ran.code == 2
    assert message(ran)[0].startswith(first.replace("BLOCK", str(block_line())))
    assert len(message(ran)) <= 5 and "Traceback" not in ran.text and str(course.folder) not in ran.text
    assert course.status() == ""


CALLS = [
    ("calls sys.exit", in_flops("import sys; sys.exit(0)"), "It raised SystemExit: 0"),
    ("ends Python", in_flops("import os; os._exit(0)"), "It took its process down: "),
    ("loops for ever", in_flops("while True: pass"), "It did not end within 1 s."),
    ("hangs in native code", in_flops("return sum(iter(int, 1))"), "It did not end within 1 s."),
    (
        "segfaults",
        in_flops("import ctypes; return ctypes.string_at(0)"),
        "It took its process down: segmentation fault (signal 11).",
    ),
    ("recurses for ever", in_flops("return matmul_flops(m, n, k)"), "It raised RecursionError: maximum recursion"),
    ("prints a megabyte", in_flops("print('x' * 2**20); return 1"), "matmul_flops(m="),
]


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
@pytest.mark.parametrize("harm, first", [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_a_lesson_that_misbehaves_fails_its_test_and_no_other(course, harm, first, how):
    harm(course)
    end_soon(course)
    course.commit()
    ran = course.pytest("week1/day1", "-o", "course_limit=1", "-k", "flops", *how)
    assert ran.code == 1
    assert any(line.startswith(first) for line in message(ran))
    assert len(message(ran)) <= 5 and "Traceback" not in ran.text and str(course.folder) not in ran.text
    assert "failed" in ran.lines[-1]
    assert course.status() == ""


@pytest.mark.parametrize("how", [[], ["--remote"]], ids=["direct", "remote"])
def test_a_lesson_that_forks_is_reported_once(course, how):
    in_flops("import os; os.fork(); return 2 * m * n * k")(course)
    ran = course.pytest("week1/day1", "-k", "flops_count", *how)
    assert ran.code == 0
    assert ran.text.count("1 passed") == 1


def test_a_read_only_checkout_runs_and_says_that_progress_is_not_kept(course):
    if os.geteuid() == 0:
        (course.folder / ".course").write_text("a file where the folder should be")  # root may write anywhere else
    else:
        course.folder.chmod(0o555)
    ran = course.pytest("week1/day1", "-k", "flops")
    course.folder.chmod(0o755)
    assert ran.code == 1
    assert "Progress is not kept in .course/progress.json" in ran.text and "Traceback" not in ran.text


def message(ran) -> list[str]:
    """The failure's own lines: what follows ERROR, and those indented below it or FAILED."""
    start = next(i for i, line in enumerate(ran.lines) if line.startswith(("FAILED", "ERROR")))
    lines = [ran.lines[start].removeprefix("ERROR ")] if ran.lines[start].startswith("ERROR") else []
    for line in ran.lines[start + 1 :]:
        if not line.startswith("  "):
            break
        lines.append(line.strip())
    return lines
