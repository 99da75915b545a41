"""course show DAY: a picture of the learner's kernels, in the terminal and as a file."""

import os
from pathlib import Path

from rich.console import Console

from tools import gpu
from tools.cli import busy, chosen, complain, console, files, say
from tools.cli.calls import Call, Calls
from tools.draw import moved, touches
from tools.draw.moved import Moved
from tools.draw.touched import Recorder, Touches
from tools.sim.recording import record
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
    code = calls.finish("show")
    return code or _write(svg, drawn, unit.name, root)


def _watched(call: Call) -> list[Touches | Moved]:
    """A picture of each kernel that can be watched; where there is none, one of what the call moved."""
    recorder = Recorder()
    with heard_by(recorder), record() as counters:
        call.function(*call.arguments)
    return [*recorder.pictures(call.title)] or list(filter(None, [moved.moved(call.title, counters)]))


def _print(page: Console, call: Call, pictures: list[Touches | Moved]) -> None:
    colour = page.is_terminal and not page.no_color
    for picture in pictures:
        if isinstance(picture, Moved):
            print(moved.terminal(picture, page.width), end="\n\n")
        else:
            print(touches.terminal(picture, page.width, colour), end="\n\n")
    if not pictures:
        say(f"{call.title}\nIt launches no kernel and moves nothing to a GPU: there is nothing to draw.")
        print()


def _write(svg: Path | None, drawn: list[Touches | Moved], name: str, root: Path) -> int:
    if svg is None:
        return 0
    if not drawn:
        return complain(f"{svg} was not written: nothing was drawn.")
    files.write(svg, touches.svg(*drawn), root)
    print(f"The picture is in {svg}; a browser shows it.")
    return 0
