"""What a lesson raised, as plain facts: a simulator's refusals are known by name, and nobody else's class is one."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tools import gpu
from tools.sim.faults import Fault as OfTheSimulator
from tools.sim.faults import Spot
from tools.worker import raised_from


class Fault(Exception):
    """A learner's own."""


class Refused(Exception):
    """Another."""


def test_a_refusal_of_the_simulator_has_its_name():
    assert raised_from(OfTheSimulator(Spot("", 0, "f"), "race", "It races."), []).type_name == "Fault"


def test_a_learners_class_of_that_name_is_no_refusal():
    for kind in (Fault, Refused):
        assert raised_from(kind("mine"), []).type_name == f"test_raised.{kind.__name__}"


def test_any_other_class_has_its_plain_name():
    assert raised_from(ValueError("no"), []).type_name == "ValueError"


def misfit(here, there):
    return here + there[1:]


@pytest.mark.parametrize("made", [np.ones, torch.ones])
def test_arrays_that_do_not_go_together_are_told_with_their_shapes(made):
    with pytest.raises((ValueError, RuntimeError)) as caught:
        misfit(made((2, 4)), made(3))
    assert raised_from(caught.value, [__file__]).message.endswith("\nhere is [2, 4], there is [3]")


@triton.jit
def compare(out_ptr):
    place = tl.arange(0, 2)[:, None] + tl.arange(0, 4)[None, :]
    ends = tl.arange(0, 2)
    tl.store(out_ptr + place, place < ends)


@pytest.mark.skipif(gpu.card() is not None, reason="there, Triton's compiler says it; run it with --sim")
def test_blocks_of_a_kernel_are_told_with_their_shapes():
    with pytest.raises(ValueError) as caught:
        compare[(1,)](torch.zeros(8))
    assert raised_from(caught.value, [__file__]).message.endswith("\nplace is [2, 4], ends is [2]")
