"""The types that variables have here are those that Numba's type inference finds; a record says which they are."""

import runpy
import sys

import pytest

from tools.sim import cuda as simulated
from tools.tests.sim.cuda import inferred
from tools.tests.sim.cuda.fuzz import kernels, source
from tools.tests.sim.cuda.fuzz.trial import GPU, SIMULATOR
from tools.tests.sim.cuda.inferred.ours import of_simulator

OURS = {function.__name__: function for function in inferred.load(simulated)}
RECORD = inferred.recorded()


@pytest.mark.parametrize("name", OURS)
def test_variables_have_the_types_that_numba_infers(name):
    function = OURS[name]
    assert of_simulator(function, inferred.arguments(function)) == RECORD[name]
    assert len(RECORD[name]) > len(inferred.arguments(function))


def test_every_function_is_on_record():
    assert set(RECORD) == set(OURS) and len(OURS) > 100


# Beside Numba ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_numba():
    """Numba's answer for a function and its arguments."""
    pytest.importorskip(
        "numba_cuda", minversion="0.30", reason="numba-cuda 0.30 is not installed, with which to compare"
    )
    from tools.tests.sim.cuda.inferred import numbas

    with numbas.no_gpu_needed():
        yield numbas.of_numba


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the record is of Python 3.11, whose bytecode Numba reads")
def test_the_record_is_what_numba_infers(of_numba):
    from numba import cuda

    functions = inferred.load(cuda)
    assert {each.__name__: of_numba(each, inferred.arguments(each)) for each in functions} == RECORD


@pytest.mark.parametrize("number", range(3))
def test_variables_of_random_kernels_have_numbas_types_too(of_numba, number, tmp_path):
    made = kernels.kernel(number)
    functions = []
    for module in (SIMULATOR, GPU):
        file = tmp_path / f"kernel_{module[:5]}.py"
        file.write_text(source.module([made], module), encoding="utf-8")
        functions.append(runpy.run_path(str(file))[f"kernel_{number}"].py_func)
    values = list(made.arguments.values())
    assert of_simulator(functions[0], values) == of_numba(functions[1], values)
