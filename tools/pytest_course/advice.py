"""Warnings: on the short screen only those at a line of the learner's; what libraries warn each other of is not his.

Under pytest -v all of them are there, as pytest shows them.
"""

import textwrap
import warnings
from collections.abc import Iterator

from tools.pytest_course.run import Run
from tools.worker.raised import frame_at

MOST = 3  # that are shown
LOW_OCCUPANCY = "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"  # Numba's advice to start more blocks: tests start few on purpose


class Advice:
    """Collects the warnings of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.found: dict[tuple[str, int, str], str] = {}

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage) -> None:
        if self.is_own(warning_message.filename):
            place = warning_message.filename, warning_message.lineno, warning_message.category.__name__
            self.found.setdefault(place, str(warning_message.message))

    def is_own(self, file: str) -> bool:
        return any(str(lesson) == file for lesson in self.run.sources)

    def lines(self, width: int) -> Iterator[str]:
        for (file, line, category), text in list(self.found.items())[:MOST]:
            frame = frame_at(file, line, "")
            first = text.splitlines()[0] if text else ""
            yield from textwrap.wrap(
                f"{category} in {frame.file}, line {line}: {first}",
                width,
                subsequent_indent="  ",
                break_long_words=False,
            )
        if len(self.found) > MOST:
            yield f"and {len(self.found) - MOST} warnings more; pytest -v shows them"
