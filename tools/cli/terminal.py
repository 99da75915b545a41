"""A terminal that is asked for single keys, and text that must fit on its screen."""

import os
import re
import select
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import ceil
from types import TracebackType

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HOME, CLEAR_BELOW, CLEAR_LINE = "\x1b[H", "\x1b[J", "\r\x1b[K"
LOOK = 0.1  # seconds


def interactive() -> bool:
    """Is somebody at both ends who sees one screen and can press keys?"""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"


def size() -> tuple[int, int]:
    """Columns and rows as they are now; 80 and 24 where there is no terminal, or one that says 0."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        columns, rows = 0, 0
    return columns or 80, rows or 24


def rows(text: str, columns: int) -> int:
    """How many rows of the screen a text takes; colours take no room."""
    return sum(max(1, ceil(len(line) / columns)) for line in COLOUR.sub("", text).split("\n"))


def fit(head: Sequence[str], body: Sequence[str], room: int, columns: int) -> tuple[list[str], int]:
    """The texts of head and body that `room` rows can hold, and how many of their lines were cut.

    The first text of the head always stays; then what is most to the front of the body; then the rest of the head.
    """
    kept_head, kept_body = list(head), list(body)

    def height() -> int:
        return sum(rows(text, columns) for text in (*kept_head, *kept_body))

    while len(kept_head) > 1 and height() > room:
        kept_head.pop()
    while kept_body and height() > room:
        kept_body.pop()
    cut = [*head[len(kept_head) :], *body[len(kept_body) :]]
    return [*kept_head, *kept_body], sum(text.count("\n") + 1 for text in cut)


class Keys:
    """Inside, each key that is pressed on standard input is given to `pressed`, in a thread of its own; "" is the end
    of the input. The terminal is as before afterwards."""

    def __init__(self, pressed: Callable[[str], None]):
        self._pressed, self._stopped = pressed, threading.Event()
        self._thread = threading.Thread(target=self._listen if termios else self._listen_on_windows, daemon=True)

    def __enter__(self) -> "Keys":
        if termios:
            self._file = sys.stdin.fileno()
            self._before = termios.tcgetattr(self._file)
            self.take()
        self._thread.start()
        return self

    def take(self) -> None:
        """Ask the terminal for keys instead of lines, without showing them; again after a pause with Ctrl-Z."""
        if termios:
            with suppress(termios.error):
                tty.setcbreak(self._file)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopped.set()
        self._thread.join()
        if termios:
            with suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def _listen(self) -> None:
        while not self._stopped.is_set():
            if not select.select([self._file], [], [], LOOK)[0]:
                continue
            try:
                typed = os.read(self._file, 64).decode(errors="replace")
            except OSError:  # the terminal is gone
                typed = ""
            if not typed:
                return self._pressed("")
            if not typed.startswith(ESCAPE):  # an arrow or the like is none of our keys
                for key in typed:
                    self._pressed(key)

    def _listen_on_windows(self) -> None:
        import msvcrt  # has these two on Windows alone

        key_waits: Callable[[], bool] = getattr(msvcrt, "kbhit")
        next_key: Callable[[], str] = getattr(msvcrt, "getwch")
        while not self._stopped.wait(LOOK):
            while key_waits():
                self._pressed(next_key())


class EndOfInput:
    """Inside, `ended` is called once, in a thread of its own, when standard input ends; what it says is not read."""

    def __init__(self, ended: Callable[[], None]):
        self._ended = ended

    def __enter__(self) -> "EndOfInput":
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        pass  # the thread waits in a read that nothing can interrupt; it ends with the process

    def _listen(self) -> None:
        try:
            while sys.stdin.readline():
                pass
        except (OSError, ValueError):  # closed
            pass
        self._ended()
