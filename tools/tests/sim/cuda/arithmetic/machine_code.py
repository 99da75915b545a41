"""What a kernel's machine code does in float64, and what it converts."""

import re

from tools.compiler.evidence import disassembled
from tools.compiler.numba.code import assemble, compile_kernel, compiler
from tools.compiler.sass_lines import opcodes
from tools.models.chips import chip
from tools.sim.cuda.host.arguments import typeof

FLOAT64 = re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)|MUFU\..*64H|(RED|ATOM).*F64")
CONVERSION = re.compile(r"F2F|I2F|F2I|HADD2\.F32|F2FP")


def figures(kernel, arguments) -> dict[str, int]:
    """Instructions in the machine code for an H100."""
    code = compile_kernel(compiler(), kernel, tuple(map(typeof, arguments)), chip("h100"))
    assemble(code)
    return counted(opcodes(disassembled(code.key, code.name)))


def counted(sass: dict[str, int]) -> dict[str, int]:
    """sass: opcodes, each with its number."""
    return {
        name: sum(count for opcode, count in sass.items() if pattern.match(opcode))
        for name, pattern in (("float64", FLOAT64), ("conversions", CONVERSION))
    }
