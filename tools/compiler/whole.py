"""A kernel compiled to its end in a process that simulates: its registers, its memory, what each stage wrote."""

import hashlib
import json
import os
import shutil
import tempfile
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget, Language

from tools.compiler import NoCompiler, cache, machine_code

PROGRAMS = ("ptxas", "cuobjdump")
FACTS = "kernel.json"  # of a folder in the cache


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel: what Triton's own says of itself.

    metadata: options, shared (bytes of a block), name and more, as attributes. asm: "ttir", "ttgir", "llir" and "ptx"
    as texts, "cubin" as bytes, and "sass". registers: of a thread. spills: words of a thread's local memory.
    """

    metadata: Any
    asm: "Stages"
    registers: int
    spills: int


class Stages(dict):
    """The compiler's texts, by stage; the machine code is disassembled when it is asked for."""

    def __missing__(self, stage: str) -> str:
        if stage != "sass":
            raise KeyError(f"No stage is called {stage!r}; there are {', '.join(self)} and sass.")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "kernel.cubin")
            file.write_bytes(self["cubin"])
            self[stage] = machine_code.disassemble(file)
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
    """Run all stages on a module of TTIR, unless its kernel is in the cache, where it is kept by its text.

    context: which the module lives in. Raises what Triton's compiler raises.
    """
    source = str(module)
    metadata = {"target": target, **vars(options), "triton_version": triton.__version__}
    metadata["hash"] = hashlib.sha256(f"{source} {metadata}".encode()).hexdigest()
    place = cache.folder() / metadata["hash"]
    if not place.is_dir():
        asm: dict[str, Any] = {"source": source}
        stages: dict[str, Callable] = {}
        backend.add_stages(stages, options, Language.TRITON)
        for stage, make in stages.items():
            module = make(module, metadata)
            asm[stage] = module if isinstance(module, bytes) else str(module)
        _keep(place, metadata, asm)
    return _kept(place)


def _keep(place: Path, metadata: dict[str, Any], asm: dict[str, Any]) -> None:
    """Write a folder all at once: another process may write the same."""
    unfinished = place.with_name(f"{place.name}.{os.getpid()}")
    unfinished.mkdir(parents=True, exist_ok=True)
    for stage, text in asm.items():
        unfinished.joinpath(f"kernel.{stage}").write_bytes(text if isinstance(text, bytes) else text.encode())
    cubin = unfinished / "kernel.cubin"
    registers, stack = machine_code.resources(cubin)
    kept = {"metadata": metadata, "stages": list(asm), "registers": registers, "spills": stack // 4}
    unfinished.joinpath(FACTS).write_text(json.dumps(kept, default=vars), encoding="utf-8")
    try:
        unfinished.rename(place)
    except OSError:
        shutil.rmtree(unfinished)
    cache.prune(place.parent)


def _kept(place: Path) -> Compiled:
    facts = json.loads(place.joinpath(FACTS).read_text(encoding="utf-8"))
    metadata, asm = facts["metadata"], Stages()
    metadata["target"] = GPUTarget(**metadata["target"])
    for stage in facts["stages"]:
        content = place.joinpath(f"kernel.{stage}").read_bytes()
        asm[stage] = content if stage == "cubin" else content.decode()
    names = sorted(metadata)
    made = namedtuple("KernelMetadata", names)(*(metadata[name] for name in names))
    return Compiled(made, asm, facts["registers"], facts["spills"])
