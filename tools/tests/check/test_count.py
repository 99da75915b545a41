"""count: the same figures directly, by a worker, and on a machine with a GPU."""

import importlib.util
import sys

import pytest
import torch

from tools import gpu, worker
from tools.check import count
from tools.check.count import on_cpu
from tools.sim.triton.faults import Fault

LESSON = """
import tools.gpu
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < n)
    y = tl.load(y_ptr + mine, mask=mine < n)
    tl.store(out_ptr + mine, x + y, mask=mine < n)


def add(x, y, out=None):
    assert tools.gpu.device == x.device.type == "cpu"
    out = torch.empty_like(x) if out is None else out
    add_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out


def add_by_library(x, y):
    return add(x, y).copy_(x + y)


def add_too_much(x, y):
    out = torch.empty_like(x)
    add_kernel[(1,)](x, y, out, x.numel() + 1, BLOCK=128)
    return out


def write_to_input(x):
    x.zero_()


def choosy(x):
    raise ValueError("x has an odd length")


def not_yet(x):
    raise NotImplementedError("week9 task 1: not_yet")
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("count") / "adding.py"
    file.write_text(LESSON)
    return file


@pytest.fixture(scope="module")
def here(file):
    spec = importlib.util.spec_from_file_location("week9.day1.adding", file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def there(file):
    return worker.proxy("week9.day1.adding", file)


@pytest.fixture(params=["here", "there"])
def lesson(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def vectors():
    return torch.randn(1000), torch.randn(1000)


def test_bytes_and_programs_are_counted_and_no_library_worked(lesson, vectors):
    counters = count(lesson.add, *vectors)
    assert (counters.bytes_loaded, counters.bytes_stored, counters.programs) == (8000, 4000, 8)
    assert (counters.launches[0].kernel, counters.launches[0].grid) == ("add_kernel", (8,))
    assert [line.source[:1] for line in counters.launches[0].lines] == ["x", "y", "t"]
    assert counters.library_operations == []


def test_library_functions_are_listed(lesson, vectors):
    assert count(lesson.add_by_library, *vectors).library_operations == ["torch.add", "torch.Tensor.copy_"]


def test_a_worker_counts_the_same(here, there, vectors):
    view = torch.randn(3000)[5::2][:1000]
    for args in (vectors, (view, view)):
        assert count(here.add, *args) == count(there.add, *args)


def test_a_machine_with_a_gpu_counts_the_same(here, vectors, monkeypatch):
    wanted = count(here.add, *vectors)
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))
    assert count(here.add, *vectors) == wanted


def test_the_callers_arrays_stay_as_they_are(lesson):
    x = torch.ones(3)
    count(lesson.write_to_input, x)
    assert x.tolist() == [1, 1, 1]


def test_keyword_arguments_and_out_are_passed_on(lesson, vectors):
    out = torch.zeros(1000)
    assert count(lesson.add, vectors[0], y=vectors[1], out=out).programs == 8
    assert out.count_nonzero() == 0


def test_what_the_function_raises_is_raised(here, there, vectors):
    with pytest.raises((Fault, worker.LessonError), match="1 of them lies past the end of x"):
        count(here.add_too_much, vectors[0][:100], vectors[1][:100])
    with pytest.raises(worker.LessonError, match="1 of them lies past the end of x") as caught:
        count(there.add_too_much, vectors[0][:100], vectors[1][:100])
    assert caught.value.raised.type_name == "Fault"
    assert [frame.function for frame in caught.value.raised.frames] == ["add_too_much", "add_kernel"]


def test_an_error_of_the_lesson_is_not_taken_for_counters_that_make_no_sense(lesson):
    with pytest.raises(ValueError, match="odd length"):
        count(lesson.choosy, 1)


def test_a_gap_stays_a_gap(lesson):
    with pytest.raises(NotImplementedError, match="week9 task 1"):
        count(lesson.not_yet, 1)


def test_counters_that_a_lesson_made_up_are_not_believed(there, vectors, monkeypatch):
    answer = worker.lesson.Answer({"launches": "many"}, None, "")
    monkeypatch.setattr(there.add.lesson, "ask", lambda *_: answer)
    with pytest.raises(worker.Died, match="something else than counters"):
        count(there.add, *vectors)


@pytest.mark.skipif(gpu.installed_card() is None, reason="needs a GPU")
def test_views_of_gpu_memory_share_a_copy_of_it():
    storage = torch.arange(12.0, device="cuda")
    moved = {}
    first, second = (on_cpu(view, moved) for view in (storage[2:8:2], storage[3:]))
    assert (first.tolist(), first.stride(), first.storage_offset()) == ([2, 4, 6], (2,), 2)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
