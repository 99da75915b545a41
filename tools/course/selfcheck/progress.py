"""Show how far each part of the self-check is: a line each that changes on a terminal, plain lines elsewhere."""

import sys
import threading

WIDTH = 80


class Progress:
    """A context manager; `tell` may be called from any thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.phases: dict[str, str] = {}
        self.lines: dict[str, str] = {}
        self.live = _live_display() if sys.stdout.isatty() else None

    def __enter__(self) -> "Progress":
        if self.live:
            self.live.start()
        return self

    def __exit__(self, *error) -> None:
        if self.live:
            self.live.stop()

    def tell(self, part: str, phase: str, detail: str = "") -> None:
        """`part` has come to `phase`; `detail` changes often, and is for a terminal only."""
        with self.lock:
            news, self.phases[part] = self.phases.get(part) != phase, phase
            if self.live:
                self.lines[part] = f"{part:<16} {phase:<18} {detail}"[:WIDTH]
                self.live.update("\n".join(self.lines.values()))
            elif news:
                print(f"{part:<16} {phase}", flush=True)


def _live_display():
    try:
        from rich.live import Live
    except ImportError:
        return None
    return Live(refresh_per_second=4, transient=True)
