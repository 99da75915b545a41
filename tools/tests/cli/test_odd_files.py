"""Whatever a lesson, a day.toml or a name is, each command answers in a few plain lines and never with a traceback."""

import io
import shutil

import pytest

from tools import gpu
from tools.cli.__main__ import main
from tools.tests.cli import kernels
from tools.tests.course.versions import under_git

LESSON, TOML = "week1/day1/small.py", "week1/day1/day.toml"


def replaced(before: bytes, after: bytes):
    return lambda file: file.write_bytes(file.read_bytes().replace(before, after, 1))


def folder(file):
    file.unlink()
    file.mkdir()


def loop(file):
    file.unlink()
    file.symlink_to(file.name)


def utf_16(file):
    file.write_bytes(file.read_text(encoding="utf-8").encode("utf-16"))


DAMAGE = {
    "Latin-1": replaced(b"small", b"caf\xe9"),
    "a byte order mark": lambda file: file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes()),
    "CRLF": lambda file: file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n")),
    "a null byte": lambda file: file.write_bytes(file.read_bytes() + b"\0"),
    "UTF-16": utf_16,
    "a folder": folder,
    "a loop": loop,
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
}
COMMANDS = [
    "next",
    "status",
    "kata",
    "hint week1/day1",
    "quiz week1/day1",
    "count week1/day1",
    "show week1/day1",
    "compiled week1/day1",
    "note week1/day1",
    "review week1",
    "reset week1/day1",
    "report --output r.html",
    "notebook week1/day1 --output n.ipynb",
]


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A course of one day under git."""
    root = tmp_path_factory.mktemp("template")
    under_git.begin(root, "week1/day1")
    kernels.write_day(root)
    (root / TOML).write_text((root / TOML).read_text().replace('"Small"', '"Small" # small'))
    under_git.commit(root)
    return root


@pytest.fixture
def root(template, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("COURSE_FROM", str(tmp_path))
    monkeypatch.setenv(gpu.SIMULATE, "1")
    return shutil.copytree(template, tmp_path, dirs_exist_ok=True)


def answers(command: str, root, capsys, monkeypatch) -> tuple[int, str]:
    """The exit code, and what was said on standard error."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    code = main(command.split(), root)
    said = capsys.readouterr().err
    assert code in (0, 1, 2) and len(said.splitlines()) <= 5 and "Traceback" not in said
    assert "codec" not in said and "Errno" not in said
    return code, said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("file", [LESSON, TOML])
@pytest.mark.parametrize("damage", DAMAGE)
def test_each_command_answers(damage, file, command, root, capsys, monkeypatch):
    DAMAGE[damage](root / file)
    answers(command, root, capsys, monkeypatch)


@pytest.mark.parametrize("command", ["count week1/day1", "show week1/day1", "notebook week1/day1 --output n.ipynb"])
@pytest.mark.parametrize(
    "damage, says",
    [
        ("Latin-1", f"{LESSON}, line 1: byte 0xe9 is not UTF-8; save the lesson as UTF-8.\n"),
        ("a null byte", f"{LESSON}, line 33: a null byte is no text; delete it.\n"),
        ("UTF-16", f"{LESSON}, line 1: byte 0xff is not UTF-8; save the lesson as UTF-8.\n"),
        ("a folder", f"{LESSON}: cannot be read (Is a directory)\n"),
        ("missing", f"{LESSON}: is missing; this brings it back: git restore {LESSON}\n"),
        ("a byte order mark", None),
        ("CRLF", None),
    ],
)
def test_a_lesson_that_is_no_text_is_named_and_one_that_is_does(damage, says, command, root, capsys, monkeypatch):
    DAMAGE[damage](root / LESSON)
    assert answers(command, root, capsys, monkeypatch) == ((0, "") if says is None else (2, says))


@pytest.mark.parametrize(
    "damage, says",
    [
        ("Latin-1", f"{TOML}:1: not UTF-8 text\n"),
        ("CRLF", ""),
        ("a folder", f"{TOML}: cannot be read (Is a directory)\n"),
    ],
)
def test_a_day_toml_likewise(damage, says, root, capsys, monkeypatch):
    DAMAGE[damage](root / TOML)
    assert answers("status", root, capsys, monkeypatch) == (2 if says else 0, says)


LONG = "x" * 300


@pytest.mark.parametrize(
    "command",
    [
        f"hint {LONG}",
        f"hint week1/katas/{LONG}",
        f"start {LONG}",
        f"update {LONG}",
        f"update origin/{LONG}",
        f"review {LONG}",
        f"report --output {LONG}",
        f"notebook --output {LONG}",
        f"show --svg {LONG}",
        f"bench --csv {LONG}",
        f"compiled --chip {LONG}",
        f"reset {LONG}",
        f"quiz {LONG}/{LONG}",
    ],
)
def test_a_name_of_three_hundred_letters_is_answered_plainly(command, root, capsys, monkeypatch):
    code, said = answers(command, root, capsys, monkeypatch)
    assert code == 2 and LONG not in said and max(map(len, said.splitlines())) <= 160


def test_a_task_that_is_no_number_is_said(root, capsys, monkeypatch):
    code, said = answers("hint week1/day1 x", root, capsys, monkeypatch)
    assert (code, said) == (
        2,
        "Invalid value for 'TASK': a task is named by its number.\n./course hint --help tells more.\n",
    )
