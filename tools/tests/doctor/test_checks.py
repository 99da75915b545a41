"""Each check finds what it is for, says what to do, and leaves a machine without a GPU in peace."""

import re
import subprocess
import sys
import tomllib

import pytest

from tools import ROOT
from tools.doctor import __main__ as plain
from tools.doctor import checks, findings, machine, packages
from tools.doctor.programs import Place
from tools.doctor.subprocesses import Reply
from tools.doctor.surroundings import Surroundings

H200 = {"card": "NVIDIA H200", "capability": [9, 0], "driver": [13, 0], "torch_cuda": [13, 0],
        "packages": {"cupy-cuda13x": "14.2.0", "numba-cuda": "0.20.0"}}  # fmt: skip
CHECKS = (packages.check_imported, *(each for name, each in vars(checks).items() if name.startswith("check_")))
LIBCUDNN = "OSError: libcudnn.so.9: cannot open shared object file"


def examine(check, **changes):
    with machine.pretend(changes) as facts:
        return check(facts)


def test_a_laptop_without_a_gpu_has_no_problem_and_nothing_to_do():
    with machine.pretend({}) as facts:
        for finding in (check(facts) for check in CHECKS):
            assert finding.state in ("real", "simulated")
            assert finding.remedy == ""


def test_a_complete_gpu_machine_is_real_throughout():
    with machine.pretend(H200) as facts:
        assert {check(facts).state for check in CHECKS} == {"real"}


def test_a_mac_without_triton_misses_it_and_has_no_problem():
    with machine.pretend({"system": "darwin", "packages": {"triton": ""}, "compilers": []}) as facts:
        states = {check.__name__: check(facts).state for check in CHECKS}
    assert states["check_imported"] == "real"
    assert states["check_triton"] == states["check_compilers"] == "missing"
    assert "problem" not in states.values()


def test_a_gpu_machine_without_cupy_and_numba_can_go_on():
    facts = H200 | {"packages": {"numba-cuda": ""}}
    for check in (checks.check_cupy, checks.check_numba):
        finding = examine(check, **facts)
        assert finding.state == "missing"
        assert "'.[cuda13]'" in finding.remedy


PROBLEMS = [
    (checks.check_python, {"python": [3, 10, 12]}, "3.10.12 is older than 3.11"),
    (packages.check_imported, {"packages": {"numpy": ""}}, "numpy is missing"),
    (packages.check_imported, {"packages": {"torch": "2.4.1+cpu"}}, "torch 2.4.1+cpu is older than 2.11"),
    (packages.check_imported, {"packages": {"triton": ""}}, "triton is missing"),
    (checks.check_numpy, {"answers": {"numpy": "0 1 2 3 4 5 6 7"}}, "it answered 0 1 2 3 4 5 6 7"),
    (checks.check_torch, {"answers": {"torch": LIBCUDNN}}, "constraints.txt"),
    (checks.check_torch, H200 | {"answers": {"torch": "AssertionError: not compiled with CUDA"}}, "--sim"),
    (checks.check_triton, {"answers": {"triton": "0 0 0 0 0 0 0 0"}}, "it answered 0 0 0 0 0 0 0 0"),
    (checks.check_triton, H200 | {"answers": {"triton": "CompilationError: no ptxas"}}, "no ptxas"),
    (checks.check_disk, {"free_gb": 0.1}, "0.1 GB free"),
    (checks.check_card, {"listed": "NVIDIA L4"}, "nvidia-smi lists NVIDIA L4"),
    (checks.check_driver, H200 | {"driver": [12, 8]}, "CUDA 12.8 and older, PyTorch is built for CUDA 13"),
    (checks.check_driver, H200 | {"driver": [12, 8], "torch_cuda": [12, 8]}, "CuPy is built for CUDA 13"),
    (checks.check_driver, H200 | {"card": "Tesla V100", "capability": [7, 0]}, "no longer serves Tesla V100"),
    (checks.check_cupy, {"packages": {"cupy-cuda12x": "14.0", "cupy-cuda13x": "14.2"}}, "are both installed"),
    (checks.check_cupy, H200 | {"answers": {"cupy": "ImportError: libnvrtc.so.13"}}, "libnvrtc.so.13"),
    (checks.check_cupy, H200 | {"answers": {"cupy": "RuntimeError: " + "x" * 66}}, "pip uninstall cupy-cuda13x"),
]


@pytest.mark.parametrize("check, changes, words", PROBLEMS)
def test_a_problem_is_found_and_said_in_at_most_five_lines(check, changes, words):
    finding = examine(check, **changes)
    assert finding.state == "problem"
    assert finding.remedy
    assert words in " ".join(finding.text.split())
    lines = finding.text.splitlines()
    assert len(lines) <= 5
    assert max(map(len, lines)) <= 76


def test_every_check_can_find_a_problem_or_something_missing():
    never_worse_than_missing = {checks.check_compilers, checks.check_numba, checks.check_cuda_compilers}
    assert {check for check, *_ in PROBLEMS} | never_worse_than_missing == set(CHECKS)


@pytest.mark.parametrize(
    "changes, state, found, remedy",
    [
        ({}, "real", "numba-cuda 0.30.4 compiles, for any GPU and without one", ""),
        (
            {"packages": {"numba-cuda": ""}},
            "missing",
            "not installed, so `compiled` tests of CUDA kernels wait",
            "install -e '.[compilers]' -c constraints.txt",
        ),
        (
            {"answers": {"compilers": "NoCompiler: ... found: libnvvm.so"}},
            "missing",
            "numba-cuda 0.30.4 does not compile: NoCompiler: ... found: libnvvm.so",
            "install -e '.[compilers]'",
        ),
        ({"packages": {"numba-cuda": ""}, "system": "win32"}, "missing", "not installed (win32)", "'.[cuda13]'"),
        (
            {"packages": {"numba-cuda": ""}, "system": "darwin"},
            "missing",
            "not installed (darwin)",
            "Linux and Windows only.",
        ),
    ],
)
def test_compilers_for_cuda_are_told_with_what_to_type(changes, state, found, remedy):
    finding = examine(checks.check_cuda_compilers, **changes)
    assert (finding.state, finding.found) == (state, found)
    assert remedy in finding.remedy and bool(remedy) == bool(finding.remedy)


# Commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "python, here, command",
    [
        (ROOT / ".venv/bin/python", "/usr/bin/python3", ".venv/bin/python -m pip install -e . -c constraints.txt"),
        ("/usr/bin/python3", "/usr/bin/python3", "python3 -m pip install -e . -c constraints.txt"),
        ("/opt/env/bin/python", "/usr/bin/python3", "/opt/env/bin/python -m pip install -e . -c constraints.txt"),
        ("/opt/env/bin/python", None, "/opt/env/bin/python -m pip install -e . -c constraints.txt"),
    ],
)
def test_pip_is_the_one_of_this_environment(monkeypatch, python, here, command):
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(findings.shutil, "which", lambda name: here)
    assert findings.install() == command


def test_an_environment_without_pip_is_installed_into_by_uv(monkeypatch):
    monkeypatch.setattr(findings, "find_spec", lambda name: None)
    assert findings.install("pages") == f"uv pip install -e '.[pages]' -c constraints.txt --python {sys.executable}"


# Drivers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", [[12, 0], [12, 9], [13, 0], [14, 1]])
def test_a_driver_serves_builds_of_its_own_and_of_older_cuda_versions(driver):
    changes = {"driver": driver, "torch_cuda": [12, 8], "packages": {"cupy-cuda12x": "14.0"}}
    assert examine(checks.check_driver, **H200 | changes).state == "real"


def test_volta_is_served_by_builds_for_cuda_12():
    volta = {"card": "Tesla V100", "capability": [7, 0], "torch_cuda": [12, 8], "packages": {}}
    assert examine(checks.check_driver, **H200 | volta).state == "real"


@pytest.mark.parametrize("torch_cuda, driver, extra", [
    ([13, 0], [13, 0], "cuda13"),
    ([12, 8], [13, 0], "cuda12"),                      # CuPy must share PyTorch's CUDA version
    (None, [12, 4], "cuda12"),
])  # fmt: skip
def test_the_extra_to_install_follows_pytorch_and_then_the_driver(torch_cuda, driver, extra):
    changes = {"torch_cuda": torch_cuda, "driver": driver, "packages": {}}
    finding = examine(checks.check_cupy, **H200 | changes)
    assert f"'.[{extra}]'" in finding.remedy


def test_the_oldest_python_is_that_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = re.fullmatch(r">=(\d+)\.(\d+).*", project["requires-python"])
    assert tuple(map(int, oldest.groups())) == checks.OLDEST_PYTHON


@pytest.mark.parametrize("changes, code", [({}, 0), ({"free_gb": 0.1}, 1)])
def test_without_its_colours_the_doctor_prints_each_finding_with_what_to_do_below(capsys, monkeypatch, changes, code):
    silent = Surroundings(place=Place(find=lambda name: None, ask=lambda command, seconds: Reply(127, "")))
    monkeypatch.setattr(plain, "Surroundings", lambda: silent)
    with machine.pretend(changes):
        assert plain.main() == code
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("Python  ")] == ["Python         real       3.12.4"]
    disk = next(number for number, line in enumerate(lines) if line.startswith("disk"))
    assert (lines[disk + 1].strip() == "Make room for 0.5 GB of compiled kernels.") == bool(code)


def test_the_doctor_runs_as_a_program():
    command = [sys.executable, "-m", "tools.doctor"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "\nPython         real  " in done.stdout and "\nCUDA simulator simulated  adds right" in done.stdout
