"""The process behind `watch` that has imported what takes long, and becomes a run of pytest in an instant.

    python tools/cli/watch/warm.py MODULE...      in the course's folder

Imports the modules, then takes orders from standard input, one JSON object a line: pytest's arguments, the width of
its text, the file that the text goes to. It answers with the number of the process that runs pytest, and once that has
ended with its exit code. The run is a copy of this process, so that no lesson spoils the next run; where nothing can be
copied it is this process itself, which ends with it. An end of input ends it. Only what no test changes and no lesson
is part of may be imported here: PyTorch, but not Triton, which is chosen for each run.
"""

import os
import sys

if __name__ == "__main__":  # as with `python -m pytest`; and before any other import: this folder has names of its own
    sys.path[:] = [os.getcwd(), *(place for place in sys.path if place != os.path.dirname(os.path.abspath(__file__)))]

import gc
import importlib
import json
import runpy
from contextlib import suppress


def main() -> None:
    gc.disable()  # what is imported here stays
    for name in sys.argv[1:]:
        with suppress(Exception):  # what is missing or broken the tests say
            importlib.import_module(name)
    gc.freeze()
    gc.enable()
    for line in sys.stdin:
        order = json.loads(line)
        if not hasattr(os, "fork"):
            become_pytest(order)
            return
        run = os.fork()
        if run == 0:
            os.setsid()  # with all that it starts, it can be ended at once
            become_pytest(order)
            return
        say(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]))


def become_pytest(order: dict) -> None:
    """Say who it is, and be that pytest from now on."""
    say(os.getpid())
    text = os.open(order["text"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream, there in enumerate((os.open(os.devnull, os.O_RDONLY), text, text)):
        os.dup2(there, stream)
    os.environ["COLUMNS"] = str(order["columns"])
    sys.argv = ["pytest", *order["arguments"]]
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


def say(number: int) -> None:
    """One line to whoever gives the orders, if there is still somebody."""
    with suppress(OSError):
        os.write(1, b"%d\n" % number)


if __name__ == "__main__":
    main()
