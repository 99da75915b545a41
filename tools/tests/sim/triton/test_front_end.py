"""What Triton's compiler refuses is refused where kernels are simulated, at the launch and in the compiler's words."""

import tools.gpu  # noqa: F401  # isort: skip
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra.libdevice import tanh
from triton.language.math import rsqrt
from triton.runtime.errors import OutOfResources

from tools.compiler import CompileError
from tools.sim.faults import Fault

SIZE = 3
FIXED = tl.constexpr(3)


@triton.jit
def doubled(x):
    return 2 * x


@triton.jit
def uses_much(x_ptr, out_ptr, n, N: tl.constexpr, f: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    total = tl.sum(x, axis=0) + x.max(0) + tl.zeros((N,), tl.float32) + tl.cdiv(n, FIXED)
    print("total", total)
    tl.store(out_ptr + i, f(doubled(x)) + total, mask=i < n)


def test_what_the_compiler_takes_runs_as_before(capsys):
    x, out = torch.arange(8.0), torch.empty(8)
    uses_much[(1,)](x, out, 8, N=8, f=doubled, num_warps=2, num_stages=1)
    assert out.tolist() == [4.0 * value + 28 + 7 + 3 for value in range(8)]
    assert "total" in capsys.readouterr().out


@triton.jit
def uses_functions_by_name(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tanh(rsqrt(tl.load(x_ptr + i))))


def test_a_function_of_the_language_may_be_imported_by_its_name():
    x = torch.arange(1, 9.0)
    expected = x.rsqrt().tanh()
    uses_functions_by_name[(1,)](x, N=8)
    torch.testing.assert_close(x, expected)


@triton.jit
def plain_global(out_ptr):
    tl.store(out_ptr, SIZE)  # here


@triton.jit
def ends_a_loop(out_ptr):
    for i in range(4):
        if i == 2:
            break  # here
        tl.store(out_ptr + i, 1.0)


@triton.jit
def appends(out_ptr):
    found = []
    found.append(1.0)  # here
    tl.store(out_ptr, found[0])


@triton.jit
def two_types(out_ptr, n):
    value = 1
    if n > 2:  # here
        value = 2.5
    tl.store(out_ptr, value)


@triton.jit
def by_constant(out_ptr, n, OTHER: tl.constexpr):
    value = 1
    if n > 2:
        value = OTHER
    tl.store(out_ptr, value)


@triton.jit
def helps_itself(out_ptr):
    tl.store(out_ptr, SIZE)  # here


@triton.jit
def asks_for_help(out_ptr):
    helps_itself(out_ptr)


@triton.jit
def misspells(out_ptr):
    tl.store(out_ptr, tl.arrange(0, 1))  # here


@pytest.mark.parametrize(
    "launch, says",
    [
        (lambda out: plain_global[(1,)](out), "Cannot access global variable SIZE from within"),
        (lambda out: ends_a_loop[(1,)](out), "unsupported AST node type: Break"),
        (lambda out: appends[(1,)](out), "append"),
        (lambda out: two_types[(1,)](out, 4), "initial value for `value` is of type int32[]"),
        (lambda out: asks_for_help[(1,)](out), "Cannot access global variable SIZE from within"),
    ],
)
def test_a_kernel_that_does_not_compile_is_refused_at_its_line(launch, says):
    with pytest.raises(CompileError) as refused:
        launch(torch.zeros(8))
    head, line, *reason = str(refused.value).splitlines()
    assert "does not compile for h100: tools/tests/sim/triton/test_front_end.py, line" in head
    assert line.endswith("# here") and says in " ".join(reason)


def test_words_of_the_simulator_come_before_the_compilers():
    with pytest.raises(AttributeError, match="arrange"):
        misspells[(1,)](torch.zeros(8))


def test_each_signature_is_looked_at():
    out = torch.zeros(8)
    by_constant[(1,)](out, 4, OTHER=2)
    by_constant[(1,)](out, 4, OTHER=2)
    assert out[0] == 2
    with pytest.raises(CompileError, match="initial value for `value`"):
        by_constant[(1,)](out, 4, OTHER=2.5)


@pytest.mark.parametrize(
    "options, error, says",
    [
        ({"TYPO": 1}, TypeError, "TYPO is neither an argument of two_types nor an option of a launch"),
        ({"num_warps": 3}, ValueError, "two_types cannot be launched like this: num_warps must be a power of 2"),
    ],
)
def test_options_that_a_launch_does_not_have_are_refused(options, error, says):
    with pytest.raises(error, match=says):
        two_types[(1,)](torch.zeros(8), 4, **options)


def test_a_block_of_more_threads_than_a_gpu_has_is_refused():
    with pytest.raises(OutOfResources, match="threads, Required: 2048, Hardware limit: 1024"):
        by_constant[(1,)](torch.zeros(8), 4, OTHER=2, num_warps=64)


def test_a_refused_kernel_with_a_fault_shows_the_fault_first():
    @triton.jit
    def both(out_ptr):
        tl.store(out_ptr + 100, SIZE)

    with pytest.raises(Fault, match="past the end"):
        both[(1,)](torch.zeros(8))
