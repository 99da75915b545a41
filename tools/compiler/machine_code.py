"""Reading what the compiler wrote: opcodes of PTX and SASS, registers, spills, accesses to global memory.

The disassemblers come with Triton: no CUDA toolkit is needed.
"""

import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import triton

from tools.compiler import sass_lines
from tools.compiler.locations import PACKAGE, Place, in_ptx
from tools.compiler.sass_lines import most_frequent_first
from tools.words import matched

TOOLS = Path(PACKAGE, "backends", "nvidia", "bin")

_PTX_OPCODE = re.compile(r"^\s*(?:@!?%p\d+ )?([a-z][\w.:]*)(?:\s|;)", re.M)
_FILE = re.compile(r'^\s*\.file\s+(\d+) "(.*?)"(?: "(.*?)")?', re.M)
_LOCATION = re.compile(r"^\s*\.loc\s+(\d+) (\d+) (\d+)[^/]*(?://(.*))?")
_GLOBAL = re.compile(  # opcodes that touch global memory, and their operands
    r"\s(?:@!?%p\d+ )?((?:ld|st)\.(?:[a-z]+\.)*?global[\w.:]*"
    r"|(?:atom|red)\.global[\w.:]*"
    r"|cp\.async\.(?:c[ag]|bulk\.tensor)[\w.:]*)(.*)"
)
_WIDE = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16, "256": 32}  # bits in an opcode -> bytes


@dataclass(frozen=True)
class Instruction:
    """An access to global memory in PTX. width: bytes that each thread moves; 0 for a copy of whole tiles."""

    place: Place
    kind: str
    width: int


def opcodes(ptx: str) -> dict[str, int]:
    """PTX opcode -> how many stand in the code; directives and labels are none."""
    return most_frequent_first(Counter(_PTX_OPCODE.findall(ptx)))


def spilled_bytes(sass: dict[str, int]) -> int:
    """Bytes of a thread that the instructions store to and load from local memory: spilled registers."""
    return sum(count * _bytes(op, 4) for op, count in sass.items() if op.split(".")[0] in ("STL", "LDL"))


def disassemble(cubin: Path) -> str:
    """SASS with the source lines between. It takes 0.2 s and more."""
    return _run("nvdisasm", "-c", "-g", str(cubin))


def disassembled(cubin: Path) -> str:
    """The same, kept beside the file of machine code."""
    kept = cubin.with_suffix(".sass")
    if not kept.exists():
        unfinished = kept.with_suffix(f".{os.getpid()}")  # another process may do the same at this moment
        unfinished.write_text(disassemble(cubin), encoding="utf-8")
        unfinished.replace(kept)
    return kept.read_text(encoding="utf-8")


def resources(cubin: Path) -> tuple[int, int]:
    """Registers of a thread, and bytes of its local memory."""
    used = _run("cuobjdump", "--dump-resource-usage", str(cubin))
    registers, stack = (int(matched(re.search(rf"{name}:(\d+)", used))[1]) for name in ("REG", "STACK"))
    return registers, stack


def spills(cubin: Path) -> int:
    """Bytes of a thread that instructions store to and load from local memory, of which it has some."""
    return spilled_bytes(sass_lines.opcodes(disassembled(cubin)))


def accesses(ptx: str) -> list[Instruction]:
    """The accesses to global memory, each with the innermost place outside Triton's own files."""
    numbered = {number: os.path.join(first, name) if name else first for number, first, name in _FILE.findall(ptx)}
    files = {os.path.basename(file): file for file in numbered.values()}
    found, place, inside_asm = [], None, False
    for line in ptx.splitlines():
        location = _LOCATION.match(line)
        if "inline asm" in line:
            inside_asm = "begin" in line
        if location and not inside_asm:  # inside, the line numbers are those of the assembler text
            number, line_number, column, comment = location.groups()
            if comment:  # Triton's: the whole chain of calls
                place = in_ptx(comment, files)
            elif int(line_number):
                place = Place(numbered[number], int(line_number), int(column))
        access = _GLOBAL.match(line)
        if access and place:
            found.append(Instruction(place, *_what(*access.groups())))
    return found


def _what(opcode: str, operands: str) -> tuple[str, int]:
    """Kind and width of an access."""
    if opcode.startswith("cp.async.bulk"):
        return ("store" if re.search(r"\.global\.shared", opcode) else "load"), 0
    if opcode.startswith("cp.async"):
        size = re.search(r"\],\s*(0x[0-9a-f]+|\d+)", operands.split("[", 2)[-1])
        return "load", int(size[1], 0) if size else 0
    vector = re.search(r"\.v(\d)", opcode)
    kind = {"ld": "load", "st": "store"}.get(opcode[:2], "atomic")
    return kind, _bytes(opcode, 4, last=True) * int(vector[1] if vector else 1)


def _bytes(opcode: str, otherwise: int, last: bool = False) -> int:
    """The size in an opcode's name: 16 in LDG.E.128, 4 in ld.global.v2.b32."""
    sizes = [_WIDE[bits] for bits in re.findall(r"\.[a-zA-Z]{0,2}(\d+)(?=\.|$)", opcode) if bits in _WIDE]
    return sizes[-1 if last else 0] if sizes else otherwise


def _run(tool: str, *arguments: str) -> str:
    path = TOOLS / tool
    if not path.is_file():
        raise FileNotFoundError(f"{tool} is not in {TOOLS}; Triton {triton.__version__} should bring it")
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout
