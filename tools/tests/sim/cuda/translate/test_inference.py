"""Variables have one type where ways meet, as in Numba, whichever way the threads take; and each lane its own value."""

import math

import numpy as np
import pytest

from tools.sim import cuda
from tools.sim.cuda.faults import Fault, Refused, Unknown
from tools.sim.cuda.translate.program import _programs, program
from tools.tests.sim.cuda.corpus.correct import CASES
from tools.tests.sim.cuda.fuzz import kernels, trial

LARGE = 2**60 + 1  # no float64 is equal to it
NO, SIZE = False, 2


def run(kernel, *arguments, threads=4, dtype=np.int64):
    """What each thread stores to its element of the first argument."""
    out = np.zeros(threads, dtype)
    kernel[1, threads](out, *arguments)
    return out.tolist()


def versions(kernel):
    return list(program(kernel.py_func)._versions.values())


# Values ------------------------------------------------------------------------------------------


@cuda.jit
def whole_number_in_the_else(out):
    i = cuda.grid(1)
    x = LARGE
    if i % 2 == 0:
        x = 0.5
        out[i] = 1
    else:
        out[i] = x + i
    if x > 0.7:
        out[i] += 10


def test_the_other_way_of_an_if_sees_the_value_and_the_type_from_before():
    assert run(whole_number_in_the_else) == [1, LARGE + 1 + 10, 1, LARGE + 3 + 10]


@cuda.jit
def some_break_with_a_float(out, floats):
    i = cuda.grid(1)
    x = LARGE
    while True:
        if x == LARGE + i:
            x = 0.5
            break
        x = x + 1
        if x > LARGE + 2:
            out[i] = x
            return
    floats[i] = x


def test_lanes_that_break_keep_their_value_and_leave_the_others_their_type():
    floats = np.zeros(5)
    assert run(some_break_with_a_float, floats, threads=5) == [0, 0, 0, LARGE + 3, LARGE + 3]
    assert floats.tolist() == [0.5, 0.5, 0.5, 0, 0]


@cuda.jit
def turns_of_their_own(out):
    i = cuda.grid(1)
    total = seen = 0
    for k in range(10):
        if k == i:
            continue
        if k > 2 * i:
            seen = k
            break
        last = k
        total += k
    else:
        seen = -1
    out[i] = 1000 * total + 10 * seen + last if i > 0 else k


def alone(i):
    total = seen = 0
    for k in range(10):
        if k == i:
            continue
        if k > 2 * i:
            seen = k
            break
        last = k
        total += k
    else:
        seen = -1
    return 1000 * total + 10 * seen + last if i > 0 else k


def test_variables_of_lanes_with_other_turns_are_those_of_a_thread_alone():
    assert run(turns_of_their_own, threads=8) == [alone(i) for i in range(8)]


@cuda.jit
def swapped_in_turns(out):
    i = cuda.grid(1)
    a, b = LARGE, 0.5
    for k in range(i):
        if k % 2 == 0:
            a, b = b, a
    out[i] = a + b if i < 0 else i


def test_a_swap_of_two_types_gives_both_the_common_one():
    assert run(swapped_in_turns) == [0, 1, 2, 3]
    types = {phi.name: str(phi.type) for phi in versions(swapped_in_turns)[0].phis.values() if phi.name}
    assert types["a"] == types["b"] == "float64"


# Types that no thread brings ---------------------------------------------------------------------


@cuda.jit
def leading_zeros(out, x, n):
    i = cuda.grid(1)
    y = x[i]
    if n > 5:
        y = n
    out[i] = cuda.clz(y) + 1000 * cuda.clz(x[i] if n < 5 else n)


def test_a_branch_that_nobody_takes_decides_over_the_type():
    assert run(leading_zeros, np.ones(4, np.int32), 1) == [63 + 63_000] * 4


@cuda.jit
def leading_zeros_in_a_loop(out, x, n):
    y = x[0]
    for k in range(n):
        y = n
    out[cuda.grid(1)] = cuda.clz(y)


def test_so_does_a_loop_without_turns():
    assert run(leading_zeros_in_a_loop, np.ones(1, np.int32), 0) == [63] * 4


@cuda.jit(device=True)
def first_or_half(a):
    if a > 100:
        return 0.5
    return a


@cuda.jit
def quotient(out):
    out[cuda.grid(1)] = first_or_half(7) / 2 + (first_or_half(7) == 7)


def test_so_does_a_return():
    assert run(quotient, dtype=np.float64) == [4.5] * 4
    assert [str(version.result.type) for version in versions(first_or_half)] == ["float64"]


@cuda.jit
def at_least_one(out, x):
    y = 1
    if x[0] > 2:
        y = x[0]
    out[0] = y


def test_a_kernel_has_a_version_for_each_set_of_types():
    for dtype in (np.int32, np.float32, np.int32):
        at_least_one[1, 1](np.zeros(1), np.full(4, 3, dtype))
    types = [[str(phi.type) for phi in version.phis.values() if phi.name] for version in versions(at_least_one)]
    assert types == [["int64"], ["float64"]]


# What Numba refuses ------------------------------------------------------------------------------


@cuda.jit
def array_or_number(out, x, n):
    out[0] = 1
    y = 0
    if n > 2:
        y = x
    out[1] = y


@cuda.jit
def long_or_short(out, x, n):
    out[0] = 1
    y = (1, 2)
    while n > 2:
        y = (1, 2, 3)
    out[1] = y[0]


@cuda.jit
def bits_of_a_float(out, x, n):
    out[0] = 1
    if n > 2:
        out[1] = x[0] & n


@cuda.jit
def two_axes(out, x, n):
    out[0] = 1
    if n > 2:
        out[1] = x[0, n]


@cuda.jit
def mixed_bits(out, x, n):
    out[0] = 1
    h = np.uint32(7)
    for k in range(n):
        h = h ^ np.uint32(k)
        h = h * 16777619
    out[1] = h


@cuda.jit
def through_two_types(out, x, n):
    out[0] = 1
    for k in (1, 2.5):
        out[1] = k


@cuda.jit(device=True)
def a_part(x):
    return x[1:]


@cuda.jit
def gets_a_part(out, x, n):
    out[0] = 1
    out[1] = a_part(x)[0]


REFUSALS = [
    (array_or_number, "if n > 2:", "y is int64 on one way to here, an array of float32 on another"),
    (long_or_short, "while n > 2:", "y is a tuple on one way to here, a tuple on another"),
    (bits_of_a_float, "out[1] = x[0] & n", "Numba compiles no & of float32 and int64"),
    (two_axes, "out[1] = x[0, n]", "x has 1 dimension; 2 indices were given"),
    (mixed_bits, "h = h ^ np.uint32(k)", "Numba compiles no ^ of float64 and uint32"),
    (through_two_types, "for k in (1, 2.5):", "Numba loops over a tuple only if its values are of one type"),
    (gets_a_part, "return x[1:]", "Numba returns an array only if the function was given it"),
]


@pytest.mark.parametrize("kernel, line, words", REFUSALS, ids=lambda each: getattr(each, "__name__", None))
def test_an_error_of_types_is_refused_before_anything_runs(kernel, line, words):
    out = np.zeros(2)
    with pytest.raises(Refused) as caught:
        kernel[1, 1](out, np.zeros(4, np.float32), 1)
    assert caught.value.source == line
    assert words in " ".join(caught.value.text.split())
    assert out.tolist() == [0, 0]
    lines = caught.value.text.splitlines()
    assert len(lines) <= 5 and max(map(len, lines)) <= 80


@pytest.mark.parametrize("kernel", [each[0] for each in REFUSALS], ids=lambda kernel: kernel.__name__)
def test_numba_refuses_it_too(kernel, tmp_path, monkeypatch):
    pytest.importorskip("numba_cuda", minversion="0.30", reason="compares with numba-cuda 0.30, which is not installed")
    from types import SimpleNamespace

    from numba import cuda as real
    from numba.core import errors
    from numba.cuda import compiler, dispatcher, types
    from numba.cuda.core import errors as of_cuda

    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))
    monkeypatch.setitem(globals(), "cuda", real)
    monkeypatch.setitem(globals(), "a_part", real.jit(a_part.py_func, device=True))
    with pytest.raises((errors.TypingError, of_cuda.TypingError)):
        compiler.compile_cuda(kernel.py_func, None, (types.float64[::1], types.float32[::1], types.int64), cc=(9, 0))


# What Numba does not look at ---------------------------------------------------------------------


@cuda.jit(device=True)
def scaled(x, scale):
    if scale is not None and scale[0] > 0:
        return x * scale[0]
    return x


@cuda.jit
def without_some_parts(out, x):
    i = cuda.grid(1)
    y = x[i]
    if NO:
        y = x[i, i] & 0.5
    if x.ndim == SIZE:
        y = x[i, i]
    if NO and x[i] & 0.5:
        y = x
    out[i] = scaled(y, None)


def test_branches_that_numba_prunes_have_no_types():
    assert run(without_some_parts, np.arange(4, dtype=np.float32)) == [0, 1, 2, 3]


# Values mean nothing while types are looked for --------------------------------------------------


@cuda.jit
def depends_on_values(out, x, empty, n):
    i = cuda.grid(1)
    table = (1, 2, 3)
    y = x[i] // (n - n) + n % x[0] + table[n // 9]
    k = 0
    while k != 5 * n + x[0]:
        k += 1
        if k > 1000:
            y = empty[k]
    for j in range(x[i], n, x[0] + 1):
        y += j
    part = x[n - 4 : n - 2]
    if n > 100:
        y = part[7] + empty[0] + math.sqrt(-y) + x[-1] ** n
    if i > 7:
        assert y > 10
        raise ValueError
    out[i] = y + part.size + empty.shape[0]


def test_nothing_that_depends_on_values_can_go_wrong_meanwhile():
    result = run(depends_on_values, np.array([3, 1, 2, 3]), np.zeros(0, np.int64), 4)
    table = [0 + 4 % 3 + 1 + sum(range(first, 4, 4)) + 2 for first in (3, 1, 2, 3)]
    assert result == table
    assert versions(depends_on_values)[0].unclear == []


@cuda.jit
def updates_a_local_array(out, n):
    own = cuda.local.array(1, np.int32)
    own[0] = 1
    x = own[0]
    if n > 5:
        x = cuda.atomic.add(own, 0, 1)
    out[cuda.grid(1)] = cuda.clz(x)


def test_where_types_cannot_be_found_the_run_decides():
    assert run(updates_a_local_array, 3) == [31] * 4
    assert len(versions(updates_a_local_array)[0].unclear) == 1
    with pytest.raises(Fault, match="updates own atomically"):
        run(updates_a_local_array, 7)


def test_the_types_of_correct_kernels_are_all_found():
    for case in CASES:
        case.run()
        assert [version.unclear for version in versions(case.kernel) if version.unclear] == [], case.name


@pytest.mark.parametrize("number", range(8))
def test_the_types_of_random_kernels_are_all_found(number, tmp_path):
    before = set(_programs)
    trial.launch(kernels.kernel(number), trial.SIMULATOR, tmp_path)
    made = [
        version for function, each in _programs.items() if function not in before for version in each._versions.values()
    ]
    assert made and [version.unclear for version in made if version.unclear] == []


# Arrays ------------------------------------------------------------------------------------------


@cuda.jit
def a_row_each(out, x):
    i = cuda.grid(1)
    for k in range(2):
        if (i + k) % 2 == 0:
            row = x[i]
        else:
            row = x[k]
        if k == 5:
            out[i] = row[0]


@cuda.jit
def a_row_of_its_own(out, x):
    i = cuda.grid(1)
    if i % 2 == 0:
        row = x[i]
        out[i] = row[0]
    else:
        row = x[0]
        out[i] = row[1]


def test_arrays_that_nobody_reads_after_a_branch_need_not_be_one():
    x = np.arange(8).reshape(4, 2)
    assert run(a_row_of_its_own, x) == [0, 1, 4, 1]
    with pytest.raises(Unknown, match="one array in some threads"):
        run(a_row_each, x)
