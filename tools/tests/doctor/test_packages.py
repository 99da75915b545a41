"""Packages against the ranges of pyproject.toml: what stops lessons is a problem, the rest can wait."""

import sys

import pytest

from tools import ROOT
from tools.doctor import packages
from tools.doctor.findings import install
from tools.doctor.packages import NEEDED, USES, check_packages, of_project, requirements
from tools.requirements import BrokenProject

WANTED = {
    "numpy": (">=2,<3", ""),
    "torch": (">=2.11,<2.14", ""),
    "triton": (">=3.6,<3.8", ""),
    "pytest": (">=8.4", ""),
    "hypothesis": (">=6.100", ""),
    "rich": (">=13.9", ""),
    "marimo": (">=0.25,<0.26", "pages"),
    "submitit": (">=1.5", "grade"),
}
HERE = {
    "numpy": "2.4.6",
    "torch": "2.13.0+cpu",
    "triton": "3.7.1",
    "pytest": "9.2.0",
    "hypothesis": "6.170.15",
    "rich": "15.0.0",
    "marimo": "0.25.2",
} | dict.fromkeys(USES, "99.0")
HERE |= {"hypothesis": "6.170.15", "rich": "15.0.0", "marimo": "0.25.2"}


def examine(**changes):
    here = HERE | {name.replace("_", "-") if name.startswith("pytest_") else name: to for name, to in changes.items()}
    return check_packages(WANTED, lambda name: here.get(name, ""))


def test_where_all_is_well_one_line_tells_every_version():
    (finding,) = examine()
    assert finding.state == "ok"
    assert "torch 2.13.0+cpu, triton 3.7.1, pytest 9.2.0" in finding.found


@pytest.mark.parametrize("name", NEEDED)
def test_what_lessons_need_is_a_problem_when_absent_or_too_old(name):
    oldest = WANTED[name][0].split(",")[0].removeprefix(">=")
    for version, words in ("", "not installed"), ("0.1", f"0.1 is older than {oldest}"):
        problem = examine(**{name: version})[1]
        assert (problem.name, problem.state) == (name, "problem")
        assert problem.found == words
        assert "pip install -e . -c constraints.txt" in problem.remedy


def test_a_version_newer_than_tried_is_not_called_a_problem():
    finding = examine(triton="3.9.1")[1]
    assert (finding.name, finding.state) == ("triton", "missing")
    assert finding.found == "3.9.1 is newer than the course was tried with (>=3.6,<3.8)"


@pytest.mark.parametrize("version", ["", "0.1"])
def test_what_some_lessons_need_can_wait_and_says_what_for(version):
    finding = examine(hypothesis=version)[1]
    assert (finding.name, finding.state) == ("hypothesis", "missing")
    assert finding.found.endswith("; for tests that look for a counterexample")


def test_an_extra_is_installed_by_its_name():
    assert examine(marimo="")[1].remedy == install("pages")


def test_what_the_standard_install_brings_is_missed_and_what_is_for_a_gpu_is_not():
    wanted = {"numba-cuda": (">=0.20", "compilers"), "cupy-cuda13x": (">=14", "cuda13")}
    findings = check_packages(wanted, lambda name: "" if name in ("numba", *wanted) else "99.0")
    missed = {finding.name: finding.remedy for finding in findings[1:]}
    assert missed == {"numba-cuda": install("compilers"), "numba": install("compilers")}
    wanted = {"numba-cuda": (">=0.20", "cuda12")}
    on_windows = check_packages(wanted, lambda name: "" if name == "numba-cuda" else "99.0")
    assert [finding.name for finding in on_windows] == ["packages"]


def test_an_extra_for_few_is_not_missed():
    assert len(examine(submitit="")) == 1


def test_requirements_are_read_with_their_extras_and_for_this_system():
    other = "darwin" if sys.platform == "linux" else "linux"
    project = {
        "dependencies": [
            "numpy>=2,<3",
            f"here>=1 ; sys_platform == '{sys.platform}'",
            f"there>=1 ; sys_platform == '{other}'",
        ],
        "optional-dependencies": {"cuda13": [f"cupy-cuda13x[ctk]>=14 ; sys_platform != '{other}'"]},
    }
    assert requirements(project) == {"numpy": (">=2,<3", ""), "here": (">=1", ""), "cupy-cuda13x": (">=14", "cuda13")}


def test_every_package_that_has_a_use_is_one_of_the_project_or_comes_with_one():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    wanted = of_project()
    assert {"numpy", "torch", "pytest"} <= set(wanted)
    strangers = {name for name in USES if name not in text} - {"numba"}  # numba comes with numba-cuda
    assert strangers == set(), "pyproject.toml does not name them"


def test_a_project_that_cannot_be_read_is_an_error_of_one_kind(tmp_path):
    with pytest.raises(OSError):
        packages.of_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project")
    with pytest.raises(BrokenProject, match="^pyproject.toml is not valid TOML: "):
        packages.of_project(tmp_path)
