"""Mistakes in backward functions that take what arrives and what was saved."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer
from tools.tests.check_diagnosis.corpus.softmax import row_softmax

EPS = np.float32(1e-5)


def softmax_backward(d_out, x):
    p = row_softmax(x)
    return p * (d_out - (p * d_out).sum(-1, keepdims=True))


def of_softmax(rng):
    shape = (6, 20) if rng.random() < 0.5 else (2, 3, 30)
    return numbers(rng, *shape), numbers(rng, *shape)


@wrong_answer(softmax_backward, of_softmax, "leaves delta out", "delta_left_out")
def softmax_backward_without_delta(d_out, x):
    return row_softmax(x) * d_out


@wrong_answer(softmax_backward, of_softmax, "the sum of d_out for delta", "weights_left_out")
def softmax_backward_with_a_plain_sum(d_out, x):
    return row_softmax(x) * (d_out - d_out.sum(-1, keepdims=True))


def parts(x):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + EPS)
    return (x - mean) * rstd, rstd


def layernorm_backward_x(d_out, x, weight):
    (x_hat, rstd), g = parts(x), d_out * weight
    return rstd * (g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True))


def layernorm_backward_weight(d_out, x):
    return (d_out * parts(x)[0]).reshape(-1, x.shape[-1]).sum(0)


def of_layernorm(rng):
    shape = (40, 20) if rng.random() < 0.5 else (2, 25, 30)
    return numbers(rng, *shape), numbers(rng, *shape), numbers(rng, shape[-1])


def of_weight(rng):
    return of_layernorm(rng)[:2]


@wrong_answer(layernorm_backward_x, of_layernorm, "leaves mean(g) out", "mean_term_left_out")
def layernorm_backward_without_the_mean(d_out, x, weight):
    (x_hat, rstd), g = parts(x), d_out * weight
    return rstd * (g - x_hat * (g * x_hat).mean(-1, keepdims=True))


@wrong_answer(layernorm_backward_x, of_layernorm, "leaves the variance's term out", "spread_term_left_out")
def layernorm_backward_without_the_variance(d_out, x, weight):
    (x_hat, rstd), g = parts(x), d_out * weight
    return rstd * (g - g.mean(-1, keepdims=True))


@wrong_answer(layernorm_backward_x, of_layernorm, "leaves rstd out", "rstd_left_out")
def layernorm_backward_without_rstd(d_out, x, weight):
    return layernorm_backward_x(d_out, x, weight) / parts(x)[1]


@wrong_answer(layernorm_backward_x, of_layernorm, "sums for means", "not_averaged")
def layernorm_backward_by_sums(d_out, x, weight):
    (x_hat, rstd), g = parts(x), d_out * weight
    return rstd * (g - g.sum(-1, keepdims=True) - x_hat * (g * x_hat).sum(-1, keepdims=True))


@wrong_answer(layernorm_backward_weight, of_weight, "x for x_hat", "x_for_x_hat")
def layernorm_backward_weight_of_x(d_out, x):
    return (d_out * x).reshape(-1, x.shape[-1]).sum(0)


@wrong_answer(layernorm_backward_weight, of_weight, "keeps the last block's sum", "last_block_only head_forgotten")
def layernorm_backward_weight_of_the_last_rows(d_out, x):
    products = (d_out * parts(x)[0]).reshape(-1, x.shape[-1])
    return products[(len(products) - 1) // 16 * 16 :].sum(0)


@wrong_answer(layernorm_backward_weight, of_weight, "does not sum over rows", "not_summed")
def layernorm_backward_weight_of_each_row(d_out, x):
    return d_out * parts(x)[0]


def attention_backward_q(d_out, q, k, v):
    return score_gradient(d_out, q, k, v) @ k


def attention_backward_k(d_out, q, k, v):
    return score_gradient(d_out, q, k, v).swapaxes(-1, -2) @ q


def score_gradient(d_out, q, k, v, delta=True):
    scale = q.dtype.type(q.shape[-1] ** -0.5)
    p = row_softmax(q @ k.swapaxes(-1, -2) * scale)
    d_p = d_out @ v.swapaxes(-1, -2)
    return p * (d_p - delta * (p * d_p).sum(-1, keepdims=True)) * scale


def of_attention(rng):
    lead, d = ((), 8) if rng.random() < 0.5 else ((2, 3), 16)
    return tuple(numbers(rng, *lead, length, d) * np.float32(0.7) for length in (20, 20, 40, 40))


@wrong_answer(attention_backward_q, of_attention, "leaves delta out", "delta_left_out")
def attention_backward_without_delta(d_out, q, k, v):
    return score_gradient(d_out, q, k, v, delta=False) @ k


@wrong_answer(attention_backward_q, of_attention, "forgets the scale", "scale_forgotten")
def attention_backward_not_scaled(d_out, q, k, v):
    return score_gradient(d_out, q, k, v) @ k * np.float32(q.shape[-1] ** 0.5)


@wrong_answer(attention_backward_k, of_attention, "stores each block of queries anew", "last_block_only")
def attention_backward_of_the_last_queries(d_out, q, k, v):
    return score_gradient(d_out, q, k, v)[..., 16:, :].swapaxes(-1, -2) @ q[..., 16:, :]
