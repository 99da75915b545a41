"""course bench: what it prints of what was found, what it keeps, and what it ends with."""

import csv
import json
import subprocess
import sys

import pytest

from tools import ROOT, gpu
from tools.bench import classes, machine, runner
from tools.cli import files
from tools.cli.__main__ import main
from tools.course.learner import journal
from tools.tests.bench.test_records import CEILING, MACHINE, counted, record
from tools.tests.course.content.test_workload import BENCH, small
from tools.tests.course.miniature import make


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def happens(monkeypatch, tmp_path):
    """Lets a benchmark of a small day tell these events."""
    small(tmp_path)

    def tell(*events):
        monkeypatch.setattr(runner, "events", lambda unit, root: iter(events))

    return tell


MEASURED = {"event": "ceiling", "on": "cpu", "ceiling": CEILING, "machine": MACHINE}


def timed(*records):
    return [MEASURED, *({"event": "timed", "record": each} for each in records)]


def test_the_largest_size_is_shown_in_full_and_smaller_ones_in_a_line(happens, tmp_path, capsys):
    happens(*timed(record(8), record(16)))
    assert main(["bench", "week1/day1"], tmp_path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [
        "Small (week1/day1)",
        "",
        "double, 16 float32: within 2x",
        "0.50 of the speed of NumPy (0.50 to 0.50)",
        "         time    +-   GB/s  GFLOP/s  ceiling  memory  lines",
        "  yours  2 us  1.0%  0.064    0.008        -       -      5",
        "  NumPy  1 us  1.0%  0.128    0.016        -       -      -",
    ]
    assert lines[8].split() == ["8", "float32", "2", "us", "NumPy", "1", "us", "0.5"]


def test_machine_versions_ceiling_and_the_bounds_of_every_class_are_printed(happens, tmp_path, capsys):
    happens(*timed(record(8)))
    main(["bench", "week1/day1"], tmp_path)
    said = " ".join(capsys.readouterr().out.split())
    assert "a CPU, 2 cores; numpy 2.4.6; 2" in said
    assert "Ceiling, measured here on 2026-11-20: copy 10 GB/s, float32 matmul 100 GFLOP/s." in said
    assert classes.LEGEND in said
    assert "scatter" not in said


def test_times_that_scatter_are_called_so(happens, tmp_path, capsys):
    noisy = record(8)
    noisy["rows"][0]["high"] *= 2
    happens(*timed(noisy))
    main(["bench", "week1/day1"], tmp_path)
    assert "Some times scatter widely" in capsys.readouterr().out


def test_a_rival_left_out_and_a_function_refused_are_told_with_their_reasons(happens, tmp_path, capsys):
    happens(
        *timed(record(8) | {"left_out": {"CuPy": "CuPy raised ImportError."}}),
        {"event": "refused", "function": "halve", "why": "Not written.\nTo work it: ./course week1/day1"},
        {"event": "refused", "function": "quarter", "why": "Not written.\nTo work it: ./course week1/day1"},
    )
    assert main(["bench", "week1/day1"], tmp_path) == 1
    said = capsys.readouterr().out
    assert "CuPy is left out: CuPy raised ImportError.\n" in said
    assert "\nhalve, quarter\nNot written.\nTo work it: ./course week1/day1\n" in said


def simulated():
    bounds = {chip: {"seconds": 1e-3, "limit": "memory"} for chip in ("t4", "a100", "h100", "b200")}
    return counted() | {"largest": "4096 float32", "bounds": bounds}


def test_without_a_gpu_counts_and_a_bound_are_shown_and_no_time(happens, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(gpu, "installed_card", lambda: None)
    happens({"event": "counted", "record": simulated()})
    assert main(["bench", "week1/day1"], tmp_path) == 0
    said = capsys.readouterr().out
    assert "Time is not simulated, and no GPU was found: nothing here was timed.\n" in said
    assert "  double, 8 float32  GPU memory        100     64   1.56         128\n" in said
    assert "A bound from the chips' data sheets, not measured" in said
    assert "  double, 4096 float32  1 ms  1 ms  1 ms  1 ms  memory\n" in said


def test_what_crosses_is_set_against_what_must_cross(happens, tmp_path, capsys):
    happens({"event": "counted", "record": simulated() | {"crossed": 400, "least_crossed": 200}})
    main(["bench", "week1/day1"], tmp_path)
    assert "  double, 8 float32  host link        400    200   2.00           -\n" in capsys.readouterr().out


def test_what_a_library_asks_for_is_not_called_nothing(happens, tmp_path, capsys):
    happens({"event": "counted", "record": simulated() | {"asked": 0, "in_sectors": 0, "library": ["torch.mul"]}})
    main(["bench", "week1/day1"], tmp_path)
    out = capsys.readouterr().out
    assert "  double, 8 float32  GPU memory          -     64      -           -\n" in out
    assert "-: no kernel of yours ran" in out


@pytest.mark.parametrize("columns, widest", [("40", 40), ("80", 80), ("120", 80)])
def test_no_line_is_longer_than_the_screen_and_nothing_is_cut(columns, widest, happens, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    long = record(2**26, function="a_function_with_a_rather_long_name")
    long |= {"shape": "67108864 x 67108864 float32, row-major", "class": "within 2x to holds its own"}
    long["rows"][1]["name"] = long["strongest"]["rival"] = "a rival with a rather long name"
    happens(
        *timed(long, long),
        {"event": "counted", "record": simulated() | {"shape": long["shape"]}},
        {"event": "refused", "function": "halve", "why": "word " * 40},
    )
    main(["bench", "week1/day1"], tmp_path)
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert max(map(len, lines)) <= widest
    assert printed.count("2 us") == printed.count("1 us") == 2
    words = {word.strip(",") for line in lines for word in line.split()}
    assert {"a_function_with_a_rather_long_name", "67108864", "float32", "row-major", "1.56", "memory"} <= words
    assert "…" not in printed
    assert lines == [line.rstrip() for line in lines]


# What is kept -------------------------------------------------------------------------------------


def test_every_record_goes_into_the_journal(happens, tmp_path):
    happens(*timed(record(8), record(16)))
    main(["bench", "week1/day1"], tmp_path)
    entries = journal.read(tmp_path).of("bench", "week1/day1")
    assert [entry.facts["size"] for entry in entries] == [8, 16]
    assert entries[0].facts["machine"] == MACHINE and entries[0].facts["lesson"]
    assert entries[0].facts["ceiling"] == {"bandwidth": 1e10, "peak": 1e11}


def test_a_journal_that_cannot_be_written_is_said_once_and_costs_no_results(happens, tmp_path, capsys):
    (tmp_path / "journal").write_text("a file, no folder", encoding="utf-8")
    happens(*timed(record(8), record(16)))
    assert main(["bench", "week1/day1"], tmp_path) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("journal/journal.jsonl cannot be written (") and printed.err.count("\n") == 1
    assert "double, 16 float32" in printed.out


def test_nothing_is_kept_in_continuous_integration(happens, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", "true")
    happens(*timed(record(8)))
    main(["bench", "week1/day1"], tmp_path)
    assert not (tmp_path / "journal").exists()


def test_csv_and_plot_are_written_where_the_user_says(happens, tmp_path, capsys):
    happens(*timed(record(8), record(16)))
    table, picture = tmp_path / "a.csv", tmp_path / "a.svg"
    assert main(["bench", "week1/day1", "--csv", str(table), "--plot", str(picture)], tmp_path) == 0
    assert len(list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))) == 4
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert f"Written: {table}\nWritten: {picture}\n" in capsys.readouterr().out


def test_a_disk_that_is_full_when_all_is_measured_costs_no_results(happens, tmp_path, capsys, monkeypatch):
    def full(file, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_replace", full)
    happens(*timed(record(8)))
    assert main(["bench", "week1/day1", "--csv", str(tmp_path / "a.csv")], tmp_path) == 2
    printed = capsys.readouterr()
    assert printed.err == (f"{tmp_path / 'a.csv'} cannot be written (No space left on device).\nName another file.\n")
    assert "double, 8 float32" in printed.out
    assert len(journal.read(tmp_path)) == 1


def test_a_plot_of_nothing_is_refused_in_words(happens, tmp_path, capsys):
    happens({"event": "counted", "record": simulated()})
    assert main(["bench", "week1/day1", "--plot", str(tmp_path / "a.svg")], tmp_path) == 0
    assert "No plot: nothing was timed.\n" in capsys.readouterr().out
    assert not (tmp_path / "a.svg").exists()


# What cannot be done ------------------------------------------------------------------------------


def test_a_day_without_workloads_says_so(tmp_path, capsys):
    make(tmp_path)
    assert main(["bench", "week1/day1"], tmp_path) == 2
    assert capsys.readouterr().err == "week1/day1 has no function for ./course bench. To work it: ./course week1/day1\n"


def test_a_broken_bench_file_is_named(tmp_path, capsys):
    small(tmp_path, bench="import no_such_module")
    assert main(["bench", "week1/day1"], tmp_path) == 2
    assert capsys.readouterr().err.startswith("week1/day1/bench_small.py: ModuleNotFoundError")


def test_ctrl_c_ends_it_in_one_line(happens, tmp_path, monkeypatch, capsys):
    def interrupted(unit, root):
        yield MEASURED
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "events", interrupted)
    assert main(["bench", "week1/day1"], tmp_path) == 130
    assert capsys.readouterr().err == "Stopped: nothing was kept.\n"


def test_a_whole_benchmark_through_a_pipe_has_no_bar_and_no_colour(tmp_path):
    small(tmp_path, bench=BENCH)
    key = json.dumps(machine.facts("cpu"), sort_keys=True)
    (tmp_path / ".course").mkdir()
    (tmp_path / machine.FILE).write_text(json.dumps({key: CEILING}), encoding="utf-8")
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pathlib import Path; "
        "from tools.cli.__main__ import main; print(main(['bench', 'week1/day1'], Path.cwd()))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (run.stderr, run.stdout.splitlines()[-1]) == ("", "0")
    assert "\x1b" not in run.stdout and "double, 8 float32: " in run.stdout
