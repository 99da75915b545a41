"""Compiled kernels in words, where a test asserts something else about them."""

import re
from collections.abc import Iterator

from tools.check.show import cut
from tools.compiler import Kernel

MOST_LINES = 4
PRODUCT = re.compile(r"arith\.muli .*: (?:tensor<[\dx]+x)?i(\d+)>? loc\((#\w+)\)")  # Triton's own words for one
PLACE = re.compile(r'^(#\w+) = loc\((?:"\w+"\()?(?:callsite\()?(?:"([^"]*)":(\d+):\d+|(#\w+))', re.MULTILINE)


def told_by_kernel(kernel: Kernel, asked: str) -> list[str]:
    """Facts and a question for an assertion whose text is `asked`: what each of its lines moves, what makes it compute
    in float64, where it multiplies in how many bits."""
    if "f64" in asked:
        return list(_float64(kernel))
    if "64_bits" in asked:
        return list(_products(kernel))
    if "width" not in asked:
        return []
    widths = [f"line {each.line}: {_short(each.source)}  {each.width} bytes at a time" for each in kernel.accesses]
    return [*widths[:MOST_LINES], "Do a thread's elements lie side by side, and can the compiler see it?"]


def _float64(kernel: Kernel) -> Iterator[str]:
    wide = [name for name, kind in kernel.signature.items() if "float64" in kind]
    yield f"The launch passed {' and '.join(wide)} as float64." if wide else "No argument of the kernel is float64."
    if any("shared" in name and "f64" in name for name in kernel.instructions):
        yield "Its shared memory holds float64. Which dtype has the shared array?"
    else:
        made = "a sum that begins with 0 becomes it, and so does x if here else 0."
        yield f"In a kernel 0.0 is float64; {made} Where does one come in?"


def _products(kernel: Kernel) -> Iterator[str]:
    """The lines in which whole numbers are multiplied, the narrowest first."""
    try:
        text = kernel.text("ttir")
    except (OSError, ValueError):
        return
    places = PLACE.findall(text)
    own = next((file for name, file, *_ in places if name == "#loc"), None)  # that of the kernel's def
    lines = {name: inner or (line if own in (None, file) else "") for name, file, line, inner in places}
    found = {(int(bits), _line(place, lines)) for bits, place in PRODUCT.findall(text)}
    for bits, line in sorted(each for each in found if each[1])[:MOST_LINES]:
        yield f"line {line} multiplies in {bits} bits"
    yield "Which of these products may pass 2**31?"


def _line(place: str, lines: dict[str, str]) -> int:
    """A place may be the name of a value at another place, or a line of a function that is called at another."""
    for _ in range(len(lines)):
        if place.isdigit():
            return int(place)
        place = lines.get(place, "")
    return 0


def _short(source: str) -> str:
    return cut(source.partition("  #")[0], 32)
