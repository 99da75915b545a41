"""course compiled DAY: what the real compiler makes of the learner's kernels, with or without a GPU."""

import difflib
import linecache
import re
from pathlib import Path

from rich.console import Console

from tools import gpu
from tools.check import compiled
from tools.cli import busy, chosen, complain, console, files, room
from tools.cli.calls import Calls
from tools.compiler import Kernel, sass_lines, table
from tools.course.content.catalogue import Unit
from tools.models import chips
from tools.words import cut, quoted, wrapped

DEFAULT = "h100"
STAGES = "ttir", "ttgir", "ptx"
SCREEN = 20  # lines of TTGIR
SOURCE = 36  # columns of a source line
_PLACE = re.compile(r" loc\(#loc\d*\)")


def run(day: str | None, root: Path, chip: str | None = None, mlir: bool = False) -> int:
    """Compile the kernels of each function's smallest call for a chip. Returns the exit code."""
    page = console()
    if chip is not None and chip not in chips.chips():
        near = difflib.get_close_matches(chip.lower(), chips.chips(), 1, cutoff=0.3)
        return complain(
            f"No chip is called {quoted(chip)}.{f' Did you mean {near[0]}?' if near else ''}\n"
            + "\n".join(wrapped(f"There are {', '.join(chips.chips())}.", room()))
        )
    unit, shown = chosen(day, root), 0
    if mlir:
        files.check_folder(_folder(unit, root), root)
    calls, target = Calls(unit, page), chip or _of_machine()
    for call in calls:
        with calls.attempt():
            with busy(page, f"compiling {call.title}"):
                kernels = compiled(call.function, *call.arguments, chip=target).kernels
            if kernels:
                page.print(f"{call.title}, compiled for {chips.chip(target).name}", style="bold")
            for kernel in kernels:
                _print(page, kernel, unit)
                if mlir:
                    _write(page, kernel, unit, root)
            shown += len(kernels)
    code = calls.finish("compiled")
    if code == 0 and not shown:
        return complain(f"{unit.name} launches no kernel in Triton or Numba's CUDA, so nothing is compiled.")
    return code


def _of_machine() -> str:
    """The chip of the GPU in this machine; DEFAULT without one, or with one that the table lacks."""
    card = gpu.installed_card()
    known = card and chips.detect(card.name, 10 * card.capability[0] + card.capability[1])
    return known.key if known else DEFAULT


def _print(page: Console, kernel: Kernel, unit: Unit) -> None:
    page.print()
    page.print(str(kernel))
    page.print(
        f"  tensor-core instructions: {table.tensor_instructions(kernel.sass)}, barriers: {table.barriers(kernel.sass)}"
    )
    if any(access.sectors is None and access.width for access in kernel.accesses):
        page.print(f"  ?: ./course count {unit.name} counts the sectors")
    if rows := _sass_rows(kernel, unit.lesson, page.width):
        page.print()
        page.print("\n".join(rows))
    page.print()


def _sass_rows(kernel: Kernel, lesson: Path, width: int) -> list[str]:
    """Lines of the lesson with the number of machine instructions from each, and those that tell most."""
    try:
        found = sass_lines.by_line(kernel.text("sass"), lesson.name)
    except OSError:  # the cache was emptied meanwhile
        return []
    rows = [" line  SASS"]
    for line, opcodes in found.items():
        source = linecache.getline(str(lesson), line).strip()
        figures = f"{line:5}{sum(opcodes.values()):6}  {cut(source, SOURCE):{SOURCE}}  {table.telling(opcodes)}"
        rows.append(cut(figures.rstrip(), width))
    return rows if found else []


def _write(page: Console, kernel: Kernel, unit: Unit, root: Path) -> None:
    """Keep the compiler's texts of each stage beside the learner's progress."""
    for stage in STAGES:
        try:
            text = kernel.text(stage)
        except OSError:  # a CUDA kernel has PTX only
            continue
        file = _folder(unit, root) / f"{kernel.name}.{stage}"
        file.write_text(text, encoding="utf-8")
        page.print(f"{file.relative_to(root).as_posix()}: {len(text.splitlines()):,} lines")
        if stage == "ttgir":
            page.print("\n".join(_first_screen(text, page.width)), style="dim")
    page.print()


def _folder(unit: Unit, root: Path) -> Path:
    return root / ".course" / "compiled" / unit.name


def _first_screen(ttgir: str, width: int) -> list[str]:
    """Without the places in the source, which the file has."""
    lines = [_PLACE.sub("", line) for line in ttgir.splitlines() if not line.startswith("#loc") and line.strip()]
    return [cut(line, width) for line in lines[:SCREEN]] + ["..."] * (len(lines) > SCREEN)
