"""Progress and journal: what passed, bound to the file that passed. Only runs of the learner's own files count."""

import textwrap
from collections import defaultdict
from datetime import date, datetime, timezone
from typing import Any

import pytest

from tools import ROOT, gpu
from tools.course.learner import activity, journal
from tools.course.learner.outcomes import Ended, checks, results, waits
from tools.course.learner.progress import Progress, Wait, file_hash
from tools.pytest_course.judges import Judges
from tools.pytest_course.run import is_worker, run_of, unit_name
from tools.pytest_course.standing import ended

WIDTH = 80


def pytest_configure(config: pytest.Config) -> None:
    if run_of(config).own_files and not is_worker(config):
        config.pluginmanager.register(Recorder(config), "course-recorder")


class Recorder:
    """Collects the outcomes of a run and writes them down once, at its end."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.began = datetime.now(timezone.utc)
        self.whole = not run_of(config).selected  # did it run all of its units' tests?
        self.tests: dict[str, list[Ended]] = defaultdict(list)  # unit name -> how its tests came out
        self.hashes: dict[str, str] = {}  # unit name -> hash of the lesson when its first test ended
        self.judges = None if run_of(config).remote else Judges()  # elsewhere, a lesson cannot reach them
        self.waiting: dict[str, set[Wait]] = {}  # unit name -> what the whole unit waits for

    def pytest_deselected(self) -> None:  # by --lf or --deselect
        self.whole = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not hasattr(report, "course") or (report.passed and report.when != "call"):
            return
        name = report.course["unit"]
        self.tests[name].append(ended(report))
        if name not in self.hashes:
            self.hashes[name] = file_hash(run_of(self.config).unit(name).lesson)

    def pytest_collectreport(self, report: Any) -> None:
        name = unit_name(report.nodeid)
        if name and report.skipped and getattr(report, "lacks", None):
            self.waiting[name] = {Wait(0, "", report.lacks, 0)}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
            return
        run = run_of(self.config)
        for file in sorted(run.put_back):
            self._say(f"{file} was deleted while it ran, and put back as it was.")
        if replaced := self.judges.replaced() if self.judges else []:
            run.untrusted = True
            self._say(f"Not recorded: the lesson put something else in place of {replaced[0]}, which judges it.")
            return
        progress, card = Progress.load(ROOT), gpu.card()
        whole = self.whole and not (session.shouldfail or session.shouldstop)
        for name in self.tests | self.waiting:
            tests = self.tests.get(name, ())
            progress.record(
                run.unit(name),
                results(tests, card.name if card else None),
                self.hashes.get(name, ""),
                date.today(),
                checks(tests) if whole else None,
                waits(tests) | self.waiting.get(name, set()),
            )
        for warning in filter(None, (progress.warning, self._keep_journal(progress))):
            self._say(warning)

    def _say(self, line: str) -> None:
        out = self.config.pluginmanager.getplugin("terminalreporter")
        out.write_line("\n" + textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False))

    def _keep_journal(self, progress: Progress) -> str | None:
        """Tell the journal of this run; returns why it could not be told."""
        if not journal.wanted():
            return None
        try:
            for name in self.tests:
                unit = run_of(self.config).unit(name)
                activity.enter(unit, progress.state(unit), self.began, among=len(self.tests))
        except journal.NotKept as problem:
            return str(problem)
        return None
