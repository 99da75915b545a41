"""What the tests of formulas share: inputs, oracles, and how a failure is read."""

import math

import numpy as np
import pytest
import torch

from tools.check import Mismatch, assert_matches
from tools.check.tolerances import Tolerance

CLOSE = Tolerance(1e-5, "short sums")


def numbers(*shape, seed=3) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng([seed, *shape]).normal(size=shape)).float()


def failure(function, *args, oracle, tolerance=CLOSE, **kwargs) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, oracle=oracle, tolerance=tolerance, **kwargs)
    assert len(caught.value.text.splitlines()) <= 12 and max(map(len, caught.value.text.splitlines())) <= 76
    return caught.value


def said(found: Mismatch) -> str:
    return " ".join(found.text.split())


def normed(x, weight, bias, how="", eps=1e-5):
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias, eps)


def attend(q, k, v, how="", causal=False, scale=None):
    k, v = (each.repeat_interleave(q.shape[0] // each.shape[0], 0) for each in (k, v))
    scores = q @ k.transpose(1, 2) * (q.shape[2] ** -0.5 if scale is None else scale)
    if causal:
        m, n = scores.shape[1:]
        later = torch.arange(n) > torch.arange(m)[:, None] + n - m
        scores = scores.masked_fill(later, -math.inf)
    return torch.softmax(scores, 2) @ v, torch.logsumexp(scores, 2)
