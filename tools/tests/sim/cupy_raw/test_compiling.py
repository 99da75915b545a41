"""From a source to a module: what is rewritten, and whose error it is."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tools.sim.cupy as cp
from tools.sim.cupy.device.errors import CompileException
from tools.sim.cupy.raw.launch import CUDADriverError
from tools.sim.cupy.raw.options import for_host
from tools.sim.cupy.raw.source import Source
from tools.tests.sim.cupy_raw.running import counted, floats, needs_compiler, zeros

SCALE = r"""
extern "C" __global__ void scale(const float* x, float* out) {
    out[threadIdx.x] = FACTOR * x[threadIdx.x];
}
"""

# Rewriting ---------------------------------------------------------------------------------------


def test_a_source_keeps_its_lines():
    code = """
    template <typename T, int N> __global__ void f(
        T* out) {
        __shared__ T tile[N][N + 1],
                     other;
        extern __shared__ __align__(16) unsigned char bytes[];  // __shared__ int no;
        const char* text = "__shared__ int no;"; /* __shared__
        */ __shared__
        std::pair<int, float> pairs[N < 4 ? 2 : 3];
    }
    """
    source = Source(code)
    assert source.translated.count("\n") == code.count("\n")
    for piece in (
        "T (&tile)[N][N + 1] = ",
        "(&other) = ",
        "unsigned char (&bytes)[] = ",
        "// __shared__ int no;",
        '"__shared__ int no;"',
        "std::pair<int, float> (&pairs)[N < 4 ? 2 : 3] = ",
    ):
        assert piece in source.translated


@pytest.mark.parametrize(
    "code, name, parameters",
    [
        ("__global__ void f(const float* __restrict__ x, int n, float (y)) {}", "f", ("x", "n")),
        ("template <int N, typename T = int> __global__ void f(T* out) {}", "f", ("out",)),
        ("__global__ void __launch_bounds__(256, 2) f() {}", "f", ()),
        ("__launch_bounds__(256) __global__ void f(void) {}", "f", ()),
        ("namespace a { __global__ void f(int a[4], std::pair<int, int> b) { } }", "f", ("a", "b")),
    ],
)
def test_kernels_are_found_with_their_parameters(code, name, parameters):
    assert Source(code).kernels[name].parameters[: len(parameters)] == parameters


@pytest.mark.parametrize(
    "code, callable_by_name",
    [
        ('extern "C" __global__ void f() {}', True),
        ('extern "C" { __global__ void f() {} }', True),
        ("__global__ void f() {}", False),
        ('extern "C" { void g(); }\n__global__ void f() {}', False),
        ('const char* c = "C"; __global__ void f() {}', False),
        ("template <int N> __global__ void f() {}", False),
    ],
)
def test_only_names_that_are_not_mangled_can_be_called(code, callable_by_name):
    assert Source(code).kernels["f"].callable_by_name == callable_by_name


def test_what_is_cut_off_anywhere_is_left_to_the_compiler():
    for end in range(0, len(MODULE), 3):
        Source(MODULE[:end])


# Modules -----------------------------------------------------------------------------------------

MODULE = r"""
__constant__ float weights[3] = {1, 2, 3};
__device__ int calls, limits[2];
static __device__ float factor = 2;

namespace tool { __device__ float half_of(float x) { return x / 2; } }
__host__ __device__ __forceinline__ float square(float x) { return x * x; }

extern "C" __global__ void use(float* out) {
    out[threadIdx.x] = weights[threadIdx.x] * factor + tool::half_of(square(threadIdx.x));
    atomicAdd(&calls, 1);
}
extern "C" __global__ void __launch_bounds__(128) count(int* out) { out[0] = calls; }

template <typename T, int N> __global__ void filled(T* out) {
    __shared__ T tile[N];
    tile[threadIdx.x] = T(N) / 2;
    out[threadIdx.x] = tile[threadIdx.x];
}
__shared__ int outside;
extern __shared__ int dynamic[];
extern "C" __global__ void use_outside(int* out) {
    outside = 3;
    dynamic[threadIdx.x] = 4;
    out[0] = outside + dynamic[0];
}
"""


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=MODULE, name_expressions=["filled<float, 3>", "filled<int, 5>"])


@needs_compiler
def test_functions_and_variables_of_a_module(module):
    out = zeros(3)
    module.get_function("use")((1,), (3,), (out,))
    assert out.get().tolist() == [2, 4.5, 8]


@needs_compiler
def test_variables_can_be_read_and_set(module):
    weights = cp.ndarray((3,), np.float32, module.get_global("weights"))
    assert weights.get().tolist() == [1, 2, 3]
    weights[...] = cp.asarray(np.array([10, 20, 30], np.float32))
    out = zeros(3)
    module.get_function("use")((1,), (3,), (out,))
    assert out.get().tolist() == [20, 40.5, 62]
    weights[...] = cp.asarray(np.array([1, 2, 3], np.float32))


@needs_compiler
def test_variables_last_from_launch_to_launch(module):
    calls, out = cp.ndarray((1,), np.int32, module.get_global("calls")), zeros(1, np.int32)
    calls[...] = 0
    for _ in range(2):
        module.get_function("use")((1,), (3,), (zeros(3),))
    module.get_function("count")((1,), (1,), (out,))
    assert out.get()[0] == 6


@needs_compiler
def test_a_variable_that_is_not_there(module):
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND(.|\n)*no __device__ or __constant__ variable gone"):
        module.get_global("gone")


@needs_compiler
@pytest.mark.parametrize("name, dtype, value", [("filled<float, 3>", np.float32, 1.5), ("filled<int, 5>", np.int32, 2)])
def test_templates_are_named_by_expressions(module, name, dtype, value):
    out = zeros(3, dtype)
    module.get_function(name)((1,), (3,), (out,))
    assert out.get().tolist() == [value] * 3


@needs_compiler
def test_shared_arrays_outside_of_functions(module):
    out = zeros(1, np.int32)
    module.get_function("use_outside")((1,), (1,), (out,), shared_mem=4)
    assert out.get()[0] == 7


@needs_compiler
def test_a_template_that_does_not_exist():
    with pytest.raises(CompileException, match="This source has no kernel filled<double>:"):
        cp.RawModule(code=MODULE, name_expressions=("filled<double>",)).compile()


@needs_compiler
def test_a_template_without_global_is_no_kernel_and_its_line_is_named():
    code = "// f\ntemplate <typename T>\nvoid f(T* x) {}\n"
    with pytest.raises(
        CompileException, match="line 3:  void f.*\nf is a function like others. Which word before void"
    ):
        cp.RawModule(code=code, name_expressions=("f<int>",)).compile()


@needs_compiler
def test_a_template_of_a_kernel_may_be_made_by_a_macro():
    code = "#define KERNEL __global__ void\ntemplate <typename T> KERNEL f(T* out) { out[0] = 7; }\n"
    out = zeros(1, np.int32)
    cp.RawModule(code=code, name_expressions=("f<int>",)).get_function("f<int>")((1,), (1,), (out,))
    assert out.get()[0] == 7


@needs_compiler
@pytest.mark.parametrize(
    "code, name, says",
    [
        ("__global__ void f() {}", "f", 'its name is mangled. Write extern "C" before __global__'),
        ("template <int N> __global__ void f() {}", "f", "a template needs name_expressions"),
        ('extern "C" __global__ void f() {}', "g", "g: kernels that can be found: f."),
        ('extern "C" void f() {}', "f", "Which word before void makes it a kernel?"),
        ('// extern "C" void f() {}', "f", "f: kernels that can be found: none."),
    ],
)
def test_a_kernel_that_cannot_be_found(code, name, says):
    with pytest.raises(CUDADriverError) as caught:
        cp.RawKernel(code, name)((1,), (1,), ())
    assert says in str(caught.value)


def test_a_module_is_made_of_code():
    with pytest.raises(TypeError, match="Exactly one"):
        cp.RawModule()
    with pytest.raises(NotImplementedError, match="compiles the source"):
        cp.RawModule(path="kernel.cubin")


COUNTING = r"""
__device__ int calls;
extern "C" __global__ void call() { atomicAdd(&calls, 1); }
extern "C" __global__ void tell(int* out) { out[0] = calls; printf("%d calls, %s\n", calls, "so far"); }
"""


@needs_compiler
def test_kernels_of_one_source_share_its_variables(capfd):
    out = zeros(1, np.int32)
    for _ in range(3):
        cp.RawKernel(COUNTING, "call")((2,), (1,), ())
    cp.RawKernel(COUNTING, "tell")((1,), (1,), (out,))
    assert out.get()[0] == 6 and capfd.readouterr().out == "6 calls, so far\n"


@needs_compiler
def test_threads_of_the_host_may_launch_at_once(module):
    def launch(_):
        out = zeros(3)
        module.get_function("use")((1,), (3,), (out,))
        return out.get().tolist()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(launch, range(20))) == [[2, 4.5, 8]] * 20


# Errors of the compiler --------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize(
    "body, says",
    [
        ("out[0] = facter; // here", "facter"),
        ("out[0] = 1 // here", "expected"),
        ("__syncthreds(); // here", "__syncthreds"),
        ("float4 v = 5 + ; // here", "expected"),
        ("long n = 0;\n atomicAdd(&n, 1); // here", "there is no atomicAdd for this type"),
        ('asm("mov.u32 %0, 1;"); // here', "asm is PTX, which only a GPU runs."),
        ("f<<<1, 1>>>(out); // here", "is written in Python here: kernel(grid, block, args)."),
        ("f<<<1, 1>>>(out); // here", "Within a kernel it is dynamic parallelism, which is not simulated."),
        ("out[0] = i ** 2; // here", "C++ has no operator **: a square is x * x"),
        ("float own[i]; // here", "The length of this array is no constant: the compiler must know it."),
        ("__shared__ float tile[i]; // here", "The length of this array is no constant: the compiler must know it."),
        ("out[0] = *i; // here", "invalid type argument of unary"),
        ("cudaTextureObject_t image; // here", "Textures are not simulated; a GPU has them."),
        ("cudaSurfaceObject_t image; // here", "Surfaces are not simulated; a GPU has them."),
        ("float later(float);\n out[0] = later(1); // here", "later is declared, and nowhere defined."),
    ],
)
def test_an_error_is_told_at_its_line(body, says):
    code = f'extern "C" __global__ void f(float* out) {{\n    int i = threadIdx.x;\n    {body}\n}}\n'
    with pytest.raises(CompileException) as caught:
        cp.RawKernel(code, "f")((1,), (1,), (zeros(1),))
    head, *rest = str(caught.value).splitlines()
    line = 1 + next(number for number, line in enumerate(code.splitlines()) if "// here" in line)
    assert head.startswith(f"f.cu, line {line}:  ") and says in "\n".join(rest) and len(rest) <= 4


@needs_compiler
@pytest.mark.parametrize(
    "header, says",
    [
        ("cub/cub.cuh", "NVRTC has no <cub/cub.cuh>"),
        ("cmath", "NVRTC has no <cmath>"),
        ("cmath", 'With backend="nvcc" in RawKernel or RawModule the headers of C\\+\\+ are there'),
        ("assert.h", "what the C library declares elsewhere is built in"),
    ],
)
def test_headers_that_are_not_there(header, says):
    with pytest.raises(CompileException, match=says) as caught:
        cp.RawKernel(f"#include <{header}>\n" + 'extern "C" __global__ void f() {}', "f")((1,), (1,), ())
    assert len(str(caught.value).splitlines()) <= 5


@needs_compiler
def test_headers_that_are():
    headers = (
        "cuda_runtime.h",
        "device_launch_parameters.h",
        "math_constants.h",
        "cuda_fp16.h",
        "cuda_bf16.h",
        "mma.h",
    )
    body = 'extern "C" __global__ void f() { assert(warpSize == 32); printf(""); }'
    includes = "\n".join(f"#include <{header}>" for header in headers)
    cp.RawKernel(f"{includes}\n{body}", "f")((1,), (1,), ())
    includes = "\n".join(f"#include <{header}>" for header in ("cmath", "cstdio", "cassert", "stdint.h", "algorithm"))
    cp.RawKernel(f"{includes}\n{body}", "f", backend="nvcc")((1,), (1,), ())


@needs_compiler
@pytest.mark.parametrize(
    "statement, name",
    [
        ("int32_t i = 0;", "int32_t"),
        ("float y = std::sqrt(x);", "std"),
        ("float y = INFINITY;", "INFINITY"),
        ("float y = NAN;", 'has no NAN.\nWith backend="nvcc"'),
        ("double y = M_PI;", "M_PI"),
    ],
)
def test_names_that_nvrtc_does_not_have(statement, name):
    code = f'extern "C" __global__ void f(float x) {{ {statement} }}'
    with pytest.raises(CompileException, match=name):
        cp.RawKernel(code, "f").compile()
    cp.RawKernel(code, "f", backend="nvcc").compile()


@needs_compiler
def test_a_type_that_nvrtc_lacks_is_named_in_a_parameter_too():
    with pytest.raises(CompileException, match="has no uint64_t"):
        cp.RawKernel('extern "C" __global__ void f(uint64_t* x) { x[0] = 1; }', "f").compile()


@needs_compiler
def test_a_source_may_declare_the_types_that_nvrtc_lacks():
    out = zeros(1, np.uint64)
    code = """typedef unsigned long long uint64_t; typedef int int32_t;
    extern "C" __global__ void f(uint64_t* out, int32_t n) { out[0] = uint64_t(n) << 40; }"""
    cp.RawKernel(code, "f")((1,), (1,), (out, np.int32(3)))
    assert out.get()[0] == 3 << 40


@needs_compiler
def test_a_header_that_not_even_the_host_has():
    with pytest.raises(CompileException, match="The simulated GPU has no <cub/cub.cuh>"):
        cp.RawKernel('#include <cub/cub.cuh>\nextern "C" __global__ void f() {}', "f", backend="nvcc").compile()


@needs_compiler
def test_a_kernel_that_a_macro_made():
    code = r"""
#define MADE(name, C) C __global__ void name(int* out) { out[0] = 7; }
MADE(first, extern "C")
MADE(second, )
"""
    out = zeros(1, np.int32)
    cp.RawKernel(code, "first")((1,), (1,), (out,))
    assert out.get()[0] == 7
    with pytest.raises(CUDADriverError, match="CUDA_ERROR_NOT_FOUND"):
        cp.RawKernel(code, "second")((1,), (1,), (out,))


# Options -----------------------------------------------------------------------------------------


@needs_compiler
def test_macros_of_the_options():
    for option, value in (("-DFACTOR=3", 3), ("--define-macro=FACTOR=5", 5)):
        out = zeros(4)
        cp.RawKernel(SCALE, "scale", (option, "--use_fast_math"))((1,), (4,), (floats(4), out))
        assert out.get().tolist() == [0, value, 2 * value, 3 * value]


@pytest.mark.parametrize(
    "option, passed",
    [
        ("-std=c++14", ["-std=c++17"]),
        ("--std=c++20", ["-std=c++20"]),
        ("-DN=4", ["-DN=4"]),
        ("-Isome", ["-Isome"]),
        ("--maxrregcount=32", []),
        ("-arch=sm_90", []),
        ("--gpu-architecture=compute_80", []),
        ("-lineinfo", []),
    ],
)
def test_options_that_concern_a_gpu_only_have_no_effect(option, passed):
    assert list(for_host((option,))) == passed


@needs_compiler
def test_an_option_that_nobody_knows():
    with pytest.raises(CompileException, match="NVRTC knows no option --frobnicate"):
        cp.RawKernel(SCALE, "scale", ("--frobnicate",)).compile()
    with pytest.raises(TypeError, match="expected tuple, got list"):
        cp.RawKernel(SCALE, "scale", ["-DFACTOR=1"])


@needs_compiler
def test_large_launches_are_quick_enough():
    code = r"""
extern "C" __global__ void add(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
"""
    n, kernel = 100_000, cp.RawKernel(code, "add")
    x, y, out = floats(n), floats(n), zeros(n)
    kernel((391,), (256,), (x, y, out, n))  # compiles
    start = time.process_time()
    counters = counted(kernel, (391,), (256,), (x, y, out, n))
    seconds = time.process_time() - start
    assert counters.sectors == 3 * n // 8 and seconds < 3  # 0.03 s on an idle machine
