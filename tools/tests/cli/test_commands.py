"""Whatever a command is asked, it answers with an exit code and at most five lines, never a traceback."""

import subprocess
import sys
import types

import pytest

from tools import ROOT
from tools.cli.__main__ import main
from tools.tests.course.miniature import DAY, QUIZ, write


def course(root):
    """One day with a quiz, one without; then one file broken in each of several ways."""
    write(root, "week1/day1", day=DAY + QUIZ)
    write(root, "week1/day2")


def break_toml(root):
    write(root, "week1/day3", day='title = "Small"\nminutes = = 30\n')


def break_rule(root):
    write(root, "week1/day3", day=DAY + QUIZ.replace("right = true, ", ""))


def lose_lesson(root):
    (write(root, "week1/day3") / "small.py").unlink()


def put_folder_for_day(root):
    folder = write(root, "week1/day3")
    (folder / "day.toml").unlink()
    (folder / "day.toml").mkdir()


def leave_whole(root):
    pass


NO_RIGHT_CHOICE = "week1/day3/day.toml: quiz 2 has no right choice"
TOML_LINE_2 = "week1/day3/day.toml:2: not valid TOML: Invalid value"
LOST = "week1/day3/small.py: is missing; this brings it back: git restore week1/day3/small.py"
UNREADABLE = "week1/day3/day.toml: cannot be read (Is a directory)"

BAD_INPUT = [
    # damage             arguments          first line
    (leave_whole,        "quiz week1/day9", "There is no day or kata 'week1/day9'. Did you mean week1/day2?"),
    (leave_whole,        "quiz day1",       "There is no day or kata 'day1'. Did you mean week1/day1?"),
    (leave_whole,        "quiz /",          "There is no day or kata '/'. ./course status lists them."),
    (leave_whole,        "quiz week1/day2", "week1/day2 has no quiz. To work it: ./course week1/day2"),
    (break_toml,         "quiz week1/day3", TOML_LINE_2),
    (break_toml,         "status",          TOML_LINE_2),
    (break_rule,         "quiz week1/day3", NO_RIGHT_CHOICE),
    (break_rule,         "status",          NO_RIGHT_CHOICE),
    (lose_lesson,        "quiz week1/day3", LOST),
    (lose_lesson,        "status",          LOST),
    (put_folder_for_day, "quiz week1/day3", UNREADABLE),
    (put_folder_for_day, "status",          UNREADABLE),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "arguments", "first_line"), BAD_INPUT)
def test_bad_input_ends_with_exit_code_2_and_a_line_that_names_it(
    tmp_path, capsys, damage, arguments, first_line
):
    course(tmp_path)
    damage(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert main(arguments.split(), tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == first_line
    assert len(printed.err.splitlines()) <= 5
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        ("quiz", "Missing argument 'DAY'"),
        ("quiz week1/day1 week1/day2", "Got unexpected extra argument"),
        ("statsu", "No such command 'statsu'"),
        ("status --week", "No such option: --week"),
    ],
)
def test_a_command_line_that_typer_refuses_is_answered_in_one_line(tmp_path, capsys, arguments, begins):
    assert main(arguments.split(), tmp_path) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert printed.err.startswith(begins)
    assert printed.err.endswith(" (./course --help lists the commands)\n")


def test_a_folder_without_a_course_says_so(tmp_path, capsys):
    assert main(["status"], tmp_path) == 2
    assert (
        capsys.readouterr().err == "There is no day here: no file week1/day0/day.toml, nor any other day.\n"
    )


def test_a_broken_day_does_not_spoil_the_quiz_of_another(tmp_path, capsys, monkeypatch):
    course(tmp_path)
    break_toml(tmp_path)
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    assert main(["quiz", "week1/day1"], tmp_path) == 0


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_names_every_command(capsys, arguments):
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(f"\n  {command} " in printed for command in ("status", "quiz", "check"))


@pytest.mark.parametrize(
    "arguments", [[], ["week1/day1"], ["--only", "units", "-x", "week1/day1"], ["--help"], ["--unknown=3"]]
)
def test_check_hands_all_its_arguments_on_and_its_exit_code_back(monkeypatch, arguments):
    seen = []
    stand_in = types.ModuleType("tools.course.selfcheck")
    stand_in.main = lambda argv: seen.append(argv) or 3
    monkeypatch.setitem(sys.modules, "tools.course.selfcheck", stand_in)
    monkeypatch.setattr("tools.course.selfcheck", stand_in, raising=False)
    assert main(["check", *arguments]) == 3
    assert seen == [arguments]


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_typer_or_rich_every_command_says_in_one_line_what_works(package):
    script = (
        f"import sys; sys.modules[{package!r}] = None; from tools.cli.__main__ import main; "
        "print([main(command) for command in ([], ['status'], ['quiz', 'week1/day1'], ['check'])])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    line = f"This command needs {package}; lessons run without it: python3 -m pytest week1/day1\n"
    assert (run.stdout, run.stderr) == ("[2, 2, 2, 2]\n", 4 * line)
