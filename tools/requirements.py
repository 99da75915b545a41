"""Requirements of pyproject.toml on this system, and whether they are installed.

The script `course` asks before anything is installed: the standard library must do, in words that an old Python reads.
"""

import re
import sys
from pathlib import Path


class BrokenProject(Exception):
    """A pyproject.toml that is not valid TOML."""


def project(root: Path) -> dict:
    """Its table of that name: dependencies and extras. Raises BrokenProject."""
    import tomllib  # late: only Python 3.11 and newer have it

    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except tomllib.TOMLDecodeError as error:
        raise BrokenProject(f"pyproject.toml is not valid TOML: {error}") from None


def needed(root: Path, *extras: str) -> dict:
    """Package -> versions: what the course itself and these extras want on this system."""
    ours = project(root)
    lists = ours.get("optional-dependencies", {})
    return versions([*ours["dependencies"], *(line for extra in extras for line in lists.get(extra, []))])


def added(root: Path, *extras: str) -> list:
    """The packages that these extras add."""
    without = needed(root)
    return [name for name in needed(root, *extras) if name not in without]


def versions(lines: list) -> dict:
    """Package -> versions, of those lines that hold on this system."""
    found = {}
    for line in lines:
        requirement, _, marker = line.partition(";")
        system = re.search(r"sys_platform (==|!=) '(\w+)'", marker)
        if not system or (system[2] == sys.platform) == (system[1] == "=="):
            package = re.match(r"([\w.-]+)(?:\[.*?\])?(.*)", requirement)
            if package is None:
                raise BrokenProject(f"pyproject.toml asks for {line!r}, which names no package")
            found[package[1]] = package[2].strip()
    return found


def lacking(packages: dict, folders: list) -> list:
    """Those of the packages that the folders do not hold in a version that is allowed."""
    from importlib import metadata  # late, as above

    def is_here(name: str, ranges: str) -> bool:
        installed = next(iter(metadata.distributions(name=name, path=folders)), None)
        return installed is not None and allows(ranges, installed.version)

    return [name for name, ranges in packages.items() if not is_here(name, ranges)]


def allows(ranges: str, version: str) -> bool:
    """Is `version` in `ranges`, such as ">=2.11,<2.14"? Suffixes such as +cpu do not count."""

    def release(text: str) -> list:
        return [int(part) for part in re.findall(r"^\d+(?:\.\d+)*", text)[0].split(".")]

    return all(
        (release(version) >= release(bound)) == (sign == ">=")
        for sign, bound in re.findall(r"(>=|<)\s*([\d.]+)", ranges)
    )
