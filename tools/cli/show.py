"""course show DAY: a picture of the learner's kernels, in the terminal and as a file."""

import os
from pathlib import Path

from rich.console import Console

from tools import gpu
from tools.cli import busy, chosen, complain, console, files
from tools.cli.calls import Call, Calls
from tools.draw import touches
from tools.draw.touched import Recorder, Touches
from tools.sim.trace import heard_by


def run(day: str | None, root: Path, svg: Path | None = None) -> int:
    """Draw the smallest call of each function; `svg` gets all pictures. Returns the exit code."""
    os.environ[gpu.SIMULATE] = "1"  # only simulated kernels can be watched; GPU or not, the picture is the same
    if svg:
        files.check(svg, root)
    page, unit, drawn = console(), chosen(day, root), []
    calls = Calls(unit, page)
    for call in calls:
        with calls.attempt():
            with busy(page, f"watching {call.title}"):
                pictures = _watched(call)
            _print(page, call, pictures)
            drawn += pictures
    code = calls.finish(f"{unit.name} launches no kernel, so there is nothing to draw.")
    return code or _write(svg, drawn, unit.name, root)


def _watched(call: Call) -> list[Touches]:
    recorder = Recorder()
    with heard_by(recorder):
        call.function(*call.arguments)
    return recorder.pictures(call.title)


def _print(page: Console, call: Call, pictures: list[Touches]) -> None:
    colour = page.is_terminal and not page.no_color
    for picture in pictures:
        print(touches.terminal(picture, page.width, colour), end="\n\n")
    if not pictures:
        print(f"{call.title}\nIt launches no kernel in Triton or Numba's CUDA, so there is nothing to draw.\n")


def _write(svg: Path | None, drawn: list[Touches], name: str, root: Path) -> int:
    if svg is None:
        return 0
    if not drawn:
        return complain(f"{svg} was not written: {name} launches no kernel that can be drawn.")
    files.write(svg, touches.svg(*drawn), root)
    print(f"The picture is in {svg}; a browser shows it.")
    return 0
