"""The packages that the course uses: those that are here, held against the ranges of pyproject.toml."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools import ROOT
from tools import requirements as rules
from tools.doctor.findings import COMPILERS, REINSTALL, Finding, install
from tools.doctor.machine import PACKAGES, Facts, installed

IMPORTED = ("numpy", "torch", "triton")  # by lessons
NEEDED = (*IMPORTED, "pytest")  # no lesson can do without them; each of the others has a use of its own
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
    found: dict[str, tuple[str, str]] = {}
    for extra, lines in lists.items():
        for name, ranges in rules.versions(lines).items():
            found.setdefault(name, (ranges, extra))
    return found


def of_project(root: Path = ROOT) -> dict[str, tuple[str, str]]:
    """The requirements of root/pyproject.toml. Raises OSError, BrokenProject."""
    return requirements(rules.project(root))


def lacking(*extras: str) -> list[str]:
    """The packages that the course wants on this system, these extras included, and that are not installed."""
    return rules.lacking(rules.needed(ROOT, *extras), sys.path)


def of_extra(extra: str) -> list[str]:
    """The packages that it adds on this system."""
    return rules.added(ROOT, extra)


def versions_in(facts: Facts) -> Callable[[str], str]:
    """The version of a package, "" without it: as the facts tell, of those that they tell of."""
    return lambda name: facts.packages.get(name, "") if name in PACKAGES else installed(name)


def check_imported(facts: Facts) -> Finding:
    """The packages that lessons import, in one finding: there, and new enough. Triton has builds for Linux only."""
    wanted, version = of_project(), versions_in(facts)
    names = [name for name in IMPORTED if name != "triton" or facts.system == "linux"]
    found = {name: _finding(name, version(name), *wanted.get(name, ("", ""))) for name in names}
    amiss = [
        f"{name} {finding.found if version(name) else 'is missing'}"
        for name, finding in found.items()
        if finding and finding.state == "problem"
    ]
    if amiss:
        return Finding("packages", "problem", "; ".join(amiss), REINSTALL)
    return Finding("packages", "real", ", ".join(f"{name} {version(name)}" for name in names))


def check_packages(wanted: Mapping[str, tuple[str, str]], version: Callable[[str], str] = installed) -> list[Finding]:
    """One line for those that are well, and one for each that is not."""
    well, findings = [], []
    for name in dict.fromkeys((*wanted, *USES)):
        ranges, extra = wanted.get(name, ("", ""))
        here = version(name)
        if finding := _finding(name, here, ranges, extra):
            findings.append(finding)
        elif here:
            well.append(f"{name} {here}")
    if well:
        findings.insert(0, Finding("packages", "ok", ", ".join(well)))
    return findings


def _finding(name: str, here: str, ranges: str, extra: str) -> Finding | None:
    """None where all is well, or where the package is for few."""
    if here and rules.allows(ranges, here):
        return None
    if not here and extra not in STANDARD and (name not in USES or extra.startswith("cuda")):
        return None
    newer = bool(here) and rules.allows(_floors(ranges), here)
    found = f"{here} is older than {_floors(ranges).removeprefix('>=')}" if here else "not installed"
    if name in NEEDED and not newer:
        return Finding(name, "problem", found, REINSTALL)
    if newer:
        found = f"{here} is newer than the course was tried with ({ranges})"
    elif name in USES:
        found += f"; for {USES[name]}"
    return Finding(name, "missing", found, install(COMPILERS if name == "numba" else extra))


def _floors(ranges: str) -> str:
    return ",".join(bound for bound in ranges.split(",") if ">" in bound)
