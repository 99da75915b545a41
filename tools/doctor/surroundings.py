"""The surroundings of a lesson: system, container, terminal, clock, git, and the Python of ./course."""

import os
import platform
import re
import runpy
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TextIO

from tools import ROOT
from tools.doctor.findings import Finding
from tools.doctor.programs import SECONDS, Place

COLUMNS = 80
DAY = 24 * 60 * 60  # seconds


@dataclass(frozen=True)
class Surroundings:
    """Where to look; tests have some of their own."""

    root: Path = ROOT
    place: Place = field(default_factory=Place)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    screen: TextIO = field(default_factory=lambda: sys.stdout)
    size: Callable[[], os.terminal_size] = os.get_terminal_size
    now: Callable[[], float] = time.time


def check_system(here: Surroundings) -> Finding:
    """The system, and what it runs in: WSL, a container, SSH, Colab."""
    names = {"linux": _distribution(here.place), "darwin": f"macOS {platform.mac_ver()[0]}", "win32": "Windows"}
    found = f"{names.get(here.place.system, here.place.system)}, {platform.machine()}, {_cores()} cores"
    kinds = _kinds(here)
    if kinds:
        found += f"; {', '.join(kinds)}"
    if "Colab" in kinds:
        return Finding("system", "missing", f"{found}, which forgets all files", "Download what you want to keep.")
    if "WSL" in kinds and str(here.root).startswith("/mnt/"):
        return Finding("system", "missing", f"{found}; files under /mnt are slow", "cp -r . ~/course && cd ~/course")
    return Finding("system", "ok", found)


def check_terminal(here: Surroundings) -> Finding:
    """Is it wide enough, does it show colours, and every letter?"""
    letters = (here.screen.encoding or "ascii").upper()
    if letters.replace("-", "") != "UTF8":
        return Finding(
            "terminal",
            "missing",
            f"{letters}, which lacks letters that some pages show",
            "export PYTHONUTF8=1 LC_ALL=C.UTF-8",
        )
    if not here.screen.isatty():
        return Finding("terminal", "ok", f"none, {letters}; ./course watch wants one")
    columns, lines = here.size()
    if columns < COLUMNS:
        return Finding("terminal", "missing", f"{columns} columns, and tables take {COLUMNS}", "Widen the window.")
    plain = "NO_COLOR" in here.environment or here.environment.get("TERM", "dumb") == "dumb"
    return Finding("terminal", "ok", f"{columns} x {lines}, {letters}, {'no colour' if plain else 'colour'}")


def check_clock(here: Surroundings) -> Finding:
    """A clock that is behind spoils downloads and the dates of progress."""
    now = here.now()
    date = datetime.fromtimestamp(now, timezone.utc).date()
    newest = max((path.stat().st_mtime for path in here.root.glob("*") if path.is_file()), default=now)
    if newest > now + DAY:
        return Finding(
            "clock", "missing", f"it says {date}, and files of the course are newer", "sudo timedatectl set-ntp true"
        )
    ticks = time.get_clock_info("perf_counter").resolution
    return Finding("clock", "ok", f"{date}, ticks of {ticks * 1e9:.0f} ns")


def check_git(here: Surroundings) -> Finding:
    """./course start, reset and update are git's work."""
    reply = here.place.ask(["git", "--version"], SECONDS)
    version = re.search(r"\d+(\.\d+)+", reply.text)
    if reply.code != 0 or version is None:
        return Finding("git", "missing", "not here; for ./course start and update", "https://git-scm.com/downloads")
    branch = here.place.ask(["git", "-C", str(here.root), "symbolic-ref", "--short", "HEAD"], SECONDS)
    if branch.code != 0:
        return Finding(
            "git",
            "missing",
            f"{version[0]}; the course is no clone, or on no branch",
            "git init && git add . && git commit -m 'as given'",
        )
    name = here.place.ask(["git", "-C", str(here.root), "config", "user.name"], SECONDS)
    found = f"{version[0]}, branch {branch.text.strip()}"
    if not name.text.strip():
        return Finding(
            "git",
            "missing",
            f"{found}; it does not know who you are",
            'git config user.name "You" && git config user.email you@example.org',
        )
    return Finding("git", "ok", found)


def check_environment(here: Surroundings) -> Finding:
    """Does the script `course` use .venv or this Python, and is .venv whole?"""
    folder = here.root / ".venv"
    if not folder.exists():
        return Finding(".venv", "ok", f"none; this Python runs the course: {sys.executable}")
    course = runpy.run_path(str(here.root / "course"))
    if course["is_set_up"]():
        used = Path(sys.prefix).resolve() == folder.resolve()
        return Finding(".venv", "ok", "in use" if used else f"whole, but this is {sys.executable}")
    if not course["may_be_emptied"]():
        found, *remedy = course["left_alone"]().splitlines()
        return Finding(".venv", "missing", found.rstrip("."), "\n".join(remedy))
    half = not course["PYTHON"].exists() or course["stamped"]().startswith(course["UNFINISHED"])
    found = "left unfinished; this makes it anew:" if half else "older than pyproject.toml; this brings it up to date:"
    return Finding(".venv", "missing", found, "./course --version")


def _kinds(here: Surroundings) -> list[str]:
    slash, said = here.place.slash, here.environment
    return [
        kind
        for kind, is_it in {
            "WSL": "microsoft" in here.place.read("proc/version").lower(),
            "Colab": "COLAB_RELEASE_TAG" in said,
            "container": (slash / ".dockerenv").exists()
            or (slash / "run/.containerenv").exists()
            or "container" in said,
            "SSH": "SSH_CONNECTION" in said,
        }.items()
        if is_it
    ]


def _distribution(place: Place) -> str:
    name = re.search(r'^PRETTY_NAME="?([^"\n]+)', place.read("etc/os-release"), re.MULTILINE)
    return name[1] if name else "Linux"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
