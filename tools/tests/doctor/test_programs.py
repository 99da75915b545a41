"""What the doctor says of programs, on pretended machines: a PATH of stand-ins, and files below a folder."""

import os
import shutil
import sys

import pytest

from tools.doctor import programs
from tools.doctor.programs import PROGRAMS, Place, examine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell for the stand-ins; this is Windows")

BY_NAME = {program.name: program for program in PROGRAMS}
NO_COUNTERS = "echo '   <not supported>      instructions' >&2"
ADMIN_ONLY = "RmProfilingAdminOnly: 1\n"
ORDINARY, ROOT = "CapEff:\t0000000000000000\n", "CapEff:\t000001ffffffffff\n"
IN_DOCKER = "CapEff:\t00000000a80425fb\n"  # root in a container that was given nothing more
PERFMON = "CapEff:\t0000004000000000\n"


class Machine:
    """A machine of stand-ins: program(name, what its shell does), file(path, text)."""

    def __init__(self, folder):
        self.bin, self.slash = folder / "bin", folder / "slash"
        self.bin.mkdir()
        self.slash.mkdir()

    def program(self, name, script="exit 0"):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return self

    def file(self, path, text=""):
        place = self.slash / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return self

    @property
    def place(self):
        def ask(command, seconds):
            return programs.ask([self.find(command[0]) or str(self.bin / command[0]), *command[1:]], seconds)

        return Place(self.slash, "linux", self.find, ask)

    def find(self, name):
        return shutil.which(name, path=str(self.bin))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv/bin/python"))  # no program beside it
    monkeypatch.setattr(programs, "_is_root", lambda: False)
    return Machine(tmp_path)


def found(machine, name, has_gpu=False):
    return examine(BY_NAME[name], machine.place, has_gpu)


@pytest.mark.parametrize(
    "name, prints, version",
    [
        ("g++", "g++ (Debian 12.2.0-14) 12.2.0\nCopyright (C) 2022", "12.2.0"),
        ("clang++", "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu", "14.0.6"),
        ("nvcc", "Built on Wed_Aug_20_01:58:59_PM_PDT_2025\nCuda compilation tools, release 13.0, V13.0.88", "13.0"),
        ("ncu", "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)", "2025.3.1.0"),
        ("nsys", "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0", "2025.3.2.474"),
        ("valgrind", "valgrind-3.19.0", "3.19.0"),
        ("gdb", "GNU gdb (Debian 13.1-3) 13.1", "13.1"),
    ],
)
def test_a_program_that_is_here_is_told_with_its_version(machine, name, prints, version):
    machine.program(name, f"cat <<'END'\n{prints}\nEND")
    finding = found(machine, name)
    assert (finding.state, finding.found, finding.remedy) == ("ok", version, "")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_one_that_is_not_here_can_wait_and_says_what_for_and_how_to_get_it(machine, program):
    finding = examine(program, machine.place, True)
    assert finding.state == "missing"
    assert finding.found == f"not here; for {program.use}"
    assert finding.remedy


@pytest.mark.parametrize(
    "installer, command",
    [
        ("apt-get", "sudo apt install g++"),
        ("dnf", "sudo dnf install gcc-c++"),
        ("pacman", "sudo pacman -S gcc"),
        ("brew", "brew install gcc"),
        (None, "Install it from your system's packages."),
    ],
)
def test_the_remedy_is_a_command_of_this_system(machine, installer, command):
    if installer:
        machine.program(installer)
    assert found(machine, "g++").remedy == command


def test_root_needs_no_sudo(machine, monkeypatch):
    monkeypatch.setattr(programs, "_is_root", lambda: True)
    assert found(machine.program("apt-get"), "valgrind").remedy == "apt install valgrind"


def test_one_that_hides_from_path_is_found_and_the_path_mended(machine):
    machine.file("usr/local/cuda/bin/ncu")
    finding = found(machine, "ncu", has_gpu=True)
    assert finding.found.startswith("not on PATH")
    assert finding.remedy == f'export PATH="$PATH:{machine.slash}/usr/local/cuda/bin"'


def test_one_that_hangs_is_said_to_be_silent(machine, monkeypatch):
    monkeypatch.setattr(programs, "SECONDS", 0.2)
    finding = found(machine.program("gdb", "sleep 60"), "gdb")
    assert finding.state == "missing"
    assert finding.found.startswith("here, but silent")


def test_one_that_does_not_run_says_its_last_words(machine):
    machine.program("gdb", "echo gdb: libpython3.11.so: cannot open shared object file >&2; exit 127")
    finding = found(machine, "gdb")
    assert finding.state == "missing"
    assert "here, but does not run: gdb: libpython3.11.so" in finding.found


# May it do its work? ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params, status, may",
    [
        ("", ORDINARY, True),  # the driver does not say so: then nothing is reserved
        ("RmProfilingAdminOnly: 0\n", ORDINARY, True),
        (ADMIN_ONLY, ORDINARY, False),
        (ADMIN_ONLY, IN_DOCKER, False),
        (ADMIN_ONLY, ROOT, True),
        (ADMIN_ONLY, PERFMON, True),
    ],
)
def test_ncu_may_count_where_the_driver_lets_this_process(machine, params, status, may):
    machine.file("proc/driver/nvidia/params", f"EnableMSI: 1\n{params}")
    machine.file("proc/self/status", f"Name:\tsh\n{status}")
    finding = found(machine.program("ncu", "echo Version 2025.3.1.0"), "ncu", has_gpu=True)
    assert finding.state == ("ok" if may else "missing")
    assert ("ERR_NVGPUCTRPERM" in finding.found) is not may
    assert bool(finding.remedy) is not may


def test_without_a_gpu_nobody_asks_whether_ncu_may_count(machine):
    machine.file("proc/driver/nvidia/params", ADMIN_ONLY).program("ncu", "echo Version 2025.3.1.0")
    assert found(machine, "ncu").state == "ok"


def test_how_ncu_comes_to_count_differs_in_a_container(machine):
    machine.file("proc/driver/nvidia/params", ADMIN_ONLY).program("ncu", "echo Version 2025.3.1.0")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in found(machine, "ncu", has_gpu=True).remedy
    machine.file(".dockerenv")
    assert found(machine, "ncu", has_gpu=True).remedy == "Start the container with --cap-add=SYS_ADMIN."


@pytest.mark.parametrize(
    "does, state, words",
    [
        ("echo '  1,234  instructions' >&2", "ok", "6.1"),
        (NO_COUNTERS, "missing", "no counters"),
        ("echo 'Access to performance monitoring is limited' >&2; exit 255", "missing", "may not count"),
    ],
)
def test_perf_is_asked_to_count_one_program(machine, does, state, words):
    finding = found(machine.program("perf", f"case $1 in --version) echo perf version 6.1;; *) {does};; esac"), "perf")
    assert finding.state == state
    assert words in finding.found
    assert bool(finding.remedy) == (state == "missing")


@pytest.mark.parametrize(
    "script, state, words",
    [
        ("exit 0", "ok", "cc -fopenmp"),
        ("echo unsupported option >&2; exit 1", "missing", "cc does not know -fopenmp"),
        (None, "missing", "no C compiler"),
    ],
)
def test_openmp_is_what_the_compiler_says(machine, script, state, words):
    if script:
        machine.program("cc", script)
    finding = programs.check_openmp(machine.place)
    assert finding.state == state
    assert words in finding.found
