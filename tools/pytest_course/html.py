"""Columns of the HTML report (pytest-html, where it is installed): task, stage, counters, hint."""

import html

from tools.course import catalogue

TITLES = ("Task", "Stage", "Counters", "Hint")


def pytest_configure(config):
    if config.pluginmanager.hasplugin("html"):
        config.pluginmanager.register(Columns(), "course-html")


class Columns:
    """pytest-html calls these for its table."""

    def pytest_html_report_title(self, report):
        report.title = "The course"

    def pytest_html_results_table_header(self, cells):
        cells[2:2] = [f"<th>{title}</th>" for title in TITLES]

    def pytest_html_results_table_row(self, report, cells):
        cells[2:2] = [f"<td>{html.escape(text)}</td>" for text in _texts(report)]


def _texts(report) -> tuple[str, ...]:
    """What the four columns say of one test."""
    course = getattr(report, "course", None)
    if course is None:
        return ("",) * len(TITLES)
    tasks = ", ".join(map(str, course["tasks"]))
    hint = f"pytest {course['unit']} --hint" if report.failed and _has_hints(course) else ""
    return tasks, course["stage"], course.get("counters", ""), hint


def _has_hints(course) -> bool:
    return any(task in catalogue.unit(course["unit"]).hints for task in course["tasks"])
