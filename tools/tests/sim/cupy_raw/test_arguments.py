"""What kernels are given: CuPy's rules for numbers and arrays, and a refusal where CuPy passes nonsense on."""

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.raw import resources
from tools.sim.cupy.raw.launch import CUDADriverError
from tools.sim.recording import record
from tools.tests.sim.cupy_raw.running import floats, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
#include <cuda_fp16.h>
struct Item { int key; float value; };

#define TAKES(name, T) extern "C" __global__ void take_##name(T value, double* out) { out[0] = value; }
TAKES(int, int)
TAKES(unsigned, unsigned)
TAKES(long, long long)
TAKES(short, short)
TAKES(float, float)
TAKES(double, double)
TAKES(bool, bool)
TAKES(size, size_t)

extern "C" __global__ void scale(const float* x, float* out, int n, float factor) {
    int i = threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
extern "C" __global__ void take_item(Item item, float* out) { out[0] = item.key; out[1] = item.value; }
extern "C" __global__ void take_vector(float2 value, float* out) { out[0] = value.x; out[1] = value.y; }
extern "C" __global__ void is_null(const float* x, int* out) { out[0] = x == nullptr; }
extern "C" __global__ void bytes(const unsigned char* x, int* out) { out[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void grid_size(int* out) {
    bool first = blockIdx.x + blockIdx.y + threadIdx.x == 0;
    if (first) out[0] = gridDim.x + 10 * gridDim.y + 100 * blockDim.x;
}
extern "C" __global__ void both(float* a, float* b) {
    a[threadIdx.x] += 1;
    __syncthreads();
    b[threadIdx.x] += 1;
}
extern "C" __global__ void big_shared(float* out) {
    extern __shared__ float part[];
    part[threadIdx.x] = 1;
    if (threadIdx.x == 0) out[0] = part[0];
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE)


@pytest.fixture
def call(module):
    return lambda name, *args, grid=(1,), block=(1,), **named: module.get_function(name)(grid, block, args, **named)


@pytest.mark.parametrize(
    "name, value",
    [
        ("int", 7),
        ("int", -7),
        ("int", np.int32(-7)),
        ("int", np.int64(7)),
        ("int", np.uint32(7)),
        ("unsigned", 2**32 - 1),
        ("unsigned", np.uint32(2**31)),
        ("long", -(2**40)),
        ("short", -3),
        ("short", np.int16(-3)),
        ("double", 0.1),
        ("double", np.float64(0.1)),
        ("float", np.float32(0.25)),
        ("bool", True),
        ("bool", 0),
        ("size", 2**63),
        ("size", np.uint64(5)),
        ("float", np.array([0.25], np.float32)),
    ],
)
def test_numbers_arrive(call, name, value):
    out = zeros(1, np.float64)
    call(f"take_{name}", value, out)
    assert out.get()[0] == float(np.ravel(value)[0])


@pytest.mark.parametrize(
    "name, value, says",
    [
        ("int", True, "CuPy would pass 1 byte, and the kernel would read 4."),
        ("float", 2.5, "argument 0 of take_float is given a float64, and the kernel takes a float."),
        ("float", 3, "is given a int64, and the kernel takes a float."),
        ("double", np.float32(1), "is given a float32, and the kernel takes a double."),
        ("int", 1.0, "is given a float64, and the kernel takes an int."),
        ("long", np.int32(1), "is given a int32, and the kernel takes a long long."),
        ("int", 2**40, "is given 1099511627776, which does not fit: the kernel takes an int."),
        ("int", "7", "Unsupported type <class 'str'>"),
        ("int", [7], "Unsupported type <class 'list'>"),
    ],
)
def test_numbers_that_would_arrive_as_others_are_refused(call, name, value, says):
    with pytest.raises(TypeError) as caught:
        call(f"take_{name}", value, zeros(1, np.float64))
    assert says in str(caught.value) and len(str(caught.value).splitlines()) <= 3


def test_a_refused_float_says_how_to_pass_it(call):
    with pytest.raises(TypeError, match=r"Pass numpy\.float32\(\.\.\.\)\.$"):
        call("scale", floats(4), zeros(4), 4, 2.0)


def test_a_refused_float_of_a_template_is_one_of_several_types():
    code = "template <typename T> __global__ void take(T value, double* out) { out[0] = value; }"
    take = cp.RawModule(code=code, name_expressions=["take<float>"]).get_function("take<float>")
    with pytest.raises(TypeError, match=r"Pass numpy\.float32\(\.\.\.\); what fits each type of the template\?$"):
        take((1,), (1,), (2.0, zeros(1, np.float64)))


def test_an_array_of_the_host_is_refused(call):
    with pytest.raises(TypeError, match="numpy.ndarray of shape \\(4,\\)(.|\n)*pass a cupy.ndarray"):
        call("scale", np.zeros(4, np.float32), zeros(4), 4, np.float32(1))


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16, np.complex64])
def test_an_array_of_other_elements_is_refused(call, dtype):
    with pytest.raises(TypeError) as caught:
        call("scale", zeros(4, dtype), zeros(4), 4, np.float32(1))
    assert f"x of scale is given an array of {np.dtype(dtype)}" in str(caught.value) and "astype" in str(caught.value)


def test_bytes_of_any_array_can_be_read(call):
    out = zeros(4, np.int32)
    call("bytes", cp.asarray(np.array([0x04030201], np.int32)), out, block=(4,))
    assert out.get().tolist() == [1, 2, 3, 4]


def test_an_array_in_place_of_a_number_is_refused(call):
    with pytest.raises(TypeError, match="n of scale is given an array, and the kernel takes an int"):
        call("scale", floats(4), zeros(4), zeros(1, np.int32), np.float32(1))


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_the_number_of_arguments_must_fit(call, count):
    with pytest.raises(TypeError, match=f"scale takes 4 arguments, and {count} were given"):
        call("scale", *[zeros(1)] * count)


def test_structures_go_by_value(call):
    out = zeros(2)
    item = np.array([(3, 2.5)], [("key", np.int32), ("value", np.float32)])
    call("take_item", item, out)
    assert out.get().tolist() == [3, 2.5]
    call("take_vector", np.array([(1, 2)], [("x", np.float32), ("y", np.float32)]), out)
    assert out.get().tolist() == [1, 2]
    call("take_vector", np.complex64(4 + 5j), out)
    assert out.get().tolist() == [4, 5]
    with pytest.raises(TypeError, match="a value of 8 bytes"):
        call("take_vector", 1 + 2j, out)


def test_none_is_a_null_pointer(call):
    out = zeros(1, np.int32)
    call("is_null", None, out)
    assert out.get()[0] == 1


def test_a_memory_pointer_is_a_pointer(call):
    x, out = floats(8), zeros(4)
    call("scale", x.data + 16, out, 4, np.float32(2), block=(4,))
    assert out.get().tolist() == [8, 10, 12, 14]


def test_a_number_is_no_pointer(call):
    with pytest.raises(TypeError, match="x of scale is given a int64, and the kernel takes a pointer"):
        call("scale", floats(4).data.ptr, zeros(4), 4, np.float32(2))


def test_a_transposed_array_is_passed_as_its_memory(call):
    x, out = cp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3)), zeros(6)
    call("scale", x.T, out, 6, np.float32(1), block=(6,))
    assert out.get().tolist() == list(range(6))


def test_arguments_may_overlap(call):
    x = zeros(40)
    call("both", x[:32], x[8:], block=(32,))
    assert x.get().tolist() == [1] * 8 + [2] * 24 + [1] * 8


def test_arguments_may_be_neighbours(call):
    x = floats(64)
    call("scale", x[:32], x[32:], 32, np.float32(2), block=(32,))
    assert x.get().tolist() == [*range(32), *range(0, 64, 2)]


def test_arrays_without_elements(call):
    call("scale", zeros(0), zeros(0), 0, np.float32(1), block=(32,))


# Launches ----------------------------------------------------------------------------------------


def test_what_a_grid_lacks_is_one(call):
    out = zeros(1, np.int32)
    call("grid_size", out, grid=(3,), block=(2,))
    assert out.get()[0] == 3 + 10 + 200
    call("grid_size", out, grid=(0, 2), block=(1, 1, 1))
    assert out.get()[0] == 1 + 20 + 100


@pytest.mark.parametrize("named", [{"grid": 1}, {"block": [32]}])
def test_grids_and_blocks_are_tuples(call, named):
    with pytest.raises(TypeError, match="has incorrect type \\(expected tuple"):
        call("grid_size", zeros(1, np.int32), **named)


@pytest.mark.parametrize(
    "named, says",
    [
        ({"block": (1025,)}, "1,025 threads in a block; 1,024 fit"),
        ({"block": (32, 33)}, "1,056 threads in a block"),
        ({"block": (1, 1, 65)}, "the block (1, 1, 65); (1024, 1024, 64) is the largest"),
        ({"grid": (1, 65536)}, "the grid (1, 65536, 1)"),
        ({"shared_mem": 49153}, "49,153 bytes of dynamic shared memory; 49,152 are allowed"),
    ],
)
def test_launches_that_do_not_fit_are_refused_as_by_the_driver(call, named, says):
    with pytest.raises(CUDADriverError) as caught:
        call("grid_size", zeros(1, np.int32), **named)
    assert str(caught.value).startswith("CUDA_ERROR_INVALID_VALUE: invalid argument\n") and says in str(caught.value)


def test_more_dynamic_shared_memory_must_be_asked_for(module):
    kernel, out = module.get_function("big_shared"), zeros(1)
    assert kernel.max_dynamic_shared_size_bytes == 49152
    kernel.max_dynamic_shared_size_bytes = 100_000
    kernel((1,), (32,), (out,), shared_mem=100_000)
    assert out.get()[0] == 1
    with pytest.raises(CUDADriverError):
        kernel((1,), (32,), (out,), shared_mem=100_001)
    with pytest.raises(CUDADriverError, match="232,448"):
        kernel.max_dynamic_shared_size_bytes = 232_449


def test_a_launch_may_name_a_stream(module):
    stream = cp.cuda.Stream()
    with record() as counters:
        module.get_function("grid_size")((1,), (1,), (zeros(1, np.int32),), stream=stream)
    assert len(counters.launches) == 1


@pytest.mark.parametrize("name", ["num_regs", "local_size_bytes", "attributes"])
def test_what_only_nvidias_compiler_knows_is_refused_without_it(module, name, monkeypatch):
    monkeypatch.setattr(resources.compiler, "ask", None)
    with pytest.raises(AttributeError, match="known to NVIDIA's compiler only"):
        getattr(module.get_function("scale"), name)
    assert module.get_function("scale").max_threads_per_block == 1024
