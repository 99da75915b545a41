"""System, terminal, clock, git and .venv, on pretended machines."""

import io
import os
import shutil
import subprocess
import sys
import time

import pytest

from tools import ROOT
from tools.doctor.programs import Place
from tools.doctor.subprocesses import Reply, ask
from tools.doctor.surroundings import (
    Surroundings,
    check_clock,
    check_environment,
    check_git,
    check_system,
    check_terminal,
)


class Screen(io.StringIO):
    def __init__(self, is_terminal=True, encoding="utf-8"):
        super().__init__()
        self._is_terminal, self._encoding = is_terminal, encoding

    encoding = property(lambda self: self._encoding)

    def isatty(self):
        return self._is_terminal


@pytest.fixture
def here(tmp_path):
    """Surroundings with changes; `slash` holds no file of this machine."""

    def make(**changes):
        place = Place(slash=tmp_path / "slash", system=changes.pop("system", "linux"))
        place = changes.pop("place", place)
        return Surroundings(
            **{
                "root": tmp_path,
                "place": place,
                "environment": {"TERM": "xterm"},
                "screen": Screen(),
                "size": lambda: os.terminal_size((80, 24)),
            }
            | changes
        )

    return make


def put(tmp_path, path, text=""):
    file = tmp_path / "slash" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


# System -------------------------------------------------------------------------------------------


def test_a_plain_linux_is_told_by_its_name(here, tmp_path):
    put(tmp_path, "etc/os-release", 'NAME=x\nPRETTY_NAME="Fedora Linux 43"\n')
    finding = check_system(here())
    assert finding.state == "ok"
    assert finding.found.startswith("Fedora Linux 43, ")
    assert ";" not in finding.found


@pytest.mark.parametrize(
    "files, said, kind",
    [
        ({"proc/version": "Linux version 6.6.87.2-microsoft-standard-WSL2"}, {}, "WSL"),
        ({".dockerenv": ""}, {}, "container"),
        ({"run/.containerenv": ""}, {}, "container"),
        ({}, {"container": "podman"}, "container"),
        ({}, {"SSH_CONNECTION": "10.0.0.1 5 10.0.0.2 22"}, "SSH"),
        ({}, {"COLAB_RELEASE_TAG": "release-colab_20260801"}, "Colab"),
    ],
)
def test_what_the_system_runs_in_is_told(here, tmp_path, files, said, kind):
    for path, text in files.items():
        put(tmp_path, path, text)
    assert f"; {kind}" in check_system(here(environment=said)).found


def test_wsl_is_slow_on_the_files_of_windows_and_that_has_a_remedy(here, tmp_path):
    from pathlib import Path

    put(tmp_path, "proc/version", "Linux version 6.6-microsoft")
    assert check_system(here()).state == "ok"
    slow = check_system(here(root=Path("/mnt/c/course")))
    assert slow.state == "missing"
    assert slow.remedy == "cp -r . ~/course && cd ~/course"


# Terminal -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes, state, words",
    [
        ({}, "ok", "80 x 24, UTF-8, colour"),
        ({"environment": {"TERM": "xterm", "NO_COLOR": ""}}, "ok", "no colour"),
        ({"environment": {"TERM": "dumb"}}, "ok", "no colour"),
        ({"size": lambda: os.terminal_size((60, 20))}, "missing", "60 columns, and tables take 80"),
        ({"screen": Screen(encoding="ascii")}, "missing", "ASCII"),
        ({"screen": Screen(is_terminal=False)}, "ok", "none, UTF-8"),
    ],
)
def test_the_terminal_is_told_by_what_it_can_show(here, changes, state, words):
    finding = check_terminal(here(**changes))
    assert finding.state == state
    assert words in finding.found
    assert bool(finding.remedy) == (state == "missing")


# Clock --------------------------------------------------------------------------------------------


def test_a_clock_behind_the_files_of_the_course_is_found(here, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    assert check_clock(here()).state == "ok"
    assert check_clock(here(now=lambda: time.time() - 3600)).state == "ok"  # files of this very hour
    finding = check_clock(here(now=lambda: 0.0))
    assert finding.state == "missing"
    assert finding.found == "it says 1970-01-01, and files of the course are newer"


# Git ----------------------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    subprocess.run(["git", "init", "-q", "-b", "learner/ada", str(tmp_path)], check=True)
    return tmp_path


def test_git_tells_the_branch_and_whether_it_knows_who_you_are(here, clone):
    finding = check_git(here())
    assert finding.state == "missing"
    assert finding.remedy.startswith("git config user.name")
    subprocess.run(["git", "-C", str(clone), "config", "user.name", "Ada"], check=True)
    finding = check_git(here())
    assert finding.state == "ok"
    assert finding.found.endswith(", branch learner/ada")


def test_a_course_that_is_no_clone_can_become_one(here, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    finding = check_git(here())
    assert finding.state == "missing"
    assert finding.remedy.startswith("git init")


@pytest.mark.parametrize("reply", [Reply(127, "No such file or directory"), Reply(None, "")])
def test_git_that_is_absent_or_silent_can_wait(here, reply):
    finding = check_git(here(place=Place(ask=lambda command, seconds: reply)))
    assert (finding.state, finding.remedy) == ("missing", "https://git-scm.com/downloads")


# .venv --------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path):
    """The files that ./course looks at, with a .venv that it left unfinished."""
    for name in ("course", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/Scripts").mkdir()
    for name in ("bin/python", "Scripts/python.exe"):
        (tmp_path / ".venv" / name).touch()
    (tmp_path / ".venv/course-stamp").write_text("unfinished")
    return tmp_path


def test_without_a_venv_this_python_runs_the_course(here):
    finding = check_environment(here())
    assert finding.state == "ok"
    assert sys.executable in finding.found


def test_a_venv_left_unfinished_is_made_anew_by_a_command(here, checkout):
    finding = check_environment(here())
    assert (finding.state, finding.remedy) == ("missing", "./course --version")
    assert "unfinished" in finding.found


def test_a_venv_of_another_time_is_brought_up_to_date_by_a_command(here, checkout):
    (checkout / ".venv/course-stamp").write_text("0123\nanother Python")
    finding = check_environment(here())
    assert (finding.state, finding.remedy) == ("missing", "./course --version")
    assert "pyproject.toml" in finding.found


def test_a_venv_of_somebody_else_that_lacks_a_package_is_told_with_what_to_do(here, checkout):
    (checkout / ".venv/course-stamp").unlink()
    finding = check_environment(here())
    assert (finding.state, finding.found) == (
        "missing",
        ".venv was not made by ./course, and lacks numpy. It is left alone",
    )
    assert "mv .venv old-venv" in finding.remedy


def test_a_whole_venv_is_well_and_says_when_it_is_not_in_use(here, checkout):
    import runpy

    (checkout / ".venv/course-stamp").write_text(runpy.run_path(str(checkout / "course"))["stamp"]())
    finding = check_environment(here())
    assert finding.state == "ok"
    assert finding.found.startswith("whole, but this is ")


def test_asking_a_real_machine_ends_well(here, tmp_path):
    real = Surroundings(root=tmp_path, place=Place(ask=ask))
    for check in (check_system, check_clock, check_git, check_environment):
        assert check(real).state in ("ok", "missing")
