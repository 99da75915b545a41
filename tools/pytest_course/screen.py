"""The screen of a run of lessons: where it ran, each task's state, and one failure in full: the first to mend.

pytest -v gives pytest's own report, with every failure in full.
"""

import textwrap
from typing import Any

import pytest

from tools import ROOT
from tools.course.content.catalogue import Task, Unit
from tools.course.learner import hints, waiting
from tools.course.learner.outcomes import record_of, waits
from tools.course.learner.progress import Progress
from tools.course.learner.record import FINISHED, HERE, OPEN, Record
from tools.pytest_course.advice import Advice
from tools.pytest_course.options import under_test
from tools.pytest_course.run import is_worker, run_of
from tools.pytest_course.shares import named
from tools.pytest_course.standing import GREEN, NOTHING, RED, ended, owner, standing

WIDTH = 80


def pytest_configure(config: pytest.Config) -> None:
    if not asks_for_short_screen(config):
        return
    config.option.verbose = -1  # no banner; the dots stay
    config.option.tbstyle = "no"  # failures are shown by Screen
    config.option.reportchars = "N"
    config.option.disable_warnings = True
    config.pluginmanager.set_blocked("terminaldistreporter")  # pytest-xdist would announce its processes twice
    config.pluginmanager.register(Screen(config), "course-screen")


def asks_for_short_screen(config: pytest.Config) -> bool:
    return run_of(config).only_lessons and config.option.verbose == 0 and not is_worker(config)


class Screen:
    """The short screen."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.run = config, run_of(config)
        self.advice = Advice(self.run)
        config.pluginmanager.register(self.advice)
        self.cut_short = False  # by Ctrl-C, or by -x at the first failure

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.cut_short = self.run.interrupted or bool(session.shouldfail or session.shouldstop)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        out = self.config.pluginmanager.getplugin("terminalreporter")
        if self.run.chosen:
            out.write_line(f"Your current day: {self.run.chosen.name} (pytest --all runs everything)")
        out.write_line(under_test(self.run))

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        out, stats = terminalreporter, terminalreporter.stats
        out._report_keyboardinterrupt = lambda: None  # it is told below, without a place inside of pytest
        reports = [
            r for group in stats.values() for r in group if hasattr(r, "course") and (r.when == "call" or not r.passed)
        ]
        for name in sorted({r.course["unit"] for r in reports}):
            self._unit(out, name, [r for r in reports if r.course["unit"] == name])
        for reason, count in _skips(stats.get("skipped", [])).items():
            _wrapped(out, f"skipped {count}: ", reason)
        stats["warnings"] = [w for w in stats.get("warnings", []) if self.advice.is_own((w.fslocation or ("",))[0])]
        for line in self.advice.lines(WIDTH):
            out.write_line(line, yellow=True)
        troubles = [*stats.get("error", []), *stats.get("failed", []), *stats.get("undecided", [])]
        if troubles:
            self._trouble(out, min(troubles, key=_urgency))
        if self.run.interrupted:
            out.write_line("")
            _wrapped(out, "", f"Interrupted{_in(self.run.busy)}; the rest did not run.")
        elif not (troubles or self.run.untrusted or self.run.selected) and self.run.own_files:
            self._next(out, reports)

    def _next(self, out: Any, reports: Any) -> None:
        """Where to go from a day in which all passed that can run here."""
        units = {r.course["unit"] for r in reports}
        overall = record_of(map(ended, reports)).overall() if len(units) == 1 else OPEN
        if overall in FINISHED:
            out.write_line(f"\n{'Passed here' if overall == HERE else 'Green'}. Next: ./course quiz {units.pop()}")

    def _unit(self, out: Any, name: str, reports: Any) -> None:
        """A line for each task that is not green, one for all that are, one for what waits for a package."""
        unit = self.run.unit(name)
        out.write_line(f"{name}  {unit.title}", bold=True)
        states = self._states(unit, reports)
        if green := [str(task.number) for task, state in states.items() if state == GREEN]:
            out.write_line(f"  green     task{'s' * (len(green) > 1)} {', '.join(green)}", green=True)
        for task, state in states.items():
            if state not in (GREEN, NOTHING):
                lead = f"  {state:<9} task {task.number}  "
                functions = named(self.run, unit, task, state, reports)
                _wrapped(out, lead, functions, indent=len(lead), red=state == RED)
        for line in waiting.lines(waits(map(ended, reports))):
            _wrapped(out, "  ", line)

    def _states(self, unit: Unit, reports: Any) -> dict[Task, str]:
        """How each task stands; none is green in a run that was cut short, as none counts as progress then."""
        record = Record() if self.cut_short or self.run.untrusted else record_of(map(ended, reports))
        return {task: standing(record, task.number, reports) for task in unit.tasks}

    def _trouble(self, out: Any, report: Any) -> None:
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
            self._hint(out, course["unit"], owner(report))

    def _hint(self, out: Any, name: str, task: int) -> None:
        unit = self.run.unit(name)
        if task not in unit.hints:
            return
        if not self.run.hint:
            out.write_line(f"Stuck? The next hint for task {task}: pytest {name} --hint")
            return
        rung = hints.next_rung(unit, task, Progress.load(ROOT))
        _wrapped(out, f"{rung.heading}: ", rung.text)


def _urgency(report: Any) -> tuple[bool, int]:
    """What was written and is wrong comes before what is not written yet, or not mended; then the earlier task."""
    course = getattr(report, "course", None)
    return (False, 0) if course is None else ("gap" in course or "given" in course, owner(report))


def _in(nodeid: str) -> str:
    return f" in {nodeid.rpartition('::')[2]}" if nodeid else ""


def _skips(reports: Any) -> dict[str, int]:
    reasons: dict[str, int] = {}
    for report in reports:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


def _wrapped(out: Any, lead: str, text: str, indent: int = 2, **markup: bool) -> None:
    for line in textwrap.wrap(
        lead + text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    ):
        out.write_line(line, **markup)
