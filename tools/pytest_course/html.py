"""The HTML report (pytest-html, where it is installed): task, stage and counters as columns, failures as on the screen,
readable on a phone too."""

import html
from pathlib import Path
from typing import Any

import pytest

from tools.pytest_course.run import Run, run_of

STYLE = Path(__file__).with_name("html.css")
VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("html"):
        config.pluginmanager.register(Report(run_of(config)), "course-html")


class Report:
    """pytest-html calls these for its page. Its own columns are result, test, duration and links."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def pytest_html_report_title(self, report: Any) -> None:
        report.title = "The course"

    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        prefix.append(f"{VIEWPORT}<style>{STYLE.read_text(encoding='utf-8')}</style>")

    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        result, test, duration, _ = cells
        cells[:] = [result, "<th>Task</th>", "<th>Stage</th>", test, "<th>Counters</th>", duration]

    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        result, _, duration, _ = cells
        course = getattr(report, "course", {})
        tasks = ", ".join(map(str, course.get("tasks", ())))
        cells[:] = [
            result,
            _cell("task", tasks),
            _cell("stage", course.get("stage", "")),
            _cell("testId", report.nodeid.replace("::", " ")),
            _cell("counters", course.get("counters", "")),
            duration,
        ]

    def pytest_html_results_table_html(self, report: Any, data: list[str]) -> None:
        """data: what the failure says, if anything, and then what was printed."""
        if report.longrepr:
            data[:1] = [html.escape("\n\n".join(filter(None, (_text(report), self._hint(report)))))]

    def _hint(self, report: Any) -> str:
        course = getattr(report, "course", {})
        if not report.failed or not course:
            return ""
        hints = self.run.unit(course["unit"]).hints
        return f"Stuck? pytest {course['unit']} --hint" if any(task in hints for task in course["tasks"]) else ""


def _cell(name: str, text: str) -> str:
    """A table's cell, with its title for a screen too narrow for a table."""
    title = name.capitalize() if name != "testId" else ""
    return f'<td class="col-{name}" data-title="{title if text else ""}">{html.escape(text)}</td>'


def _text(report: Any) -> str:
    """The failure, or the reason of a skip without the place that pytest puts beside it."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longrepr).strip()
