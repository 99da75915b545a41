"""A compiled kernel as a table of 80 columns."""

import re
import textwrap
from typing import TYPE_CHECKING

from tools.words import cut, listed, quantity

if TYPE_CHECKING:  # evidence prints itself by this module
    from tools.compiler.evidence import Access, Kernel
    from tools.models.occupancy import Occupancy

WIDTH = 80
HEADER = (
    "                                                          bytes  sectors  useful",
    " line                                                  a thread /request",
)
_TELLING = re.compile(  # of SASS: memory, matrix units, special functions, exchange between threads
    r"(LDG|STG|LDS|STS|LDL|STL|ATOM|REDG?|UTMA|[HIDQO]?G?MMA|UTC\w*MMA|MUFU|SHFL|BAR)\b|(LDGSTS|LDSM|STSM|ATOM|UTC)"
)
_TENSOR = re.compile(r"([HIDQO]?G?MMA|UTC\w*MMA)\b")
_BARRIER = re.compile(r"(BAR|SYNCS|BARRIER)\b")
_LAYOUT = re.compile(r"(?<=Layout)\(.*\)$", re.DOTALL)
_LAYOUT_OF_DESCRIPTOR = re.compile(r",\s*\w+Layout\(.*\)(?=>)", re.DOTALL)
_MOST = 8  # opcodes that are shown


def of_kernel(kernel: "Kernel") -> str:
    room = kernel.occupancy
    lines = [
        *_wrapped(f"{kernel.name}({', '.join(_parameters(kernel))})", "    "),
        *_wrapped(
            f"{kernel.chip}: grid {' x '.join(map(str, kernel.grid))}{_repeats(kernel)}, "
            f"{quantity(kernel.num_warps, 'warp')}{_staged(kernel)}{_tuned(kernel)}",
            "    ",
        ),
        f"  {kernel.registers} registers, {kernel.spills} bytes spilled, {kernel.shared_bytes} bytes of shared memory",
        *_wrapped(
            f"  {quantity(room.blocks, 'block')} = {room.warps} of {room.of_warps} warps on a multiprocessor; "
            f"limited by {_limits(room)}",
            "    ",
        ),
    ]
    if any(access.width for access in kernel.accesses):
        lines += ["", *HEADER, *map(_row, kernel.accesses)]
    elif kernel.accesses:
        lines += ["", " line  moved in whole tiles by the copy engine (TMA)", *map(_tile_row, kernel.accesses)]
    return "\n".join([*lines, "", *_wrapped("  SASS: " + telling(kernel.sass), "        ")])


def telling(sass: dict[str, int]) -> str:
    """The opcodes that say most about speed, the most frequent first: "LDG.E.128 4, STG.E.128 2"."""
    found = sorted(((op, count) for op, count in sass.items() if _TELLING.match(op)), key=lambda each: -each[1])
    return ", ".join(f"{op} {count}" for op, count in found[:_MOST])


def tensor_instructions(sass: dict[str, int]) -> int:
    """How many instructions stand in the code that tensor cores execute."""
    return sum(count for op, count in sass.items() if _TENSOR.match(op))


def barriers(sass: dict[str, int]) -> int:
    """How many instructions stand in the code at which threads or copies wait for each other."""
    return sum(count for op, count in sass.items() if _BARRIER.match(op))


def _parameters(kernel: "Kernel") -> list[str]:
    """What it was compiled for; of the layouts of Gluon their kind alone, or the types of descriptors without them."""
    return [
        f"{name}={_LAYOUT.sub('', kernel.constants[name])}"
        if name in kernel.constants
        else f"{name}: {_LAYOUT_OF_DESCRIPTOR.sub('', kind)}"
        for name, kind in kernel.signature.items()
    ]


def _limits(room: "Occupancy") -> str:
    """What keeps more blocks out; where a multiprocessor is full of warps or blocks, that alone."""
    return room.limiter if room.limiter in ("warps", "blocks") else listed(room.limiters)


def _repeats(kernel: "Kernel") -> str:
    return f", {kernel.launches} launches" if kernel.launches > 1 else ""


def _staged(kernel: "Kernel") -> str:
    return f", {kernel.num_stages} stages" if kernel.num_stages else ""


def _tuned(kernel: "Kernel") -> str:
    return f", first of {kernel.configs} configs" if kernel.configs > 1 else ""


def _tile_row(access: "Access") -> str:
    return cut(f"{access.line:>5}  {access.kind:<6} {access.source.partition('  #')[0]}", WIDTH)


def _row(access: "Access") -> str:
    source = access.source.partition("  #")[0]  # without its comment
    source = source if len(source) <= 44 else source[:41] + "..."
    width = str(access.width) if access.width else "tile"
    each = "?" if access.sectors_per_request is None else f"{access.sectors_per_request:.1f}"
    useful = "?" if access.efficiency is None else f"{access.efficiency:.0%}"
    return f"{access.line:>5}  {access.kind:<6} {source:<44}{width:>5}{each:>9}{useful:>8}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
