"""NVIDIA's compiler for CUDA C++: NVRTC makes PTX of a kernel, its assembler a cubin. No GPU is needed."""

import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from math import prod
from typing import Any

from tools.compiler import CompileError, NoCompiler, cache, diagnostics, machine_code, memory
from tools.compiler.evidence import Kernel
from tools.compiler.numba.code import Assembled, Code, Rejected, assemble, no_compiler
from tools.models.chips import Chip, chip
from tools.models.occupancy import BLOCK_WARPS, occupancy
from tools.models.units import WARP
from tools.words import matched

_ENTRY = re.compile(r"^(?:\.visible|\.weak) \.entry (\S+?)\(.*?^\}$", re.M | re.S)
_BOUNDS = re.compile(r"^\.maxntid (\d+(?:, *\d+)*)", re.M)
_NO_HEADER = re.compile(r'cannot open source file "(crt/[\w.]+)"')
_COMPLAINT = re.compile(r"^(.*)\((\d+)\): (?:catastrophic )?error: (.*)$", re.M)


@dataclass(frozen=True)
class Source:
    """A kernel in CUDA C++. name: of an extern "C" kernel, or a template with its arguments, "scale<float>".

    options: as of cupy.RawKernel. file, above: where the code stands, and how many lines of that file precede it; by
    default a file of its own, NAME.cu.
    """

    code: str
    name: str
    options: tuple[str, ...] = ()
    file: str = ""
    above: int = 0

    def __post_init__(self) -> None:
        if not self.file:  # it exists only for those who ask for lines, and lies outside of the course
            object.__setattr__(self, "file", f"/{self.plain_name}.cu")
            linecache.cache[self.file] = len(self.code), None, self.code.splitlines(keepends=True), self.file

    @classmethod
    def of(cls, kernel: Any) -> "Source":
        """Of a cupy.RawKernel; a simulated one knows where its code stands."""
        origin = getattr(kernel, "origin", None)
        place = (origin.file, origin.above) if origin else ()
        return cls(kernel.code, kernel.name, kernel.options, *place)

    @property
    def plain_name(self) -> str:
        return matched(re.match(r"(?:\w+::)*(\w+)", self.name))[1]

    @property
    def line(self) -> int:
        """Of the kernel's name in its definition."""
        found = re.search(rf"__global__[^;{{]*?\b{self.plain_name}\s*\(", self.code)
        found = found or re.search(rf"\bvoid\s+{self.plain_name}\s*\(", self.code)  # __global__ was forgotten
        return self.above + 1 + (self.code.count("\n", 0, found.end()) if found else 0)

    @property
    def signature(self) -> dict[str, str]:
        """Parameter -> type, as they are written."""
        found = re.search(rf"__global__[^;{{]*?\b{self.plain_name}\s*\(([^)]*)\)", self.code)
        declared = [each.strip() for each in re.split(r",(?![^<]*>)", found[1])] if found else []
        named = [re.fullmatch(r"(.*?)\s*(\w+)", each, re.S) for each in declared]
        return {each[2]: re.sub(r"\s*__restrict__", "", each[1]) for each in named if each and each[1]}


@dataclass(frozen=True)
class Shape:
    """How it would be launched. grid, block: x, y, z as far as they are used. dynamic: bytes of shared memory."""

    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (256,)
    dynamic: int = 0


def compiled(source: Source, key: str = "h100", shape: Shape = Shape()) -> Kernel:
    """The evidence for a kernel on the chip that is called `key`.

    Raises CompileError for what the compiler rejects, NoCompiler where there is none, ValueError for another chip.
    """
    target = chip(key)
    code, assembled = _assembled(source, target)
    warps, shared = -(-prod(shape.block) // WARP), code.shared + shape.dynamic
    arguments = re.search(r"<(.*)>", source.name)
    return Kernel(
        name=source.plain_name,
        chip=target.key,
        file=diagnostics.shown(source.file),
        line=source.line,
        signature=source.signature,
        constants={"template": arguments[1]} if arguments else {},
        aligned=(),
        grid=shape.grid,
        launches=1,
        configs=1,
        num_warps=warps,
        num_stages=0,
        registers=assembled.registers,
        spills=assembled.spills,
        shared_bytes=shared,
        occupancy=occupancy(target.limits, warps, assembled.registers, shared),
        instructions=machine_code.opcodes(code.ptx),
        accesses=memory.widths_of(code.ptx),
        from_cache=assembled.from_cache,
        key=code.key,
    )


@dataclass(frozen=True)
class Launch:
    """A launch of a RawKernel, which is not run. kernel: the evidence for it."""

    kernel: Kernel

    @property
    def key(self) -> str:
        return self.kernel.key


def launch(kernel: Any, shape: Any, target: Chip) -> Launch:
    """A launch that the stand-in for CuPy hands on, with the kernel compiled. Raises CompileError, NoCompiler.

    shape: with grid, block and shared, the bytes of dynamic shared memory.
    """
    sizes = Shape(shape.grid, shape.block, shape.shared)
    return Launch(compiled(Source.of(kernel), target.key, sizes))


def kernel(launches: list[Launch]) -> Kernel:
    """Of launches that need one and the same code."""
    return replace(launches[0].kernel, launches=len(launches))


def resources(source: Source, target: Chip) -> dict[str, int]:
    """registers and local (bytes) of a thread, shared (bytes) of a block without dynamic memory, threads at most.

    Raises CompileError, NoCompiler.
    """
    code, assembled = _assembled(source, target)
    bounds = _BOUNDS.search(code.ptx)
    return {
        "registers": assembled.registers,
        "local": assembled.local,
        "shared": code.shared,
        "threads": prod(map(int, bounds[1].split(","))) if bounds else BLOCK_WARPS * WARP,
    }


def _assembled(source: Source, target: Chip) -> tuple[Code, Assembled]:
    code = Code(source.plain_name, target, to_ptx(source, target), _most_registers(source.options))
    try:
        return code, assemble(code)
    except Rejected as error:
        raise _rejection(source, target, source.line, f"The assembler says: {error}") from None


# NVRTC -------------------------------------------------------------------------------------------


def to_ptx(source: Source, target: Chip) -> str:
    """The PTX of this kernel alone, kept in the cache. Raises CompileError, NoCompiler."""
    nvrtc = _library()
    text = f'#line {source.above + 1} "{source.file}"\n{source.code}'
    options = _options(source, target)
    made_of = "{} {}".format(*_checked(nvrtc.nvrtcVersion())), *options, source.name, text
    kept = cache.folder() / cache.key_of("\n".join(made_of)) / "nvrtc.ptx"
    if not kept.is_file():
        ptx = _compile(nvrtc, source, target, text, options)
        kept.parent.mkdir(parents=True, exist_ok=True)
        cache.write(kept, ptx.encode())
    return kept.read_text(encoding="utf-8")


def _compile(nvrtc: Any, source: Source, target: Chip, text: str, options: list[str]) -> str:
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], []))
    try:
        if "<" in source.name:
            _checked(nvrtc.nvrtcAddNameExpression(program, source.name.encode()))
        if nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])[0]:
            log = _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
            raise _no_header(log) or _complaint(source, target, log)
        entry = source.name
        if "<" in source.name:
            entry = _checked(nvrtc.nvrtcGetLoweredName(program, source.name.encode())).decode()
        return _alone(_text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX), entry, source, target)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _library() -> Any:
    try:
        nvrtc = import_module("cuda.bindings.nvrtc")
        _checked(nvrtc.nvrtcVersion())
    except Exception as error:  # ImportError, or what cuda-bindings raises for a library that cannot be loaded
        raise no_compiler("NVRTC, NVIDIA's compiler of CUDA C++, and its bindings", error) from None
    return nvrtc


def _checked(answer: tuple) -> Any:
    """What follows the status, which is 0 when all is well."""
    status, *rest = answer
    if status:
        raise RuntimeError(f"NVRTC answered {status.name}")
    return rest[0] if len(rest) == 1 else rest


def _text(program: Any, size: Callable, fill: Callable) -> str:
    buffer = bytearray(_checked(size(program)))
    _checked(fill(program, buffer))
    return buffer.rstrip(b"\0 ").decode(errors="replace")


def _options(source: Source, target: Chip) -> list[str]:
    """With a default standard as of cupy.RawKernel, and the headers that NVIDIA's packages bring."""
    pathfinder = import_module("cuda.pathfinder")
    headers = pathfinder.find_nvidia_header_directory("cudart")
    given = [option for option in source.options if not option.startswith(("-arch", "--gpu-architecture"))]
    return [
        f"--gpu-architecture=compute_{target.capability}",
        "-lineinfo",
        "-default-device",
        *(["-std=c++17"] if not any("-std=" in option for option in given) else []),
        *([f"-I{headers}"] if headers else []),
        *given,
    ]


def _most_registers(options: tuple[str, ...]) -> int:
    bounds = [int(option.partition("=")[2]) for option in options if "maxrregcount=" in option]
    return bounds[-1] if bounds else 0


def _alone(ptx: str, entry: str, source: Source, target: Chip) -> str:
    """Without the other kernels of the source, which would be assembled too."""
    if entry not in _ENTRY.findall(ptx):
        raise _rejection(
            source,
            target,
            source.line,
            f'There is no kernel {source.name} in it. Is it extern "C", or a template with its arguments?',
        )
    return _ENTRY.sub(lambda found: found[0] if found[1] == entry else "", ptx)


def _no_header(log: str) -> NoCompiler | None:
    """If a part of CUDA's own headers is missing, as that of mma.h is in the wheels. It is no fault of the source."""
    found = _NO_HEADER.search(log)
    return found and NoCompiler(
        f"needs {found[1]}, which CUDA's toolkit has and its wheels have not; found no such file. No GPU is needed "
        "for it. CUDA_PATH names a toolkit that is not in /usr/local/cuda.",
        "CUDA's toolkit",
    )


def _complaint(source: Source, target: Chip, log: str) -> CompileError:
    """The first error, in the compiler's words, at its line."""
    found = _COMPLAINT.search(log)
    if found is None:
        return _rejection(source, target, source.line, log.strip().splitlines()[0] if log.strip() else "no reason")
    line, reason = int(found[2]), found[3].strip()
    if reason.startswith("Name expression"):  # of the list of names, whose lines are counted then
        line = source.line
    return _rejection(source, target, line, reason)


def _rejection(source: Source, target: Chip, line: int, reason: str) -> CompileError:
    return diagnostics.rejection(f"{source.name} does not compile for {target.key}", source.file, line, reason)
