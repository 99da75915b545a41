"""The published figures agree with what was measured."""

import json
import re
from dataclasses import replace

import pytest

from tools import ROOT
from tools.bench import __main__ as command
from tools.bench import contest, journey, page, record
from tools.check import timing
from tools.course.content import week_file
from tools.course.content.workload import workloads
from tools.tests.course.content.test_workload import small

FILES = sorted((ROOT / "benchmarks").glob("*.json"))


def test_a_running_table_has_a_row_for_each_step():
    weeks = [week for week in week_file.weeks() if week.journey]
    assert weeks
    for week in weeks:
        page = (ROOT / week.name / "README.md").read_text(encoding="utf-8")
        table = page.partition("<!-- journey -->")[2].partition("<!-- end of journey -->")[0]
        assert len(re.findall(r"^\| (\d|kata) \|", table, re.M)) == len(week.journey.steps)


def test_a_step_that_nobody_measured_is_named():
    [week] = [week for week in week_file.weeks() if week.name == "week1"]
    unmeasured = replace(week.journey.steps[0], function="matmul_by_hand")
    week = replace(week, journey=replace(week.journey, steps=(unmeasured,)))
    with pytest.raises(week_file.BrokenCourseFile) as raised:
        journey.page(week, "")
    assert str(raised.value) == (
        "week1/week.toml: journey: matmul_by_hand of week1/day1 is not in benchmarks/h200*.json"
    )


def test_a_table_whose_steps_predict_no_bytes_shows_the_worst_ratio():
    [week] = [week for week in week_file.weeks() if week.name == "week1"]
    step = replace(week.journey.steps[0], predicted=None)
    runs = [[[2.0, 1.0]] * 3, [[1.0, 3.0]] * 3]
    contest = {"unit": step.unit.name, "function": step.function, "rival": "g", "shape": "8 x 8", "flops": 4e10}
    measured = {"card": "X (9.0)", "host": "Y", "date": "today", "contests": [contest | {"runs": runs}]}
    lines = journey.table(replace(week.journey, steps=(step,)), measured).splitlines()
    assert [cell.strip() for cell in lines[0].split("|")][3] == journey.RATIO
    assert [cell.strip() for cell in lines[2].split("|")][3:5] == ["0.50", "27"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_names_card_versions_date_command_and_three_runs_of_each_contest(file):
    found = json.loads(file.read_text(encoding="utf-8"))
    assert all(found[key] for key in ("card", "driver", "host", "date", "versions", "command"))
    for each in found["contests"]:
        pairs = timing.AT_LEAST if each["on"] == "cpu" else timing.ROUNDS[0]  # a call may take a second there
        assert len(each["runs"]) == record.RUNS and min(map(len, each["runs"])) >= pairs


def test_a_row_shows_the_worst_run_and_the_bandwidth():
    contest = {
        "unit": "week9/day1",
        "function": "f",
        "shape": "8",
        "rival": "g",
        "on": "cpu",
        "moved": 4_000_000_000,
        "flops": 2_000_000_000_000,
        "runs": [[[2.0, 1.0]] * 3, [[1.0, 1.0]] * 3, [[1.0, 3.0]] * 3],
    }
    assert page._row(contest) == ("| week9/day1 *host* | `f` | 8 | `g` | 0.500 | 0.500, 1.000, 3.000 | 4 | 2,000 |")


def test_a_contest_is_recorded_against_the_strongest_rival_pair_by_pair(tmp_path):
    unit = small(tmp_path)
    found = record._contest(unit, workloads(unit)[0])
    assert (found["unit"], found["function"], found["rival"], found["moved"]) == ("week1/day1", "double", "NumPy", 64)
    assert len(found["runs"]) == record.RUNS and min(map(len, found["runs"])) >= timing.AT_LEAST  # 11 where time allows
    assert page._row(found).startswith("| week1/day1 *host* | `double` | 8 float32 | `NumPy` |")


def test_the_strongest_rival_is_the_one_with_the_least_median_time():
    assert record.strongest({contest.YOURS: [1.0], "a": [3.0, 3.0, 9.0], "b": [2.0, 2.5, 20.0]}) == "b"


def test_recording_without_a_gpu_is_refused(monkeypatch):
    monkeypatch.setattr(record.gpu, "card", lambda: None)
    with pytest.raises(RuntimeError, match="No GPU here: nothing was measured."):
        record.everything()


def test_an_unknown_command_shows_the_usage(capsys):
    assert command.main(["measure"]) == 2
    assert capsys.readouterr().err == "usage: python -m tools.bench record FILE [UNIT ...]\n"
