"""Mutations of precision, dtype, type and shape, and of whose memory is written."""

import numpy as np

from tools.tests.check_diagnosis.operators import after, operator, result_of, some_array


def to_bits(x, bits):
    """Numbers rounded to so many significant bits, halves away from zero, as float64."""
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    scaled = np.ldexp(mantissa, bits)
    return np.ldexp(np.trunc(scaled + np.copysign(0.5, scaled)), exponent - bits)


@operator
def stored_narrow(rng, plain, args):
    result = result_of(plain, args, kind="f", least=8)
    name = rng.choice(["float16", "bfloat16"] + ["float32"] * (result.dtype == np.float64))
    if name == "bfloat16":
        return after(plain.right, lambda r: to_bits(r, 8)), "bfloat16_precision"
    return after(plain.right, lambda r: r.astype(name)), f"{name}_precision"


@operator
def read_narrow(rng, plain, args):
    result_of(plain, args, kind="f", least=8)
    some_array(rng, args)
    name = rng.choice(["bfloat16", "tf32", "float16"])
    causes = f"{name}_precision"
    if name == "float16":
        causes += " tf32_precision"  # in range, the two round alike
    if name == "tf32" and plain.copies:
        causes += " float16_precision"  # then the result fits float16, which is what is said

    def narrow(arg):
        if not isinstance(arg, np.ndarray) or arg.dtype.kind != "f":
            return arg
        if name == "float16":
            return arg.astype(np.float16).astype(arg.dtype)
        return to_bits(arg, 8 if name == "bfloat16" else 11).astype(arg.dtype)

    return lambda *given: plain.right(*map(narrow, given)), causes


@operator
def of_another_dtype(rng, plain, args):
    given = result_of(plain, args, ndim=1).dtype.name
    dtype = rng.choice([name for name in ("float64", "float32", "float16", "int64") if name != given])
    return lambda *args: plain.right(*args).astype(dtype), "wrong_dtype"


@operator
def of_another_form(rng, plain, args):
    result_of(plain, args, ndim=1)
    change, causes = [
        (lambda r: r.tolist(), "wrong_type"),
        (lambda r: None, "nothing_returned"),
        (lambda r: tuple(r), "wrong_type"),
        (lambda r: r.flat[0], "wrong_type"),
        (lambda r: r[None], "reshaped"),
        (lambda r: r[..., None], "reshaped"),
        (lambda r: r[:-1], "wrong_shape"),
        (lambda r: r.reshape(-1, 1, 1), "reshaped"),
    ][rng.integers(8)]
    return after(plain.right, change), causes


@operator
def writes_into_its_argument(rng, plain, args):
    i = some_array(rng, args)

    def wrong(*given):
        result = plain.right(*given)
        given[i].reshape(-1)[:2] += 1
        return result

    return wrong, "input_modified returns_its_input"


@operator
def random_at_each_call(rng, plain, args):
    result = result_of(plain, args, kind="f", least=8)
    bad = rng.random(result.shape) < rng.uniform(0.05, 1)
    fresh = np.random.default_rng(int(rng.integers(1 << 30)))
    return after(plain.right, lambda r: r + bad * fresh.normal(size=r.shape)), "differs_between_runs"


@operator
def leaves_out_unwritten(rng, plain, args):
    """Writes only part of `out`: all but a tail, every other block, a random half, or nothing."""
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    flat = np.arange(result.size)
    written = [flat < rng.integers(1, result.size), flat // 4 % 2 == 0, rng.random(result.size) < 0.5, flat < 0][
        rng.integers(4)
    ].reshape(result.shape)

    def wrong(*given, out=None):
        out = np.zeros_like(result) if out is None else out
        out[written] = plain.right(*given)[written]
        return out

    return wrong, "partly_written" if written.any() else "nothing_written"
