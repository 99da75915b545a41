"""./course pages: each page that is made of the course's files says what that command would write."""

import shutil

import pytest

from tools import ROOT
from tools.cli import pages
from tools.cli.__main__ import main
from tools.tests.conftest import needs_solutions

pytestmark = needs_solutions


@pytest.mark.parametrize("path", pages.paths(ROOT))
def test_a_page_is_up_to_date(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    assert text == pages.made(path, text, ROOT), f"{path} is out of date. This writes it anew: ./course pages"


@pytest.fixture
def copy(tmp_path):
    """What pages are made of, without the tools: no lesson is called, so that no week has a running table."""
    for folder in (*ROOT.glob("week*/"), *(ROOT / name for name in ("reference", "docs", "benchmarks"))):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ("README.md", "BENCHMARKS.md"):
        shutil.copy(ROOT / path, tmp_path)
    file = tmp_path / "week1/week.toml"
    file.write_text(file.read_text(encoding="utf-8").partition("\n[journey]")[0] + "\n", encoding="utf-8")
    return tmp_path


def test_only_what_is_out_of_date_is_written_and_named(copy, capsys):
    assert main(["pages"], copy) == 0
    assert capsys.readouterr().out == "Every page is as it should be.\n"
    file = copy / "week1/week.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('"why GPUs?"', '"why?"'), encoding="utf-8")
    assert main(["pages"], copy) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path}: written" for path in ("README.md", "docs/GLOSSARY.md", "BENCHMARKS.md", "week1/README.md")
    ]
    assert (copy / "week1/README.md").read_text(encoding="utf-8").startswith("# Week 1: why?\n\n**Project")


def test_a_broken_day_is_one_line(copy, capsys):
    (copy / "week1/day1/day.toml").write_text("title = ", encoding="utf-8")
    assert main(["pages"], copy) == 2
    assert capsys.readouterr().err == "week1/day1/day.toml:1: not valid TOML: Invalid value\n"


def test_without_solutions_one_line_says_so(copy, capsys):
    shutil.rmtree(copy / "reference")
    assert main(["pages"], copy) == 2
    assert capsys.readouterr().err.startswith("This is the learners' edition")
