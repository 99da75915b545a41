"""The packages that the course uses: which are here, and do their versions lie in the ranges of pyproject.toml?"""

import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools import ROOT
from tools import requirements as rules
from tools.doctor.checks import COMPILERS, FLOORS, REINSTALL, Finding, install

# What a lesson cannot do without; each of the others has a use of its own
NEEDED = (*FLOORS, "pytest")
USES = {
    "numba-cuda": "what NVIDIA's compilers make of CUDA kernels",
    "ml_dtypes": "8-bit and 4-bit floats, in weeks 3 and 4",
    "pytest-xdist": "several tests at a time, pytest -n",
    "pytest-html": "a report as a page, pytest --html",
    "hypothesis": "tests that look for a counterexample",
    "rich": "the commands, ./course next",
    "typer": "the commands, ./course next",
    "watchfiles": "./course watch",
    "jinja2": "./course report",
    "filelock": "two runs at once, on Windows",
    "marimo": "the interactive pages",
    "nbclient": "lessons as notebooks, run here",
    "numba": "the kata numba_threads, compiled",
}
STANDARD = ("", COMPILERS)  # the extras that ./course installs everywhere, "" for the course itself


def requirements(project: Mapping) -> dict[str, tuple[str, str]]:
    """Package -> its range and the extra of pyproject.toml that brings it ("" for all), those for this system."""
    lists = {"": project.get("dependencies", []), **project.get("optional-dependencies", {})}
    found = {}
    for extra, lines in lists.items():
        for name, ranges in rules.versions(lines).items():
            found.setdefault(name, (ranges, extra))
    return found


def of_project(root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """The requirements of root/pyproject.toml. Raises OSError, BrokenProject."""
    return requirements(rules.project(root))


def installed(name: str) -> str:
    """Its version, "" if it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def lacking(*extras: str) -> list[str]:
    """What is not installed of all that the course wants on this system, these extras included."""
    return rules.lacking(rules.needed(ROOT, *extras), sys.path)


def of_extra(extra: str) -> list[str]:
    """The packages that it adds on this system."""
    return rules.added(ROOT, extra)


def check_packages(wanted: Mapping[str, tuple[str, str]], version: Callable[[str], str] = installed) -> list[Finding]:
    """One line for those that are well, and one for each that is not."""
    well, findings = [], []
    for name in dict.fromkeys((*wanted, *USES)):
        ranges, extra = wanted.get(name, ("", ""))
        here = version(name)
        if here and rules.allows(ranges, here):
            well.append(f"{name} {here}")
        elif here or extra in STANDARD or name in USES and not extra.startswith("cuda"):  # the others are for few
            findings.append(_amiss(name, here, ranges, extra))
    if well:
        findings.insert(0, Finding("packages", "ok", ", ".join(well)))
    return findings


def _amiss(name: str, here: str, ranges: str, extra: str) -> Finding:
    found = f"{here} is here, {ranges} is wanted" if here else "not installed"
    if name in NEEDED and not (here and _newer(here, ranges)):
        return Finding(name, "problem", found, REINSTALL)
    use = f"; for {USES[name]}" if name in USES else ""
    if here and _newer(here, ranges):
        found = f"{here} is newer than the course was tried with ({ranges})"
        use = ""
    return Finding(name, "missing", found + use, install(COMPILERS if name == "numba" else extra))


def _newer(here: str, ranges: str) -> bool:
    """Does it break the upper bound only?"""
    floors = ",".join(bound for bound in ranges.split(",") if ">" in bound)
    return rules.allows(floors, here)
