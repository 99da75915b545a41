"""course doctor: what this machine has, what is missing, and what to do about it. Exit code 1: lessons would fail."""

import textwrap
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tools.cli import complain, console, stopped
from tools.doctor import run as examination
from tools.doctor.findings import Finding
from tools.doctor.run import Group
from tools.doctor.surroundings import Surroundings
from tools.words import quantity

NAME, STATE = 19, 9  # columns; what was found stands to the right of them
INDENT = 2 + NAME + 1 + STATE + 2
WORDS = {"real": "ok"}  # of a program "real" says too much; the others are said as they are
STYLES = {"real": "green", "ok": "green", "simulated": "cyan", "missing": "yellow", "problem": "bold red"}


def run(root: Path) -> int:
    """Examine the machine. Returns 0 when lessons run, 1 when a problem stops them, 2 when there is no course."""
    if not (root / "pyproject.toml").is_file():
        return complain(f"There is no course here: no file pyproject.toml in {root}.")
    page = console()
    groups = []
    try:
        for group in examination.examine(Surroundings(root)):
            _print_group(page, group)
            groups.append(group)
    except KeyboardInterrupt:
        return stopped()
    problems = examination.problems(groups)
    page.print(_conclusion(groups, problems), style="bold red" if problems else "bold", soft_wrap=True)
    return 1 if problems else 0


def _print_group(page: Console, group: Group) -> None:
    page.print(group.title, style="bold")
    for finding in group.findings:
        _print(page, finding)
    page.print()


def _print(page: Console, finding: Finding) -> None:
    """Name, state, and what was found; below it what to do, with commands unbroken."""
    room = max(page.width - INDENT, 20)
    first, *more = _wrapped(finding.found, room)
    line = Text(f"  {finding.name:<{NAME}} ")
    line.append(f"{WORDS.get(finding.state, finding.state):<{STATE}}", STYLES[finding.state])
    page.print(line.append(f"  {first}"), soft_wrap=True)
    remedy = finding.remedy.splitlines()
    left = max(4, min(INDENT, page.width - max(map(len, remedy), default=0)))  # long commands begin further left
    for text in (*(" " * INDENT + text for text in more), *(" " * left + text for text in remedy)):
        page.print(text, soft_wrap=True)


def _wrapped(text: str, room: int) -> list[str]:
    """Its lines; where it is a list, none ends between a name and its version."""
    glued = ", ".join(part.replace(" ", "\0", 1) if part.count(" ") == 1 else part for part in text.split(", "))
    lines = textwrap.wrap(glued, room, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines] or [""]


def _conclusion(groups: list[Group], problems: list[Finding]) -> str:
    if problems:
        names = ", ".join(finding.name for finding in problems)
        return f"{quantity(len(problems), 'problem')} to mend before lessons run: {names}."
    missing = sum(finding.state == "missing" for group in groups for finding in group.findings)
    if not missing:
        return "Lessons run here, and nothing is missing."
    says = "line above says" if missing == 1 else "lines above say"
    return f'Lessons run here. {missing} {says} "missing": that can wait.'
