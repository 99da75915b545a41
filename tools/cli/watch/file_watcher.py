"""Notices that a unit's files were saved, however an editor does that: in place, by renaming, several at once.

watchfiles wakes us at once where it is installed and the file system reports changes; a look every half second finds
all else, as on network file systems. Either way what counts is how the files stand, not what was reported.
"""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.course.content.catalogue import Unit

LOOK = 0.2  # seconds between two looks where there is no watchfiles
REPORT = 50  # milliseconds in which watchfiles gathers changes
ANYWAY = 500  # milliseconds after which it wakes us without any
QUIET = 0.05  # seconds without a change: whoever was saving is done
PATIENCE = 1.0  # seconds for a file to come back that is being replaced


class Saves:
    """Calls `saved()` in a thread of its own after each save of the unit's lesson, tests or day.toml."""

    def __init__(self, unit: Unit, saved: Callable[[], None]):
        self._files = (unit.lesson, unit.tests, unit.folder / "day.toml")
        self._folder, self._saved = unit.folder, saved
        self._stopped = threading.Event()
        self._known = self._stand()  # here and not in the thread: a save from now on is noticed
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """No call of `saved` begins after this."""
        self._stopped.set()

    def _watch(self) -> None:
        for _ in _wakings(self._folder, self._stopped):
            if self._stand() == self._known:
                continue
            self._known = self._settled()
            if not self._stopped.is_set():
                self._saved()

    def _settled(self) -> tuple:
        """How the files stand once nothing changes any more."""
        end, now = time.monotonic() + PATIENCE, self._stand()
        while time.monotonic() < end:
            before = now
            time.sleep(QUIET)
            now = self._stand()
            if now == before and None not in now:
                break
        return now

    def _stand(self) -> tuple[tuple[int, ...] | None, ...]:
        """What changes when a file is saved; None for one that is not there."""
        return tuple(map(_mark, self._files))


def _mark(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _wakings(folder: Path, stopped: threading.Event) -> Iterator[None]:
    """Comes round whenever it may be worth a look, until stopped."""
    try:
        import watchfiles

        for _ in watchfiles.watch(folder, watch_filter=None, debounce=REPORT, step=10, stop_event=stopped,
                                  rust_timeout=ANYWAY, yield_on_timeout=True, recursive=False):  # fmt: skip
            yield
    except (ImportError, OSError, RuntimeError):  # the last two: no more watches to be had, the folder is gone
        pass
    while not stopped.wait(LOOK):
        yield
