"""What a kernel's machine code does in float64, and what it converts."""

import re

from tools.compiler.machine_code import sass_opcodes
from tools.compiler.numba.code import assemble, compile_kernel, compiler
from tools.models.chips import chip
from tools.sim.cuda.host.arguments import typeof

FLOAT64 = re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)|MUFU\..*64H|(RED|ATOM).*F64")
CONVERSION = re.compile(r"F2F|I2F|F2I|HADD2\.F32|F2FP")


def figures(kernel, arguments) -> dict[str, int]:
    """Instructions in the machine code for an H100."""
    code = compile_kernel(compiler(), kernel, tuple(map(typeof, arguments)), chip("h100"))
    return counted(sass_opcodes(assemble(code).sass))


def counted(opcodes: dict[str, int]) -> dict[str, int]:
    """opcodes: of SASS, each with its number."""
    return {
        name: sum(count for opcode, count in opcodes.items() if pattern.match(opcode))
        for name, pattern in (("float64", FLOAT64), ("conversions", CONVERSION))
    }
