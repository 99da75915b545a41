"""A day's benchmark from outside: one child process for each function, so that none can hang or crash the course.

The child says what happens as JSON, one event a line; what the lesson prints goes elsewhere.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tools import ROOT, gpu, processes
from tools.bench import contest, machine, simulated
from tools.check import timing
from tools.course.content import catalogue
from tools.course.content.catalogue import Unit
from tools.course.content.workload import Workload, workloads
from tools.course.learner.lesson import LessonBroken

PATIENCE = 180.0  # seconds without an event: rivals that compile need some
QUICK = 1.0  # seconds for the stopwatch at sizes below the largest, of which a line is shown
KEPT = 3  # of the last lines that a child printed


def sizes(workload: Workload) -> tuple[int, ...]:
    """The sizes that are timed here; those of a simulated kernel are not."""
    if gpu.card():
        return workload.sizes
    return workload.laptop_sizes if workload.on == "cpu" else ()


def steps(unit: Unit) -> int:
    """How many events of progress there will be at the most: one for each size, or for each simulated function."""
    return sum(len(sizes(workload)) or 1 for workload in workloads(unit))


def events(unit: Unit, root: Path = ROOT, patience: float = PATIENCE) -> Iterator[dict]:
    """What happens, as it happens:

    {"event": "measuring"} where the machine's ceiling is not known yet, which takes seconds.
    {"event": "ceiling", "ceiling"} before the first contest. {"event": "begins", "function", "shape"}.
    {"event": "timed", "record"} and {"event": "counted", "record"}, see contest.contest and simulated.counted.
    {"event": "refused", "function", "why"}: this function is not measured, or no further.
    """
    for number, workload in enumerate(workloads(unit)):
        yield from _of_child(unit, number, workload, root, patience)


def _of_child(unit: Unit, number: int, workload: Workload, root: Path, patience: float) -> Iterator[dict]:
    command = [sys.executable, "-P", "-m", "tools.bench", "child", unit.name, str(number), str(root)]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    with tempfile.TemporaryFile() as printed:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=printed,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,
            cwd=ROOT,
        )
        assert child.stdout is not None
        try:
            yield from _lines(child.stdout, patience)
            if status := child.wait(patience):
                yield _refused(workload, [_ended(status), *_last(printed)])
        except (queue.Empty, subprocess.TimeoutExpired):
            yield _refused(workload, [f"No answer for {patience:g} s, so it was ended.", *_last(printed)])
        finally:
            _end(child)


def _lines(pipe: IO[str], patience: float) -> Iterator[dict]:
    """Events until the pipe is closed. Raises queue.Empty when none comes for too long."""
    lines: queue.Queue = queue.Queue()

    def read() -> None:
        for line in pipe:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()  # a pipe cannot be waited for with a limit on every system
    while (line := lines.get(timeout=patience)) is not None:
        yield json.loads(line)


def _refused(workload: Workload, why: list[str]) -> dict:
    return {"event": "refused", "function": workload.function, "why": "\n".join(why)}


def _ended(status: int) -> str:
    if status < 0:
        return f"Its process died: {signal.strsignal(-status) or 'signal'} (signal {-status})."
    return f"Its process ended itself (exit status {status})."


def _last(printed: IO[bytes]) -> list[str]:
    printed.seek(0)
    lines = printed.read().decode("utf-8", "replace").strip().splitlines()
    return [line[:120] for line in lines[-KEPT:]]


def _end(child: subprocess.Popen) -> None:
    """End the child and what it started. Harmless when it has ended."""
    if child.poll() is None:
        processes.end_group(child)
    assert child.stdout is not None
    child.stdout.close()


# In the child -------------------------------------------------------------------------------------


def child(name: str, number: int, root: Path) -> None:
    """Measure one workload of a unit, and print events."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what the lesson prints must not be taken for an event

    def say(event: str, **facts: Any) -> None:
        out.write(json.dumps({"event": event, **facts}) + "\n")

    unit = catalogue.unit(name, root)
    workload = workloads(unit)[number]
    try:
        if sizes(workload):
            _time(unit, workload, root, say)
        else:
            say("begins", function=workload.function, shape=workload.shape(workload.small))
            say("counted", record=simulated.counted(unit, workload))
    except (LessonBroken, contest.NotTimed) as error:
        say("refused", function=workload.function, why=str(error))
    except Exception as error:  # the lesson's, under the counter; a contest catches them itself
        say("refused", function=workload.function, why=f"It raised {type(error).__name__}: {error}")


def _time(unit: Unit, workload: Workload, root: Path, say: Any) -> None:
    on = "gpu" if gpu.card() and workload.on == "gpu" else "cpu"
    if not machine.is_known(on, root):
        say("measuring")
    ceiling = machine.ceiling(on, root)
    say("ceiling", on=on, ceiling=ceiling, machine=machine.facts(on))
    last = None
    for size in sizes(workload):
        if last and (seconds := expected(workload, last, size)) > contest.SLOWEST:
            raise contest.NotTimed(f"{workload.shape(size)} is left out: one call would take about {seconds:.0f} s.")
        say("begins", function=workload.function, shape=workload.shape(size))
        budget = timing.BUDGET if size == sizes(workload)[-1] else QUICK
        last = contest.contest(unit, workload, size, ceiling, budget=budget)
        say("timed", record=last | {"machine": machine.facts(on)})


def expected(workload: Workload, last: dict, size: int) -> float:
    """Seconds that the slowest competitor will take for one call, if time grows as the work does."""
    work = workload.flops if workload.flops(size) else workload.moved  # a copy has no flops
    grows = max(work(size) / work(last["size"]), 1.0)
    return grows * max(row["seconds"] for row in last["rows"])
