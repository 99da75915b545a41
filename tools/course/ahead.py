"""The process of a run, started ahead of its need: the imports that take seconds are done when the learner saves.

    python tools/course/ahead.py MODULE...      in the course's folder

Imports the modules, waits for one line, a JSON array of pytest's arguments and the width of its text, and is that
pytest from then on. An end of input instead of the line ends it. Only what no test changes and no lesson is part of
may be imported here: PyTorch, but not Triton, which is chosen for each run.
"""

import os
import sys

if __name__ == "__main__":  # as with `python -m pytest`; and before any other import: this folder has names of its own
    sys.path[:] = [os.getcwd(), *(place for place in sys.path if place != os.path.dirname(os.path.abspath(__file__)))]

import importlib
import json
import runpy
from contextlib import suppress


def main() -> None:
    for name in sys.argv[1:]:
        with suppress(Exception):  # what is missing or broken the tests say
            importlib.import_module(name)
    order = sys.stdin.readline()
    if not order:
        return
    arguments, columns = json.loads(order)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["COLUMNS"] = str(columns)
    sys.argv = ["pytest", *arguments]
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
