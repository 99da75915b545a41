"""Mutations of the values that a function returns."""

import numpy as np

from tools.tests.check_diagnosis.operators import after, operator, result_of


@operator
def scaled(rng, plain, args):
    value = result_of(plain, args)
    factor = rng.choice([2, 0.5, 3, 1024, 1.37, 1 / 7, -2])
    if value.dtype.kind in "bi":
        factor = 2
    change = lambda r: type(r)(r * factor) if np.isscalar(r) else r * factor  # noqa: E731
    return after(plain.right, change), "constant_factor"


@operator
def displaced(rng, plain, args):
    value = result_of(plain, args, kind="fi")
    by = rng.choice([1, -1]) if value.dtype.kind == "i" else rng.choice([1.0, -0.5, 32, 1e-2])
    causes = "off_by_one constant_offset" if value.dtype.kind == "i" else "constant_offset"
    return after(plain.right, lambda r: type(r)(r + by) if np.isscalar(r) else r + by), causes


@operator
def negated(rng, plain, args):
    value = result_of(plain, args, kind="fb")
    if value.dtype.kind == "b":
        return after(plain.right, np.logical_not), "inverted"
    return after(plain.right, np.negative), "wrong_sign"


@operator
def affine(rng, plain, args):
    result_of(plain, args, kind="f", least=4)
    return after(plain.right, lambda r: 3 * r + 2), ""


@operator
def bent(rng, plain, args):
    """Another function of the result."""
    result_of(plain, args, kind="f", least=4)
    bends = [np.sin, np.square, np.tanh, np.abs, np.cbrt, lambda r: np.sign(r) * np.abs(r) ** 1.1]
    return after(plain.right, bends[rng.integers(len(bends))]), ""


@operator
def scaled_by_row(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=2)
    factors = rng.uniform(0.5, 2, (len(result), 1))
    return after(plain.right, lambda r: r * factors), ""


@operator
def noisy(rng, plain, args):
    """The same small errors at every call."""
    result = result_of(plain, args, kind="f", least=4)
    noise = rng.normal(size=result.shape) * 10 ** rng.uniform(-4, -1) * np.std(result)
    return after(plain.right, lambda r: r + noise), ""


@operator
def zeroed(rng, plain, args):
    result_of(plain, args, kind="fi", least=4)
    return after(plain.right, np.zeros_like), "all_zeros"


@operator
def flattened(rng, plain, args):
    """One element everywhere."""
    result_of(plain, args, kind="fi", least=4)
    return after(plain.right, lambda r: np.full_like(r, r.flat[r.size // 2])), "all_the_same all_zeros"


@operator
def accumulated(rng, plain, args):
    result = result_of(plain, args, kind="f", least=4, ndim=1)
    axis = [None, *range(result.ndim)][rng.integers(result.ndim + 1)]
    return after(plain.right, lambda r: np.cumsum(r, axis, dtype=np.float64).reshape(r.shape)), "not_reset"


@operator
def with_nan_or_infinity(rng, plain, args):
    result = result_of(plain, args, kind="f", least=4, ndim=1)
    bad = rng.random(result.shape) < rng.uniform(0.02, 0.6)
    value = rng.choice([np.nan, np.inf])
    causes = "unexpected_nan" if np.isnan(value) else "unexpected_infinity"
    return after(plain.right, lambda r: np.where(bad, value, r)), causes


@operator
def another_function(rng, plain, args):
    wrong, causes = plain.instead[rng.integers(len(plain.instead))]
    return wrong, " ".join(causes)
