"""Options of NVIDIA's compilers: those that mean something on a CPU are passed on, the others let through."""

from collections.abc import Iterator

from tools.sim.cupy.device.errors import CompileException

PASSED = ("-D", "-U", "-I", "--define-macro=", "--undefine-macro=", "--include-path=")
SHORT = {"--define-macro=": "-D", "--undefine-macro=": "-U", "--include-path=": "-I"}
STANDARDS = ("11", "14", "17", "20", "23")
IGNORED = tuple(
    """
    -arch --gpu-architecture -lineinfo --generate-line-info -G --device-debug -dopt --dopt -use_fast_math
    --use_fast_math -ftz --ftz -prec- --prec- -fmad --fmad -maxrregcount --maxrregcount -Xptxas --ptxas-options
    -default-device --default-device -restrict --restrict -w --disable-warnings -extra-device-vectorization
    --extra-device-vectorization -rdc --relocatable-device-code -ewp -dw -time --time
""".split()
)


def for_host(options: tuple[str, ...]) -> Iterator[str]:
    """The options for the host's compiler. CompileException for one that NVIDIA's do not have either."""
    for option in options:
        name, _, value = option.partition("=")
        if name in ("-std", "--std"):
            if value.removeprefix("c++") not in STANDARDS:
                raise CompileException(f"{option} names no standard of C++ that NVRTC knows.")
            yield f"-std=c++{max(value.removeprefix('c++'), '17')}"  # the headers need 17
        elif option.startswith(PASSED):
            start = next(start for start in PASSED if option.startswith(start))
            yield SHORT.get(start, start) + option.removeprefix(start)
        elif not option.startswith(IGNORED):
            raise CompileException(f"NVRTC knows no option {option}.")
