"""course profile: each tool's words beside its name, and each missing one once, at the end."""

import pytest

from tools import gpu
from tools.bench import profilers
from tools.bench.profilers import Said
from tools.cli.__main__ import main
from tools.tests.course.content.test_workload import BENCH, small
from tools.tests.course.miniature import make


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv(gpu.SIMULATE, "1")
    monkeypatch.setattr(gpu, "installed_card", lambda: None)


ABSENT = Said("nsys", ("is not on PATH; it comes with Nsight Systems.",), missing=True)


def test_tools_stand_beside_their_words_and_missing_ones_come_once_at_the_end(tmp_path, monkeypatch, capsys):
    unit = small(tmp_path, bench=BENCH.replace('on="cpu"', 'on="gpu"'))
    call = profilers.calls(unit, tmp_path)[0]
    monkeypatch.setattr(profilers, "calls", lambda unit, root: [call, call])
    words = ("add_kernel, 190 us:", "Limited by device memory: 91.0% of its peak.")
    monkeypatch.setattr(profilers, "look", lambda call: iter([Said("ncu", words, call.file(".ncu-rep")), ABSENT]))
    assert main(["profile", "week1/day1"], tmp_path) == 0
    assert (
        capsys.readouterr().out
        == """\
Small (week1/day1)
What follows is simulated, because no GPU was found. A simulator counts, and
knows no time.

double, 8 float32
ncu             add_kernel, 190 us:
                Limited by device memory: 91.0% of its peak.
                In full: double.ncu-rep

double, 8 float32
ncu             add_kernel, 190 us:
                Limited by device memory: 91.0% of its peak.
                In full: double.ncu-rep

nsys            is not on PATH; it comes with Nsight Systems.

All files: .course/profiles/week1-day1
"""
    )


def test_a_function_that_is_not_written_is_told_and_the_others_go_on(tmp_path, capsys):
    gap = BENCH.replace('"double"', '"halve"').replace('on="cpu"', 'on="gpu"')
    small(tmp_path, bench=gap + BENCH.replace("WORKLOADS = (", "WORKLOADS += ("))
    assert main(["profile", "week1/day1"], tmp_path) == 1
    said = capsys.readouterr().out
    assert "halve, 8 float32\nweek1/day1/small.py, line 21: halve, of task 1, is not written yet.\n" in said
    assert "double, 8 float32\ncProfile        " in said


def test_a_day_of_the_cpu_is_not_called_simulated(tmp_path, capsys):
    small(tmp_path)
    assert main(["profile", "week1/day1"], tmp_path) == 0
    said = capsys.readouterr().out
    assert "simulated" not in said and "of small.py" in said


def test_a_lesson_that_crashes_the_simulator_is_a_line_and_no_traceback(tmp_path, capsys):
    lesson = "import os\n\n\ndef double(x):\n    os._exit(3)\n"
    small(tmp_path, lesson=lesson, bench=BENCH.replace('on="cpu"', 'on="gpu"'))
    assert main(["profile", "week1/day1"], tmp_path) == 0
    assert "simulated       The simulator failed (exit status 3): it said nothing\n" in capsys.readouterr().out


def test_a_day_without_workloads_says_so(tmp_path, capsys):
    make(tmp_path)
    assert main(["profile", "week1/day1"], tmp_path) == 2
    assert (
        capsys.readouterr().err == "week1/day1 has no function for ./course profile. To work it: ./course week1/day1\n"
    )


def test_no_line_is_longer_than_80_columns(tmp_path, monkeypatch, capsys):
    small(tmp_path)
    monkeypatch.setattr(profilers, "look", lambda call: iter([Said("torch.profiler", ("word " * 50,))]))
    main(["profile", "week1/day1"], tmp_path)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
