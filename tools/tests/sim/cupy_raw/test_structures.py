"""Structures that functions take and give by value: stored, checked and counted where the learner's line has them."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.tests.sim.cupy_raw.running import counted, fault_of, needs_compiler, per_line, zeros

pytestmark = needs_compiler

CODE = r"""
template <class T> struct Matrix {
    T value[4][4];
    __device__ T& operator()(int i, int j) { return value[i][j]; }
    __device__ const T& operator()(int i, int j) const { return value[i][j]; }
};

template <class T> __device__ Matrix<T> operator+(const Matrix<T>& a, const Matrix<T>& b) {
    Matrix<T> sum;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sum(i, j) = a(i, j) + b(i, j);
    return sum;
}

extern "C" __global__ void add(const Matrix<float>* a, Matrix<float>* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + a[i]; // here
}

__device__ float trace(Matrix<float> m) { return m(0, 0) + m(1, 1) + m(2, 2) + m(3, 3); }
extern "C" __global__ void traces(const Matrix<float>* a, float* out) {
    out[threadIdx.x] = trace(a[threadIdx.x]); // here
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


def test_a_structure_of_64_bytes_that_a_function_gives_is_stored(module):
    a, out = np.arange(64, dtype=np.float32).reshape(4, 4, 4), cp.empty((4, 4, 4), np.float32)
    counters = counted(module.get_function("add"), (2,), (2,), (cp.asarray(a), out))
    assert (out.get() == 2 * a).all()
    assert counters.bytes_stored == a.nbytes and counters.bytes_loaded == 2 * a.nbytes
    assert {line.source.endswith("// here") for line in per_line(counters, "store")} == {True}


def test_a_structure_that_a_function_gives_is_checked_at_the_line_that_stores_it(module):
    a, out = zeros((8, 4, 4)), zeros((3, 4, 4))
    fault = fault_of(module.get_function("add"), (1,), (4,), (a, out))
    assert fault.kind == "out_of_bounds" and fault.array == "out" and fault.source.endswith("// here")


def test_a_structure_that_a_function_takes_is_checked_and_counted(module):
    a, out = np.arange(64, dtype=np.float32).reshape(4, 4, 4), zeros(8)
    counters = counted(module.get_function("traces"), (1,), (4,), (cp.asarray(a), out))
    assert out.get()[:4].tolist() == np.trace(a, axis1=1, axis2=2).tolist() and counters.bytes_loaded == a.nbytes
    fault = fault_of(module.get_function("traces"), (1,), (5,), (cp.asarray(a), out))
    assert fault.kind == "out_of_bounds" and fault.array == "a" and fault.source.endswith("// here")
