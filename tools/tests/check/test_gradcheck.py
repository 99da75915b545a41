"""gradcheck: the backward of a lesson's function against differences of the function itself, in words."""

import pytest
import torch

from tools.check import Mismatch, compiled_by_torch, gradcheck


@pytest.fixture
def args():
    torch.manual_seed(1)
    return torch.randn(2, 5), torch.randn(5), torch.randn(5)


def failure(function, *args, **more) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        gradcheck(function, *args, **more)
    return caught.value


@pytest.mark.parametrize("full", [False, True])
def test_a_right_backward_passes_in_either_mode(norms, args, full):
    assert gradcheck(norms.layernorm, *args, full=full) is None


def test_the_arguments_are_float64_whatever_they_were_and_stay_as_they_are(norms):
    x = torch.ones(20, dtype=torch.bfloat16)
    gradcheck(norms.scale, x, factor=0.5)
    assert x.dtype == torch.bfloat16 and not x.requires_grad and x.tolist() == [1] * 20


def test_tensors_in_a_list_and_several_results_are_checked(norms):
    gradcheck(norms.sum_and_product, [torch.randn(3), torch.randn(3)])


@pytest.mark.parametrize("full", [False, True])
def test_a_wrong_gradient_is_told_with_both_values_and_the_likely_cause(norms, args, full):
    found = failure(norms.layernorm, *args, "twice", full=full)
    lines = found.text.splitlines()
    assert " ".join(lines[:2]).startswith("gradcheck of layernorm(x: float32[2,5], weight: float32[5]")
    assert lines[3] == "In the gradient of weight: All 5 elements differ:" or "of weight: All 5" in lines[3]
    assert "Got: what the backward returns for a random d_out." in lines
    assert "Wanted: how the result changes when an element moves." in lines
    assert "Everything is 2 times what was wanted." in found.text and found.cause == "constant_factor"
    assert len(lines) <= 12 and max(map(len, lines)) <= 76


def test_one_wrong_element_is_told_by_its_place(norms, args):
    assert "In the gradient of x: 1 of 10 elements differs, at [1, 0]: got" in " ".join(
        failure(norms.layernorm, *args, "a bad place").text.split()
    )


def test_of_a_large_argument_some_elements_are_moved():
    def doubled(x):
        return _Wrong.apply(x)

    text = failure(doubled, torch.randn(100, 100)).text
    assert "In the gradient of x:" in text and "of 10000 elements differ" in text


class _Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, d_out):
        return d_out


class _Unsteady(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, d_out):
        _Unsteady.calls += 1
        return 2 * d_out * (1 + 1e-6 * _Unsteady.calls)


def test_what_no_step_shows_is_told_in_pytorchs_words():
    found = failure(lambda x: _Unsteady.apply(x), torch.randn(3))
    assert "PyTorch says: Backward is not reentrant" in found.text and found.cause == "gradcheck"


@pytest.mark.parametrize(
    "how, said",
    [
        ("no gradient", "In the gradient of weight: All 5 elements differ"),
        ("not summed", "Wrong shape: bias has shape (5,), and the backward returns a gradient of shape (2, 5)"),
        ("cut off", "Wrong shape: weight has shape (5,), and the backward returns a gradient of shape (4,)"),
        ("half", "Wrong dtype: x is float64, and the backward returns a gradient in float16 for it."),
        ("raises", "It raised ValueError: no way back"),
        ("detached", "The result has no grad_fn"),
    ],
)
def test_a_backward_without_a_right_form_is_told_as_gradients_tells_it(norms, args, how, said):
    assert said in " ".join(failure(norms.layernorm, *args, how).text.split())


def test_a_function_without_a_gradient_is_told_so(norms):
    assert "No argument is a tensor of floats" in failure(norms.scale, torch.arange(3)).text
    assert "It returned list; only from a tensor" in " ".join(failure(norms.through_a_list, torch.ones(2)).text.split())


def test_a_gap_stays_a_gap(norms):
    with pytest.raises(NotImplementedError, match="week9/day4 task 1"):
        gradcheck(norms.not_yet, torch.ones(2))


def test_the_form_under_torch_compile_is_checked_too(norms, args):
    gradcheck(compiled_by_torch(norms.layernorm), *args)
    assert "gradcheck of compiled layernorm(" in failure(compiled_by_torch(norms.layernorm), *args, "twice").text
