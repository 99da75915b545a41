"""What a run of lessons looks like: where it ran, each task's state, and one failure in full: the first to mend.

pytest -v gives pytest's own report, with every failure in full.
"""

import textwrap

import pytest

from tools import ROOT
from tools.course import catalogue, hints
from tools.course.progress import Progress
from tools.pytest_course.options import under_test
from tools.pytest_course.run import is_worker, run_of

WIDTH = 80
GREEN, RED, NOTHING = "green", "red", ""  # states of a task


def pytest_configure(config):
    if not asks_for_short_screen(config):
        return
    config.option.verbose = -1  # no banner; the dots stay
    config.option.tbstyle = "no"  # failures are shown by Screen
    config.option.reportchars = "N"
    config.option.disable_warnings = True
    config.pluginmanager.set_blocked("terminaldistreporter")  # pytest-xdist would announce its processes twice
    config.pluginmanager.register(Screen(config), "course-screen")


def asks_for_short_screen(config) -> bool:
    return run_of(config).only_lessons and config.option.verbose == 0 and not is_worker(config)


class Screen:
    """The short screen."""

    def __init__(self, config):
        self.config, self.run = config, run_of(config)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self):
        out = self.config.pluginmanager.getplugin("terminalreporter")
        if self.run.chosen:
            out.write_line(f"Your current day: {self.run.chosen.name} (pytest --all runs everything)")
        out.write_line(under_test(self.run))

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter):
        out, stats = terminalreporter, terminalreporter.stats
        troubles = [*stats.get("error", []), *stats.get("failed", []), *stats.get("undecided", [])]
        reports = [r for group in stats.values() for r in group
                   if hasattr(r, "course") and (r.when == "call" or not r.passed)]
        units = sorted({r.course["unit"] for r in reports})
        for name in units:
            self._unit(out, name, [r for r in reports if r.course["unit"] == name])
        for reason, count in _skips(stats.get("skipped", [])).items():
            _wrapped(out, f"skipped {count}: ", reason)
        if troubles:
            self._trouble(out, min(troubles, key=_urgency))
        elif len(units) == 1 and self.run.own_files and not self.run.selected:
            out.write_line(f"\nGreen. Next: ./course quiz {units[0]}")

    def _unit(self, out, name, reports):
        """A line for each task that is not green, one for all that are."""
        unit = catalogue.unit(name)
        out.write_line(f"{name}  {unit.title}", bold=True)
        states = {task: _state([r for r in reports if _owner(r) == task.number]) for task in unit.tasks}
        if green := [str(task.number) for task, state in states.items() if state == GREEN]:
            out.write_line(f"  green     task{'s' * (len(green) > 1)} {', '.join(green)}", green=True)
        for task, state in states.items():
            if state not in (GREEN, NOTHING):
                what = ", ".join(task.functions) or "this machine"
                out.write_line(f"  {state:<9} task {task.number}  {what}", red=state == RED)

    def _trouble(self, out, report):
        file, _, test = report.nodeid.rpartition("::")
        text = str(report.longrepr).splitlines()
        out.write_line("")
        if file:
            out.write_line(f"FAILED {test}", red=True, bold=True)
            out.write_line(f"  in {file}, line {(report.location[1] or 0) + 1}\n")
        else:
            out.write_line(f"ERROR {text.pop(0)}", red=True, bold=True)
        for line in text:
            out.write_line(f"  {line}".rstrip())
        out.write_line("")
        course = getattr(report, "course", {})
        if course.get("seeded") and "gap" not in course:
            out.write_line(f"Inputs of seed {self.run.seed}: --seed={self.run.seed} repeats them.")
        if course and self.run.own_files:
            self._hint(out, course["unit"], _owner(report))

    def _hint(self, out, name, task):
        unit = catalogue.unit(name)
        if task not in unit.hints:
            return
        if not self.run.hint:
            out.write_line(f"Stuck? The next hint for task {task}: pytest {name} --hint")
            return
        rung = hints.next_rung(unit, task, Progress.load(ROOT))
        _wrapped(out, f"{rung.heading}: ", rung.text)


def _owner(report) -> int:
    """The task that a report speaks of: whose gap was met, or else the last of those that the test needs."""
    return report.course.get("gap", max(report.course["tasks"], default=0))


def _urgency(report) -> tuple[bool, int]:
    """What was written and is wrong comes before what is not written yet; then the earlier task."""
    if not hasattr(report, "course"):
        return False, 0
    return "gap" in report.course, _owner(report)


def _state(reports) -> str:
    """How a task stands, by the tests that are its own."""
    failed = [r for r in reports if r.failed]
    if any("gap" in r.course for r in failed):
        return "to write"
    if failed:
        return "undecided" if all("undecided" in r.course for r in failed) else RED
    if any("after" in r.course for r in reports):
        return "waiting"
    return GREEN if any(r.passed for r in reports) else "skipped" if reports else NOTHING


def _skips(reports) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


def _wrapped(out, lead: str, text: str) -> None:
    for line in textwrap.wrap(lead + text, WIDTH, subsequent_indent="  "):
        out.write_line(line)
