"""The work of a compiled module in double, and its conversions: read off the instructions of the host's processor.

Each basic block begins with a call of the coverage hook, so that how often lanes entered it says how often its
instructions ran. Nothing is told of what NVIDIA's compiler does in float, as far as one basic block shows that: one
operation, on floats and on constants that float holds, whose result is rounded at once, as in `y = x * 2.0`
(tools/sim/floats.py).
"""

import re
import struct
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HOOK = "__sanitizer_cov_trace_pc"
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+)\s*([^#\n]*?)\s*(?:(?:#|//) .*)?$", re.M)
CONSTANT = re.compile(r"# ([0-9a-f]+) <")  # where on x86-64 an operand lies that the instruction names by its distance
CALLED = re.compile(r"<(?:[\w:]+ )*(?:\w+::)*(\w+)(?:<.*>)?(?:@plt)?(?:\((.*)\))?>")
FUNCTIONS = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 exp10 fma fmax fmin fmod hypot "
    "lgamma log log10 log1p log2 max min normcdf pow rcbrt remainder rsqrt sin sinh sqrt tan tanh tgamma cospi sinpi "
    "floor ceil trunc round rint nearbyint atomicAdd __dadd_rn __dmul_rn __ddiv_rn __fma_rn".split()
)
# Of x86-64 and of aarch64: what becomes a double (from float, from an integer), what a double becomes, arithmetic.
WIDENED = re.compile(r"cvtss2sd|cvtps2pd|fcvt d\d+, s")
FROM_INTEGER = re.compile(r"cvtsi2sd|[su]cvtf d")
ROUNDED = re.compile(r"cvtsd2ss|cvtpd2ps|fcvt s\d+, d")
OTHER_CONVERSION = re.compile(r"cvt\w*si2ss|cvtt?s[sd]2si|[su]cvtf s|fcvt[zamnp][su] ")
PLAIN = re.compile(r"(?:add|sub|mul|div)sd|f(?:add|sub|mul|div) d")
COMPARED = re.compile(r"u?comisd|fcmpe? d")
OPERATION = re.compile(r"(?:sqrt|min|max|round|cmp\w*)sd|f(?:sqrt|minnm|maxnm|madd|msub|rint\w) d")
LOADED = re.compile(r"mov(?:sd|q|apd|hpd|lpd) .*\(|ld\w+ d")
LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]  # of float
OF_CODE = re.compile(r"\(%rip\)")


class Work(NamedTuple):
    """The work of one instruction each time. place: behind it, as a return address. block: where its block begins."""

    block: int
    place: int
    float64: int
    conversions: int


def work(file: Path) -> list[Work]:
    """The work of all instructions of a module that have any."""
    told = subprocess.run(
        ["objdump", "-d", "-C", "--no-show-raw-insn", file], capture_output=True, text=True, check=True
    ).stdout
    image = file.read_bytes()
    return [each for block, code in _blocks(told) for each in _of_block(block, code, image)]


class _Code(NamedTuple):
    """An instruction. text: name and operands. after: address of the next one. constant: that of its operand, or 0."""

    text: str
    after: int
    constant: int


def _blocks(told: str) -> Iterator[tuple[int, list[_Code]]]:
    """Place and instructions of each basic block. A function that has no hook belongs to none."""
    for function in told.split("\n\n"):
        if HOOK not in function:  # the runtime's, as most are
            continue
        lines = list(INSTRUCTION.finditer(function))
        block, code = 0, list[_Code]()
        for number, line in enumerate(lines):
            after = int(lines[number + 1][1], 16) if number + 1 < len(lines) else int(line[1], 16) + 1
            if HOOK in line[3]:
                if block:
                    yield block, code
                block, code = after, []
            elif block:
                found = CONSTANT.search(line[0]) if OF_CODE.search(line[3]) else None
                code.append(_Code(f"{line[2]} {line[3]}", after, int(found[1], 16) if found else 0))
        if block:
            yield block, code


def _of_block(block: int, code: Iterable[_Code], image: bytes) -> Iterator[Work]:
    """Instructions up to a rounding, or a comparison, are looked at together: may they be done in float?"""
    together: list[Work] = []
    operations, narrow = 0, True
    for each in code:
        work = _work(block, each)
        rounded, compared = ROUNDED.match(each.text), COMPARED.match(each.text)
        narrow &= not (
            FROM_INTEGER.match(each.text)
            or _is_wide(each, image)
            or work.float64
            and not (compared or PLAIN.match(each.text))
        )
        operations += work.float64
        together += [work] * bool(work.float64 or work.conversions)
        if rounded or compared:
            if not (narrow and operations <= 1):
                yield from together
            together, operations, narrow = [], 0, True
    yield from together


def _work(block: int, code: _Code) -> Work:
    called = CALLED.search(code.text) if code.text.startswith(("call", "bl ")) else None
    if called:
        of_doubles = called[1] in FUNCTIONS and (called[2] is None or "double" in called[2])
        return Work(block, code.after, int(of_doubles), int(bool(re.match(r"__\w+?2\w+_r", called[1]))))
    converts = any(kind.match(code.text) for kind in (WIDENED, FROM_INTEGER, ROUNDED, OTHER_CONVERSION))
    operates = any(kind.match(code.text) for kind in (PLAIN, COMPARED, OPERATION))
    return Work(block, code.after, int(operates), int(converts))


def _is_wide(code: _Code, image: bytes) -> bool:
    """Does it take a double from memory that is no constant which float holds?"""
    takes_double = LOADED.match(code.text) or PLAIN.match(code.text) or COMPARED.match(code.text)
    if not takes_double or not set("([") & set(code.text):
        return False
    if not 0 < code.constant <= len(image) - 8:
        return True
    (value,) = struct.unpack_from("<d", image, code.constant)  # constants lie where they do in the file
    return abs(value) > LARGEST or struct.unpack("<f", struct.pack("<f", value))[0] != value
