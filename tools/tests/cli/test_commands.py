"""Whatever a command is asked, it answers with an exit code and at most five lines, never a traceback."""

import subprocess
import sys
import types

import pytest

from tools import ROOT
from tools.cli import complain
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
def test_bad_input_ends_with_exit_code_2_and_a_line_that_names_it(tmp_path, capsys, damage, arguments, first_line):
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
    ("arguments", "begins", "more"),
    [
        ("reset", "Missing argument 'DAY'", "course reset"),
        ("quiz week1/day1 week1/day2", "Got unexpected extra argument", "course quiz"),
        ("statsu", "No such command 'statsu'", "course"),
        ("status --week", "No such option: --week", "course status"),
    ],
)
def test_a_command_line_that_typer_refuses_is_answered_with_where_to_read_more(
    tmp_path, capsys, arguments, begins, more
):
    assert main(arguments.split(), tmp_path) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 2)
    assert printed.err.startswith(begins)
    assert printed.err.endswith(f"\n./{more} --help tells more.\n")


def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path, capsys, monkeypatch):
    course(tmp_path)

    def interrupted(root):
        raise KeyboardInterrupt

    monkeypatch.setattr("tools.cli.status.show", interrupted)
    assert main(["status"], tmp_path) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_on_a_terminal_a_complaint_is_set_in_80_columns(capsys, monkeypatch):
    text = "word " * 29 + "word\n" + "x" * 100
    complain(text)
    assert capsys.readouterr().err == text + "\n"  # a pipe gets the line whole
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    complain(text)
    assert list(map(len, capsys.readouterr().err.splitlines())) == [79, 69, 100]  # no word is broken


def test_a_folder_without_a_course_says_so(tmp_path, capsys):
    assert main(["status"], tmp_path) == 2
    assert capsys.readouterr().err == "There is no day here: no file week1/day0/day.toml, nor any other day.\n"


def test_a_broken_day_does_not_spoil_the_quiz_of_another(tmp_path, capsys, monkeypatch):
    course(tmp_path)
    break_toml(tmp_path)
    monkeypatch.setattr("builtins.input", lambda prompt: "q")
    assert main(["quiz", "week1/day1"], tmp_path) == 0


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"\n  {command} " in printed for command in ("next", "status", "watch", "quiz", "check"))


def test_without_a_command_it_tells_what_is_next(tmp_path, capsys):
    course(tmp_path)
    assert main([], tmp_path) == 0
    alone = capsys.readouterr().out
    assert main(["next"], tmp_path) == 0
    assert capsys.readouterr().out == alone
    assert "./course watch week1/day1" in alone


OF_A_DAY = ["hint", "watch", "quiz", "reset", "count", "compiled", "show", "bench", "profile", "note", "notebook"]


@pytest.mark.parametrize("command", OF_A_DAY)
def test_every_command_of_a_day_refuses_one_that_does_not_exist(tmp_path, capsys, command):
    course(tmp_path)
    assert main([command, "week1/day9"], tmp_path) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.splitlines()[0]) == (
        "",
        "There is no day or kata 'week1/day9'. Did you mean week1/day2?",
    )


@pytest.mark.parametrize(
    "arguments", [[], ["week1/day1"], ["--only", "units", "-x", "week1/day1"], ["--help"], ["--unknown=3"]]
)
def test_check_hands_all_its_arguments_on_and_its_exit_code_back(monkeypatch, arguments):
    seen = []
    stand_in = types.ModuleType("tools.selfcheck")
    stand_in.main = lambda argv: seen.append(argv) or 3
    monkeypatch.setitem(sys.modules, "tools.selfcheck", stand_in)
    monkeypatch.setattr("tools.selfcheck", stand_in, raising=False)
    assert main(["check", *arguments]) == 3
    assert seen == [arguments]


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_typer_or_rich_every_command_says_in_one_line_what_works(package):
    script = (
        f"import sys; sys.modules[{package!r}] = None; from tools.cli.__main__ import main; "
        "print([main(command) for command in ([], ['status'], ['quiz', 'week1/day1'], ['check'])])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
    line = f"This command needs {package}; lessons run without it: python3 -m pytest week1/day1\n"
    assert (run.stdout, run.stderr) == ("[2, 2, 2, 2]\n", 4 * line)
