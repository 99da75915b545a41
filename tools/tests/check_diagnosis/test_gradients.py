"""Gradients that are wrong are named: those of softmax, norms and attention, those of any function, and of dropout."""

import inspect
import math

import pytest
import torch

from tools.check import Mismatch, assert_matches, gradients
from tools.check.diagnosis.attention_gradients import PLAIN
from tools.check.diagnosis.norm_gradients import IN_BLOCKS, OF_WEIGHT, OF_X
from tools.check.diagnosis.softmax_gradients import MISTAKES
from tools.check.tolerances import Tolerance
from tools.tests.check_diagnosis.formula_cases import numbers, said

CLOSE = Tolerance(1e-5, "short sums")
OF_ANY_FUNCTION = {
    "gradient_of_another",
    "accumulated_twice",
    "factor_left_out",
    "factor_twice",
    "summed_over_other_axis",
    "no_gradient",
}
OF_GRADIENTS = OF_ANY_FUNCTION | {each.name for each in (*OF_X, *OF_WEIGHT, *IN_BLOCKS, *MISTAKES, *PLAIN)}


def with_backward(forward, backward):
    """A function with this backward: of d_out and of all arguments, which it gets as they were."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            ctx.args = args
            return forward(*args)

        @staticmethod
        def backward(ctx, d_out):
            return backward(d_out, *ctx.args)

    def function(*args):
        return Function.apply(*args)

    function.__signature__ = inspect.signature(forward)
    return function


def failure(forward, backward, *args, d_out=None) -> Mismatch:
    d_out = numbers(*forward(*args).shape, seed=9) if d_out is None else d_out
    with pytest.raises(Mismatch) as caught:
        function = gradients(with_backward(forward, backward))
        assert_matches(function, *args, d_out=d_out, oracle=gradients(forward), tolerance=CLOSE)
    assert len(caught.value.text.splitlines()) <= 12 and max(map(len, caught.value.text.splitlines())) <= 76
    return caught.value


# Of any function ------------------------------------------------------------------------------------------


def weigh(x, weight, bias):
    return x * weight + bias


def args_of_weigh():
    return numbers(6, 7), numbers(7, seed=4), numbers(7, seed=5)


@pytest.mark.parametrize(
    "backward, cause, seen",
    [
        (lambda d, x, w, b: (d * w, d.sum(0), (d * x).sum(0)), "gradient_of_another", "It is the gradient of bias."),
        (lambda d, x, w, b: (d * w, (d * x).sum(0), 2 * d.sum(0)), "accumulated_twice", "It is twice the gradient."),
        (
            lambda d, x, w, b: (1 * d, (d * x).sum(0), d.sum(0)),
            "factor_left_out",
            "As if the factor weight were left out.",
        ),
        (
            lambda d, x, w, b: (d * w * w, (d * x).sum(0), d.sum(0)),
            "factor_twice",
            "As if it were multiplied by weight once too often.",
        ),
        (
            lambda d, x, w, b: (d * w, x.sum(0), d.sum(0)),
            "unused_argument",
            "equals the right result for (x, weight, bias, 1): where does d_out come in?",
        ),
        (lambda d, x, w, b: (-d * w, (d * x).sum(0), d.sum(0)), "wrong_sign", "Every number has the opposite sign."),
        (lambda d, x, w, b: (d * w, None, d.sum(0)), "no_gradient", "Does the backward return one for weight?"),
    ],
)
def test_a_gradient_that_is_wrong_for_any_function_is_named(backward, cause, seen):
    found = failure(weigh, backward, *args_of_weigh())
    assert found.cause == cause, found.text
    assert seen in said(found)


def test_a_sum_over_another_axis_is_named_where_the_shapes_allow_it():
    def shifted(x, bias):
        return 3 * x.sin() + bias

    found = failure(shifted, lambda d, x, bias: (3 * x.cos() * d, d.sum(1)), numbers(7, 7), numbers(7, seed=4))
    assert found.cause == "summed_over_other_axis" and "As if it were summed over axis 1." in said(found)


def test_a_gradient_that_a_backward_function_did_not_sum_is_named():
    def bias_backward(d_out):
        return 2 * d_out.sum((0, 1))

    for wrong, seen in ((lambda d: 2 * d, "axes 0 and 1"), (lambda d: 2 * d.sum(0), "axis 0")):
        with pytest.raises(Mismatch) as caught:
            assert_matches(wrong, numbers(2, 3, 4), oracle=bias_backward, tolerance=CLOSE)
        assert caught.value.cause == "not_summed" and f"Summed over {seen} it is right." in said(caught.value)


# Of formulas ----------------------------------------------------------------------------------------------


def softmax(x):
    return torch.softmax(x, -1)


def log_softmax(x):
    return torch.log_softmax(x, -1)


@pytest.mark.parametrize("shape", [(5, 20), (2, 3, 30)], ids=str)
@pytest.mark.parametrize(
    "forward, backward, cause",
    [
        (softmax, lambda d, x: softmax(x) * d, "delta_left_out"),
        (softmax, lambda d, x: d - (softmax(x) * d).sum(-1, keepdim=True), "factor_left_out"),
        (softmax, lambda d, x: softmax(x) * (d - (softmax(x) * d).mean(-1, keepdim=True)), "averaged"),
        (softmax, lambda d, x: softmax(x) * (d + (softmax(x) * d).sum(-1, keepdim=True)), "wrong_sign_of_delta"),
        (log_softmax, lambda d, x: 1 * d, "delta_left_out"),
        (log_softmax, lambda d, x: d - softmax(x), "sum_left_out"),
    ],
)
def test_a_mistake_in_the_gradient_of_softmax_is_named(shape, forward, backward, cause):
    found = failure(forward, backward, numbers(*shape))
    assert found.cause == cause, found.text


def layernorm(x, weight, bias):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias)


def rmsnorm(x, weight):
    return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, 1e-6)


def of_norm(how, d, x, weight, center=True):
    mean = x.mean(-1, keepdim=True) if center else 0.0
    rstd = torch.rsqrt(((x - mean) ** 2).mean(-1, keepdim=True) + (1e-5 if center else 1e-6))
    x_hat, g = (x - mean) * rstd, d if how == "weight" else d * weight
    first = g.mean(-1, keepdim=True) if center and how not in ("mean", "both") else 0.0
    second = 0.0 if how in ("spread", "both") else x_hat * (g * x_hat).mean(-1, keepdim=True)
    d_x = (1.0 if how == "rstd" else rstd) * (g - first - second)
    products = {"x for x_hat": d * x, "no rstd": d * (x - mean), "no d_out": x_hat}.get(how, d * x_hat)
    rows = products.reshape(-1, x.shape[-1])
    return d_x, rows[16:].sum(0) if how == "last rows" else rows.sum(0)


@pytest.mark.parametrize("shape", [(30, 12), (4, 5, 16)], ids=str)
@pytest.mark.parametrize(
    "how, cause",
    [
        ("mean", "mean_term_left_out"),
        ("spread", "spread_term_left_out"),
        ("both", "both_terms_left_out"),
        ("weight", "weight_forgotten"),
        ("rstd", "rstd_left_out"),
        ("x for x_hat", "x_for_x_hat"),
        ("no rstd", "rstd_left_out"),
        ("no d_out", "d_out_forgotten"),
        ("last rows", "last_block_only"),
    ],
)
def test_a_mistake_in_the_gradients_of_layer_norm_is_named(shape, how, cause):
    def backward(d, x, weight, bias):
        return *of_norm(how, d, x, weight), d.reshape(-1, x.shape[-1]).sum(0)

    x = 2 * numbers(*shape) + 1
    found = failure(layernorm, backward, x, numbers(shape[-1], seed=4), numbers(shape[-1], seed=5))
    assert found.cause == cause, found.text


@pytest.mark.parametrize("how, cause", [("spread", "spread_term_left_out"), ("rstd", "rstd_left_out")])
def test_a_mistake_in_the_gradients_of_rms_norm_is_named(how, cause):
    def backward(d, x, weight):
        return of_norm(how, d, x, weight, center=False)

    found = failure(rmsnorm, backward, 2 * numbers(6, 12) + 1, numbers(12, seed=4))
    assert found.cause == cause, found.text


def attention(q, k, v, causal=False):
    return weights(q, k, causal) @ spread(v, q)


def spread(k, q):
    return k.repeat_interleave(q.shape[0] // k.shape[0], 0) if k.ndim > 2 else k


def weights(q, k, causal):
    scores = q @ spread(k, q).transpose(-1, -2) * q.shape[-1] ** -0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(later, -math.inf) if causal else scores, -1)


def of_attention(how, d, q, k, v, causal):
    p, seen = weights(q, k, causal), weights(q, k, causal)
    if how == "unmasked":
        scores = q @ spread(k, q).transpose(-1, -2) * q.shape[-1] ** -0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        p = torch.exp(scores - torch.logsumexp(scores.masked_fill(later, -math.inf), -1, keepdim=True))
    d_p = d @ spread(v, q).transpose(-1, -2)
    delta = (
        0.0
        if how == "delta"
        else d.sum(-1, keepdim=True)
        if how == "out"
        else (seen @ spread(v, q) * d).sum(-1, keepdim=True)
    )
    d_s = p * (d_p - delta) * (1.0 if how == "scale" else q.shape[-1] ** -0.5)
    d_k = d_s.transpose(-1, -2) @ q
    d_v = (p if how == "transposed" else p.transpose(-1, -2)) @ d
    if how == "last queries":
        d_k = d_s[..., 16:, :].transpose(-1, -2) @ q[..., 16:, :]
    if k.shape[0] != q.shape[0]:
        group = q.shape[0] // k.shape[0]
        d_k, d_v = (each.unflatten(0, (-1, group)) for each in (d_k, d_v))
        d_k, d_v = (each[:, -1].clone() if how == "last head" else each.sum(1) for each in (d_k, d_v))
    return d_s @ spread(k, q), d_k, d_v, None


@pytest.mark.parametrize("heads, kv_heads", [(None, None), (4, 2)])
@pytest.mark.parametrize(
    "how, causal, which, cause",
    [
        ("delta", False, "q", "delta_left_out"),
        ("out", False, "q", "out_left_out_of_delta"),
        ("scale", True, "q", "scale_forgotten"),
        ("unmasked", True, "q", "mask_ignored"),
        ("transposed", False, "v", "weights_transposed"),
        ("last queries", False, "k", "last_block_only"),
    ],
)
def test_a_mistake_in_the_gradients_of_attention_is_named(heads, kv_heads, how, causal, which, cause):
    lead, kv_lead = ((), ()) if heads is None else ((heads,), (kv_heads,))
    q, k, v = numbers(*lead, 24, 8), numbers(*kv_lead, 24, 8, seed=4), numbers(*kv_lead, 24, 8, seed=5)
    found = failure(attention, lambda *args: of_attention(how, *args), 2 * q, k, v, causal)
    assert found.cause == cause and f"In the gradient of {which}:" in found.text, found.text


def test_heads_that_share_keys_are_added_up():
    args = numbers(4, 20, 8), numbers(2, 20, 8, seed=4), numbers(2, 20, 8, seed=5), False
    found = failure(attention, lambda *args: of_attention("last head", *args), *args)
    assert found.cause == "one_head_only" and "only the last one counted" in said(found)


# Dropout --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(300,), (10, 64)], ids=str)
@pytest.mark.parametrize(
    "how, cause, seen",
    [
        ("same in every block", "same_mask_in_every_block", "every block of 64 dropped the same elements"),
        ("kept and dropped exchanged", "kept_and_dropped_exchanged", "elements are kept that should be 0"),
        ("not scaled", "not_scaled", "As if kept elements were not divided by 1 - p = 0.75."),
    ],
)
def test_the_mistake_in_a_dropout_kernel_is_named(formulas, shape, how, cause, seen):
    def dropout(x, p, seed, how, block=64):
        kept = formulas.dropout(torch.ones(shape), p, seed, "") != 0
        return torch.where(kept, x / (1 - p), 0.0)

    with pytest.raises(Mismatch) as caught:
        assert_matches(formulas.dropout, numbers(*shape), 0.25, 7, how, block=64, oracle=dropout)
    assert caught.value.cause == cause, caught.value.text
    assert seen in said(caught.value)


@pytest.mark.parametrize("shape", [(300,), (10, 64)], ids=str)
@pytest.mark.parametrize("how, cause", [("another seed", "another_mask"), ("not scaled", "not_scaled")])
def test_a_backward_that_drops_others_than_the_forward_is_told(formulas, shape, how, cause):
    kept = formulas.dropout(torch.ones(shape), 0.25, 7, "") != 0

    def dropout(x, p, seed, how):
        return torch.where(kept, x / (1 - p), 0.0)

    with pytest.raises(Mismatch) as caught:
        assert_matches(
            gradients(formulas.trained_dropout),
            numbers(*shape),
            0.25,
            7,
            how,
            d_out=numbers(*shape, seed=4),
            oracle=gradients(dropout),
        )
    assert caught.value.cause == cause, caught.value.text
    assert "In the gradient of x:" in caught.value.text


# Silence --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda d: d + 0.3 * numbers(*d.shape, seed=11),
        lambda d: d * (1 + 1e-3 * numbers(*d.shape, seed=11)),
        lambda d: torch.where(numbers(*d.shape, seed=11) > 1.5, 0.0, d),
        lambda d: d[torch.randperm(len(d), generator=torch.Generator().manual_seed(1))],
        lambda d: d.round(decimals=1),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_gradient_that_is_wrong_otherwise_has_no_such_cause(spoilt, place):
    def backward(d, x, weight, bias):
        right = [*of_norm("", d, x, weight), d.sum(0)]
        right[place] = spoilt(right[place])
        return tuple(right)

    found = failure(layernorm, backward, numbers(6, 12), numbers(12, seed=4), numbers(12, seed=5))
    assert found.cause not in OF_GRADIENTS, found.text
