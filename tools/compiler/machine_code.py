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

from tools.compiler.locations import PACKAGE, Place, in_ptx
from tools.words import matched

TOOLS = Path(PACKAGE, "backends", "nvidia", "bin")

_PTX_OPCODE = re.compile(r"^\s*(?:@!?%p\d+ )?([a-z][\w.:]*)(?:\s|;)", re.M)
_SASS_OPCODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", re.M)
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
    return _sorted(Counter(_PTX_OPCODE.findall(ptx)))


def sass_opcodes(sass: str) -> dict[str, int]:
    """SASS opcode -> how many, without the padding behind the last instruction."""
    return _sorted(Counter(op for op in _SASS_OPCODE.findall(sass) if op != "NOP"))


def spilled_bytes(sass: dict[str, int]) -> int:
    """Bytes of a thread that the instructions store to and load from local memory: spilled registers."""
    return sum(count * _bytes(op, 4) for op, count in sass.items() if op.split(".")[0] in ("STL", "LDL"))


def disassemble(cubin: Path) -> str:
    """SASS with the source lines between."""
    return _run("nvdisasm", "-c", "-g", str(cubin))


def registers(cubin: Path) -> int:
    """Registers of a thread."""
    return _resource("REG", cubin)


def stack(cubin: Path) -> int:
    """Bytes of a thread's local memory."""
    return _resource("STACK", cubin)


def _resource(name: str, cubin: Path) -> int:
    return int(matched(re.search(rf"{name}:(\d+)", _run("cuobjdump", "--dump-resource-usage", str(cubin))))[1])


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


def _sorted(counts: Counter) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _run(tool: str, *arguments: str) -> str:
    path = TOOLS / tool
    if not path.is_file():
        raise FileNotFoundError(f"{tool} is not in {TOOLS}; Triton {triton.__version__} should bring it")
    return subprocess.run([path, *arguments], check=True, capture_output=True, text=True).stdout
