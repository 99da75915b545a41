"""The packages that the course uses: which are here, and do their versions lie in the ranges of pyproject.toml?"""

import importlib.metadata
import re
import runpy
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from tools import ROOT
from tools.check.doctor import FLOORS, REINSTALL, Finding

# What a lesson cannot do without; each of the others has a use of its own
NEEDED = (*FLOORS, "pytest")
USES = {
    "ml_dtypes": "8-bit and 4-bit floats, in weeks 3 and 4",
    "pytest-xdist": "several tests at a time, pytest -n",
    "pytest-html": "a report as a page, pytest --html",
    "hypothesis": "tests that look for a counterexample",
    "rich": "the commands, ./course next",
    "typer": "the commands, ./course next",
    "watchfiles": "./course watch",
    "marimo": "the interactive pages",
    "nbclient": "lessons as notebooks, run here",
    "numba": "the kata numba_threads, compiled",
}


def requirements(project: Mapping) -> dict[str, tuple[str, str]]:
    """Package -> its range and the extra of pyproject.toml that brings it ("" for all), those for this system."""
    lists = {"": project.get("dependencies", []), **project.get("optional-dependencies", {})}
    found = {}
    for extra, lines in lists.items():
        for line in lines:
            needed, _, marker = line.partition(";")
            system = re.search(r"sys_platform (==|!=) '(\w+)'", marker)
            if system is None or (system[2] == sys.platform) == (system[1] == "=="):
                name, ranges = re.match(r"\s*([\w.-]+)(?:\[.*?\])?\s*(.*)", needed).groups()
                found.setdefault(name, (ranges.strip(), extra))
    return found


def of_project(root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """The requirements of root/pyproject.toml. OSError or ValueError where it cannot be read."""
    return requirements(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def installed(name: str) -> str:
    """Its version, "" if it is not there."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def check_packages(wanted: Mapping[str, tuple[str, str]], version: Callable[[str], str] = installed) -> list[Finding]:
    """One line for those that are well, and one for each that is not."""
    allows = _allows()
    well, findings = [], []
    for name in dict.fromkeys((*wanted, *USES)):
        ranges, extra = wanted.get(name, ("", ""))
        here = version(name)
        if here and allows(ranges, here):
            well.append(f"{name} {here}")
        elif here or not extra or name in USES:  # the other extras are for few, and not missed
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
    return Finding(name, "missing", found + use, _install(name, extra))


def _newer(here: str, ranges: str) -> bool:
    """Does it break the upper bound only?"""
    floors = ",".join(bound for bound in ranges.split(",") if ">" in bound)
    return _allows()(floors, here)


def _install(name: str, extra: str) -> str:
    if name == "numba":
        return "pip install numba"
    return f"pip install -e '.[{extra}]' -c constraints.txt" if extra else "pip install -e . -c constraints.txt"


def _allows() -> Callable[[str, str], bool]:
    """The rule of the script `course`, so that there is one."""
    return runpy.run_path(str(ROOT / "course"))["allows"]
