"""Functions of tl.math as methods, names of an enclosing function, shifts: Python of kernels from elsewhere."""

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

# Methods -----------------------------------------------------------------------------------------


@triton.jit
def methods(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x.exp())
    tl.store(out_ptr + N + i, x.exp2())
    tl.store(out_ptr + 2 * N + i, x.log())
    tl.store(out_ptr + 3 * N + i, x.log2())
    tl.store(out_ptr + 4 * N + i, x.cos())
    tl.store(out_ptr + 5 * N + i, x.sin())
    tl.store(out_ptr + 6 * N + i, x.sqrt())
    tl.store(out_ptr + 7 * N + i, x.rsqrt())
    tl.store(out_ptr + 8 * N + i, x.erf())
    tl.store(out_ptr + 9 * N + i, x.floor())
    tl.store(out_ptr + 10 * N + i, x.ceil())


FUNCTIONS = "exp exp2 log log2 cos sin sqrt rsqrt erf floor ceil".split()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_tensor_has_the_functions_of_math_as_methods(dtype, rng):
    x = torch.from_numpy(rng.uniform(0.1, 4, 16)).to(dtype)
    out = torch.empty(11, 16, dtype=dtype)
    methods[(1,)](x, out, N=16)
    wider = x if dtype == torch.float64 else x.float()
    for got, name in zip(out, FUNCTIONS):
        torch.testing.assert_close(got, getattr(wider, name)().to(dtype), rtol=2 * torch.finfo(dtype).eps, atol=0)


@triton.jit
def exp_of(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).exp())


@triton.jit
def exact_root(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr).sqrt_rn())


def test_a_method_of_whole_numbers_is_refused():
    with pytest.raises(TypeError, match=r"x.exp\(\) takes floats, and this is a tensor of int32"):
        exp_of[(1,)](torch.zeros(1, dtype=torch.int32))


def test_the_exact_root_is_one_of_float32():
    x = torch.tensor([2.0])
    exact_root[(1,)](x)
    assert x.item() == torch.tensor(2.0).sqrt()
    with pytest.raises(ValueError, match="Expected dtype"):
        exact_root[(1,)](torch.zeros(1).double())


# Names of an enclosing function ------------------------------------------------------------------


def made(size: int):
    import triton.language as language

    @triton.jit
    def twice(x):
        return later(x) * 2

    @triton.jit
    def later(x):
        return x + 1

    COUNT = language.constexpr(size)

    @triton.jit
    def kernel(x_ptr):
        i = language.arange(0, COUNT)
        language.store(x_ptr + i, twice(language.load(x_ptr + i)))

    return kernel


def test_a_kernel_sees_the_names_of_the_function_around_it():
    for size in (4, 8):
        x = torch.ones(8)
        made(size)[(1,)](x)
        assert x.tolist() == [4.0] * size + [1.0] * (8 - size)


# Operators ---------------------------------------------------------------------------------------


@triton.jit
def shift(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, (x >> y).to(tl.int64))
    tl.store(out_ptr + N + i, (y + (1 << 63)).to(tl.int64, bitcast=True))


def test_to_shift_a_number_changes_neither_operand():
    x, y, out = torch.tensor([-8, 2]), torch.tensor([1, 3]), torch.zeros(4, dtype=torch.int64)
    shift[(1,)](x, triton.reinterpret(y, tl.uint64), out, N=2)
    assert out[2:].tolist() == [1 - 2**63, 3 - 2**63]


@triton.jit
def load_and_store(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr))


def test_a_float8_that_no_chip_of_today_has_is_refused():
    x = triton.reinterpret(torch.zeros(16, dtype=torch.int8), tl.float8e4b15)
    with pytest.raises(TypeError, match="fp8e4b15 is not simulated. tl.float8e4nv and tl.float8e5 are."):
        load_and_store[(1,)](x)
