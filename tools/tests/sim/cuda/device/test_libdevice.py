"""cuda.libdevice and loads and stores with hints for the caches: names, types and values."""

import numpy as np
import pytest

from tools.compiler.numba.code import compiler
from tools.sim import cuda
from tools.sim.cuda.device import libdevice
from tools.sim.cuda.faults import Refused, Unknown
from tools.sim.recording import record

NAMES = [name for name in dir(libdevice) if hasattr(getattr(libdevice, name), "meaning")]


@cuda.jit
def mathematics(x, out):
    i = cuda.grid(1)
    out[0, i] = cuda.libdevice.expf(x[i])
    out[1, i] = cuda.libdevice.rsqrt(x[i])
    out[2, i] = cuda.libdevice.fast_powf(x[i], 2.0)
    out[3, i] = cuda.libdevice.fmaf_rn(x[i], x[i], 1.0)
    out[4, i] = cuda.libdevice.roundf(x[i])


def test_values_are_those_of_the_functions():
    x, out = np.array([0.5, 1.5, 2.25], np.float32), np.zeros((5, 3))
    mathematics[1, 3](x, out)
    assert out[0].tolist() == np.exp(x.astype(np.float64)).astype(np.float32).tolist()
    assert out[1] == pytest.approx(1 / np.sqrt(x.astype(np.float64)), rel=1e-15)
    assert out[2].tolist() == [0.25, 2.25, 5.0625] and out[3].tolist() == [1.25, 3.25, 6.0625]
    assert out[4].tolist() == [1, 2, 2]


def test_names_and_types_are_those_of_numba():
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed, with which to compare")
    compiler()
    from numba.cuda.libdevicefuncs import functions

    assert len(NAMES) > 80
    for name in NAMES:
        result, parameters = functions[f"__nv_{name}"]
        given = [np.dtype(str(each.ty)).type(0.5) for each in parameters]
        assert str(getattr(libdevice, name).meaning(*given).dtype) == str(result), name


@cuda.jit
def bits_and_back(x, bits, back):
    i = cuda.grid(1)
    bits[i] = cuda.libdevice.float_as_int(x[i])
    back[i] = cuda.libdevice.int_as_float(bits[i])


def test_bits_of_a_float_are_an_integer_and_no_conversion():
    x, bits, back = np.array([1, -0.0, np.inf, np.nan], np.float32), np.zeros(4, np.int32), np.zeros(4, np.float32)
    with record() as counters:
        bits_and_back[1, 4](x, bits, back)
    assert bits.tolist() == x.view(np.int32).tolist() and back.tobytes() == x.tobytes()
    assert counters.conversions == 0 and counters.float64 == 0


@cuda.jit
def another_function(out):
    out[0] = cuda.libdevice.j0(1.0)


def test_other_names_are_said_to_be_unknown():
    with pytest.raises(Unknown, match="The simulator does not know this: cuda.libdevice.j0. A GPU may run it."):
        another_function[1, 1](np.zeros(1))


@cuda.jit
def hinted(x, m, out):
    i = cuda.grid(1)
    cuda.stcs(out, i, cuda.ldcg(x, i) + cuda.ldca(m, (i, 0)))


@cuda.jit
def plain(x, m, out):
    i = cuda.grid(1)
    out[i] = x[i] + m[i, 0]


@cuda.jit
def hint_for_a_row(m, out):
    out[0] = cuda.ldcg(m, 0)


def test_a_hint_changes_neither_values_nor_figures():
    x, m, out = np.arange(32.0), np.ones((32, 2)), np.zeros(32)
    with record() as with_hints:
        hinted[1, 32](x, m, out)
    with record() as without:
        plain[1, 32](x, m, out)
    assert out.tolist() == (x + 1).tolist()
    assert (with_hints.sectors, with_hints.requests) == (without.sectors, without.requests)
    with pytest.raises(Refused, match="an index for each axis"):
        hint_for_a_row[1, 1](m, out)
