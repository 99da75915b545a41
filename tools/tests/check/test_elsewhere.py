"""made_elsewhere: the tensors that a function makes without saying where, here and in the lesson's process."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

from tools import worker
from tools.check import made_elsewhere

NAME, FILE = "week9.day4.places", Path(__file__).parent / "lessons" / "places.py"
LINES = FILE.read_text().splitlines()


@pytest.fixture(scope="module", params=["here", "there"])
def places(request):
    if request.param == "there":
        yield worker.proxy(NAME, FILE)
        return
    spec = importlib.util.spec_from_file_location(NAME, FILE)
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[NAME]


def line_with(text):
    return next(number for number, line in enumerate(LINES, 1) if text in line)


@pytest.mark.parametrize("name", ["told", "told_in_a_block", "moved"])
def test_what_is_made_on_the_device_or_moved_there_is_all_right(places, name):
    assert made_elsewhere(getattr(places, name))(3) == []


def test_the_device_of_an_argument_is_as_good(places):
    from tools.gpu import device

    assert made_elsewhere(places.as_its_argument)(torch.ones(3, device=device)) == []


def test_a_result_that_was_made_unasked_is_found_with_its_line(places):
    assert made_elsewhere(places.unasked)(3) == [(line_with("places = torch.arange(n)"), "arange")]


def test_a_tensor_that_meets_those_of_the_device_is_found(places):
    assert made_elsewhere(places.half_of_it)(3) == [(line_with("torch.ones(n)[:, None]"), "ones")]


def test_numbers_that_are_read_may_come_from_anywhere(places):
    assert made_elsewhere(places.reads_a_number)(3) == []


def test_it_raises_what_the_function_raises(places):
    with pytest.raises(NotImplementedError, match="not_yet"):
        made_elsewhere(places.not_yet)(3)
    with pytest.raises(RuntimeError, match="invalid for input of size 3"):
        made_elsewhere(places.odd)(3)


def test_it_says_whose_tensors_they_are(places):
    assert made_elsewhere(places.told).__name__ == "tensors made elsewhere by told"
