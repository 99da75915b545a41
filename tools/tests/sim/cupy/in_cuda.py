"""What NVIDIA's compiler makes of expressions behind CuPy's headers, which needs no GPU: the oracle for types."""

import re

from cupy._core import core
from cupy_backends.cuda.libs import nvrtc

VARIABLES = {
    "s": "short",
    "h": "unsigned char",
    "n": "int",
    "u": "unsigned int",
    "w": "long long",
    "v": "unsigned long long",
    "f": "float",
    "d": "double",
    "t": "bool",
    "e": "float16",
    "c": "complex<float>",
    "z": "complex<double>",
}
DTYPES = {
    "short": "int16",
    "unsigned char": "uint8",
    "int": "int32",
    "unsigned int": "uint32",
    "long long": "int64",
    "unsigned long long": "uint64",
    "long": "int64",
    "unsigned long": "uint64",
    "float": "float32",
    "double": "float64",
    "bool": "bool",
    "float16": "float16",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "signed char": "int8",
}
ARCHITECTURE = "-arch=compute_90"
HEADERS = "".join(f"#include <{header}>\n" for header in (*core._cupy_header_list, "cupy/float16.cuh"))
PRELUDE = """
struct refused {};
template <class T> struct code { static const int value = 255; };
template <> struct code<refused> { static const int value = 0; };
template <class T> struct code<T&> { static const int value = code<T>::value; };
template <class T> struct code<const T> { static const int value = code<T>::value; };
template <class T> T made();
""" + "".join(
    f"template <> struct code<{name}> {{ static const int value = {number}; }};\n"
    for number, name in enumerate(DTYPES, start=1)
)


def compiled(source: str, *options: str) -> str:
    """The compiler's assembly. Raises ValueError with what it says."""
    program = nvrtc.createProgram(HEADERS + source, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, core.assemble_cupy_compiler_options(("-default-device", ARCHITECTURE, *options)))
    except nvrtc.NVRTCError:
        raise ValueError(nvrtc.getProgramLog(program)) from None
    return nvrtc.getPTX(program).decode()


def types(expressions: list[str]) -> list[str | None]:
    """The dtype of each expression of the variables; None where the compiler refuses it, "?" for any other type.

    Whether an overload is found for a template's parameters is no error, but an answer. So every operand must be one
    of the variables, or contain one.
    """
    letters = ", ".join(f"class {name.upper()}" for name in VARIABLES)
    parameters = ", ".join(f"{name.upper()} {name}" for name in VARIABLES)
    made = ", ".join(f"made<{name}>()" for name in VARIABLES.values())
    probes = "".join(
        f"template <{letters}> auto probe{number}({parameters}) -> decltype({expression});\n"
        f"refused probe{number}(...);\n"
        for number, expression in enumerate(expressions)
    )
    table = ", ".join(f"code<decltype(probe{number}({made}))>::value" for number in range(len(expressions)))
    assembly = compiled(f'{PRELUDE}{probes}extern "C" __device__ unsigned char table[] = {{{table}}};\n')
    names = {0: None, 255: "?", **dict(enumerate(DTYPES.values(), start=1))}
    return [names[int(value)] for value in re.search(r"table\[\d+\] = \{([^}]*)\}", assembly)[1].split(",")]
