"""Hands pytest over to the course's own plugin; everything it does is in tools/pytest_course.

Where one of the course's packages is missing, three lines say so: no traceback tells a learner that.
"""

import sys
from importlib.util import find_spec

import pytest

PACKAGES = {"numpy": "NumPy", "torch": "PyTorch", "triton": "Triton", "ml_dtypes": "ml_dtypes",
            "hypothesis": "Hypothesis", "rich": "Rich", "typer": "Typer", "watchfiles": "watchfiles"}  # fmt: skip


def missing(package: str) -> str:
    return (
        f"{PACKAGES[package]} is not installed for this Python, {sys.executable}.\n"
        "./course sets up all that the course needs, once: ./course week1/day1\n"
        "To do it by hand: docs/SETUP.md."
    )


if find_spec("numpy"):
    pytest_plugins = ["tools.pytest_course"]
else:

    def pytest_addoption(parser):
        raise pytest.UsageError(missing("numpy"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    report = yield
    call = getattr(report, "call", None)
    error = call.excinfo.value if report.failed and call and call.excinfo else None
    while error is not None:
        package = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0]
        if package in PACKAGES and find_spec(package) is None:
            report.longrepr = missing(package)
        error = error.__cause__
    return report
