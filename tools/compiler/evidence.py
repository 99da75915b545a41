"""Evidence on compiled kernels: plain data that crosses the wire both ways."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.compiler import cache, sass_lines, table
from tools.models.occupancy import Occupancy
from tools.models.units import SECTOR

_KEY = re.compile(r"[A-Z2-7]{52}")  # of a folder of the cache


@dataclass(frozen=True)
class Access:
    """What one source line does to global memory.

    kind: "load", "store" or "atomic". file: relative to the root. source: the line itself.
    width: bytes that a thread moves with one instruction, the widest of the line; 0 where the copy engine
    (TMA) moves whole tiles. instructions: how many of them stand in the code. Both are read from PTX.
    requests, sectors, useful_bytes: sums over at most 8 programs spread evenly over the grid, in the first
    turn of each loop, from the compiler's layout and the launch's arguments. A request is one instruction of
    one warp, unless it is masked off as a whole. None where addresses depend on loaded values, for TMA, and for
    CUDA kernels, whose sectors tools.check.count knows.
    """

    kind: str
    file: str
    line: int
    source: str
    width: int
    instructions: int
    requests: int | None
    sectors: int | None
    useful_bytes: int | None

    @property
    def sectors_per_request(self) -> float | None:
        """Sectors of 32 bytes that one request touches, as the profiler counts them."""
        return self.sectors / self.requests if self.sectors is not None and self.requests else None

    @property
    def efficiency(self) -> float | None:
        """Useful bytes as a part of those moved in whole sectors."""
        return self.useful_bytes / (SECTOR * self.sectors) if self.useful_bytes is not None and self.sectors else None


@dataclass(frozen=True)
class Kernel:
    """One kernel, compiled for one chip with the types and constants of one launch.

    file, line: of its def. signature: parameter -> type ("*fp32", "i32", "constexpr"; of a kernel of Numba's
    "array(float32, 1d, C)"; of a RawKernel "const float*"). constants: what is compiled in: constexprs, and integer
    arguments that are 1; a template's arguments. aligned: arguments that are divisible by 16. Neither is known of
    Numba's kernels.
    grid: of the first such launch; launches: how many there were. configs: how many an autotuner had to
    choose from; the first of them was compiled. 1 without an autotuner. num_stages: 0 for CUDA and Gluon.
    registers: of a thread. spills: bytes that its instructions store to and load from local memory.
    shared_bytes: of a block. occupancy: from these. instructions: PTX opcode -> how many stand in the code, the most
    frequent first.
    from_cache: it had been compiled before, and nothing has changed. key: names its folder in the cache.
    disassembled: what gives SASS for a key and a name, where a process of its own has the compiler.
    """

    name: str
    chip: str
    file: str
    line: int
    signature: dict[str, str]
    constants: dict[str, str]
    aligned: tuple[str, ...]
    grid: tuple[int, ...]
    launches: int
    configs: int
    num_warps: int
    num_stages: int
    registers: int
    spills: int
    shared_bytes: int
    occupancy: Occupancy
    instructions: dict[str, int]
    accesses: tuple[Access, ...]
    from_cache: bool
    key: str
    disassembled: Callable[[str, str], str] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def sass(self) -> dict[str, int]:
        """SASS opcode -> how many stand in the code, the most frequent first."""
        return sass_lines.opcodes(self.text("sass"))

    @property
    def loads(self) -> tuple[Access, ...]:
        return tuple(access for access in self.accesses if access.kind == "load")

    @property
    def stores(self) -> tuple[Access, ...]:
        return tuple(access for access in self.accesses if access.kind == "store")

    def text(self, stage: str) -> str:
        """What the compiler wrote at one stage: "ttir", "ttgir", "llir", "ptx" or "sass"; for CUDA, the last two.

        Raises ValueError for another stage, FileNotFoundError when the cache has been emptied since.
        """
        if stage not in ("ttir", "ttgir", "llir", "ptx", "sass"):
            raise ValueError(f"no stage is called {stage!r}: ttir, ttgir, llir, ptx or sass")
        if not _KEY.fullmatch(self.key) or not self.name.isidentifier():
            raise ValueError("this kernel does not say where it is kept")
        if stage == "sass":
            return (self.disassembled or disassembled)(self.key, self.name)
        return _file(self.key, self.name, stage).read_text(encoding="utf-8")

    def __str__(self) -> str:
        return table.of_kernel(self)


def disassembled(key: str, name: str) -> str:
    """SASS of a kernel in the cache. Raises FileNotFoundError. It needs the disassembler, which comes with Triton."""
    return import_module("tools.compiler.machine_code").disassembled(_file(key, name, "cubin"))


def _file(key: str, name: str, stage: str) -> Path:
    return cache.folder() / key / f"{name[:150]}.{stage}"


class NoSuchKernel(LookupError):
    """A kernel was asked for that the call did not launch, or launched with several signatures."""


class Kernels(tuple):
    """Kernels in the order of their first launch: by number, or by name where only one has it.

    caller: the function that launched them, as a failed lookup names it.
    """

    caller = "the call"

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return super().__getitem__(which)
        found = [kernel for kernel in self if kernel.name == which]
        if len(found) == 1:
            return found[0]
        if found:
            raise NoSuchKernel(
                f"{self.caller} launched {which} with {len(found)} signatures: other types or "
                "constants. One was expected."
            )
        launched = ", ".join(dict.fromkeys(kernel.name for kernel in self)) or "none"
        raise NoSuchKernel(f"{self.caller} launched no kernel {which}; launched: {launched}.")


@dataclass(frozen=True)
class Evidence:
    """What the compiler made of the kernels that one call launches, for one chip. print() shows a table."""

    chip: str
    kernels: Kernels

    def __str__(self) -> str:
        nothing = f"The call launched no kernel (compiled for {self.chip})."
        return "\n\n".join(map(str, self.kernels)) or nothing

    def to_plain(self) -> dict:
        return {"chip": self.chip, "kernels": [_to_plain(kernel) for kernel in self.kernels]}


def evidence_from(
    plain: dict, caller: str = Kernels.caller, disassembled: Callable[[str, str], str] | None = None
) -> Evidence:
    """The inverse of `to_plain`. Raises TypeError, KeyError or ValueError for anything else."""
    kernels = Kernels(_kernel_from(kernel, disassembled) for kernel in plain["kernels"])
    kernels.caller = caller
    return Evidence(str(plain["chip"]), kernels)


def _to_plain(kernel: Kernel) -> dict:
    plain = asdict(kernel)
    del plain["disassembled"]
    return plain


def _kernel_from(plain: dict, disassembled: Callable[[str, str], str] | None) -> Kernel:
    parts = {
        "occupancy": Occupancy(**plain["occupancy"]),
        "accesses": tuple(Access(**access) for access in plain["accesses"]),
    }
    return Kernel(**plain | parts, disassembled=disassembled)
