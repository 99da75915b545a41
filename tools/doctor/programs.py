"""The programs beside Python that a lesson or a command can use: which are here, and may they do their work?"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.doctor.findings import Finding
from tools.doctor.subprocesses import Reply, ask

SECONDS = 3.0  # for one answer
TOOLKIT = "CUDA toolkit: developer.nvidia.com/cuda-downloads"
HIDING = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute/*", "/opt/nvidia/nsight-systems/*/bin", "/opt/cuda/bin")
INSTALLERS = {  # the system's own -> how it is told to install
    "apt-get": "apt install", "dnf": "dnf install", "pacman": "pacman -S", "zypper": "zypper install",
    "brew": "brew install",
}  # fmt: skip
SYS_ADMIN, PERFMON = 1 << 21, 1 << 38  # bits of CapEff: what Linux lets a process do


@dataclass(frozen=True)
class Program:
    """use: what it is good for here. gpu: is it for a GPU only? packages: installer -> name, where it is another."""

    name: str
    use: str
    gpu: bool = False
    remedy: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)


PROGRAMS = (
    Program("ncu", "the counters of a kernel: ./course profile", True, TOOLKIT),
    Program("nsys", "kernels and copies on a timeline: ./course profile", True, TOOLKIT),
    Program("proton", "times of Triton kernels: ./course profile", True, "It comes with Triton."),
    Program("compute-sanitizer", "bounds and races on a real GPU: the kata debugging", True, TOOLKIT),
    Program("cuda-gdb", "stepping through a real kernel: the kata debugging", True, TOOLKIT),
    Program("g++", "CUDA C++ without a GPU",
            packages={"dnf": "gcc-c++", "zypper": "gcc-c++", "pacman": "gcc", "brew": "gcc"}),
    Program("clang++", "the same, where there is no g++",
            packages={"apt-get": "clang", "dnf": "clang", "pacman": "clang", "zypper": "clang", "brew": "llvm"}),
    Program("nvcc", "CUDA C++ of your own; no lesson needs it", True, TOOLKIT),
    Program("gdb", "stepping through C and C++"),
    Program("valgrind", "cache misses, counted"),
    Program("perf", "cache misses and stacks of a CPU program", packages={"apt-get": "linux-perf"}),
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where to look: what PATH holds, who may do what. Tests have one of their own."""

    slash: Path = Path("/")
    system: str = sys.platform
    find: Callable[[str], str | None] = shutil.which
    ask: Callable[[list[str], float], Reply] = ask

    def read(self, path: str) -> str:
        """A file below slash, "" where there is none."""
        try:
            return (self.slash / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def may(self, *capabilities: int) -> bool:
        """Has this process one of these capabilities of Linux?"""
        held = re.search(r"^CapEff:\s*([0-9a-f]+)", self.read("proc/self/status"), re.MULTILINE)
        return bool(held and int(held[1], 16) & sum(capabilities))


def examine(program: Program, place: Place, has_gpu: bool) -> Finding:
    """Is it here, which version, and may it work?"""
    path = place.find(program.name) or place.find(str(Path(sys.executable).with_name(program.name)))
    if path is None:
        return _not_here(program, place)
    found, works = _version(program.name, path, place)
    if not works:
        return Finding(program.name, "missing", f"{found}; for {program.use}", _remedy(program, place))
    if program.name == "ncu" and has_gpu and not may_count(place):
        return Finding("ncu", "missing", f"{found}, but may not count (ERR_NVGPUCTRPERM)", _let_count(place))
    if program.name == "perf":
        return _perf(found, path, place)
    return Finding(program.name, "ok", found)


def check_openmp(place: Place) -> Finding:
    """Can the C compiler make a program of several threads?"""
    reply = place.ask(["cc", "-fopenmp", "-shared", "-fPIC", "-x", "c", os.devnull, "-o", os.devnull], SECONDS)
    if reply.code == 0:
        return Finding("OpenMP", "ok", "cc -fopenmp")
    found = "cc does not know -fopenmp" if place.find("cc") else "no C compiler"
    return Finding(
        "OpenMP", "missing", f"{found}; for the last task of the kata numba_threads", _remedy(Program("gcc", ""), place)
    )


def may_count(place: Place) -> bool:
    """May ncu read the GPU's counters? The driver can keep them for administrators, and does unless told otherwise."""
    reserved = re.search(r"RmProfilingAdminOnly:\s*1", place.read("proc/driver/nvidia/params"))
    return not reserved or place.may(SYS_ADMIN, PERFMON)


def _version(name: str, path: str, place: Place) -> tuple[str, bool]:
    """The words about it, and whether it runs."""
    if name == "proton":
        return "comes with Triton", True  # it has no --version, and importing Triton takes a second
    reply = place.ask([path, "--version"], SECONDS)
    if reply.code is None:
        return f"here, but silent for {SECONDS:.0f} s", False
    if reply.code != 0:
        said = (reply.text.strip().splitlines() or ["nothing"])[-1]
        return f"here, but does not run: {said[:50]}", False
    version = re.search(r"\d+(\.\d+)+", reply.text.split("release")[-1])  # nvcc: a date first, then release 13.0
    return version[0] if version else "here", True


def _perf(found: str, path: str, place: Place) -> Finding:
    """It is often here and may not count, or has nothing to count with."""
    reply = place.ask([path, "stat", "-e", "instructions", "true"], SECONDS)
    if "not supported" in reply.text:
        return Finding(
            "perf",
            "missing",
            f"{found} samples stacks; this machine has no counters for it",
            "Use valgrind, which counts by itself.",
        )
    if reply.code == 0:
        return Finding("perf", "ok", found)
    return Finding("perf", "missing", f"{found}, but may not count", "sudo sysctl kernel.perf_event_paranoid=1")


def _not_here(program: Program, place: Place) -> Finding:
    for folder in HIDING:
        for path in sorted(place.slash.glob(f"{folder.lstrip('/')}/{program.name}")):
            return Finding(
                program.name, "missing", f"not on PATH; for {program.use}", f'export PATH="$PATH:{path.parent}"'
            )
    return Finding(program.name, "missing", f"not here; for {program.use}", _remedy(program, place))


def _remedy(program: Program, place: Place) -> str:
    """How to get it, as one command where this system has one."""
    if program.remedy:
        return program.remedy
    if place.system == "darwin" and program.name in ("gdb", "valgrind", "perf"):
        return "Not for macOS; use a Linux container."
    for installer, command in INSTALLERS.items():
        if place.find(installer):
            sudo = "" if installer == "brew" or _is_root() else "sudo "
            return f"{sudo}{command} {program.packages.get(installer, program.name)}"
    return "Install it from your system's packages."


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _let_count(place: Place) -> str:
    if (place.slash / ".dockerenv").exists() or (place.slash / "run/.containerenv").exists():
        return "Start the container with --cap-add=SYS_ADMIN."
    return (
        "Run it as root; or for everyone, after a restart:\n"
        "  echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 |\n"
        "    sudo tee /etc/modprobe.d/nvidia-counters.conf"
    )
