"""What a kernel's Python means: refused, or done as the compiler would do it, and at the learner's line."""

import inspect
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl

import tools.gpu
from tools import ROOT
from tools.sim.recording import record
from tools.sim.triton.faults import Fault

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

HERE = "tools/tests/sim/triton/test_language.py"


def line_of(kernel, source: str) -> int:
    """Number of the first line of a kernel that contains some source."""
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(number for number, line in enumerate(lines) if source in line)


# Assertions and conditions -----------------------------------------------------------------------


@triton.jit
def assert_in_python(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    assert x > 0, "x must be positive"


@triton.jit
def assert_on_device(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_assert(x > 0, "x must be positive", mask=i < 3)


@pytest.mark.parametrize(("kernel", "source"), [(assert_in_python, "assert x"), (assert_on_device, "device_assert")])
def test_an_assertion_that_is_false_for_one_element_raises_at_its_line(kernel, source):
    words = "program 0 of 1: the assertion is false for 1 of 8 elements: x must be positive"
    with pytest.raises(Fault, match=words) as caught:
        kernel[(1,)](torch.tensor([1, 1, -1, 1, 1, 1, 1, 1]), N=8)
    fault = caught.value
    assert (fault.kind, fault.file, fault.line) == ("device_assert", HERE, line_of(kernel, source))


@triton.jit
def assume(x_ptr):
    tl.assume(tl.load(x_ptr) > 0)


def test_an_assumption_that_does_not_hold_is_refused():
    assume[(1,)](torch.ones(1))
    with pytest.raises(Fault, match="program 0 of 1: what is assumed here is false"):
        assume[(1,)](torch.zeros(1))


def test_assertions_that_hold_say_nothing_and_a_mask_excuses_elements():
    assert_in_python[(1,)](torch.ones(8), N=8)
    assert_on_device[(1,)](torch.tensor([1, 1, 1, 1, -1, 1, 1, 1]), N=8)


@triton.jit
def branch_on_a_tensor(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    if i > 2:
        tl.store(out_ptr + i, i)


@triton.jit
def loop_on_a_tensor(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    while i < 2:
        i += 1
    tl.store(out_ptr + i, i)


@triton.jit
def choose_on_a_tensor(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, 1 if i > 2 else 0)


@triton.jit
def branch_on_what_a_mask_keeps_out(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(out_ptr + i, mask=i < 2)
    tl.store(out_ptr + i, 1 if x > 2 else 0)


@pytest.mark.parametrize(
    "kernel", [branch_on_a_tensor, loop_on_a_tensor, choose_on_a_tensor, branch_on_what_a_mask_keeps_out]
)
def test_a_condition_with_several_values_is_refused(kernel):
    with pytest.raises(Fault, match="this condition has 4 values; a program can go one way only"):
        kernel[(1,)](torch.zeros(4, dtype=torch.int32), N=4)


@triton.jit
def compare_a_chain(out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, i, mask=0 < i < 3)


def test_a_chain_of_comparisons_is_refused():
    with pytest.raises(Fault, match="cannot compare three things at once"):
        compare_a_chain[(1,)](torch.zeros(4, dtype=torch.int32), N=4)


@triton.jit
def first_word_decides(x_ptr, out_ptr, HAS_X: tl.constexpr):
    if HAS_X and tl.load(x_ptr) > 0:
        tl.store(out_ptr, 1)


def test_a_constant_decides_before_the_rest_is_computed():
    out = torch.zeros(1)
    first_word_decides[(1,)](None, out, HAS_X=False)  # loading from None would raise
    assert out.item() == 0
    first_word_decides[(1,)](torch.ones(1), out, HAS_X=True)
    assert out.item() == 1


@triton.jit
def small_dot(out_ptr, K: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    a = tl.full((16, K), 1.0, tl.float16)
    tl.store(out_ptr + i, tl.dot(a, tl.trans(a)))


def test_a_dot_that_is_too_short_for_a_tensor_core_is_refused():
    out = torch.zeros(16, 16)
    small_dot[(1,)](out, K=16)
    assert (out == 16).all()
    with pytest.raises(AssertionError, match="K >= 16"):
        small_dot[(1,)](out, K=8)


@triton.jit
def counter_as_a_tensor(out_ptr, n):
    for i in range(n):
        tl.store(out_ptr + i, (i.to(tl.int64) << 33).to(tl.float32))


def test_a_loop_counter_has_what_tensors_have():
    out = torch.zeros(3)
    counter_as_a_tensor[(1,)](out, 3)
    assert out.tolist() == [0, 2.0**33, 2.0**34]


def test_a_kernel_called_without_a_grid_says_so():
    with pytest.raises(RuntimeError, match=r"counter_as_a_tensor is a kernel: launch it with a grid"):
        counter_as_a_tensor(torch.zeros(3), 3)


@triton.jit
def use_a_name_of_the_interpreter(out_ptr):
    tl.store(out_ptr, math.pi)  # noqa: F821


def test_a_kernel_sees_its_module_and_nothing_that_the_simulator_needs():
    with pytest.raises(NameError, match="math"):
        use_a_name_of_the_interpreter[(1,)](torch.zeros(1))
    assert "interpreter_semantic" not in globals() and "TensorHandle" not in globals()


# Overflow ----------------------------------------------------------------------------------------


@triton.jit
def far_away(x_ptr, out_ptr, stride, limit, N: tl.constexpr):
    row = tl.arange(0, N)
    offset = row * stride
    x = tl.load(x_ptr + offset[:, None], mask=(row < limit)[:, None], other=0)
    tl.store(out_ptr + row[:, None], x)


def test_int32_overflow_in_an_address_names_the_line_where_it_happens():
    with pytest.raises(Fault) as caught:
        far_away[(1,)](torch.zeros(9), torch.zeros(4), 2**30, 4, N=4)
    fault = caught.value
    assert (fault.kind, fault.array, fault.operation) == ("overflow", "x", "load")
    assert fault.line == line_of(far_away, "tl.load")
    overflows_in = line_of(far_away, "row * stride")
    assert f"2 of 4 offsets into x left the range of int32 in line {overflows_in}" in fault.text


@triton.jit
def row_of(table_ptr, ids_ptr, out_ptr, WIDTH: tl.constexpr):
    tl.store(out_ptr, tl.load(table_ptr + tl.load(ids_ptr) * WIDTH))


def test_a_product_of_small_integers_leaves_the_range_of_their_type():
    with pytest.raises(Fault, match="the offset into table left the range of int16") as caught:
        row_of[(1,)](torch.zeros(700, 64), torch.tensor([600], dtype=torch.int16), torch.zeros(1), WIDTH=64)
    assert "larger than 32767" in caught.value.text


def test_overflow_behind_a_mask_reaches_no_address():
    out = torch.ones(4)
    far_away[(1,)](torch.zeros(9), out, 2**30, 1, N=4)
    assert out.tolist() == [0, 0, 0, 0]


@triton.jit
def hash_of(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    h = i * 1103515245 + 12345
    tl.store(out_ptr + i, tl.load(x_ptr + ((h ^ (h >> 16)) & (N - 1))) + 0 * h)


def test_a_hash_may_wrap_around_on_its_way_to_an_index():
    i = torch.arange(8)
    h = (i * 1103515245 + 12345).int()
    out = torch.empty(8, dtype=torch.int32)
    hash_of[(1,)](i.int(), out, N=8)
    assert out.tolist() == ((h ^ (h >> 16)) & 7).tolist()


@triton.jit
def widened_late(out_ptr, pid, stride):
    tl.store(out_ptr + (pid * stride).to(tl.int64), 1.0)


@triton.jit
def widened_early(out_ptr, pid, stride):
    tl.store(out_ptr + pid.to(tl.int64) * stride, 1.0)


def test_a_cast_to_int64_helps_before_the_product_and_not_after_it():
    with pytest.raises(Fault, match="the offset into out left the range of int32"):
        widened_late[(1,)](torch.zeros(1), 2**16, 2**16)
    with pytest.raises(Fault, match="past the end of out"):
        widened_early[(1,)](torch.zeros(1), 2**16, 2**16)


# Autotune, do_bench ------------------------------------------------------------------------------


@triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32, 64)], key=["n"], reset_to_zero=["count_ptr"])
@triton.jit
def tuned(x_ptr, count_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i, mask=i < n)
    tl.atomic_add(count_ptr, 1)


def test_autotune_runs_each_configuration_and_takes_the_first():
    x, count = torch.zeros(100, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    with pytest.warns(UserWarning, match="without a GPU there is nothing to time"), record() as counters:
        tuned[lambda meta: (triton.cdiv(100, meta["BLOCK"]),)](x, count, 100)
    assert tuned.best_config.kwargs == {"BLOCK": 16}
    assert x.tolist() == list(range(100)) and count.item() == 7  # programs of the run after the trials
    assert len(tuned.configs_timings) == 3
    assert [launch.grid for launch in counters.launches] == [(7,)]  # trials are not on record


@triton.jit
def nothing():
    pass


def test_do_bench_gives_the_simulators_milliseconds_and_says_so():
    with pytest.warns(UserWarning, match="times of the simulator"):
        milliseconds = triton.testing.do_bench(lambda: nothing[(1,)](), warmup=1, rep=5)
    assert 0 < milliseconds < 100


# Seeing inside -----------------------------------------------------------------------------------


@triton.jit
def show(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)).to(tl.bfloat16)
    print("x is", x, tl.program_id(0))
    tl.device_print("again", x)


def test_print_shows_values(capsys):
    show[(2,)](torch.tensor([1.0, 2.5]), N=2)
    printed = capsys.readouterr().out
    assert "x is [1 2.5] 0\n" in printed and "x is [1 2.5] 1\n" in printed
    assert "(1, 0, 0)  again:  [1 2.5]" in printed


LESSON = """import tools.gpu
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    breakpoint()
    y = x + 1
    tl.store(x_ptr + tl.arange(0, N), y)


kernel[(1,)](torch.arange(4), N=4)
"""


def test_breakpoint_stops_inside_a_kernel_at_the_right_line(tmp_path):
    (tmp_path / "lesson.py").write_text(LESSON)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "lesson.py")],
        input="p x\nn\np y\np N\nc\n",
        text=True,
        capture_output=True,
        timeout=60,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "COURSE_SIM": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "lesson.py(11)kernel()" in done.stdout and "-> y = x + 1" in done.stdout
    assert "[0 1 2 3]: int64[4]" in done.stdout and "[1 2 3 4]: int64[4]" in done.stdout


@triton.jit
def inner(x_ptr):
    return tl.load(x_ptr + 99)


@triton.jit
def outer(x_ptr):
    y = inner(x_ptr)
    tl.store(x_ptr, y)


def test_a_fault_in_a_called_kernel_shows_both_lines_of_the_way_there():
    with pytest.raises(Fault) as caught:
        outer[(1,)](torch.zeros(1))
    mine = [(entry.name, entry.lineno + 1) for entry in caught.traceback if str(entry.path) == __file__]
    assert mine[1:] == [("outer", line_of(outer, "inner(")), ("inner", line_of(inner, "return"))]


@triton.jit
def divide(x_ptr, out_ptr):
    tl.store(out_ptr, 1.0 / tl.load(x_ptr) + tl.log(tl.load(x_ptr) - 1))


def test_arithmetic_without_a_result_warns_no_more_than_a_gpu(recwarn):
    out = torch.zeros(1)
    divide[(1,)](torch.zeros(1), out)
    assert out.isnan().all() and not recwarn.list


# A float among the arguments ---------------------------------------------------------------------


@triton.jit
def multiply(a, x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, a.to(tl.float32) * tl.load(x_ptr + i))


@triton.jit
def multiply_by_a_constant(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, 0.7 * tl.load(x_ptr + i))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_float_among_the_arguments_is_float32_and_a_constant_is_what_it_meets(dtype):
    x = torch.linspace(1, 2, 1024).to(dtype)
    by_argument, by_constant = torch.empty_like(x), torch.empty_like(x)
    multiply[(1,)](0.7, x, by_argument, N=1024)
    multiply_by_a_constant[(1,)](x, by_constant, N=1024)
    wide = torch.promote_types(dtype, torch.float32)
    assert torch.equal(by_argument, (torch.tensor(0.7).to(wide) * x.to(wide)).to(dtype))
    assert torch.equal(by_constant, torch.tensor(0.7, dtype=dtype) * x)
