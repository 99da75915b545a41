"""A CUDA C++ source made into a module that is loaded in this process; the compiler's errors, told at their lines."""

import ctypes
import functools
import re

from tools.sim import faults
from tools.sim.cupy.device.errors import CompileException
from tools.sim.cupy.raw import library, toolchain
from tools.sim.cupy.raw.options import for_host
from tools.sim.cupy.raw.origin import Origin
from tools.sim.cupy.raw.source import Source, Unsupported
from tools.words import WIDTH, cut, matched

UNDEFINED = re.compile(r"undefined reference to [`'](.*?)'")
ERROR = re.compile(r"^(?P<file>[^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.M)
NVCC = 'With backend="nvcc" in RawKernel or RawModule the headers of C++ are there.'
MEANT = [  # what the host's compilers say, where the learner's line has this, about things that are not written there
    (
        re.compile(r"invalid type argument of unary .\*|indirection requires pointer"),
        "**",
        "C++ has no operator **: a square is x * x, any power powf(x, y).",
    ),
    (
        re.compile(""),
        "<<<",
        "A launch, kernel<<<grid, block>>>(...), is written in Python here: kernel(grid, block, args).\nWithin a kernel"
        " it is dynamic parallelism, which is not simulated.",
    ),
    (
        re.compile(r"shared_array|variable.length array|variably modified"),
        "[",
        "The length of this array is no constant: the compiler must know it. A number, a\n#define, constexpr or a "
        "template's parameter will do.",
    ),
]
ANYWHERE = re.compile(r"kernel\.cu:(\d+)")
CALLED_AT = re.compile(r"^kernel\.cu:(\d+):\d+: ", re.M)  # the learner's line, of an error in a header
ABSENT = re.compile(
    r"poisoned (?:identifier|\")?\W*(?P<poisoned>\w+)|\bsimt_has_no_(?P<type>\w+)"
    r"|(?P<macro>INFINITY|NAN|HUGE_VALF?|M_[A-Z]\w*|RAND_MAX)\W+(?:was not declared|undeclared|is not)"
    r"|undeclared identifier \W?(?P<name>INFINITY|NAN|HUGE_VALF?|M_[A-Z]\w*|RAND_MAX)"
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FUNCTION = r"(?:^|[;{{}}>])\s*(?:(?:extern \"C\"|static|inline|__device__|__host__)\s+)*(void\s+{}\s*\()"
NO_KERNEL = "{} is a function like others. Which word before void makes it a kernel?"
NO_FILE = re.compile(r"(\S+): No such file or directory|'(\S+)' file not found")


class Compiled:
    """kernels: name, or name expression, -> its number in the module. Raises CompileException, NoCompiler."""

    def __init__(
        self, code: str, options: tuple[str, ...], backend: str, expressions: tuple[str, ...], origin: Origin
    ) -> None:
        self.origin = origin
        self.for_nvrtc = backend == "nvrtc"
        try:
            self.source = Source(code)
            if self.for_nvrtc:
                _check_headers(self.source, options)
            self._check_kernels(expressions)
            names = [kernel.name for kernel in self.source.kernels.values() if kernel.callable_by_name]
            self.kernels = {name: number for number, name in enumerate(dict.fromkeys((*names, *expressions)))}
            dialect = ("-DSIMT_NVRTC",) if self.for_nvrtc else ()
            self.loaded = library.library(toolchain.module(self._unit(), tuple(for_host(options)), dialect))
        except Unsupported as error:
            raise self._wrong(error.line, error.reason) from None
        except toolchain.Rejected as error:
            raise self._rejected(str(error)) from None

    def _unit(self) -> str:
        entries = "\n".join(
            f'extern "C" simt::Kernel simt_kernel_{number}; '
            f"simt::Kernel simt_kernel_{number} = simt::kernel(&{name.lstrip('&')});"
            for name, number in self.kernels.items()
        )
        head = f'#include "{toolchain.HEADER}"\n#line 1 "kernel.cu"\n'
        return f'{head}{self.source.translated}\n#line 1 "entries"\n{entries}\n'

    def parameters(self, name: str) -> tuple[str, ...]:
        """Names of a kernel's parameters, as far as they are known."""
        plain = _plain_name(name)
        return self.source.kernels[plain].parameters if plain in self.source.kernels else ()

    def variable(self, name: str) -> tuple[int, int] | None:
        """The address of a __device__ or __constant__ variable in this process, and its bytes."""
        size = ctypes.c_size_t()
        address = self.loaded.simt_variable(name.encode(), size)
        return (address, size.value) if address else None

    def _check_kernels(self, expressions: tuple[str, ...]) -> None:
        """Refuse a function that is asked for by name as if it were a kernel."""
        for name in expressions:
            plain = _plain_name(name)
            if plain not in self.source.kernels and (line := line_of_function(self.source.code, plain)):
                raise Unsupported(line, NO_KERNEL.format(plain))

    # Errors --------------------------------------------------------------------------------------

    def _rejected(self, told: str) -> CompileException:
        """The compiler's first error, at the learner's line that it is about."""
        error, undefined = ERROR.search(told), UNDEFINED.search(told)
        if undefined:
            line = re.search(r"kernel\.cu:(\d+)", told)
            return self._wrong(int(line[1]) if line else 1, f"{undefined[1]} is declared, and nowhere defined.")
        if error is None:
            return CompileException("The host's compiler stopped: " + " ".join(told.split())[: 4 * WIDTH])
        if error["file"] == "entries":
            name = list(self.kernels)[int(error["line"]) - 1]
            return CompileException(f"This source has no kernel {name}:\n{error['what']}")
        line = re.match(r"kernel\.cu:(\d+)", error[0]) or CALLED_AT.search(told) or ANYWHERE.search(told)
        number, file = int(line[1]) if line else 1, NO_FILE.search(error["what"])
        absent = ABSENT.search(error["what"]) or ABSENT.search(" ".join(re.findall(r"simt_has_no_\w+", told)))
        if absent and self.for_nvrtc:
            return self._wrong(
                number, f"NVRTC, which compiles it on a GPU, has no {absent[absent.lastgroup or 0]}.\n{NVCC}"
            )
        if file:
            return self._wrong(number, f"The simulated GPU has no <{file[1] or file[2]}>, nor has the host's compiler.")
        source = self.source.code.splitlines()[number - 1 : number]
        meant = (words for pattern, part, words in MEANT if pattern.search(error["what"]) and part in "".join(source))
        return self._wrong(number, next(meant, error["what"]))

    def _wrong(self, line: int, what: str) -> CompileException:
        file, number, source = faults.describe(self.origin.spot(line, ""))
        return CompileException(cut(f"{file}, line {number}:  {source}", WIDTH) + f"\n{what}")


def _plain_name(expression: str) -> str:
    """f, of &space::f<float>."""
    return matched(re.match(r"[&\s]*(?:\w+::)*(\w*)", expression))[1]


def line_of_function(code: str, name: str) -> int:
    """Of a void function that is no kernel; 0 if there is none, or a macro may make it a kernel."""
    code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), code)
    found = re.search(FUNCTION.format(name), code) if name else None
    return code.count("\n", 0, found.start(1)) + 1 if found else 0


compiled = functools.cache(Compiled)  # CuPy, too, compiles equal sources once, and their variables are the same


def _check_headers(source: Source, options: tuple[str, ...]) -> None:
    """Refuse what NVRTC would not find: it has CUDA's own headers, and those of the options."""
    if any(option.startswith(("-I", "--include-path")) for option in options):
        return
    for line, name in source.includes:
        if not (toolchain.CUDA / name).is_file() or name == "assert.h":
            files = [*toolchain.CUDA.glob("*.h"), *toolchain.CUDA.glob("cuda/*")]
            known = ", ".join(
                sorted(
                    file.relative_to(toolchain.CUDA).as_posix()
                    for file in files
                    if "#error" not in file.read_text() and file.name not in ("assert.h", "simt.h")
                )
            )
            raise Unsupported(
                line,
                f"NVRTC has no <{name}>, or the simulated GPU has none.\nIt has {known};\n"
                f"what the C library declares elsewhere is built in, as sqrtf, printf, assert.\n{NVCC}",
            )
