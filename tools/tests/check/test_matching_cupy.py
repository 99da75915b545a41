"""assert_matches with functions that take and return arrays of CuPy, here and in another process."""

import importlib.util
import sys

import numpy as np
import pytest

from tools import gpu, worker
from tools.check import Mismatch, assert_matches
from tools.check.show import kind, literal
from tools.check.tolerances import accumulated
from tools.wire import Handle

LESSON = '''
from tools.gpu import cuda, cupy


def add(x, y, out=None):
    return cupy.add(x, y, out)


def add_and_subtract(x, y):
    return x + y, x - y


def total(x):
    return x.sum()


def to_host(x):
    return x.get()


def stays_on_device(x):
    return cupy.asarray(x)


def numba_array(x):
    return cuda.to_device(x)


def itself(x):
    return x


def first_row(x):
    return x[0]


def subtracts_in_place(x, y):
    x -= y
    return x.copy()


def ignores_the_last(x, y, out=None):
    out = cupy.empty_like(x) if out is None else out
    cupy.add(x[:-1], y[:-1], out[:-1])
    return out


def reads_memory_in_order(x):
    """Right only where x is contiguous."""
    return cupy.ndarray(x.shape, x.dtype, x.data) * 2


def in_double(x, y):
    return x.astype("float64") + y
'''


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="needs CuPy on a machine with a GPU") if gpu.card() else gpu.cupy


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("matching") / "lesson.py"
    file.write_text(LESSON)
    return file


@pytest.fixture(scope="module")
def here(file):
    name = "week9.day6.matched"
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="module")
def there(file):
    return worker.proxy("week9.day6.matched", file, mode="gpu" if gpu.card() else "interpret")


@pytest.fixture(params=["here", "there"])
def lesson(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def x(cupy):
    return cupy.asarray(np.linspace(-1, 2, 12, dtype=np.float32).reshape(3, 4))


def mismatch(*args, **options) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(*args, **options)
    return caught.value


def test_right_results_pass_and_come_back(lesson, cupy, x):
    result = assert_matches(lesson.add, x, x, oracle=np.add)
    assert type(result) is cupy.ndarray and np.array_equal(result.get(), 2 * x.get())
    assert_matches(lesson.add_and_subtract, x, 2 * x, oracle=lambda x, y: (x + y, x - y))
    assert_matches(lesson.total, x, oracle=np.sum, tolerance=accumulated("float32", 12))


def test_every_layout_and_an_out_are_tried(lesson, x):
    assert_matches(lesson.add, x, x, oracle=np.add, exact=True, layouts="any")


def test_wrong_values_are_shown_and_explained(lesson, x):
    text = mismatch(lesson.add, x, x, oracle=np.multiply).text
    assert text.splitlines()[0] == "add(x: cupy float32[3,4], y: cupy float32[3,4])"
    assert "differ" in text and "got" in text


def test_where_the_result_lives_is_part_of_the_answer(lesson, cupy, x):
    host = x.get()
    assert_matches(lesson.to_host, x, oracle=cupy.asnumpy)
    assert_matches(lesson.stays_on_device, host, oracle=cupy.asarray)
    assert (
        "It returned an array float32[3,4]; wanted a cupy array of shape (3, 4)."
        in mismatch(lesson.to_host, x, oracle=lambda x: x).text
    )
    assert (
        "It returned a cupy float32[3,4]; wanted an array of shape (3, 4)."
        in mismatch(lesson.stays_on_device, host, oracle=lambda x: x).text
    )
    assert (
        "It returned a DeviceNDArray; wanted an array of shape (3, 4)."
        in mismatch(lesson.numba_array, host, oracle=lambda x: x).text
    )


@pytest.mark.parametrize(
    "name, oracle, cause, words",
    [
        ("itself", lambda x: x.copy(), "returns_its_input", "It returned its input x itself"),
        ("first_row", lambda x: x[0].copy(), "returns_a_view", "It returned a view of its input x"),
    ],
)
def test_memory_that_is_shared_with_an_argument_is_found(lesson, x, name, oracle, cause, words):
    found = mismatch(getattr(lesson, name), x, oracle=oracle)
    assert found.cause == cause and words in found.text


def test_an_input_that_was_changed_is_found(lesson, x):
    found = mismatch(lesson.subtracts_in_place, x, x.copy(), oracle=lambda x, y: x - y)
    assert found.cause == "input_modified" and "x[0, 0] was -1.0, now it is 0.0" in found.text


def test_what_was_never_written_to_out_is_found(lesson, x):
    found = mismatch(lesson.ignores_the_last, x, x, oracle=np.add)
    assert found.cause == "partly_written" and "4 of 12 elements of out were never written" in found.text


def test_a_layout_that_is_misread_is_named(lesson, x):
    found = mismatch(lesson.reads_memory_in_order, x, oracle=lambda x: 2 * x, layouts="any")
    assert found.cause == "layout" and "x stored column by column (strides (4, 12))" in found.text


def test_another_dtype_is_found(lesson, x):
    found = mismatch(lesson.in_double, x, x, oracle=np.add)
    assert found.cause == "wrong_dtype" and "the result is cupy float64[3,4], wanted float32" in found.text


def test_arrays_and_objects_of_the_device_have_short_names(x):
    assert (literal(x), kind(x)) == ("cupy float32[3,4]", "a cupy float32[3,4]")
    assert (literal(Handle(1, "Stream")), kind(Handle(1, "Stream"))) == ("<Stream>", "a Stream")
    assert literal([object()]) == "[<object>]"
