"""The heartbeat of a process, in memory shared with the one that watches over it: where it is, and that it is alive.

The one that watches is the parent, and guard.py is what it does; this memory exists before the fork.
"""

import mmap
import struct
from typing import Any

_ROOM = 4096
_BEAT = struct.Struct("=IdI?")  # number of beats, seconds until the next one is overdue, column, is a sign shown
_memory = mmap.mmap(-1, 2 * _ROOM)


class Heartbeat:
    """Both ends of it. beats, seconds, column, shown: see `_BEAT`."""

    watched = False  # in a process that somebody watches

    @property
    def place(self) -> str:
        """What the process is busy with, as a test's node id; "" in between."""
        return _memory[:_ROOM].split(b"\0", 1)[0].decode(errors="replace")

    def enter(self, place: str, column: int = 0) -> None:
        """Say where the process is from now on, and how far the terminal's line is written."""
        text = place.encode()[: _ROOM - 1]
        _memory[: len(text) + 1] = text + b"\0"
        self._write(self.beats + 1, 0.0, column, False)

    def leave(self) -> None:
        _memory[:1] = b"\0"

    def beat(self, seconds: float) -> None:
        """Say that all is well, and when the next beat will be overdue; 0 for never."""
        _, _, column, shown = self._read()
        self._write(self.beats + 1, seconds, column, shown)

    @property
    def beats(self) -> int:
        return self._read()[0]

    @property
    def seconds(self) -> float:
        return self._read()[1]

    @property
    def column(self) -> int:
        return self._read()[2]

    @property
    def shown(self) -> bool:
        """Has the one that watches written a sign of life, below the line?"""
        return self._read()[3]

    @shown.setter
    def shown(self, is_shown: bool) -> None:
        beats, seconds, column, _ = self._read()
        self._write(beats, seconds, column, is_shown)

    def _read(self) -> tuple:
        return _BEAT.unpack_from(_memory, _ROOM)

    def _write(self, *fields: Any) -> None:
        _BEAT.pack_into(_memory, _ROOM, *fields)


heartbeat = Heartbeat()
