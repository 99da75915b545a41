"""The whole examination, on pretended machines and on this one: nothing is missed, nothing waits, nothing is raised."""

import re
import sys
import threading
from dataclasses import replace

import pytest

from tools import ROOT, gpu
from tools.doctor import isolated, machine, run
from tools.doctor.findings import Finding
from tools.doctor.machine import LAPTOP
from tools.doctor.programs import PROGRAMS, Place
from tools.doctor.run import SIMULATORS, Group, check_cards, check_simulators, problems, self_tests_of
from tools.doctor.self_tests import RIGHT
from tools.doctor.subprocesses import Reply
from tools.doctor.surroundings import Surroundings
from tools.tests.doctor.test_checks import CHECKS, H200

SILENT = Surroundings(place=Place(find=lambda name: None, ask=lambda command, seconds: Reply(127, "")))


def examine(here=SILENT, **changes):
    with machine.pretend(changes):
        return {finding.name: finding for group in run.examine(here) for finding in group.findings}


def h200(**changes):
    with machine.pretend(H200 | changes) as facts:
        return facts


# Pretended machines -------------------------------------------------------------------------------


def test_a_laptop_has_no_problem_and_misses_no_gpu():
    found = examine()
    assert "problem" not in {finding.state for finding in found.values()}
    assert found["GPU"].state == found["CUDA simulator"].state == "simulated"
    absent = found["GPU programs"].found
    assert all(program.name in absent for program in PROGRAMS if program.gpu)
    assert not any(program.name in found for program in PROGRAMS if program.gpu)


def test_a_gpu_machine_is_told_of_each_program_that_it_lacks():
    found = examine(**H200)
    assert all(found[program.name].state == "missing" for program in PROGRAMS)
    assert "Triton interpreter" in found  # which counts there too


def test_every_check_of_day_0_but_two_is_made():
    replaced = {"check_imported", "check_compilers"}  # by finer ones: every package, and every program
    text = (ROOT / "tools/doctor/run.py").read_text(encoding="utf-8")
    assert {check.__name__ for check in CHECKS if f"checks.{check.__name__}" not in text} == replaced


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"packages": {"cupy-cuda12x": "14.0", "cupy-cuda13x": "14.2"}}, "CuPy"),
        ({"packages": {"torch": "2.4.1"}}, "torch"),
        ({"free_gb": 0.1}, "disk"),
        ({"listed": "NVIDIA L4"}, "GPU"),
        ({"answers": {"triton": "0 0 0 0 0 0 0 0"}}, "Triton"),
        ({"answers": {"cuda simulator": "0 0 0 0 0 0 0 0"}}, "CUDA simulator"),
        (H200 | {"driver": [12, 8]}, "driver"),
    ],
)
def test_what_stops_lessons_is_a_problem_with_its_remedy(changes, name):
    finding = examine(**changes)[name]
    assert finding.state == "problem"
    assert finding.remedy


def test_problems_are_those_of_all_groups():
    bad, good = Finding("disk", "problem", "full"), Finding("git", "missing", "not here")
    assert problems([Group("a", (good, bad)), Group("b", (good,)), Group("c", (bad,))]) == [bad, bad]


# Self-tests ---------------------------------------------------------------------------------------


def test_simulators_are_tested_apart_from_the_gpu_and_on_its_machine_too():
    facts = replace(h200(), answers={})
    real, simulated, compilers = self_tests_of(facts)
    assert real == (["torch", "triton", "cupy"], {})
    assert simulated == (["numpy", *SIMULATORS], {gpu.SIMULATE: "1"})
    assert compilers == (["compilers"], {gpu.SIMULATE: "1"})


def test_without_triton_compilers_or_a_gpu_nobody_tests_them():
    laptop = replace(LAPTOP, answers={}, packages={"numpy": "2.4.6", "torch": "2.13.0"})
    names = [name for several, _ in self_tests_of(laptop) for name in several]
    assert names == ["torch", "numpy", "cuda simulator", "cupy stand-in", "raw kernel"]


def test_what_was_answered_before_is_not_asked_again():
    assert list(self_tests_of(LAPTOP)) == []


def test_answers_arrive_at_the_checks(monkeypatch):
    def wrong(names, environment):
        return {name: "0 0 0 0 0 0 0 0" if name == "raw kernel" else RIGHT for name in names}

    monkeypatch.setattr(isolated, "answers", wrong)
    monkeypatch.setattr(machine, "facts", lambda: replace(LAPTOP, answers={}))
    found = {finding.name: finding for group in run.examine(SILENT) for finding in group.findings}
    assert found["Triton"].state == found["CUDA simulator"].state == "simulated"
    wrong_one = found["CUDA C++ by g++"]
    assert (wrong_one.state, wrong_one.found) == ("problem", "it answered 0 0 0 0 0 0 0 0")


def test_no_compiler_is_no_problem():
    facts = replace(LAPTOP, answers=dict(LAPTOP.answers) | {"raw kernel": "NoCompiler: CUDA C++ without a GPU ..."})
    assert [finding.state for finding in check_simulators(facts)] == ["simulated", "simulated", "missing"]


# Words --------------------------------------------------------------------------------------------


COMMANDS = (
    "apt ",
    "cp ",
    "export ",
    "git ",
    "http",
    "nvidia-smi",
    "sudo ",
    "uv pip ",
    ".venv/",
    "python3 -m ",
    "./course",
    sys.executable,
    "mv ",
    "CUDA toolkit: ",
)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        H200,
        H200 | {"packages": {"numba-cuda": ""}},
        {"packages": {"torch": "", "triton": "", "numba-cuda": ""}},
        {"listed": "NVIDIA L4", "free_gb": 0.1, "answers": {"raw kernel": "NoCompiler: ..."}},
        {"system": "darwin", "packages": {"triton": "", "numba-cuda": ""}},
    ],
    ids=["laptop", "H200", "no CuPy", "hardly a package", "broken", "Mac"],
)
def test_what_to_do_is_a_command_or_a_sentence_with_its_full_stop(changes):
    for here in (SILENT, replace(SILENT, place=replace(SILENT.place, system="darwin"))):
        for finding in examine(here, **changes).values():
            for line in finding.remedy.splitlines():
                a_command = line.strip().startswith(COMMANDS)
                assert a_command or line[0].isupper() and line.endswith((".", ":")), f"{finding.name}: {line}"
                assert not re.match(r"\s*pip ", line), line


# Cards --------------------------------------------------------------------------------------------


def asked(text, code=0):
    return Surroundings(place=Place(ask=lambda command, seconds: Reply(code, text)))


def test_every_card_is_told_with_memory_and_driver():
    lines = "NVIDIA H200, 143771, 580.159.04\nNVIDIA H200, 143771, 580.159.04\n"
    assert [(finding.name, finding.found) for finding in check_cards(asked(lines), h200())] == [
        ("card 0", "NVIDIA H200, 140.4 GiB, driver 580.159.04"),
        ("card 1", "NVIDIA H200, 140.4 GiB, driver 580.159.04"),
    ]


@pytest.mark.parametrize("text, code", [("", 127), ("NVIDIA-SMI has failed", 9), ("", None)])
def test_a_silent_nvidia_smi_is_said_and_is_no_problem(text, code):
    (finding,) = check_cards(asked(text, code), h200())
    assert finding.state == "missing"


def test_a_unit_that_is_no_number_does_not_stop_the_examination(monkeypatch):
    here = Surroundings(place=Place(find=lambda name: None, ask=lambda *args: Reply(0, "GB10, [N/A], 580.95\n")))
    found = examine(here, **H200)
    assert found["card 0"].found == "GB10, driver 580.95"


# Whatever happens ---------------------------------------------------------------------------------


def test_a_check_that_fails_is_a_finding(monkeypatch):
    def faint(here):
        raise PermissionError("no /proc here")

    monkeypatch.setattr(run.surroundings, "check_system", faint)
    found = examine()
    assert found["(not asked)"].found == "PermissionError: no /proc here"
    assert found["clock"].state == "ok"


def test_a_driver_that_hangs_is_a_problem_and_all_else_is_told(monkeypatch):
    monkeypatch.setattr(run, "PATIENCE", 0.1)
    monkeypatch.setattr(machine, "facts", threading.Event().wait)
    monkeypatch.setattr(machine, "gather", lambda simulated: LAPTOP if simulated else pytest.fail("asked again"))
    found = {finding.name: finding for group in run.examine(SILENT) for finding in group.findings}
    assert found["GPU"].state == "problem"
    assert "its driver said nothing" in found["GPU"].found
    assert found["NumPy"].state == "real"


def test_whoever_stops_early_ends_what_still_runs(monkeypatch):
    stopped = []
    monkeypatch.setattr(run.subprocesses, "stop", lambda: stopped.append(True))
    with machine.pretend({}):
        groups = run.examine(SILENT)
        next(groups)
        groups.close()
    assert stopped == [True]
