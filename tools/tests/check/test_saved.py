"""saved_tensors: what a function hands to ctx.save_for_backward, here and in the lesson's process."""

import pytest
import torch

from tools.check import saved_tensors
from tools.worker import NoGradient

X, WEIGHT, BIAS = torch.arange(12.0).reshape(4, 3), torch.tensor([2.0, 0.0, 3.0, 0.0, 4.0])[::2], torch.zeros(3)


def test_what_is_saved_comes_back_in_its_order_and_as_it_is_stored(norms):
    x_hat, rstd, weight = saved_tensors(norms.layernorm)(X, WEIGHT, BIAS)
    assert x_hat.shape == X.shape and rstd.shape == (4, 1)
    assert weight.tolist() == [2, 3, 4] and weight.stride() == (2,)


def test_a_function_that_saves_nothing_has_no_tensors(norms):
    assert saved_tensors(norms.scale)(X, 2.0) == ()


def test_only_the_arguments_that_are_named_ask_for_a_gradient(norms):
    (counts,) = saved_tensors(norms.mean_of_counts)(X, X + 1, asks=("x",))
    assert counts.tolist() == (X + 1).tolist()
    assert saved_tensors(norms.layernorm)(X, WEIGHT, BIAS, asks=()) == ()


def test_it_says_whose_tensors_they_are(norms):
    assert saved_tensors(norms.layernorm).__name__ == "tensors saved by layernorm"


def test_without_a_tensor_of_floats_nothing_can_ask_for_a_gradient():
    with pytest.raises(NoGradient, match="No argument is a tensor of floats"):
        saved_tensors(lambda n: n)(3)
