"""Run the tests of one unit against many variants of its lesson, in this process: PyTorch is imported once.

`python -m tools.selfcheck.unit` reads a JSON list of variants from standard input and writes one JSON
object a line to standard output; whatever tests and lessons print goes to standard error.
"""

import faulthandler
import gc
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest

from tools.check import auditing, explain, patience
from tools.doctor import machine
from tools.doctor.machine import installed
from tools.selfcheck.readers import Readers
from tools.selfcheck.recording import active
from tools.selfcheck.results import TELLS_STACKS, TRIES, Variant
from tools.selfcheck.verdicts import contains
from tools.worker import NUMBERS, fresh_memory, stem

PATIENCE = 3.0  # times that of a learner: what a failure says must not hang on how busy this machine is
ROOM = 8 << 30  # bytes of memory of its own that a mutant may have
LESSON_MODULE = re.compile(r"week\d+(\.|$)")


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    if TELLS_STACKS is not None:  # in a copy of standard error, which pytest takes for itself while tests run
        faulthandler.register(TELLS_STACKS, file=os.dup(2))

    def send(event: str, **facts: Any) -> None:
        print(json.dumps({"event": event, **facts}), file=channel)

    variants = [Variant.from_json(table) for table in json.load(sys.stdin)]
    if all(variant.kind != "tools" for variant in variants):  # whose test files are told apart by what each imports
        stem.keep()
    for variant in variants:
        run(variant, send)
        gc.freeze()  # what is loaded by now stays; pytest collects garbage four times a run


def run(variant: Variant, send: Callable[..., None]) -> None:
    """Run one variant; `send` hears "begin", each "test", and "end"."""
    send("begin")
    start = time.monotonic()
    arguments: Iterable[str] = variant.arguments
    most = 1 if variant.kind == "mutant" else TRIES
    times = 1.0 if variant.kind == "tools" else PATIENCE  # the tools' own tests ask for the limits as they are
    with (
        _auditing(variant.audit),
        _machine(variant.facts),
        _explaining(variant.kind != "mutant"),
        _memory(variant.kind == "stub"),
        patience.patient(times),
    ):
        for tries in range(1, most + 1):
            forget_lessons()
            collector = Collector(send, variant, patient=tries < most)
            plugins = [collector, *([Readers()] if variant.kind == "tools" and active() else [])]
            code = pytest.main([*arguments, "-o", f"course_limit={variant.limit:g}"], plugins=plugins)
            if not collector.undecided:
                break
            arguments = only(arguments, collector.undecided)
    send("end", exit=int(code), seconds=time.monotonic() - start)


def only(arguments: Iterable[str], nodeids: list[str]) -> list[str]:
    """The same arguments, with these tests in the place of files and folders."""
    return [*(a for a in arguments if not os.path.exists(a.partition("::")[0])), *nodeids]


def forget_lessons() -> None:
    """The next import of a lesson, or of its tests, must read the file of the next variant."""
    for name in [name for name in sys.modules if LESSON_MODULE.match(name)]:
        del sys.modules[name]


def _auditing(on: bool) -> AbstractContextManager:
    return auditing.enabled() if on else nullcontext()


def _explaining(on: bool) -> AbstractContextManager:
    """Nobody reads what killed a mutant."""
    return nullcontext() if on else explain.without_causes()


def _memory(known: bool) -> AbstractContextManager:
    """What a stub never stores must not look by chance like a mistake. Only a lesson that ran before loads PyTorch."""
    return fresh_memory(NUMBERS[0]) if known and "torch" in sys.modules else nullcontext()


@contextmanager
def _bounded(on: bool) -> Iterator[None]:
    """A mutant that appends for ever takes 17 GB in its ten seconds; here Python refuses, and it is killed.

    What it took is free again at the end: pytest has to report it, and the next mutant has as much room.
    """
    if not on or sys.platform != "linux":
        yield
        return
    import resource

    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (ROOM, most))
    try:
        yield
    except BaseException as error:
        _clear(error)
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def _clear(error: BaseException | None) -> None:
    """Forget the variables of all functions that it passed through, and those of the errors before it."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def _machine(facts: dict) -> AbstractContextManager:
    return machine.pretend(facts) if facts else nullcontext()


class Collector:
    """A pytest plugin that passes on what became of each test; if it is patient, of those that were decided."""

    def __init__(self, send: Callable[..., None], variant: Variant, patient: bool) -> None:
        self.send, self.variant, self.patient = send, variant, patient
        self.undecided: list[str] = []
        self.rejecting: set[str] = set()  # those of the tests that must fail that did
        self.said = False  # has one of them said what it must say?
        self.items: dict[str, pytest.Item] = {}

    def pytest_configure(self, config: Any) -> None:
        self.config = config

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: Any) -> list | None:
        """Nothing, in place of the cases of a test that `judged` would leave out: most of a unit's, each time."""
        if not self.variant.rejected_by or name in self.variant.rejected_by or not callable(obj):
            return None
        first = min((_task_of(getattr(collector.obj, each, None)) for each in self.variant.rejected_by), default=0)
        return [] if first and (name in self.variant.unreached or _task_of(obj) >= first) else None

    def pytest_itemcollected(self, item: Any) -> None:
        self.items[item.nodeid] = item

    def pytest_collection_modifyitems(self, items: Any) -> None:
        if self.variant.kind == "mutant":
            items.sort(
                key=lambda item: (_function(item) in self.variant.unreached, _is_slow(item))
            )  # any failure will do
        if self.variant.rejected_by:
            items[:] = judged(items, self.variant)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with _bounded(self.variant.kind == "mutant"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with _bounded(self.variant.kind == "mutant"):
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> bool | None:
        """Pass over further cases of a test that has failed already, in the words that are asked for."""
        return self.said and _function(item) in self.rejecting or None

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed or (report.skipped and not self.variant.of_lesson):
            self.send("test", nodeid=report.nodeid, function="(collection)", outcome=report.outcome, text=_text(report))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" and report.passed:
            return
        category = self.config.hook.pytest_report_teststatus(report=report, config=self.config)[0]
        if category == "undecided" and self.patient:
            self.undecided.append(report.nodeid)
            return
        item = self.items[report.nodeid]
        if report.failed and _function(item) in self.variant.rejected_by:
            self.rejecting.add(_function(item))
            self.said |= contains(_text(report), self.variant.says)
        lesson = _facts(report) if self.variant.of_lesson else {}
        self.send(
            "test",
            nodeid=report.nodeid,
            function=_function(item),
            outcome="failed" if category == "error" else category,
            text="" if report.passed else _text(report),
            seconds=report.duration,
            **{key: lesson[key] for key in ("tasks", "stage", "needs_gpu", "needs_program") if lesson},
        )


def _facts(report: Any) -> dict:
    """What the course's plugin says of a test. One that asks NVIDIA's compilers may miss them, as others a program."""
    if report.skipped and report.course["stage"] == "compiled" and not installed("numba-cuda"):
        return report.course | {"needs_program": True}
    return report.course


def judged(items: list[pytest.Item], variant: Variant) -> list[pytest.Item]:
    """The tests that must reject a wrong answer, and those of earlier tasks, which must not.

    Of these no slow ones, and none that pass as on the reference, since nothing that they use is changed.
    """
    rejecting = [item for item in items if _function(item) in variant.rejected_by]
    first = min(map(_last_task, rejecting), default=0)

    def is_earlier(item: pytest.Item) -> bool:
        return _last_task(item) < first and not _is_slow(item) and _function(item) not in variant.unreached

    return [item for item in items if item in rejecting or is_earlier(item)]


def _is_slow(item: pytest.Item) -> bool:
    """Does it measure, or compile in a process of its own? Either takes seconds."""
    return any(item.get_closest_marker(mark) for mark in ("speed", "compiled"))


def _function(item: pytest.Item) -> str:
    return getattr(item, "originalname", None) or item.name


def _last_task(item: pytest.Item) -> int:
    mark = item.get_closest_marker("task")
    return max(mark.args) if mark else 0


def _task_of(function: object) -> int:
    """The same, of a test that is not collected yet; 0 where it says none itself."""
    marks = getattr(function, "pytestmark", [])
    return max((number for mark in marks if mark.name == "task" for number in mark.args), default=0)


def _text(report: Any) -> str:
    if report.skipped and isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return report.longreprtext


if __name__ == "__main__":
    main()
