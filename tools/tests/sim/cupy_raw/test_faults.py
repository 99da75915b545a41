"""What a kernel must not do: refused at its line, with the thread that did it. The lines end in `// here`."""

import linecache

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.raw import launch
from tools.tests.sim.cupy_raw.running import fault_of, floats, needs_compiler, zeros

pytestmark = needs_compiler

CODE = r"""
extern "C" __global__ void beyond(const float* x, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i]; // here
}

extern "C" __global__ void beyond_the_rows(float* x, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    x[row * columns + column] = 1; // here
}

extern "C" __global__ void before(float* x) {
    x[int(threadIdx.x) - 3] = 0; // here
}

extern "C" __global__ void vectors_beyond(const float4* x, float4* out) {
    out[threadIdx.x] = x[threadIdx.x]; // here
}

extern "C" __global__ void count_beyond(int* counts) {
    atomicAdd(&counts[threadIdx.x], 1); // here
}

extern "C" __global__ void nowhere(float* out) {
    out[threadIdx.x + (1ll << 50)] = 1; // here
}

extern "C" __global__ void null(float* out) {
    if (threadIdx.x == 5) *out = 1; // here
}

extern "C" __global__ void misaligned(float* x) {
    float4* v = reinterpret_cast<float4*>(x + 1);
    v[threadIdx.x] = make_float4(0, 0, 0, 0); // here
}

extern "C" __global__ void shared_beyond(float* out) {
    __shared__ float tile[64];
    float* t = tile;
    t[threadIdx.x + 1] = 1; // here
    out[threadIdx.x] = t[threadIdx.x + 1];
}

extern "C" __global__ void column_beyond(float* out) {
    __shared__ float tile[8][8];
    tile[threadIdx.x][threadIdx.x + 1] = 1; // here
}

extern "C" __global__ void dynamic_beyond(float* out) {
    extern __shared__ float part[];
    part[threadIdx.x] = 1; // here
}

extern "C" __global__ void local_beyond(float* out) {
    float mine[4];
    for (int i = 0; i <= 4; i++)
        mine[i] = i; // here
    out[0] = mine[0];
}

extern "C" __global__ void unset(float* out) {
    __shared__ float tile[32];
    if (threadIdx.x != 7) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x]; // here
}

__constant__ float weights[4];
extern "C" __global__ void constant_store(float* x) {
    float* w = const_cast<float*>(weights);
    w[threadIdx.x] = 1; // here
}

extern "C" __global__ void divide(int* x) {
    x[threadIdx.x] = 7 / (int(threadIdx.x) - 2); // here
}

__device__ int deeper(int n) { int room[64]; room[n % 64] = n; return deeper(n + 1) + room[n % 64]; } // here
extern "C" __global__ void endless_recursion(int* out) {
    out[0] = deeper(0);
}

extern "C" __global__ void endless(volatile int* x) {
    while (x[0] == 0) x[1]++; // here
}

extern "C" __global__ void spin(int n) {
    while (n) {} // here
}

extern "C" __global__ void divergent(float* x) {
    if (threadIdx.x < 40)
        __syncthreads(); // here
    x[threadIdx.x] = 1;
}

extern "C" __global__ void two_barriers(float* x) {
    if (threadIdx.x < 40)
        __syncthreads(); // here
    else
        __syncthreads();
}

extern "C" __global__ void loop_barrier(float* x) {
    for (int i = 0; i < threadIdx.x; i++)
        __syncthreads();
    __syncthreads(); // here
}

extern "C" __global__ void absent(int* x) {
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1); // here
    __syncthreads();
}

extern "C" __global__ void absent_at_the_end(int* x) {
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], 1); // here
    x[threadIdx.x] += 1;
}

extern "C" __global__ void not_itself(int* x) {
    x[threadIdx.x] = __shfl_sync(0x0000fffe, 1, 2); // here
}

extern "C" __global__ void two_masks(int* x) {
    unsigned mask = threadIdx.x == 9 ? 0x3ff : 0xffffffff;
    x[threadIdx.x] = __ballot_sync(mask, 1); // here
}

extern "C" __global__ void nobody(int* x) {
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_down_sync(0xffff, x[threadIdx.x], 1); // here
}

extern "C" __global__ void partial_warp(int* x) {
    x[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 16); // here
}

extern "C" __global__ void too_much(float* x) {
    __shared__ float a[8192];
    __shared__ float b[8192]; // here
    a[0] = b[0] = 1;
}

extern "C" __global__ void asserts(int* x) {
    assert(x[threadIdx.x] < 20); // here
}

extern "C" __global__ void traps() {
    if (threadIdx.x == 3) __trap(); // here
}

extern "C" __global__ void wild_string(const char* text) {
    if (text[0] == 0)
        printf("%s", text + (1ll << 40)); // here
}

struct Item { int key, value; };
__device__ int value_of(Item item) { return item.value; }
extern "C" __global__ void by_value(const Item* items, int* out) {
    out[0] = value_of(items[1 << 28]); // here
}
"""


@pytest.fixture(scope="module")
def faulty():
    module = cp.RawModule(code=CODE)

    def run(name, args, block=(32,), grid=(1,), **named):
        fault = fault_of(module.get_function(name), grid, block, args, **named)
        assert fault.source.endswith("// here"), fault.text
        assert fault.file.endswith("test_faults.py") and fault.function == name
        return fault

    return run


def test_an_element_past_the_end(faulty):
    fault = faulty("beyond", (floats(70), zeros(96)), grid=(3,))
    assert (fault.kind, fault.array, fault.operation) == ("out_of_bounds", "x", "load")
    assert (fault.block, fault.thread, fault.index) == ((2, 0, 0), (6, 0, 0), 70)
    assert "thread 6 of block 2 loads element 70 of x; it has 70." in fault.text


def test_nothing_changes_when_a_launch_ends_in_a_fault(faulty):
    out = zeros(96)
    faulty("beyond", (floats(70), out), grid=(3,))
    assert not out.get().any()


def test_an_element_before_the_start(faulty):
    fault = faulty("before", (floats(8),))
    assert (fault.array, fault.operation, fault.index, fault.thread) == ("x", "store", -3, (0, 0, 0))
    assert "stores element -3 of x" in fault.text


def test_a_vector_that_is_partly_outside(faulty):
    fault = faulty("vectors_beyond", (floats(126), zeros(128)))
    assert "thread 31 of block 0 loads elements 124 to 127 of x; it has 126." in fault.text


def test_an_atomic_past_the_end(faulty):
    fault = faulty("count_beyond", (zeros(31, np.int32),))
    assert (fault.operation, fault.index) == ("atomic", 31) and "updates element 31 of counts" in fault.text


def test_the_element_of_a_view_is_counted_from_its_start(faulty):
    x = floats(200)
    fault = faulty("beyond", (x[100:150], zeros(96)), grid=(3,))
    assert "element 50 of x; it has 50." in fault.text


def test_neighbouring_views_are_not_each_others_room(faulty):
    x = floats(200)
    fault = faulty("beyond", (x[:50], x[50:150]), grid=(3,))
    assert "loads element 50 of x; it has 50." in fault.text


def test_an_address_far_from_everything(faulty):
    fault = faulty("nowhere", (zeros(4),))
    assert fault.array is None and "stores 4 bytes where no array lies" in fault.text


def test_a_null_pointer(faulty):
    fault = faulty("null", (None,))
    assert fault.array is None and fault.thread == (5, 0, 0)


def test_an_address_that_is_no_multiple_of_the_access(faulty):
    fault = faulty("misaligned", (zeros(256),))
    assert fault.kind == "misaligned" and "but they begin 4 bytes into x." in fault.text


@pytest.mark.parametrize(
    "name, block, shared, says",
    [
        ("shared_beyond", 64, 0, "thread 63 of block 0 stores element 64 of tile; it has 64."),
        ("column_beyond", 8, 0, "thread 7 of block 0 takes element 8 of an array of type"),
        ("dynamic_beyond", 32, 64, "thread 16 of block 0 stores element 16 of part; it has 16."),
        ("local_beyond", 1, 0, "thread 0 of block 0 takes element 4 of an array of type"),
    ],
)
def test_arrays_of_the_kernel_have_ends_too(faulty, name, block, shared, says):
    fault = faulty(name, (zeros(64),), block=(block,), shared_mem=shared)
    assert fault.kind == "out_of_bounds" and says in fault.text


def test_an_element_that_nobody_stored(faulty):
    fault = faulty("unset", (zeros(32),))
    assert (fault.kind, fault.array, fault.index, fault.thread) == ("uninitialised", "tile", 7, (7, 0, 0))


def test_a_store_to_constant_memory(faulty):
    assert faulty("constant_store", (zeros(4),)).kind == "read_only"


def test_a_division_by_zero(faulty):
    fault = faulty("divide", (zeros(64, np.int32),))
    assert (fault.kind, fault.thread) == ("division", (2, 0, 0))


def test_a_recursion_without_end(faulty):
    assert faulty("endless_recursion", (zeros(1, np.int32),)).kind == "stack_overflow"


@pytest.mark.parametrize("name, args", [("endless", (zeros(2, np.int32),)), ("spin", (1,))])
def test_a_loop_without_end(faulty, name, args, monkeypatch):
    monkeypatch.setattr(launch, "PATIENCE", 0.1)
    fault = faulty(name, args)
    assert fault.kind == "endless_loop" and "is still here after 0.1 seconds" in fault.text


def test_a_barrier_that_some_threads_go_past(faulty):
    fault = faulty("divergent", (zeros(64),), block=(64,))
    assert fault.kind == "divergent_barrier"
    assert "waits here, but 24 threads of its block never come:\nthreads 40 to 63." in fault.text


def test_two_barriers_are_not_one(faulty):
    fault = faulty("two_barriers", (zeros(64),), block=(64,))
    assert fault.kind == "divergent_barrier" and "threads 40 to 63" in fault.text


def test_a_barrier_in_a_loop_of_different_lengths(faulty):
    assert faulty("loop_barrier", (zeros(64),), block=(3, 1, 1)).kind == "divergent_barrier"


@pytest.mark.parametrize("name", ["absent", "absent_at_the_end"])
def test_a_mask_that_names_lanes_which_do_not_come(faulty, name):
    fault = faulty(name, (zeros(32, np.int32),))
    assert fault.kind == "warp_mask"
    assert (
        "The mask of __shfl_down_sync is 0xffffffff; lanes 16 to 31 would be waited for,\nand lanes 0 to 15 came."
        in fault.text
    )


def test_a_mask_that_leaves_its_own_lane_out(faulty):
    fault = faulty("not_itself", (zeros(32, np.int32),))
    assert fault.kind == "warp_mask" and "It is lane 0 of its warp; the mask is 0x0000fffe." in fault.text


def test_lanes_that_pass_different_masks(faulty):
    fault = faulty("two_masks", (zeros(32, np.int32),))
    assert fault.kind == "warp_mask" and "0x000003ff" in fault.text and "0xffffffff" in fault.text


@pytest.mark.parametrize(
    "name, block, asks",
    [
        ("nobody", 32, "Lane 15 of its warp asks lane 16 by __shfl_down_sync"),
        ("partial_warp", 16, "Lane 0 of its warp asks lane 16"),
    ],
)
def test_a_shuffle_from_a_lane_that_takes_no_part(faulty, name, block, asks):
    fault = faulty(name, (zeros(32, np.int32),), block=(block,))
    assert fault.kind == "shuffle" and asks in fault.text and "lanes 0 to 15 came" in fault.text
    assert "What keeps lane 16 from coming" in fault.text


def test_more_shared_memory_than_may_be_declared(faulty):
    fault = faulty("too_much", (zeros(1),))
    assert fault.kind == "too_much_shared" and "65,536 bytes" in fault.text


def test_an_assertion_that_does_not_hold(faulty):
    fault = faulty("asserts", (cp.asarray(np.arange(32, dtype=np.int32)),))
    assert (fault.kind, fault.thread) == ("device_assert", (20, 0, 0)) and "asserts x[threadIdx.x] < 20" in fault.text


def test_a_trap(faulty):
    assert faulty("traps", ()).thread == (3, 0, 0)


@pytest.mark.parametrize(
    "name, args", [("wild_string", (zeros(4, np.int8),)), ("by_value", (zeros(8, np.int64), zeros(1, np.int32)))]
)
def test_what_the_hooks_do_not_see_ends_the_launch_only(faulty, name, args):
    assert faulty(name, args).kind == "out_of_bounds"


def test_the_next_launch_after_a_fault_is_as_any_other(faulty):
    faulty("divergent", (zeros(64),), block=(64,))
    out = zeros(96)
    cp.RawModule(code=CODE).get_function("beyond")((3,), (32,), (floats(96), out))
    assert (out.get() == np.arange(96)).all()


def test_blocks_and_threads_of_several_dimensions_are_named_in_full(faulty):
    fault = faulty("beyond_the_rows", (zeros(40), 8), grid=(2, 2), block=(4, 4))
    assert (fault.block, fault.thread) == ((0, 1, 0), (0, 1, 0))
    assert "thread (0, 1) of block (0, 1) stores element 40 of x; it has 40." in fault.text


FIRST_PART = """
__device__ int doubled(int i) {
    return 2 * i;
}
"""
SECOND_PART = """
extern "C" __global__ void f(int* out) {
    out[doubled(threadIdx.x)] = 1;  // beyond the end
}
"""


def test_a_source_that_was_put_together_has_the_lines_of_its_parts():
    kernel, out = cp.RawKernel(FIRST_PART + SECOND_PART, "f"), cp.asarray(np.zeros(8, np.int32))
    fault = fault_of(kernel, (1,), (8,), (out,))
    assert fault.source.endswith("// beyond the end")
    assert __file__.endswith(fault.file) and linecache.getline(__file__, fault.line).strip() == fault.source
