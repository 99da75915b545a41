"""The host's C++ compiler: found, asked to instrument kernels, and its results kept for the next time."""

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools import ROOT

CPP = Path(__file__).with_name("cpp")
CUDA = CPP / "cuda"
HEADER = "simt.h"
READ = f"{HEADER}.gch"  # the name that g++ looks for
MOST = 200  # compiled modules that are kept, each about 150 KB
MOST_READ = 4  # headers that are kept as g++ has read them, 21 MB each
# Without optimisation each access of the source is one access, its line is known, and code stands in the order of
# its source, whichever compiler it is. Structures that a call takes or gives by value are copied by functions, which
# report it. The three sanitizers' hooks are those of cpp/runtime/hooks.h.
INSTRUMENTED = (
    "-O0",
    "-g1",
    "-gdwarf-4",
    "-fsanitize=thread",
    "-fsanitize-coverage=trace-pc",
    "-fsanitize=bounds,integer-divide-by-zero",
    "-fno-stack-protector",
    "-fno-elide-constructors",
)
# Without these, clang leaves out the load of x += 1, and basic blocks through which all ways lead.
OF_CLANG = (
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
    "-fsanitize-coverage=no-prune",
    "-mllvm",
    "-tsan-distinguish-volatile=1",
)
OF_GCC = ("--param=tsan-distinguish-volatile=1",)  # which g++ knows from 11 on
COMMON = (
    "-std=c++17",
    "-fPIC",
    "-Werror=vla",
    "-fno-exceptions",
    "-ffp-contract=off",
    "-U_FORTIFY_SOURCE",
    f"-I{CUDA}",
)  # a fortified longjmp refuses to change stacks
WRAPPED = ("-r", "-nostdlib", "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset")  # in kernels, not in the runtime
QUICK_LINKER = "-fuse-ld=gold"  # takes a quarter of the time of GNU ld, but is not everywhere
LINKED = ("-shared", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-ldl")
NEEDED = """CUDA C++ without a GPU needs a C++ compiler, and there is none here.
  Debian, Ubuntu, WSL: sudo apt install g++
  Fedora: sudo dnf install gcc-c++        conda: conda install gxx"""
ON_LINUX = """CUDA C++ without a GPU runs on Linux only, with g++ or clang++.
  Windows: in WSL (wsl --install).      macOS: in a Linux container."""


class NoCompiler(RuntimeError):
    """This machine cannot compile kernels for its CPU. The message says how to change that."""


class Rejected(Exception):
    """The compiler's errors, as it wrote them."""


@functools.cache
def compiler() -> str:
    """The path of g++ or clang++; $CXX if set. Raises NoCompiler."""
    if sys.platform != "linux":
        raise NoCompiler(ON_LINUX)
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return path
    raise NoCompiler(NEEDED)


@functools.cache
def version() -> str:
    """The compiler's words about itself; "clang" is among them if it is one."""
    return subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout


def module(text: str, options: tuple[str, ...] = (), dialect: tuple[str, ...] = ()) -> Path:
    """The shared library of this translation unit, compiled now or before. Raises NoCompiler, Rejected.

    text: begins with the header HEADER. options: those of one source. dialect: flags that many sources share.
    """
    flags = (*COMMON, *INSTRUMENTED, *_own(), *dialect)
    return _kept(f"{_key(text, *flags, *options)}.so", lambda target: _link(text, flags, options, target))


def _own() -> tuple[str, ...]:
    """Further flags that this compiler needs."""
    if "clang" in version():
        return OF_CLANG
    number = re.search(r"\) (\d+)\.", version().partition("\n")[0])
    return OF_GCC if number and int(number[1]) >= 11 else ()


def _link(text: str, flags: tuple[str, ...], options: tuple[str, ...], target: Path) -> None:
    unit, wrapped = target.with_suffix(".o"), target.with_suffix(".wrapped.o")
    _compile(text, (*_read_before(flags), *flags, *options), unit)
    _run(*WRAPPED, unit, "-o", wrapped)
    try:
        _run(QUICK_LINKER, wrapped, _runtime(), *LINKED, "-o", target)
    except Rejected:  # it is not here, or something is wrong, which the compiler's own linker says as we know it
        _run(wrapped, _runtime(), *LINKED, "-o", target)


def _read_before(flags: tuple[str, ...]) -> tuple[str, ...]:
    """Where g++ finds the header as it was after these flags, which saves two thirds of what a small kernel takes.

    Where a further option would change the header, g++ sees that and reads it anew.
    """
    if "clang" in version():
        return ()

    def build(target: Path) -> None:
        _run(*flags, "-x", "c++-header", CUDA / HEADER, "-o", target)

    return (f"-I{_kept(f'{_key(*flags)}/{READ}', build).parent}",)


def _runtime() -> Path:
    """The part that all modules have in common; it is not instrumented."""
    text, flags = '#include "runtime.cpp"', (*COMMON, "-O2", "-fvisibility=hidden", f"-I{CPP / 'runtime'}")
    return _kept(f"{_key(text, *flags)}.o", lambda target: _compile(text, flags, target))


def _compile(text: str, flags: tuple[str, ...], target: Path) -> None:
    _run(*flags, "-x", "c++", "-c", "-", "-o", target, given=text)


@functools.cache
def _headers() -> bytes:
    return b"".join(file.read_bytes() for file in sorted(CPP.rglob("*")) if file.is_file())


def _key(*parts: str) -> str:
    told = hashlib.sha256(_headers())
    for part in (version(), platform.machine(), *parts):
        told.update(part.encode() + b"\0")
    return told.hexdigest()[:20]


def _run(*arguments: object, given: str = "") -> None:
    done = subprocess.run(
        [compiler(), *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        env=os.environ | {"LC_ALL": "C"},
    )
    if done.returncode:
        raise Rejected(done.stderr)


# What was compiled before ------------------------------------------------------------------------


@functools.cache
def folder() -> Path:
    """The folder of compiled modules: in the course's folder, or the user's if that cannot be written."""
    for place in (ROOT / ".course" / "cache", Path.home() / ".cache" / "gpu-course"):
        with suppress(OSError):
            (place / "cuda-cpp").mkdir(parents=True, exist_ok=True)
        if os.access(place / "cuda-cpp", os.W_OK):
            break
    _prune(place / "cuda-cpp")
    return place / "cuda-cpp"


def _kept(name: str, build: Any) -> Path:
    """The file of this name, made by build(path) if it is not there. Two processes may make it at once."""
    file = folder() / name
    if not file.exists():
        with tempfile.TemporaryDirectory(dir=folder()) as place:
            made = Path(place, file.name)
            build(made)
            file.parent.mkdir(exist_ok=True)
            made.replace(file)
    return file


def _prune(place: Path) -> None:
    """Remove what was compiled longest ago."""
    for names, most in (("*.so", MOST), (f"*/{READ}", MOST_READ)):
        for file in sorted(place.glob(names), key=lambda file: file.stat().st_mtime)[:-most]:
            if file.name == READ:
                shutil.rmtree(file.parent, ignore_errors=True)
            else:
                file.unlink(missing_ok=True)  # another process may do the same
