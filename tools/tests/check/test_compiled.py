"""compiled: from a function of this process or of another, by a process that compiles."""

import importlib.util
import sys

import pytest
import torch

from tools import worker
from tools.check import CompileError, NoCompiler, compiled
from tools.check.compiled import compiling

pytest.importorskip("triton")

LESSON = """
import tools.gpu
import torch
import triton
import triton.language as tl


@triton.jit
def one_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


@triton.jit
def two_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 2.0)


@triton.jit
def list_kernel(x_ptr):
    tl.store(x_ptr, [1.0])


def one_and_two(x, *, block=128):
    assert tools.gpu.device == x.device.type == "cpu"
    one_kernel[(1,)](x, BLOCK=block)
    two_kernel[(1,)](x, BLOCK=block)
    return x


def bad(x):
    list_kernel[(1,)](x)


def tidied(x):
    try:
        list_kernel[(1,)](x)
    finally:
        x.add_(1)


def not_yet(x):
    raise NotImplementedError("week9 task 1: not_yet")


class CompileError(Exception):
    "A learner's own."


class NoCompiler(Exception):
    "Another."


def own_error(x, kind):
    raise globals()[kind]("mine")
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("compiled") / "lesson.py"
    file.write_text(LESSON)
    return file


@pytest.fixture(scope="module")
def here(file):
    """The lesson in this process, where Triton interprets."""
    name = "week9.day3.lesson"
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="module")
def there(file):
    """The same in a process that interprets, as with --remote."""
    return worker.proxy("week9.day3.lesson", file)


@pytest.fixture(params=["here", "there"])
def lesson(request):
    return request.getfixturevalue(request.param)


X = torch.zeros(128)


def names(evidence) -> list[str]:
    return [kernel.name for kernel in evidence.kernels]


def test_a_lesson_that_is_interpreted_is_compiled_in_a_process_of_its_own(lesson):
    evidence = compiled(lesson.one_and_two, X, chip="a100")
    assert names(evidence) == ["one_kernel", "two_kernel"]
    assert evidence.chip == evidence.kernels[0].chip == "a100"
    assert evidence.kernels["one_kernel"].instructions["st.global.b32"] == 1


def test_one_process_serves_all_chips_and_both_ways_of_running_a_lesson(here, there):
    both = {compiling(here.one_and_two), compiling(there.one_and_two)}
    evidence = compiled(here.one_and_two, X, chip=("t4", "h100"))
    assert len(both) == 1 and both.pop().starts == 1
    assert {chip: each.kernels[0].chip for chip, each in evidence.items()} == {"t4": "t4", "h100": "h100"}


def test_keyword_arguments_reach_the_call(lesson):
    assert compiled(lesson.one_and_two, X, block=64).kernels[0].constants == {"BLOCK": "64"}


def test_the_callers_arrays_are_left_alone(lesson):
    compiled(lesson.one_and_two, X)
    assert not X.any()


def test_what_the_compiler_rejects_is_a_compile_error(lesson):
    with pytest.raises(CompileError) as caught:
        compiled(lesson.bad, X)
    head, line, *_ = str(caught.value).splitlines()
    assert head == "list_kernel does not compile for h100: lesson.py, line 20"
    assert line == "    tl.store(x_ptr, [1.0])"


def test_a_rejection_passes_through_the_lessons_own_error_handling(lesson):
    with pytest.raises(CompileError, match="list_kernel does not compile"):
        compiled(lesson.tidied, X)


def test_an_error_of_the_lessons_own_python_is_raised_as_a_call_would(lesson):
    with pytest.raises(NotImplementedError, match="week9 task 1: not_yet"):
        compiled(lesson.not_yet, X)


def test_an_unknown_chip_is_answered_with_the_known_ones(lesson):
    with pytest.raises(ValueError, match="no chip is called 'p100'; the table has t4"):
        compiled(lesson.one_and_two, X, chip="p100")


def test_a_compiler_that_is_missing_over_there_is_missing_here(here, monkeypatch):
    missing = worker.lesson.Answer(("no compiler", "needs a compiler; found none", "gcc"), None, "")
    monkeypatch.setattr(compiling(here.one_and_two), "ask", lambda *_: missing)
    with pytest.raises(NoCompiler, match="needs a compiler; found none") as caught:
        compiled(here.one_and_two, X)
    assert caught.value.what == "gcc"


def test_an_error_of_the_lessons_own_is_not_the_compilers_whatever_its_name(here, monkeypatch):
    own = worker.lesson.Answer(None, worker.Raised("CompileError", "mine", ()), "")
    monkeypatch.setattr(compiling(here.one_and_two), "ask", lambda *_: own)
    with pytest.raises(worker.LessonError, match="CompileError: mine"):
        compiled(here.one_and_two, X)


@pytest.mark.parametrize("kind", ["CompileError", "NoCompiler"])
def test_a_learners_own_class_of_that_name_is_no_answer_of_the_compiler(lesson, kind):
    with pytest.raises(worker.LessonError, match=f"{kind}: mine"):
        compiled(lesson.own_error, X, kind)
