"""What a command did not write is never overwritten, nor what was changed since; all other files are."""

import json
import os
from pathlib import Path

import pytest

from tools.cli import files
from tools.cli.__main__ import main
from tools.cli.files import NotWritten
from tools.tests.cli import kernels
from tools.tests.course.versions import under_git

COMMANDS = {  # each writes a file when it ends with 0
    "notebook": ["notebook", "week1/day1", "--output"],
    "report": ["report", "--output"],
    "show": ["show", "week1/day1", "--svg"],
    "bench": ["bench", "week1/day1", "--csv"],
}


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CI", "true")
    root = under_git.begin(tmp_path / "course", "week1/day1")
    kernels.write_day(root)
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_the_course_wrote_is_written_anew(command, root, tmp_path):
    file = tmp_path / "file"
    for _ in range(2):
        assert main([*COMMANDS[command], str(file)], root) == 0
        assert file.stat().st_size


@pytest.mark.parametrize("command", COMMANDS)
def test_one_that_was_changed_since_stays_as_it_is(command, root, tmp_path, capsys):
    file = tmp_path / "file"
    assert main([*COMMANDS[command], str(file)], root) == 0
    file.write_text(file.read_text() + "mine")
    before = file.read_bytes()
    capsys.readouterr()
    assert main([*COMMANDS[command], str(file)], root) == 2
    assert file.read_bytes() == before
    assert capsys.readouterr() == (
        "",
        f"{file} is there, and not as this course wrote it: it stays as it is.\nMove it away, or name another file.\n",
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_one_that_the_course_never_wrote_stays_as_it_is(command, root, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert main([*COMMANDS[command], str(file)], root) == 2
    assert file.read_text() == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_that_is_not_there_is_named_before_any_work(command, root, tmp_path, capsys):
    assert main([*COMMANDS[command], str(tmp_path / "no/file")], root) == 2
    assert capsys.readouterr() == (
        "",
        f"{tmp_path / 'no/file'} cannot be written: there is no folder "
        f"{tmp_path / 'no'}.\nMake it, or name another file.\n",
    )


def test_a_name_that_is_too_long_is_said(tmp_path):
    said = r"^x{37}\.\.\. cannot be written \(File name too long\).\nName another file.$"
    with pytest.raises(NotWritten, match=said):
        files.write(tmp_path / ("x" * 300), "text", tmp_path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(NotWritten, match="is a folder.\nName a file in it.$"):
        files.write(tmp_path, "text", tmp_path)


def test_table_and_plot_of_a_bench_cannot_be_one_file(root, tmp_path, capsys):
    assert main(["bench", "week1/day1", "--csv", str(tmp_path / "x"), "--plot", str(tmp_path / "x")], root) == 2
    assert capsys.readouterr() == ("", f"--csv and --plot both name {tmp_path / 'x'}.\nName a file for each.\n")


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    files.write(link, "one", tmp_path)
    files.write(file, "two", tmp_path)
    assert link.is_symlink() and link.read_text() == "two"


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null; nothing to do")
def test_what_is_no_regular_file_takes_the_text(tmp_path):
    files.write(Path("/dev/null"), "text", tmp_path)
    assert not (tmp_path / files.KNOWN).exists()


@pytest.mark.parametrize("damage", ["", "[1]", "{", "{}"])
def test_a_damaged_memory_makes_a_file_the_learners(damage, tmp_path):
    files.write(tmp_path / "file", "text", tmp_path)
    (tmp_path / files.KNOWN).write_text(damage)
    with pytest.raises(NotWritten):
        files.write(tmp_path / "file", "other", tmp_path)


def test_without_a_memory_a_new_file_is_written_all_the_same(tmp_path):
    (tmp_path / ".course").write_text("a file, no folder")
    files.write(tmp_path / "file", "text", tmp_path)
    assert (tmp_path / "file").read_text() == "text"


def test_files_that_are_gone_are_forgotten(tmp_path):
    for name in ("one", "two"):
        files.write(tmp_path / name, "text", tmp_path)
    (tmp_path / "one").unlink()
    files.write(tmp_path / "two", "text", tmp_path)
    assert list(json.loads((tmp_path / files.KNOWN).read_text())) == [str((tmp_path / "two").resolve())]


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "file"
    files.write(file, "old", tmp_path)

    def full(old, new):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NotWritten, match=r"cannot be written \(No space left on device\).\nName another file.$"):
        files.write(file, "new", tmp_path)
    assert file.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".course", "file"]


@pytest.mark.parametrize("command", [["profile", "week1/day1"], ["compiled", "week1/day1", "--mlir"]])
def test_a_command_whose_own_folder_cannot_be_written_says_so_first(command, root, capsys):
    (root / ".course").write_text("a file, no folder")
    assert main(command, root) == 2
    folder = ".course/profiles/week1-day1" if command[0] == "profile" else ".course/compiled/week1/day1"
    assert capsys.readouterr() == (
        "",
        f"This command keeps its files in {folder}, which cannot be written (Not a directory).\n",
    )
