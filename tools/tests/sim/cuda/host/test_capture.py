"""Launches that are handed to somebody else instead of being run."""

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.host import capture
from tools.sim.recording import record

pytestmark = pytest.mark.filterwarnings("ignore:.*under-utilization", "ignore:Host array used")


@cuda.jit(fastmath=True)
def fill_kernel(x, value):
    x[cuda.grid(1)] = value


@cuda.jit("void(float32[:], int32)")
def declared_kernel(x, value):
    x[cuda.grid(1)] = value


def test_a_captured_launch_says_what_it_is_and_runs_nothing():
    x, taken = np.zeros(64, np.float32), []
    with record() as counters, capture.captured(lambda *launch: taken.append(launch)):
        fill_kernel[(2, 1), 32, 0, 256](x, 3)
    ((configuration, types),) = taken
    assert [str(each) for each in types] == ["array(float32, 1d, C)", "int64"]
    assert (configuration.griddim, configuration.blockdim, configuration.sharedmem) == ((2, 1, 1), (32, 1, 1), 256)
    assert configuration.dispatcher.py_func.__name__ == "fill_kernel"
    assert configuration.dispatcher.options["fastmath"] is True
    assert not x.any() and not counters.launches and not counters.transfers.uploads


def test_the_types_are_those_of_the_signature_where_there_is_one():
    taken = []
    with capture.captured(lambda _, types: taken.append(types)):
        declared_kernel[1, 32](np.zeros(32, np.float32), 3)
    assert [str(each) for each in taken[0]] == ["array(float32, 1d, A)", "int32"]


def test_afterwards_kernels_run_again_also_after_an_error():
    x = np.zeros(32, np.float32)
    with pytest.raises(RuntimeError), capture.captured(lambda *_: None):
        raise RuntimeError
    fill_kernel[1, 32](x, 3)
    assert (x == 3).all()
