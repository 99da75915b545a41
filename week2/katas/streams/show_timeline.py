"""What the simulated GPU did: the work of its engines, as numbers for the tests and as a picture for the terminal.

    ./course python -m week2.katas.streams.show_timeline
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

from tools import gpu
from tools.sim import host

ENGINES = ("upload", "compute", "download")
WIDTH = 64  # characters
CHUNKS = 5  # of 8 MB
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


def overlap(first: list[tuple[float, ...]], second: list[tuple[float, ...]]) -> float:
    """How long two engines were busy at once: what spans of one and of the other share. first, second: start, end."""
    return sum(max(0.0, min(one[1], other[1]) - max(one[0], other[0])) for one in first for other in second)


def allocated(function, *args) -> list[int]:
    """Bytes of each piece of the GPU's memory that function(*args) asks for."""
    memory = host.device().memory
    with mock.patch.object(memory, "reserve", wraps=memory.reserve) as reserve:
        function(*args)
    return [call.args[0] for call in reserve.call_args_list]


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

    x = np.ones((CHUNKS, 2**20))
    ways = {"one stream": ("one stream", True), "two streams": ("two streams", True),
            "two streams, first mistake": ("no stream named", True),
            "two streams, second mistake": ("two streams", False), "yours": ("overlapped", True)}
    print("A dot: the engine waits for another one, for a buffer, or for the host to ask.\n")
    for name, (way, pinned) in ways.items():
        try:
            spans = timeline(lesson.stepped, x, 1, way, pinned)
        except NotImplementedError:
            print(f"{name}: after task 3")
            continue
        whole = max(work[-1][1] for work in spans.values())
        print(f"{name}: {whole:.0f} us, {whole / WIDTH:.0f} us a character\n{picture(spans)}\n")


if __name__ == "__main__":
    main()
