"""Single keys, and text that fits on a screen."""

import sys
import types
from queue import SimpleQueue

from tools.cli import terminal

PATIENCE = 30  # seconds


def test_the_end_of_the_list_goes_first_and_then_the_end_of_the_failure():
    head, body = ["title", "task 1", "task 2"], ["", "FAILED", "why"]
    assert terminal.fit(head, body, 6, 80) == ([*head, *body], 0)
    assert terminal.fit(head, body, 5, 80) == (["title", "task 1", *body], 1)
    assert terminal.fit(head, body, 3, 80) == (["title", "", "FAILED"], 3)
    assert terminal.fit(head, body, 0, 80) == (["title"], 5)
    assert terminal.fit(["title", "skipped 1: why\n  and where"], body, 5, 80) == (["title", *body], 2)


def test_a_long_line_takes_several_rows_and_colours_take_none():
    assert terminal.rows("x" * 80, 80) == 1
    assert terminal.rows("x" * 81, 80) == 2
    assert terminal.rows("", 80) == 1
    assert terminal.rows("\x1b[31m" + "x" * 80 + "\x1b[0m", 80) == 1


def test_keys_come_from_windows_too(monkeypatch):
    typed, heard = ["h", "q"], SimpleQueue()
    stand_in = types.SimpleNamespace(kbhit=lambda: bool(typed), getwch=lambda: typed.pop(0))
    monkeypatch.setitem(sys.modules, "msvcrt", stand_in)
    monkeypatch.setattr(terminal, "termios", None)
    with terminal.Keys(heard.put) as keys:
        keys.take()
        assert [heard.get(timeout=PATIENCE) for _ in range(2)] == ["h", "q"]
