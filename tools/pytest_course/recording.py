"""Progress and journal: what passed, bound to the file that passed. Only runs of the learner's own files count."""

from collections import defaultdict
from datetime import date, datetime, timezone

import pytest

from tools import ROOT, gpu
from tools.course import catalogue, journal, visits
from tools.course.progress import CONFIRMED, OPEN, SIMULATED, Check, Progress, Result, file_hash
from tools.pytest_course.run import is_worker, run_of


def pytest_configure(config):
    if run_of(config).own_files and not is_worker(config):
        config.pluginmanager.register(Recorder(config), "course-recorder")


class Recorder:
    """Collects the outcomes of a run and writes them down once, at its end."""

    def __init__(self, config):
        self.config = config
        self.began = datetime.now(timezone.utc)
        self.whole = not run_of(config).selected  # did it run all of its units' tests?
        self.reports = defaultdict(list)  # unit name -> the report that decides, of each of its tests
        self.hashes = {}                  # unit name -> hash of the lesson when its first test ended

    def pytest_deselected(self):  # by --lf or --deselect
        self.whole = False

    def pytest_runtest_logreport(self, report):
        if not hasattr(report, "course") or (report.passed and report.when != "call"):
            return
        name = report.course["unit"]
        self.reports[name].append(report)
        if name not in self.hashes:
            self.hashes[name] = file_hash(catalogue.unit(name).lesson)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        progress = Progress.load(ROOT)
        for name, reports in self.reports.items():
            progress.record(catalogue.unit(name), _results(reports), self.hashes[name], date.today(),
                            _checks(reports) if self.whole else None)
        for warning in filter(None, (progress.warning, self._keep_journal(progress))):
            self.config.pluginmanager.getplugin("terminalreporter").write_line(f"\n{warning}")

    def _keep_journal(self, progress: Progress) -> str | None:
        """Tell the journal of this run; returns why it could not be told."""
        if not journal.wanted():
            return None
        try:
            for name in self.reports:
                unit = catalogue.unit(name)
                visits.enter(unit, progress.state(unit), self.began, among=len(self.reports))
        except journal.NotKept as problem:
            return str(problem)


def _checks(reports) -> set[Check]:
    """What the unit checks, but for what this machine lacks a program for: a unit can be done without."""
    return {Check(task, r.course["stage"], r.course["needs_gpu"]) for r in reports for task in r.course["tasks"]
            if not (r.course["needs_program"] and _lacks_hardware(r))}


def _results(reports) -> list[Result]:
    """One result for each task and stage of which some test ran."""
    groups = defaultdict(list)
    for report in reports:
        for task in report.course["tasks"]:
            groups[task, report.course["stage"]].append(report)
    return [_result(key, group) for key, group in groups.items() if any(not _lacks_hardware(r) for r in group)]


def _result(key: tuple[int, str], reports) -> Result:
    ran = [r for r in reports if not _lacks_hardware(r)]
    if not all(r.passed for r in ran):
        return Result(*key, OPEN)
    if any(r.course["needs_gpu"] for r in ran) and len(ran) == len(reports):
        return Result(*key, CONFIRMED, gpu.card().name)
    return Result(*key, SIMULATED)


def _lacks_hardware(report) -> bool:
    return report.skipped and "after" not in report.course
