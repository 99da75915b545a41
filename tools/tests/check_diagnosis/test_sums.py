"""Sums over blocks: the usual mistakes are named, in whatever the kernel is written."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from tools import worker
from tools.check import Mismatch, assert_matches
from tools.check.diagnosis import Symptoms, diagnose
from tools.check.diagnosis.source import Source
from tools.check.tolerances import accumulated

pytest.importorskip("triton")

FILE = Path(__file__).parent / "lessons" / "wrong_sums.py"
WAYS = ("by_triton", "by_numba", "by_numpy")
CASES = [  # length, the mistake, the cause, what is said of it
    (70, "one block", "first_block_only", "It is right for the first 16 of 70 elements alone."),
    (64, "one block", "first_block_only", "It is right for the first 16 of 64 elements alone."),
    (70, "whole blocks", "tail_ignored", "It is right for the first 64 of 70 elements alone."),
    (70, "from the second", "head_ignored", "It is right without the first 16 of 70 elements."),
    (70, "every second", "every_second_block", "It is right for every second block of 16 of 70 elements alone."),
    (64, "same block", "first_block_again", "As if each of 4 turns took the first 16 of 64 elements again."),
    (70, "overwrites", "head_forgotten", "It is right for the last 6 of 70 elements alone."),
    (70, "first twice", "block_twice", "As if numbers 0 to 15 of 70 elements were taken twice."),
]


@pytest.fixture(scope="module")
def lesson():
    module = worker.proxy("wrong_sums", FILE)  # in a process that simulates, also where there is a GPU
    sys.modules["wrong_sums"] = module
    yield module
    del sys.modules["wrong_sums"]


@pytest.mark.parametrize("size, which", [(32, "blocks or warps"), (16, "turns, or blocks,")])
def test_the_first_of_a_kernel_may_be_those_of_a_warp(size, which):
    x, source = np.linspace(1, 2, 128) ** 2, Source("i = cuda.grid(1)", "total")
    found = diagnose(
        Symptoms(
            "values",
            x[:size].sum(),
            x.sum(),
            np.array(True),
            (x,),
            ("x",),
            oracle=lambda x: x.sum(),
            again=lambda x: x[:size].sum(),
            source=source,
        )
    )
    assert found.words.startswith(f"It is right for the first {size} of 128 elements alone.")
    assert found.words.endswith(f"{which} take the others?")


@pytest.mark.parametrize("every, said", [(10.0, "the sum of all wanted ones."), (9.0, "though the w")])
def test_one_number_for_all_that_is_the_sum_of_what_is_wanted_is_called_so(every, said):
    want = np.array([4.0, 0.0, 1.0, 5.0])
    found = diagnose(Symptoms("values", np.full(4, every), want, np.full(4, True)))
    assert found.words.startswith(f"Every element is {every}, {said}")


def test_one_step_is_the_first_or_the_last():
    x = np.array([1.371, 2.413, 5.937])
    for got, which in ((x[:1].sum(), "first"), (x[2:].sum(), "last")):
        index = 0 if which == "first" else 2
        found = diagnose(
            Symptoms(
                "values",
                np.float64(got),
                np.float64(x.sum()),
                np.array(True),
                (x,),
                ("x",),
                oracle=lambda x: x.sum(),
                again=lambda x: x[index],
            )
        )
        assert found.words.startswith(f"It is right for the {which} of 3 elements alone.")


def numbers(way, *shape):
    x = (np.random.default_rng(shape).normal(size=shape) + 0.5).astype(np.float32)
    return x if way == "by_numpy" else torch.from_numpy(x)


def sums(x, how):
    return x.sum(1)


def total(x, how):
    return x.sum()


def running(x):
    return x.cumsum(0)


def failure(function, *args, oracle) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, oracle=oracle, tolerance=accumulated("float32", 70))
    return caught.value


@pytest.mark.parametrize("way", WAYS)
def test_without_a_mistake_each_way_is_right(lesson, way):
    for length in (64, 70):
        assert_matches(
            getattr(lesson, way), numbers(way, 5, length), "", oracle=sums, tolerance=accumulated("float32", length)
        )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length, how, cause, seen", CASES, ids=[f"{how}-{length}" for length, how, *_ in CASES])
def test_the_mistake_in_sums_of_rows_is_named(lesson, way, length, how, cause, seen):
    found = failure(getattr(lesson, way), numbers(way, 5, length), how, oracle=sums)
    assert found.cause == cause and seen in " ".join(found.text.split()), found.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length, how, cause, seen", CASES, ids=[f"{how}-{length}" for length, how, *_ in CASES])
def test_the_mistake_in_one_sum_is_named_by_further_calls(lesson, way, length, how, cause, seen):
    found = failure(getattr(lesson, f"total_{way}"), numbers(way, length), how, oracle=total)
    assert found.cause == cause and seen in " ".join(found.text.split()), found.text


@pytest.mark.parametrize("way", WAYS)
def test_running_sums_that_begin_anew_with_each_block_are_named(lesson, way):
    found = failure(getattr(lesson, f"running_{way}"), numbers(way, 70), oracle=running)
    assert found.cause == "each_block_alone" and "It is right for each block of 16 alone." in found.text


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("length", [1, 5, 15])
def test_a_sum_that_is_shorter_than_a_block_shows_in_a_longer_one_why_it_is_zero(lesson, way, length):
    found = failure(getattr(lesson, way), numbers(way, 5, length), "whole blocks", oracle=sums)
    assert found.cause == "no_whole_block", found.text
    assert "only whole blocks of 16 are added up." in found.text
    assert (
        failure(getattr(lesson, f"total_{way}"), numbers(way, length), "whole blocks", oracle=total).cause
        == "no_whole_block"
    )


@pytest.mark.parametrize(
    "text, asks",
    [
        ("i = cuda.grid(1)", "Does every warp add its sum? How far apart do the steps of a thread begin?"),
        ("total += x[i]", "How far apart do two steps of the loop begin, and how much does each take?"),
    ],
)
def test_half_of_a_sum_that_may_be_that_of_one_of_two_warps_is_asked_for_both(text, asks):
    """Each of two warps takes every second block of 32; the sum of one of them is all that came back."""

    def of_one_warp(x):
        return np.float64(x.reshape(-1, 2, 32)[:, 0].sum())

    x = np.ones(128)
    found = diagnose(
        Symptoms(
            "values",
            of_one_warp(x),
            np.float64(128),
            np.array(True),
            (x,),
            ("x",),
            oracle=lambda x: x.sum(),
            again=of_one_warp,
            source=Source(text, "total"),
        )
    )
    assert found.words.splitlines() == ["It is right for every second block of 32 of 128 elements alone.", asks]
