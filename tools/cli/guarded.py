"""Commands that call a lesson in this process: one that hangs, or takes the process down, gets a plain sentence too."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tools import ROOT, gpu, worker
from tools.cli import complain
from tools.worker import guard
from tools.worker.heartbeat import heartbeat
from tools.worker.limit import time_limit

LIMIT, ON_GPU = 10.0, 120.0  # own seconds of one call; on a GPU it may compile kernels, and run under a profiler
BAD = 1  # exit code
CALLING = (["count"], ["show"], ["compiled"])


def run(arguments: list[str], main: Callable[[list[str]], int]) -> int:
    """The exit code of main(arguments); where that will call a lesson, a copy of this process does it under guard."""
    if not guard.usable() or arguments[:1] not in CALLING:
        return main(arguments)
    end = guard.split(signs=False)  # the commands show by themselves that they are at work
    if end is None:
        return main(arguments)
    if end.stopped:
        return complain("Stopped.") and 130
    if not end.place:
        return end.status if end.status >= 0 else 128 - end.status
    complain(f"{end.place}: {_said(end)}")
    return BAD


@contextmanager
def at_work(place: str) -> Iterator[None]:
    """While the lesson is called. Raises worker.TooSlow, when its time is over."""
    limit = ON_GPU if gpu.card() else LIMIT
    heartbeat.enter(place)
    try:
        with worker.deadline(limit), time_limit(limit):
            yield
    finally:
        heartbeat.leave()


def _said(end: guard.End) -> str:
    lesson = next(((file, line) for file, line, _ in end.stack if file.startswith(f"{ROOT}/week")), None)
    where = f"\n{lesson[0].removeprefix(f'{ROOT}/')}, line {lesson[1]}" if lesson else ""
    if end.hung:
        return f"it did not end within {LIMIT:g} s.{where}"
    if end.status < 0:
        name = (signal.strsignal(-end.status) or "a signal").lower()
        return f"the lesson took its process down: {name} (signal {-end.status})."
    return f"the lesson ended its own process (exit status {end.status})."
