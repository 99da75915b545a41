"""A real call, with its kernels compiled for a chip: what a worker of mode "compile" is asked for."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from triton import knobs
from triton.runtime.jit import get_jit_fn_file_line

from tools.compiler import cache, diagnostics, machine_code, memory, nvrtc
from tools.compiler.capture import Launch, launches_on
from tools.compiler.evidence import Evidence, Kernel, Kernels
from tools.compiler.numba.errors import refused
from tools.compiler.numba.kernel import Launch as CudaLaunch
from tools.compiler.numba.kernel import kernel as cuda_kernel
from tools.compiler.numba.kernel import launch as cuda_launch
from tools.models.chips import Chip, chip
from tools.models.occupancy import occupancy


@dataclass
class Built:
    """Launches, of kernels of one kind, that need the same code. code: registers and spilled bytes, once read."""

    launches: list
    code: Future


def compile_call(
    function: Callable,
    args: tuple,
    kwargs: dict,
    chips: tuple[str, ...],
    captured: Callable | None = None,
    captured_raw: Callable | None = None,
) -> list[dict]:
    """Call `function` once for each chip, with its kernels compiled and not run. Evidence as plain data.

    captured: inside captured(take, rejection), launches of CUDA kernels are handed to `take`, and no kernel runs;
    rejection(error) is raised for a kernel that is refused before. None where there are no CUDA kernels.
    captured_raw: likewise for CuPy's RawKernels; captured_raw(take).
    Raises CompileError, ValueError for a chip that is unknown, and whatever the function's own Python raises.
    """
    cache.use()
    targets = [chip(key) for key in chips]
    with ThreadPoolExecutor(2) as readers, _fresh_kernels() as fresh:  # one compiles while others are read
        calls = [
            (target, _built(function, args, kwargs, target, readers, captured, captured_raw)) for target in targets
        ]
        return [
            Evidence(target.key, Kernels(_kernel(target, each, fresh) for each in built)).to_plain()
            for target, built in calls
        ]


def _built(
    function: Callable,
    args: tuple,
    kwargs: dict,
    target: Chip,
    readers: ThreadPoolExecutor,
    captured: Callable | None,
    captured_raw: Callable | None,
) -> list[Built]:
    with launches_on(target) as launches:

        def take(configuration: Any, types: tuple) -> None:
            launches.append(cuda_launch(configuration, types, target))

        def take_raw(kernel: Any, shape: Any) -> None:
            launches.append(nvrtc.launch(kernel, shape, target))

        with ExitStack() as stack:
            if captured:
                stack.enter_context(captured(take, partial(refused, chip=target)))
            if captured_raw:
                stack.enter_context(captured_raw(take_raw))
            function(*args, **kwargs)
    found: dict[str, Built] = {}
    for launch in launches:
        if launch.key not in found:
            found[launch.key] = Built([], readers.submit(_read, launch))
        found[launch.key].launches.append(launch)
    return list(found.values())


@contextmanager
def _fresh_kernels() -> Iterator[set[str]]:
    """The hashes of the kernels that are compiled inside, and do not come from the cache."""
    fresh: set[str] = set()

    def listen(*, metadata: dict[str, Any], cache_hit: bool, **others: Any) -> None:
        if not cache_hit:
            fresh.add(metadata["hash"])

    knobs.compilation.listener = listen
    try:
        yield fresh
    finally:
        knobs.compilation.listener = None


def _read(launch: Launch | CudaLaunch | nvrtc.Launch) -> tuple[int, int]:
    """Registers and spilled bytes of a thread."""
    if isinstance(launch, nvrtc.Launch):
        return launch.kernel.registers, launch.kernel.spills
    if isinstance(launch, CudaLaunch):
        return launch.assembled.registers, launch.assembled.spills
    cubin = _file(launch.compiled, "cubin")
    registers, stack = machine_code.resources(cubin)
    return registers, machine_code.spills(cubin) if stack else 0  # to disassemble takes longer than all the rest


def _file(compiled: Any, stage: str) -> Path:
    return next(Path(path) for name, path in compiled.metadata_group.items() if name.endswith(f".{stage}"))


def _kernel(target: Chip, built: Built, fresh: set[str]) -> Kernel:
    launch, (registers, spills) = built.launches[0], built.code.result()
    if isinstance(launch, CudaLaunch):
        return cuda_kernel(built.launches)
    if isinstance(launch, nvrtc.Launch):
        return nvrtc.kernel(built.launches)
    compiled, source = launch.compiled, launch.compiled.src
    metadata = compiled.metadata
    file, line = get_jit_fn_file_line(launch.kernel)
    parameters = list(source.signature)
    return Kernel(
        name=launch.kernel.__name__,
        chip=target.key,
        file=diagnostics.shown(file),
        line=line,
        signature={name: str(kind) for name, kind in source.signature.items()},
        constants={_named(parameters, path): str(value) for path, value in source.constants.items()},
        aligned=tuple(_named(parameters, path) for path, facts in source.attrs.items() if facts),
        grid=launch.grid,
        launches=len(built.launches),
        configs=launch.configs,
        num_warps=metadata.num_warps,
        num_stages=0 if launch.kernel.is_gluon() else metadata.num_stages,  # Gluon knows it, and does nothing with it
        registers=registers,
        spills=spills,
        shared_bytes=metadata.shared,
        occupancy=occupancy(target.limits, metadata.num_warps, registers, metadata.shared),
        instructions=machine_code.opcodes(compiled.asm["ptx"]),
        accesses=memory.accesses(launch, _file(compiled, "ttgir")),
        from_cache=compiled.hash not in fresh,
        key=_file(compiled, "cubin").parent.name,
    )


def _named(parameters: list[str], path: tuple[int, ...]) -> str:
    """`b`, or `strides[1]` for a part of a tuple."""
    return parameters[path[0]] + "".join(f"[{number}]" for number in path[1:])
