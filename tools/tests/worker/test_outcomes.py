"""A call has the same outcome in this process and in a lesson's own."""

import inspect
import sys
import types

import numpy as np
import pytest

from tools import gpu, wire, worker
from tools.worker import Frame, Raised


def a():
    return np.arange(6.0).reshape(2, 3)


def shared():
    whole = np.zeros(6)
    return whole[:4], whole[2:]


def same():
    return (a(),) * 2


def torch_pair():
    import torch

    return torch.arange(6, dtype=torch.bfloat16).reshape(2, 3), torch.ones(2, 3, dtype=torch.bfloat16)


CALLS = {
    "a new array": ("add", lambda: (a(), a()), {}),
    "keyword out": ("add", lambda: (a(), a()), {"out": a}),
    "out among the arguments": ("add", same, {}),
    "new tensor": ("add", torch_pair, {}),
    "tensor as out": ("add", torch_pair, {"out": lambda: torch_pair()[0]}),
    "a row of an argument": ("first_row", lambda: (a(),), {}),
    "a row of a tensor": ("first_row", lambda: torch_pair()[:1], {}),
    "an argument itself": ("either", lambda: (a(), a()), {}),
    "a view in a tuple": ("parts", lambda: (a(), a()), {}),
    "changes its argument": ("zero", lambda: (a() + 1,), {}),
    "changes a tensor": ("zero", lambda: torch_pair()[1:], {}),
    "writes where two overlap": ("zero", lambda: shared()[:1], {}),
    "changes by other names": ("last_of", lambda: (a().T, a()), {"c": lambda: np.zeros(2)}),
    "changes in a list": ("into", lambda: ([a(), a()],), {}),
    "NaN stays NaN": ("nan_to_nan", lambda: (np.array([1.0, np.nan]),), {}),
    "plain values": ("echo", lambda: ((1, [2.5, {"k": "v"}], None, b"b", slice(1, None)),), {}),
    "a dtype": ("echo", lambda: (np.dtype("float16"),), {}),
    "a gap": ("missing", tuple, {}),
    "a KeyError": ("looks_up", lambda: ({}, "k"), {}),
    "an error from within": ("deep", lambda: (2,), {}),
    "an error of its own": ("own", tuple, {}),
    "a wrong call": ("add", lambda: (a(),), {}),
    "sys.exit": ("leave", tuple, {}),
    "a decorated function": ("cached", lambda: (3,), {}),
}


def plain(value):
    """For comparing: arrays as type, dtype, shape, strides and elements."""
    if wire.is_array(value):
        strides = value.stride() if wire.is_tensor(value) else value.strides
        return type(value), value.dtype, tuple(value.shape), strides, value.tolist()
    return type(value)(map(plain, value)) if type(value) in (tuple, list) else value


@pytest.mark.parametrize("name, args, kwargs", CALLS.values(), ids=CALLS.keys())
def test_an_outcome_is_the_same_here_and_there(here, there, name, args, kwargs):
    outcomes, left = [], []
    for lesson in (here, there):
        given, more = args(), {key: make() for key, make in kwargs.items()}
        outcomes.append(worker.call(getattr(lesson, name), given, more))
        left.append(plain([*given, *more.values()]))
    first, second = outcomes
    assert repr(left[0]) == repr(left[1])
    assert repr(plain(first.value)) == repr(plain(second.value))
    assert first.error == second.error
    assert plain(list(first.changed.items())) == plain(list(second.changed.items()))
    assert (first.alias, first.same_object) == (second.alias, second.same_object)


def test_an_outcome_names_what_changed_and_what_came_back(lesson):
    out = np.zeros((2, 3))
    outcome = worker.call(lesson.add, (a(), a()), {"out": out})
    assert outcome.value is out and (outcome.alias, outcome.same_object) == ("out", True)
    assert list(outcome.changed) == ["out"] and np.array_equal(outcome.changed["out"], 2 * a())
    assert np.array_equal(out, 2 * a()) and outcome.changed["out"] is not out
    assert outcome.error is None and outcome.seconds > 0


def test_a_view_of_an_argument_is_an_alias(lesson):
    array = a()
    outcome = worker.call(lesson.first_row, (array,))
    assert (outcome.alias, outcome.same_object) == ("a", False)
    outcome.value[0] = 9
    assert array[0, 0] == 9


def test_a_new_array_is_no_alias_and_nothing_changed(lesson):
    outcome = worker.call(lesson.add, (a(), a()))
    assert (outcome.alias, outcome.same_object, outcome.changed) == (None, False, {})


def test_a_write_beside_a_view_arrives_but_the_view_has_not_changed(lesson):
    guarded = np.zeros(5)
    assert worker.call(lesson.beside, (guarded[2:],)).changed == {}
    assert guarded.view(np.uint8).tolist() == [7] + [0] * 39


def test_an_error_tells_where_in_the_lesson(here, lesson):
    file, line = "tools/tests/worker/lessons/friendly.py", inspect.getsourcelines(here.deep)[1] + 1
    frame = Frame(file, line, "deep", "return deep(n - 1) if n else 1 // 0")
    error = worker.call(lesson.deep, (1,)).error
    assert error == Raised("ZeroDivisionError", error.message, (frame, frame)) and "by zero" in error.message


def test_a_file_elsewhere_is_named_without_its_folder(write):
    elsewhere = worker.proxy("week9.day1.elsewhere", write("def f(): return 1 / 0\n"))
    assert worker.call(elsewhere.f).error.frames == (Frame("lesson.py", 1, "f", "def f(): return 1 / 0"),)
    elsewhere.f.lesson.close()


def test_an_assertion_without_words_tells_what_it_asserts(write):
    module = worker.proxy(
        "asserting",
        write(
            "def narrow(x):\n    assert x.dtype == 'float32' and x.ndim == 1\n\n"
            "def worded(x):\n    assert x is None, 'x must be None'\n"
        ),
    )
    assert worker.call(module.narrow, (a(),)).error.message == "x.dtype == 'float32' and x.ndim == 1"
    assert worker.call(module.worded, (a(),)).error.message == "x must be None"


@pytest.mark.parametrize("remote", [False, True], ids=["here", "there"])
def test_a_function_of_a_test_tells_where_in_the_lesson_beside_it(write, monkeypatch, remote):
    file = write("def third(x):\n    return x[2]\n")
    lesson = worker.proxy("week9.day9.lesson", file) if remote else load("week9.day9.lesson", file)
    test = types.ModuleType("week9.day9.test_lesson")
    test.__file__, test.lesson = __file__, lesson
    monkeypatch.setitem(sys.modules, test.__name__, test)

    def third_of(x):
        return lesson.third(x)

    third_of.__module__ = test.__name__
    error = worker.call(third_of, ([1],)).error
    last = error.frames[-1]
    assert (error.type_name, last.function, last.source) == ("IndexError", "third", "return x[2]")


def load(name, file):
    module = types.ModuleType(name)
    module.__file__ = str(file)
    exec(compile(file.read_text(), str(file), "exec"), vars(module))
    return module


@pytest.mark.parametrize("library", ["cupy", "numba.cuda"])
def test_a_timed_call_waits_for_the_gpu_whichever_library_uses_it(monkeypatch, library):
    waits = []
    device = types.SimpleNamespace(synchronize=lambda: waits.append("waited"))
    known = {"cupy": types.SimpleNamespace(cuda=types.SimpleNamespace(Device=lambda: device)), "numba.cuda": device}
    for name in ("torch", *known):
        monkeypatch.setitem(sys.modules, name, known[name] if name == library else None)
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))
    worker.repeat(waits.append, ("called",), {}, times=2)
    assert waits == ["called", "called", "waited"]
