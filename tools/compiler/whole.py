"""A kernel compiled to its end in a process that simulates: its registers, its memory, what each stage wrote."""

import hashlib
import tempfile
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget, Language

from tools.compiler import NoCompiler, machine_code

PROGRAMS = ("ptxas", "cuobjdump")


@dataclass(frozen=True)
class Compiled:
    """What Triton's own compiled kernel says of itself.

    metadata: options, shared (bytes of a block), name and more, as attributes. asm: "ttir", "ttgir", "llir" and "ptx"
    as texts, "cubin" as bytes, and "sass". registers: of a thread. spills: words of a thread's local memory.
    """

    metadata: Any
    asm: "Stages"
    registers: int
    spills: int


class Stages(dict):
    """What the compiler wrote, by stage; the machine code is disassembled when it is asked for."""

    def __missing__(self, stage: str) -> str:
        if stage != "sass":
            raise KeyError(f"No stage is called {stage!r}; there are {', '.join(self)} and sass.")
        self[stage] = _of_file(self["cubin"], machine_code.disassemble)
        return self[stage]


def need_programs() -> None:
    """Raise NoCompiler where Triton comes without NVIDIA's programs."""
    missing = [name for name in PROGRAMS if not (machine_code.TOOLS / name).is_file()]
    if missing:
        raise NoCompiler(
            f"Registers and shared memory are not known here: this Triton comes without {' and '.join(missing)}.\n"
            "On Linux it brings them.",
            "triton",
        )


def compiled(context: Any, module: Any, target: GPUTarget, backend: Any, options: Any) -> Compiled:
    """Run all stages on a module of TTIR. context: which it lives in. Raises what Triton's compiler raises."""
    asm = Stages(source=str(module))
    metadata = {"target": target, **vars(options), "triton_version": triton.__version__}
    metadata["hash"] = hashlib.sha256(f"{asm['source']} {metadata}".encode()).hexdigest()
    stages: dict[str, Callable] = {}
    backend.add_stages(stages, options, Language.TRITON)
    for stage, make in stages.items():
        module = make(module, metadata)
        asm[stage] = module if isinstance(module, bytes) else str(module)
    names = sorted(metadata)
    return Compiled(
        namedtuple("KernelMetadata", names)(*(metadata[name] for name in names)),
        asm,
        _of_file(asm["cubin"], machine_code.registers),
        _of_file(asm["cubin"], machine_code.stack) // 4,
    )


def _of_file(cubin: bytes, read: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        return read(file)
