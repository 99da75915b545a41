"""Functions that PyTorch made of a lesson's: run, counted and compiled like others; and torch.compile around them."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import importlib.util  # noqa: E402
import sys  # noqa: E402

import tools.gpu  # noqa: E402
from tools import worker  # noqa: E402
from tools.check import compiled, count  # noqa: E402

pytestmark = pytest.mark.skipif(tools.gpu.card() is not None, reason="tests the simulator: run it with --sim")

NAME, FILE = "week9.day3.operators", Path(__file__).parent / "lessons" / "operators.py"


@pytest.fixture(scope="module")
def here():
    spec = importlib.util.spec_from_file_location(NAME, FILE)
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[NAME]


def test_the_apply_of_a_function_is_a_function_of_the_lesson_elsewhere_too():
    there = worker.proxy(NAME, FILE)
    assert there.double(torch.ones(3)).tolist() == [2.0] * 3
    assert there.triple(torch.ones(3)).tolist() == [3.0] * 3


def test_the_apply_of_a_function_is_counted_forwards_and_backwards(here):
    def step(x):
        here.double(x).sum().backward()

    assert count(here.double, torch.ones(32)).bytes == 2 * 32 * 4
    assert len(count(step, torch.ones(32, requires_grad=True)).launches) == 2


@pytest.mark.parametrize("name", ["double", "triple"])
def test_the_apply_of_a_function_and_an_operator_are_compiled(here, name):
    (kernel,) = compiled(getattr(here, name), torch.ones(32)).kernels
    assert (kernel.name, kernel.chip, kernel.grid) == ("scale_kernel", "h100", (2, 1, 1))


def test_an_operator_is_a_node_of_a_compiled_graph(here):
    x = torch.arange(20.0)
    assert here.through_the_operator(x).tolist() == (3 * (x + 1) - 1).tolist()


def test_an_operator_passes_the_checks_of_pytorch(here):
    results = torch.library.opcheck(here.triple, (torch.ones(20, requires_grad=True),))
    assert set(results.values()) == {"SUCCESS"} and len(results) == 4


def test_the_gradient_of_an_operator_goes_through_a_compiled_graph(here):
    x = torch.ones(20, requires_grad=True)
    here.through_the_operator(x).sum().backward()
    assert x.grad.tolist() == [3.0] * 20


def test_a_launch_breaks_a_graph_and_runs(here):
    x = torch.arange(20.0)
    assert here.around_a_launch(x).tolist() == (3 * (x + 1) - 1).tolist()


def test_a_whole_graph_around_a_launch_is_refused_with_the_remedy(here):
    with pytest.raises(Exception, match="no graph can hold. torch.library.triton_op hides it"):
        here.in_one_graph(torch.ones(20))


@pytest.mark.parametrize(
    ("name", "operators"), [("through_the_operator", ["week9.triple.default"]), ("around_a_launch", [])]
)
def test_a_compiled_function_is_counted_as_it_is_written(here, name, operators):
    for _ in range(2):  # before and after it was compiled
        counters = count(getattr(here, name), torch.ones(32))
        assert counters.bytes == 2 * 32 * 4
        assert counters.library_operations == ["torch.add", *operators, "torch.sub"]
        getattr(here, name)(torch.ones(32))


def test_what_was_compiled_before_is_counted_as_it_is_written(here):
    function = torch.compile(here.scaled, backend="eager")
    function(torch.ones(32), 2.0)
    assert count(function, torch.ones(32), 2.0).bytes == 2 * 32 * 4
    compiler = torch.compile
    assert compiler is torch.compile and compiler(lambda x: x + 1, backend="eager", fullgraph=True)(torch.ones(1)) == 2
