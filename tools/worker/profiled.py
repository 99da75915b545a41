"""A call in a fresh process that a profiler starts: its requests and replies are files.

ncu --profile-from-start off ... python -m tools.worker.profiled REQUESTS REPLIES
"""

import sys
from pathlib import Path
from typing import Any

from tools import gpu, wire
from tools.worker.__main__ import Worker
from tools.worker.calls import repeat
from tools.worker.lesson import Lesson


class ProfiledWorker(Worker):
    """Knows one operation more."""

    def __init__(self) -> None:
        super().__init__()
        self.operations["profile"] = self.profile

    def profile(self, name: str, args: tuple, kwargs: dict) -> None:
        """A call in sight of the profiler."""
        with gpu.in_sight_of_profiler():
            repeat(self.function(name), args, kwargs, 1)


def write_requests(file: Path, lesson: Lesson, name: str, args: tuple, kwargs: dict) -> list[wire.Packet]:
    """Ask for one call of the lesson's function. Raises TypeError for what cannot cross.

    The first call is out of the profiler's sight: it may compile kernels, and try which of them is fastest.
    """
    requests = [
        lesson.request("load", lesson.module, str(lesson.file), 0),
        *(lesson.request(operation, name, args, kwargs) for operation in ("call", "profile")),
    ]
    with file.open("wb") as stream:
        for number, request in enumerate(requests):
            wire.send(stream.write, number, request.header, request.buffers)
    return requests


def check_replies(file: Path, lesson: Lesson, requests: list[wire.Packet]) -> bool:
    """Raise what the lesson raised. False when not all requests were answered: the process ended too early."""
    with file.open("rb") as stream:
        try:
            for request in requests:
                _, header, buffers = wire.receive(_filler(stream))
                lesson.answer(header, buffers, request).result()
        except (EOFError, wire.Malformed):
            return False
    return True


def _filler(stream: Any) -> Any:
    def fill(view: memoryview) -> None:
        if stream.readinto(view) < len(view):
            raise EOFError

    return fill


def main() -> None:
    requests, replies = sys.argv[1:]
    worker = ProfiledWorker()
    with open(requests, "rb") as source, open(replies, "wb") as target:
        while source.peek(1):
            number, header, buffers = wire.receive(_filler(source))
            reply = worker.answer(header, buffers)
            wire.send(target.write, number, reply.header, reply.buffers)
            target.flush()


if __name__ == "__main__":
    main()
