"""One random kernel, run by the oracle and by what is on trial, and compared to the last bit."""

import importlib.util
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tools.tests.sim.cuda.fuzz import kernels, source, threads
from tools.tests.sim.cuda.fuzz.constructs import constructs
from tools.tests.sim.cuda.fuzz.scalars import Undefined
from tools.tests.sim.cuda.fuzz.tree import Kernel

SIMULATOR, GPU = "tools.sim", "numba"  # the modules that lend `cuda`


@dataclass(frozen=True)
class Result:
    """outcome: "same", "different", "refused" (an exception where there should be none) or "undefined" (no trial).

    says: what differs, or the exception. seconds: of the oracle and of each thing on trial.
    """

    number: int
    outcome: str
    says: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    constructs: Counter = field(default_factory=Counter)


def trial(number: int, on: tuple[str, ...], folder: Path) -> Result:
    """Kernel `number` on each of SIMULATOR and GPU that is asked for. folder: where its source goes."""
    made, seconds, start = kernels.kernel(number), {}, time.perf_counter()
    try:
        want = threads.run(made)
    except Undefined as reason:
        return Result(number, "undefined", str(reason))
    seconds["oracle"] = time.perf_counter() - start
    outcome, says = "same", []
    for cuda in on:
        start = time.perf_counter()
        try:
            differs = difference(want, launch(made, cuda, folder))
        except Exception as refusal:
            outcome, differs = "refused", f"{type(refusal).__name__}: {refusal}"
        seconds[cuda] = time.perf_counter() - start
        if differs:
            outcome = "different" if outcome == "same" else outcome
            says.append(f"{cuda}: {differs}")
    return Result(number, outcome, "\n".join(says), seconds, constructs(made))


def launch(made: Kernel, cuda: str, folder: Path) -> dict[str, np.ndarray]:
    """The arrays as the kernel leaves them."""
    name = f"kernel_{made.number}"
    file = folder / f"{name}_{cuda.rpartition('.')[2]}.py"
    file.write_text(source.module([made], cuda), encoding="utf-8")
    arguments = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in made.arguments.items()}
    function = getattr(_load(file), name)
    function[made.grid, made.block, 0, made.shared](*arguments.values())
    return {key: value for key, value in arguments.items() if isinstance(value, np.ndarray)}


def _load(file: Path):
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[file.stem]
    return module


def difference(want: dict[str, np.ndarray], got: dict[str, np.ndarray]) -> str:
    """The first element that differs in any bit; "" if none does."""
    for name, array in want.items():
        bits = [each.ravel().view(f"u{each.itemsize}") for each in (array, got[name])]
        wrong = np.flatnonzero(bits[0] != bits[1])
        if wrong.size:
            index = tuple(map(int, np.unravel_index(wrong[0], array.shape)))
            return f"{name}{list(index)} is {got[name][index]!r}, not {array[index]!r}; {wrong.size} elements differ"
    return ""
