"""The published figures agree with what was measured."""

import json

import pytest

from tools import ROOT
from tools.bench import __main__ as command
from tools.bench import page, record

FILES = sorted((ROOT / "benchmarks").glob("*.json"))


def test_the_page_says_what_the_files_say():
    assert page.FILE.read_text(encoding="utf-8") == page.text(), "run: python -m tools.bench page"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_names_card_versions_date_command_and_three_runs_of_each_contest(file):
    found = json.loads(file.read_text(encoding="utf-8"))
    assert all(found[key] for key in ("card", "driver", "date", "versions", "command"))
    assert all(len(contest["runs"]) == record.RUNS and min(map(len, contest["runs"])) >= 11
               for contest in found["contests"])


def test_a_row_shows_the_worst_run_and_the_bandwidth():
    contest = {"unit": "week9/day1", "function": "f", "shape": "8", "rival": "g", "moved": 4_000_000_000,
               "runs": [[[2.0, 1.0]] * 3, [[1.0, 1.0]] * 3, [[1.0, 3.0]] * 3]}
    assert page._row(contest) == "| week9/day1 | `f` | 8 | `g` | 0.500 | 0.500, 1.000, 3.000 | 4 |"


def test_recording_without_a_gpu_is_refused(monkeypatch):
    monkeypatch.setattr(record.gpu, "card", lambda: None)
    with pytest.raises(RuntimeError, match="No GPU here: nothing was measured."):
        record.everything()


def test_an_unknown_command_shows_the_usage(capsys):
    assert command.main(["measure"]) == 2
    assert capsys.readouterr().err == "usage: python -m tools.bench record FILE | page\n"
