"""The progress of each part of the self-check: a line each that changes on a terminal, plain lines elsewhere."""

import sys
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

WIDTH = 80


class Progress:
    """A context manager for jobs that belong to `parts`; its methods may be called from any thread."""

    def __init__(self, parts: Iterable[str]) -> None:
        self.lock = threading.Lock()
        self.left = Counter(parts)
        self.phases: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        display: tuple[Any, Any] = _live_display() if sys.stdout.isatty() else (None, str)
        self.live, self.as_text = display

    def __enter__(self) -> "Progress":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.live:
            self.live.stop()

    def tell(self, part: str, phase: str, detail: str = "") -> None:
        """`part` has come to `phase`; `detail` changes often, and is for a terminal only."""
        with self.lock:
            self._show(part, phase, detail)

    def done(self, part: str) -> None:
        """One of the jobs of `part` is done."""
        with self.lock:
            self.left[part] -= 1
            if not self.left[part]:
                self._show(part, "done")

    def _show(self, part: str, phase: str, detail: str = "") -> None:
        news, self.phases[part] = self.phases.get(part) != phase, phase
        if self.live:
            self.lines[part] = f"{part:<16} {phase:<12} {detail}"[:WIDTH]
            self.live.update(self.as_text("\n".join(self.lines.values())))
        elif news:
            print(f"{part:<16} {phase}", flush=True)


def _live_display() -> tuple[Any, Any]:
    """Rich's, and what makes a line of code safe from its markup; nothing where rich is missing."""
    try:
        from rich.live import Live
        from rich.text import Text
    except ImportError:
        return None, str
    return Live(refresh_per_second=4, transient=True), Text
