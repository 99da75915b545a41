"""The types that variables have here are those that Numba's type inference finds. It needs no GPU for that."""

import runpy
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tools.sim import cuda as simulated
from tools.sim.cuda.inference import Inference
from tools.sim.cuda.source import program
from tools.sim.cuda.values import OfArray, type_of
from tools.tests.sim.cuda import inferred
from tools.tests.sim.cuda.fuzz import kernels, source
from tools.tests.sim.cuda.fuzz.trial import GPU, SIMULATOR

pytest.importorskip("numba_cuda", minversion="0.30", reason="numba-cuda 0.30 is not installed, with which to compare")

import numba  # noqa: E402
from numba import cuda, types  # noqa: E402
from numba.cuda import compiler, dispatcher  # noqa: E402
from numba.cuda.descriptor import cuda_target  # noqa: E402

FUNCTIONS = dict(zip([function.__name__ for function in inferred.load(simulated)],
                     zip(inferred.load(simulated), inferred.load(cuda))))


@pytest.fixture(autouse=True, scope="module")
def no_gpu_needed():
    """Numba asks which GPU there is when it compiles device functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
        cuda_target.typing_context.refresh()
        yield


# Numba -------------------------------------------------------------------------------------------

def of_numba(function, arguments) -> dict[str, set[str]]:
    """All types that each variable has, in one place or another."""
    kinds = tuple(map(numba.typeof, arguments))
    result = compiler.compile_cuda(function, None, kinds, cc=(9, 0))
    found: dict[str, set[str]] = {}
    for name, kind in result.type_annotation.typemap.items():
        if name[0].isalpha() and not name.startswith("arg."):  # y and y.1 are the first two values of y
            found.setdefault(name.partition(".")[0], set()).add(shown(kind))
    return {name: kinds - {"none"} for name, kinds in found.items()}


def shown(kind) -> str:
    kind = types.unliteral(kind)
    if isinstance(kind, types.Optional):
        return shown(kind.type)
    if isinstance(kind, types.BaseTuple):
        return f"({', '.join(map(shown, kind.types))})"
    return f"{kind.dtype}[{kind.ndim}]" if isinstance(kind, types.Array) else str(kind)


# The simulator -----------------------------------------------------------------------------------

def of_simulator(function, arguments) -> dict[str, set[str]]:
    """The same, seen by looking at the variables before every step of the last pass."""
    inference, kernel = Inference(()), program(function)
    arguments = [inference.space.array("x", "global", each.dtype, each.shape) if isinstance(each, np.ndarray)
                 else np.array(each)[()] for each in arguments]
    found: dict[str, set[str]] = {}

    def look(frame, event, _):
        for name, value in frame.f_locals.items():
            if name in function.__code__.co_varnames and type(value).__name__ not in ("Undefined", "NoneType"):
                found.setdefault(name, set()).add(described(type_of(value)))
        return look

    def enter(frame, event, _):
        if frame.f_code is kernel.code[True]:
            found.clear()
            frame.f_trace_opcodes = True
            return look

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        version = kernel.version(tuple(arguments))
    finally:
        sys.settrace(before)
    assert version.unclear == []
    return found


def described(kind) -> str:
    if isinstance(kind, OfArray):
        return f"{kind.dtype}[{kind.ndim}]"
    return f"({', '.join(map(described, kind[1:]))})" if type(kind) is tuple else str(kind)


# Both --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", FUNCTIONS)
def test_variables_have_the_types_that_numba_infers(name):
    ours, numbas = FUNCTIONS[name]
    wanted = of_numba(numbas, inferred.arguments(numbas))
    assert of_simulator(ours, inferred.arguments(ours)) == wanted
    assert len(wanted) > len(inferred.arguments(ours))


@pytest.mark.parametrize("number", range(3))
def test_variables_of_random_kernels_do_too(number, tmp_path):
    made = kernels.kernel(number)
    functions = []
    for module in (SIMULATOR, GPU):
        file = tmp_path / f"kernel_{module[:5]}.py"
        file.write_text(source.module([made], module), encoding="utf-8")
        functions.append(runpy.run_path(str(file))[f"kernel_{number}"].py_func)
    values = list(made.arguments.values())
    assert of_simulator(functions[0], values) == of_numba(functions[1], values)
