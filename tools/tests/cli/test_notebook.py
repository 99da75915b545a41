"""course notebook writes a file, or says in a few lines why not."""

import json

import pytest

from tools.cli import notebook
from tools.cli.__main__ import main
from tools.tests.course.versions import under_git


@pytest.fixture
def root(tmp_path):
    return under_git.begin(tmp_path / "course", "week1/day1", "week1/day2")


def test_the_notebook_of_the_current_day_is_written_where_the_learner_stands(root, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_FROM", raising=False)
    assert main(["notebook"], root) == 0
    cells = json.loads((tmp_path / "small.ipynb").read_text())["cells"]
    assert "".join(cells[0]["source"]).startswith("# week1/day1: Small")
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["small.ipynb:", "week1/day1, Small."]
    assert "no remote called origin" in printed[-1]
    assert all(len(line) <= 80 for line in printed)


def test_the_file_can_be_named_and_the_address_is_said(root, tmp_path, capsys):
    under_git.git(root, "remote", "add", "origin", "git@github.com:ada/course.git")
    assert notebook.run("week1/day2", root, output=tmp_path / "x.ipynb") == 0
    printed = capsys.readouterr().out
    assert "its first cell fetches https://github.com/ada/course\n" in printed
    assert "git push -u origin HEAD" in printed  # the branch is not there yet
    assert (tmp_path / "x.ipynb").exists()


def test_a_solution_needs_the_authors_edition(root, tmp_path, capsys):
    assert notebook.run("week1/day1", root, solution=True, output=tmp_path / "x.ipynb") == 2
    assert "Solutions come with the authors' edition of the course." in capsys.readouterr().err
    assert not (tmp_path / "x.ipynb").exists()


def test_a_lesson_with_a_syntax_error_is_named_with_its_line(root, tmp_path, capsys):
    lesson = root / "week1/day1/small.py"
    lesson.write_text('"""Week 1, day 1: small"""\n\ndef double(:\n')
    assert notebook.run("week1/day1", root, output=tmp_path / "x.ipynb") == 2
    assert capsys.readouterr().err.startswith("week1/day1/small.py, line 3: ")


def test_a_notebook_that_was_worked_in_is_not_made_anew(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_FROM", str(tmp_path))
    assert main(["notebook"], root) == main(["notebook"], root) == 0
    file = tmp_path / "small.ipynb"
    file.write_text(file.read_text().replace('"outputs": []', '"outputs": [1]', 1))
    worked_in = file.read_bytes()
    assert main(["notebook"], root) == 2
    assert file.read_bytes() == worked_in
    assert "it stays as it is.\nMove it away, or name another file.\n" in capsys.readouterr().err
    assert main(["notebook", "--output", "other.ipynb"], root) == 0
