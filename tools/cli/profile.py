"""course profile DAY: what each profiler on this machine says about your functions, in plain words."""

from pathlib import Path

from rich.console import Console

from tools import gpu
from tools.bench import profilers
from tools.bench.profilers import FOLDER, Said
from tools.bench.simulated import why_simulated
from tools.cli import busy, chosen, console, files, nothing_for, say, stopped
from tools.course.learner.lesson import LessonBroken

MARGIN = 16  # columns for the tools' names
SIMULATED = "What follows is simulated, because {}. A simulator counts, and knows no time."


def run(day: str | None, root: Path) -> int:
    """Profile each function of a unit's workloads. Returns the exit code: 1 where one could not be called."""
    page, failed = console(), False
    absent: dict[str, tuple[str, ...]] = {}
    unit = chosen(day, root)
    with busy(page, f"loading {unit.name}"):
        calls = profilers.calls(unit, root)
    if not calls:
        return nothing_for("profile", "function", unit)
    files.check_folder(calls[0].folder, root)
    page.print(f"{unit.title} ({unit.name})", style="bold")
    if gpu.card() is None and any(call.workload.on == "gpu" for call in calls):
        say(SIMULATED.format(why_simulated()), page=page)
    for call in calls:
        page.print()
        say(f"{call.workload.function}, {call.shape}", style="bold", page=page)
        try:
            with busy(page, f"looking at {call.workload.function}"):
                for said in profilers.look(call):
                    _print(page, said, absent)
        except LessonBroken as error:
            failed = True
            say(str(error), page=page)
        except KeyboardInterrupt:
            return stopped()
    if absent:
        page.print()
        for tool, reason in absent.items():
            _tell(page, tool, reason)
    if any(call.folder.exists() for call in calls):
        page.print(f"\nAll files: {FOLDER}/{calls[0].folder.name}", soft_wrap=True)
    return 1 if failed else 0


def _print(page: Console, said: Said, absent: dict[str, tuple[str, ...]]) -> None:
    """Print a tool's lines; one that is missing is told once, at the end."""
    if said.missing and said.tool in profilers.TOOLS:
        absent.setdefault(said.tool, said.lines)
        return
    _tell(page, said.tool, said.lines)
    if said.file:
        page.print(" " * MARGIN + f"In full: {said.file.name}", soft_wrap=True)


def _tell(page: Console, tool: str, lines: tuple[str, ...]) -> None:
    for line in lines or ("It says nothing.",):
        say(line, lead=f"{tool:<{MARGIN}}", page=page)
        tool = ""
