"""count of CUDA kernels and of CuPy: the same figures directly, by a worker, and on a machine with a GPU."""

import importlib.util
import sys

import numpy as np
import pytest

from tools import gpu, worker
from tools.check import count, notes

pytestmark = pytest.mark.filterwarnings("ignore:.*under-utilization", "ignore:Host array used")

LESSON = """
import numpy as np
from tools.gpu import cuda, cupy


@cuda.jit
def add_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def add(x, y):
    x_there, y_there = cuda.to_device(x), cuda.to_device(y)
    out = cuda.device_array_like(x)
    add_kernel[-(-x.size // 128), 128](x_there, y_there, out)
    return out.copy_to_host()


def add_with_host_arrays(x, y):
    out = np.empty_like(x)
    add_kernel[-(-x.size // 128), 128](x, y, out)
    return out


def add_on_device(x, y):
    out = cupy.empty_like(x)
    add_kernel[-(-x.size // 128), 128](x, y, out)
    return out


def by_cupy(x):
    return cupy.asnumpy(cupy.asarray(x) * 2)


def fill(x):
    x.fill(1)


def past_the_end(x):
    add_kernel[1, 128](x, x[:100], x)
"""
X = np.arange(1000, dtype=np.float32)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("count") / "lesson.py"
    file.write_text(LESSON)
    return file


@pytest.fixture(scope="module")
def here(file):
    name = "week9.day6.counted"
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="module")
def there(file):
    return worker.proxy("week9.day6.counted", file)


@pytest.fixture(params=["here", "there"])
def lesson(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy", reason="needs CuPy on a machine with a GPU") if gpu.card() else gpu.cupy


def transfers(counters) -> dict[str, int]:
    return {name: figure for name, figure in vars(counters.transfers).items() if figure}


def test_a_kernel_is_counted_in_blocks_and_warps(lesson):
    counters = count(lesson.add, X, X)
    assert (counters.programs, counters.bytes_loaded, counters.bytes_stored) == (8, 8000, 4000)
    assert (counters.requests, counters.sectors, counters.sectors_per_request) == (3 * 32, 3 * 125, 375 / 96)
    assert (counters.branches, counters.divergent_branches, counters.conflicts) == (32, 1, 0)
    assert [(launch.kernel, launch.grid) for launch in counters.launches] == [("add_kernel", (8,))]
    assert [line.kind for line in counters.launches[0].lines] == ["branch", "load", "store"]


def test_transfers_are_counted_wherever_they_are_asked_for(lesson):
    assert transfers(count(lesson.add, X, X)) == {
        "uploads": 2,
        "bytes_uploaded": 8000,
        "downloads": 1,
        "bytes_downloaded": 4000,
        "synchronizations": 1,
    }
    assert transfers(count(lesson.add_with_host_arrays, X, X)) == {
        "uploads": 3,
        "bytes_uploaded": 12_000,
        "downloads": 3,
        "bytes_downloaded": 12_000,
        "synchronizations": 3,
    }


def test_a_report_shows_blocks_and_what_crossed(lesson):
    count(lesson.add, X, X)
    assert notes.taken[-1] == "8 blocks, 12,000 bytes, 375 sectors, 8,000 bytes uploaded, 4,000 bytes downloaded"


def test_a_worker_counts_the_same(here, there):
    for name in ("add", "add_with_host_arrays", "by_cupy"):
        args = (X,) if name == "by_cupy" else (X, X)
        assert count(getattr(here, name), *args) == count(getattr(there, name), *args)


def test_what_cupy_does_is_counted_too(lesson):
    counters = count(lesson.by_cupy, X)
    assert len(counters.launches) == 1 and counters.bytes_stored == 4000
    assert (counters.transfers.bytes_uploaded, counters.transfers.bytes_downloaded) == (4000, 4000)


def test_arrays_of_the_device_are_there_when_the_count_begins(lesson, cupy):
    x = cupy.asarray(X)
    counters = count(lesson.add_on_device, x, x)
    assert (counters.bytes, counters.sectors) == (12_000, 375)
    assert not {"uploads", "downloads", "copies"} & transfers(counters).keys()


def test_the_callers_array_stays_as_it_is(lesson, cupy):
    x = cupy.zeros(3)
    count(lesson.fill, x)
    assert x.get().tolist() == [0, 0, 0]


def test_a_machine_with_a_gpu_counts_the_same(here, cupy, monkeypatch):
    x = cupy.asarray(X)
    wanted = count(here.add, X, X), count(here.add_on_device, x, x)
    monkeypatch.setattr(gpu, "card", lambda: gpu.Card("a card", (9, 0), (13, 0)))
    assert (count(here.add, X, X), count(here.add_on_device, x, x)) == wanted


def test_what_the_simulator_refuses_is_raised(there):
    with pytest.raises(worker.LessonError, match="loads element 100 of y; it has 100") as caught:
        count(there.past_the_end, X)
    assert caught.value.raised.type_name == "Fault"
