"""What the simulated GPU did: the work of its engines, as numbers for the tests and as a picture for the terminal.

    python -m week2.katas.streams.show_timeline
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tools import gpu
from tools.sim import host

ENGINES = ("upload", "compute", "download")
WIDTH = 64  # characters
DEFAULT = 0  # the number of the default stream
ROOT = Path(__file__).resolve().parents[3]  # of the course


def timeline(function, *args) -> dict[str, list[tuple[float, float, int]]]:
    """Of each engine: first and last microsecond of its work during function(*args), and the number of its stream.

    Streams are numbered in the order of their first work, from 1; 0 is the default stream.
    """
    before, start = len(host.device().timeline.spans), host.device().timeline.now
    function(*args)
    spans, numbers = host.device().timeline.spans[before:], {DEFAULT: DEFAULT}
    for span in spans:
        numbers.setdefault(span.stream, len(numbers))
    return {engine: [(1e6 * (span.start - start), 1e6 * (span.end - start), numbers[span.stream])
                     for span in spans if span.engine == engine] for engine in ENGINES}


def simulated(function: Callable) -> Callable:
    """Always on the simulated GPU: where there is a real one, in a process of its own that does not use it.

    function: of a lesson, from plain values to plain values.
    """
    @functools.wraps(function)
    def run(*args):
        if gpu.card() is None:
            return function(*args)
        file, name = function.__code__.co_filename, function.__name__
        code = f"import json, runpy; print(json.dumps(runpy.run_path({file!r})[{name!r}](*{args!r})))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                              env=os.environ | {gpu.SIMULATE: "1"})
        if done.returncode:
            raise RuntimeError(f"on the simulated GPU: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
        return json.loads(done.stdout.splitlines()[-1])

    return run


def picture(spans: dict[str, list[tuple[float, float, int]]]) -> str:
    """A row for each engine, as wide as all of it took; a digit is the chunk that it works on."""
    rows, whole = [], max(work[-1][1] for work in spans.values())
    for engine, work in spans.items():
        row = ["."] * WIDTH
        for chunk, (start, end, _) in enumerate(work):
            first, last = (int(each / whole * WIDTH) for each in (start, end))
            row[first:max(last, first + 1)] = str(chunk % 10) * max(last - first, 1)
        rows.append(f"    {engine:10}{''.join(row[:WIDTH])}")
    return "\n".join(rows)


def main() -> None:
    os.environ[gpu.SIMULATE] = "1"  # before the lesson asks which GPU there is
    from week2.katas.streams import streams as lesson

    x, results = np.ones((5, 2**19)), {}
    ways = {"one stream": ("one stream", True), "two streams, first mistake": ("no stream named", True),
            "two streams, second mistake": ("two streams", False), "yours": ("overlapped", True)}
    for name, (way, pinned) in ways.items():
        try:
            results[name] = timeline(lesson.stepped, x, 1, way, pinned)
        except NotImplementedError:
            print(f"{name}: after task 3")
    for name, spans in results.items():
        print(f"{name}: {max(work[-1][1] for work in spans.values()):.0f} us\n{picture(spans)}\n")


if __name__ == "__main__":
    main()
