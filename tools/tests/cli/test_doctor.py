"""course doctor prints every finding in 80 columns, ends with the verdict, and its exit code is for scripts."""

import os
import subprocess
import sys
import time

import pytest

from tools import ROOT
from tools.cli import doctor
from tools.cli.__main__ import main
from tools.doctor import run
from tools.doctor.findings import Finding
from tools.doctor.run import Group

WELL = Group("Python", (Finding("Python", "real", "3.12.4"), Finding("GPU", "simulated", "no GPU in use")))
LACKING = Group("Programs", (
    Finding("ncu", "missing", "2025.3.1.0, but may not count (ERR_NVGPUCTRPERM)",
            "as root, or for everyone after a restart:\n  echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 |\n"
            "    sudo tee /etc/modprobe.d/nvidia-counters.conf"),
    Finding("packages", "ok", ", ".join(["pytest-xdist 3.8.0"] * 5)),
))  # fmt: skip
BOTH = "cupy-cuda12x and cupy-cuda13x are both installed"
BROKEN = Group("GPU", (Finding("CuPy", "problem", BOTH, "pip uninstall cupy-cuda12x"),))


@pytest.fixture(autouse=True)
def a_course_in_eighty_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "pyproject.toml").touch()


def pretend(monkeypatch, *groups):
    monkeypatch.setattr(run, "examine", lambda here: iter(groups))


def test_what_is_missing_is_said_with_what_to_do_and_lessons_run(tmp_path, monkeypatch, capsys):
    pretend(monkeypatch, WELL, LACKING)
    assert main(["doctor"], tmp_path) == 0
    assert (
        capsys.readouterr().out
        == """\
Python
  Python              ok         3.12.4
  GPU                 simulated  no GPU in use

Programs
  ncu                 missing    2025.3.1.0, but may not count
                                 (ERR_NVGPUCTRPERM)
                   as root, or for everyone after a restart:
                     echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 |
                       sudo tee /etc/modprobe.d/nvidia-counters.conf
  packages            ok         pytest-xdist 3.8.0, pytest-xdist 3.8.0,
                                 pytest-xdist 3.8.0, pytest-xdist 3.8.0,
                                 pytest-xdist 3.8.0

Lessons run here. 1 line above says "missing": that can wait.
"""
    )


def test_a_problem_is_named_at_the_end_and_the_exit_code_is_1(tmp_path, monkeypatch, capsys):
    pretend(monkeypatch, WELL, BROKEN, LACKING)
    assert main(["doctor"], tmp_path) == 1
    printed = capsys.readouterr().out
    assert "  CuPy                problem    cupy-cuda12x and cupy-cuda13x are both\n" in printed
    assert printed.splitlines()[-1] == "1 problem to mend before lessons run: CuPy."


def test_where_nothing_is_missing_it_says_so(tmp_path, monkeypatch, capsys):
    pretend(monkeypatch, WELL)
    assert main(["doctor"], tmp_path) == 0
    assert capsys.readouterr().out.endswith("\nLessons run here, and nothing is missing.\n")


def test_groups_are_shown_when_they_come(tmp_path, monkeypatch, capsys):
    def come(here):
        yield WELL
        assert "simulated  no GPU in use" in capsys.readouterr().out
        yield LACKING

    monkeypatch.setattr(run, "examine", come)
    assert doctor.run(tmp_path) == 0


def test_outside_of_a_course_it_cannot_run(tmp_path, capsys):
    (tmp_path / "pyproject.toml").unlink()
    assert doctor.run(tmp_path) == 2
    assert capsys.readouterr().err == f"There is no course here: no file pyproject.toml in {tmp_path}.\n"


def test_ctrl_c_ends_it_in_one_line(tmp_path, monkeypatch, capsys):
    def interrupted(here):
        yield WELL
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "examine", interrupted)
    assert doctor.run(tmp_path) == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_this_machine_through_a_pipe_in_eighty_columns_and_reasonable_time():
    began = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "tools.cli", "doctor"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"COLUMNS": "80"},
    )
    assert time.monotonic() - began < 120  # three seconds where nothing else runs
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    assert lines[0] == "Python"
    for name in ("NumPy", "CUDA simulator", "git", "GPU"):
        assert any(line.startswith(f"  {name} ") for line in lines)
    assert max(len(line) for line in lines if "/" not in line) <= 80
    assert "\x1b" not in ran.stdout


def test_without_color_stays_without_and_a_terminal_gets_it(tmp_path, monkeypatch, capsys):
    pretend(monkeypatch, WELL)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert main(["doctor"], tmp_path) == 0
    assert "\x1b[32mok" in capsys.readouterr().out
