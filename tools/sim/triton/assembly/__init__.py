"""Inline assembly in kernels, tl.inline_asm_elementwise: one instruction after the other, over all elements at once.

Known are straight lines of arithmetic, operations on bits and conversions (see instructions.py), the clock, the number
of the multiprocessor, and the two instructions by which a kernel waits for the one before it, of which there is none
here. Everything else is refused.
"""

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import triton.language as tl

from tools.sim.triton import faults, memory
from tools.sim.triton.assembly import instructions, packing, source
from tools.sim.triton.faults import Fault

MULTIPROCESSORS = 132  # of the H100, on which programs take turns
NOTHING_TO_WAIT_FOR = ("griddepcontrol.wait", "griddepcontrol.launch_dependents")
THREADS = {"num_warps": 1, "num_threads": 32}  # for each warp of a program


def patch(interpreter: ModuleType) -> None:
    """Let kernels use inline assembly, and what tl.extra.cuda makes of it. interpreter: triton.runtime.interpreter."""
    from triton.language.extra import cuda

    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle

    def create_inline_asm(
        self: Any, text: str, constraints: str, values: list, types: list, is_pure: bool, pack: int
    ) -> Any:
        dtypes = [interpreter._get_np_dtype(kind) for kind in types]
        check(constraints, [each.data.dtype for each in values], dtypes, int(pack))
        results = evaluated(text, [each.data for each in values], dtypes, int(pack))
        made = [self.create_of_assembly(*values, data=data, kind=kind.scalar) for data, kind in zip(results, types)]
        return Results(made)

    def create_of_assembly(self: Any, *values: Any, data: np.ndarray, kind: Any) -> Any:
        return handle(data, kind)

    builder.create_inline_asm, builder.create_of_assembly = create_inline_asm, create_of_assembly
    semantic = interpreter.interpreter_semantic
    for name, function in vars(cuda).copy().items():
        if interpreter.tl.core.is_builtin(function):
            setattr(cuda, name, _of_launch(THREADS[name]) if name in THREADS else _callable(function, semantic))


class Results(list):
    """What several outputs come in."""

    def get_result(self, number: int) -> Any:
        return self[number]


def _callable(function: Callable, semantic: Any) -> Callable:
    def call(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named | {"_semantic": semantic})

    return call


def _of_launch(times: int) -> Callable:
    """So many for each warp that the launch gives its programs."""
    return lambda **named: tl.constexpr(times * memory.current.warps)


def check(constraints: str, inputs: list[np.dtype], outputs: list[np.dtype], pack: int) -> None:
    """Raise Fault where the constraints name another number of registers than the values fill, as a compiler does."""
    named = [each.strip() for each in constraints.split(",") if each.strip() and not each.strip().startswith("~")]
    results = sum(each.startswith("=") for each in named)
    for what, given, kinds in (("outputs", results, outputs), ("inputs", len(named) - results, inputs)):
        filled = sum(packing.registers(dtype, pack) for dtype in kinds)
        if given != filled:
            raise Fault(
                "constraints",
                f"The constraints name {given} registers for the {what}; with pack={pack} they fill {filled}.",
                "How many elements share a register of 32 bits?",
            )


def evaluated(text: str, arguments: list[np.ndarray], dtypes: list[np.dtype], pack: int) -> list[np.ndarray]:
    """The outputs, in the shape of the arguments. pack: elements that one run of the assembly sees.

    Raises Fault for an instruction that is not known here.
    """
    shape = np.broadcast_shapes((1,), *(each.shape for each in arguments))
    flat = [np.broadcast_to(each, shape).ravel() for each in arguments]
    outputs = [packing.registers(dtype, pack) for dtype in dtypes]
    inputs = [register for each in flat for register in packing.packed(each, pack)]
    runs = -(-int(np.prod(shape)) // pack)
    values = {f"${sum(outputs) + number}": register for number, register in enumerate(inputs)}
    run(text, values, runs)
    results, first = [], 0
    for dtype, number in zip(dtypes, outputs):
        made = [values.get(f"${first + each}", np.zeros(runs, np.uint64)) for each in range(number)]
        results.append(packing.unpacked(made, dtype, pack)[: int(np.prod(shape))].reshape(shape))
        first += number
    return results


def run(text: str, values: dict[str, np.ndarray], runs: int) -> None:
    """Run the assembly. values: bits of each register by its name, as uint64; the outputs come to stand there."""
    known = source.Registers(values, runs)
    for opcode, operands in source.statements(text):
        if opcode in NOTHING_TO_WAIT_FOR:
            continue
        try:
            if opcode.startswith("mov.") and operands[-1].startswith("%"):
                known.write(operands[0], np.full(runs, _special(operands[-1]), np.uint64))
            else:
                instructions.execute(opcode, operands, known)
        except instructions.Unknown as unknown:
            raise Fault(
                "not_simulated",
                f"Inline assembly with {unknown} is not simulated here; a GPU runs it, and compiled() builds it.",
                "Does Triton have a function for it?",
            ) from None


def _special(name: str) -> int:
    if name in ("%globaltimer", "%clock64"):
        return time.perf_counter_ns()
    if name == "%clock":
        return time.perf_counter_ns() & 0xFFFFFFFF
    if name == "%smid":
        program, grid = faults.running()
        return int(np.ravel_multi_index(program, grid)) % MULTIPROCESSORS
    raise instructions.Unknown(name)
