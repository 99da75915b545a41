"""Mistakes in attention, computed in one piece or in blocks of keys."""

import numpy as np

from tools.tests.check_diagnosis.corpus import numbers, wrong_answer


def softmax(scores):
    m = scores.max(-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(m), m, 0))
    return e / e.sum(-1, keepdims=True)


def dot(q, k):
    return q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)


def hidden(scores, later=0):
    """Of `queries` and `keys`, that end together."""
    queries, keys = scores.shape[-2:]
    return np.arange(keys) > np.arange(queries)[:, None] + keys - queries + later


def attention(q, k, v):
    return softmax(dot(q, k)) @ v


def causal_attention(q, k, v):
    return softmax(np.where(hidden(dot(q, k)), -np.inf, dot(q, k))) @ v


def grouped_attention(q, k, v):
    k, v = (np.repeat(each, q.shape[0] // k.shape[0], 0) for each in (k, v))
    return attention(q, k, v)


def qkv(rng):
    queries, keys = ((20, 45), 8) if rng.random() < 0.5 else ((2, 3, 18, 70), 16)
    *lead, m, n = queries
    return tuple(numbers(rng, *lead, length, keys) * np.float32(0.7) for length in (m, n, n))


def groups(rng):
    heads, d = (4, 8) if rng.random() < 0.5 else (6, 16)
    return tuple(numbers(rng, h, length, d) * np.float32(0.7) for h, length in ((heads, 18), (2, 25), (2, 25)))


def in_blocks(q, k, v, block=16, acc_scale=True, sum_scale=True, carry=True, dtype=np.float32):
    """FlashAttention's loop over keys; what is not rescaled, or not carried on, stays or begins anew."""
    m = np.full((*q.shape[:-1], 1), -np.inf, np.float32)
    total, acc = np.zeros_like(m), np.zeros((*q.shape[:-1], v.shape[-1]), dtype)
    for start in range(0, k.shape[-2], block):
        scores = dot(q, k[..., start : start + block, :])
        new = np.maximum(m, scores.max(-1, keepdims=True))
        alpha, p = np.exp(m - new), np.exp(scores - new)
        total = (total * (alpha if sum_scale else 1) if carry else 0) + p.sum(-1, keepdims=True)
        acc = (acc * (alpha if acc_scale else 1) + p @ v[..., start : start + block, :]).astype(dtype)
        m = new
    return acc / total


@wrong_answer(attention, qkv, "forgets the scale", "scale_forgotten")
def attention_not_scaled(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2)) @ v


@wrong_answer(attention, qkv, "divides by d", "scale_by_d scale_twice")
def attention_scaled_by_d(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / np.float32(q.shape[-1])) @ v


@wrong_answer(attention, qkv, "softmax over queries", "softmax_over_queries")
def attention_over_queries(q, k, v):
    return softmax(dot(q, k).swapaxes(-1, -2)).swapaxes(-1, -2) @ v


@wrong_answer(attention, qkv, "exchanges k and v", "k_and_v_exchanged")
def attention_with_k_and_v_exchanged(q, k, v):
    return attention(q, v, k)


@wrong_answer(attention, qkv, "does not divide", "not_divided")
def attention_not_divided(q, k, v):
    return np.exp(dot(q, k) - dot(q, k).max(-1, keepdims=True)) @ v


@wrong_answer(attention, qkv, "counts keys of zeros", "padding_counted")
def attention_with_padding(q, k, v):
    k, v = (np.pad(each, [(0, 0)] * (each.ndim - 2) + [(0, -each.shape[-2] % 32), (0, 0)]) for each in (k, v))
    return attention(q, k, v)


@wrong_answer(attention, qkv, "acc is not rescaled", "acc_not_rescaled")
def attention_acc_not_rescaled(q, k, v):
    return in_blocks(q, k, v, acc_scale=False).astype(np.float32)


@wrong_answer(attention, qkv, "l_i is not rescaled", "sum_not_rescaled")
def attention_sum_not_rescaled(q, k, v):
    return in_blocks(q, k, v, sum_scale=False).astype(np.float32)


@wrong_answer(attention, qkv, "neither is rescaled", "nothing_rescaled")
def attention_nothing_rescaled(q, k, v):
    return in_blocks(q, k, v, acc_scale=False, sum_scale=False).astype(np.float32)


@wrong_answer(attention, qkv, "l_i begins anew with each block", "sum_not_carried")
def attention_sum_not_carried(q, k, v):
    return in_blocks(q, k, v, carry=False).astype(np.float32)


@wrong_answer(attention, qkv, "only the last block of keys", "last_block_only")
def attention_of_the_last_block(q, k, v):
    start = (k.shape[-2] - 1) // 16 * 16
    return attention(q, k[..., start:, :], v[..., start:, :])


@wrong_answer(attention, qkv, "acc in float16", "float16_accumulation")
def attention_accumulated_in_float16(q, k, v):
    return in_blocks(q, k, v, dtype=np.float16).astype(np.float32)


@wrong_answer(attention, qkv, "weights in float16", "weights_rounded")
def attention_with_rounded_weights(q, k, v):
    e = np.exp(dot(q, k) - dot(q, k).max(-1, keepdims=True))
    return e.astype(np.float16).astype(np.float32) @ v / e.sum(-1, keepdims=True)


@wrong_answer(causal_attention, qkv, "no mask", "mask_ignored")
def causal_attention_without_a_mask(q, k, v):
    return attention(q, k, v)


@wrong_answer(causal_attention, qkv, "masks after softmax", "mask_after_softmax")
def causal_attention_masked_late(q, k, v):
    return np.where(hidden(dot(q, k)), 0, softmax(dot(q, k))).astype(np.float32) @ v


@wrong_answer(causal_attention, qkv, "masks with 0", "mask_by_zero")
def causal_attention_masked_by_zero(q, k, v):
    return softmax(np.where(hidden(dot(q, k)), np.float32(0), dot(q, k))) @ v


@wrong_answer(causal_attention, qkv, "hides the own key", "own_key_hidden")
def causal_attention_strictly(q, k, v):
    return softmax(np.where(hidden(dot(q, k), -1), np.float32(-np.inf), dot(q, k))) @ v


@wrong_answer(causal_attention, qkv, "sees the next key", "next_key_seen")
def causal_attention_one_too_far(q, k, v):
    return softmax(np.where(hidden(dot(q, k), 1), np.float32(-np.inf), dot(q, k))) @ v


@wrong_answer(causal_attention, qkv, "aligned to the start", "causal_other_end")
def causal_attention_from_the_start(q, k, v):
    scores = dot(q, k)
    later = np.arange(scores.shape[-1]) > np.arange(scores.shape[-2])[:, None]
    return softmax(np.where(later, np.float32(-np.inf), scores)) @ v


@wrong_answer(grouped_attention, groups, "head h takes keys h % n_kv", "wrong_head")
def grouped_attention_modulo(q, k, v):
    h = np.arange(q.shape[0]) % k.shape[0]
    return attention(q, k[h], v[h])
