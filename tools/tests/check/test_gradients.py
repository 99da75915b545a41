"""gradients: of a lesson's function, here and in a process of its own; what is wrong with them, in words."""

import time

import pytest
import torch

from tools.check import Mismatch, assert_matches, auditing, compiled, compiled_by_torch, count, gradients, speed_ratio
from tools.check.tolerances import Tolerance, WeakTolerance, accumulated
from tools.worker import NoGradient, RemoteFunction


def layernorm(x, weight, bias, how=""):
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias)


def scale(x, factor=3.0):
    return x * factor


@pytest.fixture
def case():
    """x, weight, bias and d_out."""
    torch.manual_seed(1)
    return torch.randn(6, 8), torch.randn(8), torch.randn(8), torch.randn(6, 8)


def matches(function, *args, oracle, d_out, **more):
    return assert_matches(gradients(function), *args, d_out=d_out, oracle=gradients(oracle), **more)


def failure(norms, case, how) -> Mismatch:
    *args, d_out = case
    with pytest.raises(Mismatch) as caught:
        matches(norms.layernorm, *args, how, oracle=layernorm, d_out=d_out, layouts="any")
    return caught.value


def told(norms, case, how) -> str:
    """Without the call and the line breaks."""
    head, _, rest = failure(norms, case, how).text.partition("\n\n")
    arguments = "x: float32[6,8], weight: float32[8], bias: float32[8]"
    assert " ".join(head.split()) == f"gradients of layernorm({arguments}, how={how!r}, d_out: float32[6,8])"
    return " ".join(rest.split())


# What is right --------------------------------------------------------------------------------------------


def test_right_gradients_match_those_of_the_oracle_in_float64(norms, case):
    *args, d_out = case
    found = matches(norms.layernorm, *args, oracle=layernorm, d_out=d_out, layouts="any")
    assert [gradient.shape for gradient in found] == [(6, 8), (8,), (8,)]
    assert not any(gradient.requires_grad for gradient in found)


def test_the_arguments_may_be_given_by_name(norms, case):
    x, weight, bias, d_out = case
    matches(norms.layernorm, x, bias=bias, weight=weight, oracle=layernorm, d_out=d_out)


def test_each_gradient_has_the_dtype_of_its_argument(norms, case):
    x, weight, bias, d_out = case
    x, d_out = x.bfloat16(), d_out.bfloat16()
    exact = torch.tensor([2.0, 0.5]), torch.tensor([0.5, 4.0])
    assert_matches(gradients(norms.sum_and_product), list(exact), d_out=exact, oracle=gradients(both), exact=True)

    def product(x, weight):
        return (x.float() * weight).to(x.dtype)

    found = matches(product, x, weight, oracle=product, d_out=d_out, tolerance=accumulated("bfloat16", 6))
    assert [gradient.dtype for gradient in found] == [torch.bfloat16, torch.float32]


def test_a_tolerance_for_one_dtype_is_as_strict_as_it_should_be_for_another(case):
    x, weight, _, d_out = case
    x, d_out, half = x.half(), d_out.half(), accumulated("float16", 6)

    def product(x, weight):
        return x * weight

    def a_little_off(x, weight):
        return x * (1.0001 * weight)  # which float32 can tell, and float16 cannot

    assert matches(product, x, weight, oracle=product, d_out=d_out, tolerance=half)
    with pytest.raises(Mismatch, match="In the gradient of weight"):
        matches(a_little_off, x, weight, oracle=product, d_out=d_out, tolerance=half)


def test_each_gradient_may_have_a_tolerance_of_its_own(norms, case):
    *args, d_out = case
    tolerance = {"x": accumulated("float32", 8), "bias": Tolerance(1e-2, "a guess")}
    matches(norms.layernorm, *args, oracle=layernorm, d_out=d_out, tolerance=tolerance)
    with pytest.raises(Mismatch, match="In the gradient of x"):
        matches(norms.layernorm, *args, "a bad place", oracle=layernorm, d_out=d_out, tolerance=tolerance)
    with pytest.raises(ValueError, match="gradients of layernorm returns no gradient of wait"):
        matches(norms.layernorm, *args, oracle=layernorm, d_out=d_out, tolerance={"wait": tolerance["x"]})


def both(parts):
    return parts[0] + parts[1], parts[0] * parts[1]


def test_tensors_in_a_list_have_gradients_and_each_result_its_own_that_arrives(norms):
    first, second = torch.randn(3), torch.randn(3)
    d_sum, d_product = torch.randn(3), torch.randn(3)
    found = matches(norms.sum_and_product, [first, second], oracle=both, d_out=(d_sum, d_product))
    assert torch.allclose(found[0], d_sum + second * d_product)
    found = matches(norms.sum_and_product, [first, second], oracle=both, d_out=(None, d_product))
    assert torch.allclose(found[1], first * d_product)


def test_tensors_of_whole_numbers_and_plain_numbers_have_none(norms):
    counts = torch.tensor([2, 0, 1])
    (found,) = gradients(norms.mean_of_counts)(torch.ones(3), counts, d_out=torch.tensor(3.0))
    assert found.tolist() == [2, 0, 1]


def test_an_argument_that_the_result_does_not_hang_on_has_none():
    def first(x, y):
        return 2 * x

    assert gradients(first)(torch.ones(2), torch.ones(2), d_out=torch.ones(2))[1] is None
    matches(first, torch.ones(2), torch.ones(2), oracle=first, d_out=torch.ones(2))
    with pytest.raises(Mismatch, match=r"The gradient of y is a tensor float32\[2\]; wanted None."):
        matches(lambda x, y: 2 * x + 0 * y, torch.ones(2), torch.ones(2), oracle=first, d_out=torch.ones(2))


def test_a_gradient_that_autograd_hands_through_has_memory_of_its_own():
    def add(x, y):
        return x + y

    d_out = torch.ones(2)
    matches(add, torch.ones(2), torch.ones(2), oracle=add, d_out=d_out)
    assert gradients(add)(torch.ones(2), torch.ones(2), d_out=d_out)[0] is not d_out


def test_kernels_run_forwards_and_backwards(norms):
    found = matches(norms.scale, torch.randn(100), oracle=scale, d_out=torch.randn(100), layouts="any")
    assert found[0].shape == (100,)


def test_the_backward_of_a_lesson_is_as_it_was_afterwards(norms_here, case):
    before = norms_here.LayerNorm.__dict__["backward"]
    *args, d_out = case
    gradients(norms_here.layernorm)(*args, d_out=d_out)
    with pytest.raises(NoGradient):
        gradients(norms_here.layernorm)(*args, "cut off", d_out=d_out)
    assert norms_here.LayerNorm.__dict__["backward"] is before


def test_the_audit_of_tolerances_counts_d_out_among_the_arguments():
    """The gradient of a bias hangs on d_out alone: that an impostor rounds d_out is how it is told."""
    torch.manual_seed(1)
    args = {"x": torch.randn(16, 80), "bias": torch.randn(80)}

    def shifted(x, bias):
        return 2 * x + bias

    d_out = torch.randn(16, 80)
    with auditing.enabled():
        matches(shifted, *args.values(), oracle=shifted, d_out=d_out, tolerance=accumulated("float32", 16))
        with pytest.raises(WeakTolerance, match="tf32 round trip"):
            loose = Tolerance(1e-2, "a guess")
            matches(shifted, *args.values(), oracle=shifted, d_out=d_out, tolerance=loose)


# What is wrong, in words ----------------------------------------------------------------------------------


def test_wrong_values_are_those_of_the_gradient_of_an_argument(norms, case):
    said = told(norms, case, "twice")
    assert said.startswith("In the gradient of weight: All 8 elements differ:")
    assert said.endswith("It is twice the gradient. What is added to it more than once?")


def test_a_missing_gradient_is_named(norms, case):
    assert told(norms, case, "no gradient").startswith("The gradient of weight is None.")


def test_a_gradient_that_was_not_summed_is_named_although_autograd_would_add_it_up(norms, case):
    assert told(norms, case, "not summed") == (
        "Wrong shape: bias has shape (8,), and the backward returns a gradient of shape (6, 8) for it. "
        "Over which axis is it a sum?"
    )


def test_a_gradient_of_another_shape_is_named_as_that_of_its_argument(norms, case):
    assert told(norms, case, "cut off") == (
        "Wrong shape: weight has shape (8,), and the backward returns a gradient of shape (7,) for it. "
        "Which line decides it?"
    )


def test_a_gradient_of_another_dtype_is_named_although_autograd_would_cast_it(norms, case):
    assert told(norms, case, "half") == (
        "Wrong dtype: x is float32, and the backward returns a gradient in float16 for it."
    )


def test_an_error_in_the_backward_shows_its_line(norms, case):
    assert told(norms, case, "raises").startswith("It raised ValueError: no way back")
    assert "in backward: raise ValueError" in told(norms, case, "raises")


def test_too_few_gradients_are_counted_against_the_arguments(norms, case):
    assert told(norms, case, "forgets one") == (
        "The backward returns 3 gradients, the forward takes 4 arguments. "
        "Each argument has a gradient or None, in their order. Which is left out?"
    )


def test_a_result_without_a_way_back_is_told(norms, case):
    assert told(norms, case, "detached") == (
        "The result has no grad_fn: autograd knows no way back from it to the arguments. "
        "Which line computes it where autograd does not look, or detaches it?"
    )


def test_a_backward_that_counts_on_how_d_out_is_stored_is_told_so(norms, case):
    found = failure(norms, case, "reads d_out as if contiguous")
    assert found.cause == "layout"
    assert "With d_out contiguous the result was right." in " ".join(found.text.split())


@pytest.mark.parametrize(
    "name, d_out, said",
    [
        ("through_a_list", torch.ones(2), "The result is of type list; only from a tensor is there a way back."),
        ("scale", torch.ones(3), "The result has shape (2,); wanted (3,)."),
        ("in_place", torch.ones(2), "a leaf Variable that requires grad is being used in an in-place operation."),
    ],
)
def test_what_is_no_result_to_go_back_from_is_told(norms, name, d_out, said):
    with pytest.raises(Mismatch) as caught:
        matches(getattr(norms, name), torch.ones(2), oracle=lambda x: 2 * torch.cat([x, x])[: len(d_out)], d_out=d_out)
    assert said in " ".join(caught.value.text.split())


def test_a_gap_stays_a_gap(norms):
    with pytest.raises(NotImplementedError, match="week9/day4 task 1"):
        matches(norms.not_yet, torch.ones(2), oracle=scale, d_out=torch.ones(2))


# A function like others -----------------------------------------------------------------------------------


def test_its_signature_is_that_of_the_function_with_d_out_and_without_out(norms):
    made = gradients(norms.scale)
    assert made.__name__ == "gradients of scale"
    assert list(made.__signature__.parameters) == ["x", "factor", "d_out"]
    assert isinstance(made, RemoteFunction) == isinstance(norms.scale, RemoteFunction)


def test_the_apply_of_a_function_has_gradients_by_its_own_name(norms, case):
    *args, d_out = case
    assert gradients(norms.apply).__name__ == "gradients of apply"
    assert len(gradients(norms.apply)(*args, "", d_out=d_out)) == 3


def test_both_directions_are_counted(norms):
    counters = count(gradients(norms.scale), torch.ones(128), d_out=torch.ones(128))
    assert [launch.kernel for launch in counters.launches] == ["scale_kernel"] * 2
    assert counters.bytes == 2 * 2 * 512 and counters.library_operations == []


def test_what_pytorch_computes_on_the_way_back_is_listed_as_one_operation(norms):
    counters = count(gradients(norms.mean_of_counts), torch.ones(3), torch.ones(3), d_out=torch.ones(()))
    assert counters.library_operations == ["torch.mul", "torch.mean", "torch.autograd.grad"]


def test_what_a_backward_of_the_lesson_calls_is_listed_call_by_call(norms, case):
    *args, d_out = case
    counters = count(gradients(norms.layernorm), *args, d_out=d_out)
    there, back = counters.library_operations[:8], counters.library_operations[8:]
    assert "torch.autograd.grad" not in back
    assert (there.count("torch.rsqrt"), there.count("torch.sum"), back.count("torch.sum")) == (1, 0, 2)


def test_the_copy_of_a_gradient_that_was_handed_through_is_not_the_lessons(norms):
    counters = count(gradients(norms.sum_of_two), torch.ones(3), torch.ones(3), d_out=torch.ones(3))
    assert counters.library_operations == ["torch.add"]


def test_both_directions_are_compiled(norms):
    evidence = compiled(gradients(norms.scale), torch.ones(128), d_out=torch.ones(128))
    assert [kernel.name for kernel in evidence.kernels] == ["scale_kernel"] * 2


def test_their_speed_is_compared(norms):
    def after_a_rest(x, counts):
        time.sleep(0.1)
        return (x * counts).mean()

    x = torch.ones(20)
    assert speed_ratio(gradients(norms.mean_of_counts), gradients(after_a_rest), x, x, d_out=torch.ones(())) >= 2


def test_they_are_right_under_torch_compile_too(norms, case):
    *args, d_out = case
    function = compiled_by_torch(norms.layernorm)
    assert function.__name__ == "compiled layernorm"
    assert_matches(function, *args, oracle=layernorm)
    matches(function, *args, oracle=layernorm, d_out=d_out)
    with pytest.raises(Mismatch, match="gradients of compiled layernorm") as caught:
        matches(function, *args, "twice", oracle=layernorm, d_out=d_out)
    assert "In the gradient of weight" in caught.value.text


def test_a_kernel_under_torch_compile_runs_as_it_is(norms):
    matches(compiled_by_torch(norms.scale), torch.randn(100), oracle=scale, d_out=torch.randn(100))
