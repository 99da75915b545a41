"""Mutations of any array function: each gives a wrong function and the causes that are literally true of it.

The causes of a mutation were written down before it was first diagnosed.
"""

import numpy as np

OPERATORS = {}


class NotApplicable(Exception):
    """This mutation says nothing about this function."""


def operator(function):
    """Registers `function(rng, plain, args) -> (wrong function, causes)`."""
    OPERATORS[function.__name__] = function
    return function


def after(function, change):
    return lambda *args: change(function(*args))


def result_of(plain, args, ndim=None, kind=None, least=1) -> np.ndarray:
    """What the right function returns; NotApplicable unless it is an array as asked for."""
    with np.errstate(all="ignore"):
        value = plain.right(*args)
    array = np.asarray(value)
    if (ndim and array.ndim < ndim) or (kind and array.dtype.kind not in kind) or array.size < least:
        raise NotApplicable
    return array


def some_array(rng, args, ndim=1) -> int:
    """The position of an array argument of floats."""
    found = [i for i, arg in enumerate(args) if isinstance(arg, np.ndarray) and arg.dtype.kind == "f" and arg.ndim >= ndim]
    if not found:
        raise NotApplicable
    return int(rng.choice(found))


def replaced(args, index, value):
    return (*args[:index], value, *args[index + 1:])


# Values -------------------------------------------------------------------------------------------------

@operator
def scaled(rng, plain, args):
    value = result_of(plain, args)
    factor = rng.choice([2, 0.5, 3, 1024, 1.37, 1 / 7, -2])
    if value.dtype.kind in "bi":
        factor = 2
    return after(plain.right, lambda r: r * type(r)(factor) if np.isscalar(r) else (r * factor).astype(r.dtype)), \
        "constant_factor"


@operator
def displaced(rng, plain, args):
    value = result_of(plain, args, kind="fi")
    by = rng.choice([1, -1]) if value.dtype.kind == "i" else rng.choice([1.0, -0.5, 32, 1e-2])
    causes = "off_by_one constant_offset" if value.dtype.kind == "i" else "constant_offset"
    return after(plain.right, lambda r: r + type(r)(by) if np.isscalar(r) else (r + by).astype(r.dtype)), causes


@operator
def negated(rng, plain, args):
    value = result_of(plain, args, kind="fb")
    if value.dtype.kind == "b":
        return after(plain.right, np.logical_not), "inverted"
    return after(plain.right, np.negative), "wrong_sign"


@operator
def affine(rng, plain, args):
    result_of(plain, args, kind="f", least=4)
    return after(plain.right, lambda r: (3 * r + 2).astype(r.dtype)), ""


@operator
def bent(rng, plain, args):
    """Another function of the result."""
    result_of(plain, args, kind="f", least=4)
    bend = [np.sin, np.square, np.tanh, np.abs, np.cbrt, lambda r: np.sign(r) * np.abs(r) ** 1.1][rng.integers(6)]
    return after(plain.right, lambda r: bend(r).astype(r.dtype)), ""


@operator
def scaled_by_row(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=2)
    factors = rng.uniform(0.5, 2, (len(result), 1))
    return after(plain.right, lambda r: (r * factors).astype(r.dtype)), ""


@operator
def noisy(rng, plain, args):
    """The same small errors at every call."""
    result = result_of(plain, args, kind="f", least=4)
    noise = rng.normal(size=result.shape) * 10 ** rng.uniform(-4, -1) * np.std(result)
    return after(plain.right, lambda r: (r + noise).astype(r.dtype)), ""


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
    return after(plain.right, lambda r: np.cumsum(r, axis, dtype=np.float64).reshape(r.shape).astype(r.dtype)), "not_reset"


@operator
def with_nan_or_infinity(rng, plain, args):
    result = result_of(plain, args, kind="f", least=4, ndim=1)
    bad = rng.random(result.shape) < rng.uniform(0.02, 0.6)
    value = rng.choice([np.nan, np.inf])
    return after(plain.right, lambda r: np.where(bad, value, r).astype(r.dtype)), \
        "unexpected_nan" if np.isnan(value) else "unexpected_infinity"


@operator
def another_function(rng, plain, args):
    wrong, causes = plain.instead[rng.integers(len(plain.instead))]
    return wrong, " ".join(causes)


# Order and places -----------------------------------------------------------------------------------------

@operator
def flipped_over(rng, plain, args):
    result_of(plain, args, ndim=2)
    return after(plain.right, lambda r: r.T.copy()), "transposed"


@operator
def stored_by_column(rng, plain, args):
    result_of(plain, args, ndim=2)
    return after(plain.right, lambda r: r.T.copy().reshape(r.shape)), "transposed"


@operator
def backwards(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=4)
    axis = int(rng.integers(result.ndim))
    return after(plain.right, lambda r: np.flip(r, axis).copy()), "reversed"


@operator
def moved_along(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=4)
    axis, by = int(rng.integers(result.ndim)), int(rng.choice([-3, -2, -1, 1, 2, 3]))
    if rng.random() < 0.5:
        return after(plain.right, lambda r: np.roll(r, by, axis)), "shifted"

    def push(r):
        pushed = np.moveaxis(np.roll(r, by, axis), axis, 0)
        pushed[slice(None, by) if by > 0 else slice(by, None)] = 0
        return np.moveaxis(pushed, 0, axis).copy()
    return after(plain.right, push), "shifted"


@operator
def shuffled(rng, plain, args):
    result = result_of(plain, args, ndim=1, least=8)
    order = rng.permutation(result.size)
    return after(plain.right, lambda r: r.reshape(-1)[order].reshape(r.shape)), "wrong_places"


@operator
def spoilt_here_and_there(rng, plain, args):
    result = result_of(plain, args, kind="f", least=20)
    bad = rng.random(result.shape) < rng.uniform(0.02, 0.3)
    return after(plain.right, lambda r: np.where(bad, 1.7 * r + 0.3, r).astype(r.dtype)), ""


def spoil(rng, r, bad):
    """Zeros, other numbers or NaN where `bad`."""
    filler = [np.zeros(r.shape), rng.normal(size=r.shape) * 3, np.full(r.shape, np.nan)][rng.integers(3)]
    return lambda r: np.where(bad, filler, r).astype(r.dtype), bool(np.isnan(filler).any())


@operator
def without_its_tail(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    axis = int(rng.integers(result.ndim))
    from_here = int(rng.integers(1, result.shape[axis]))
    bad = np.zeros(result.shape, bool)
    np.moveaxis(bad, axis, 0)[from_here:] = True
    change, nan = spoil(rng, result, bad)
    return after(plain.right, change), "tail_wrong only_first_block" + " unexpected_nan" * nan


@operator
def without_its_head(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    axis = int(rng.integers(result.ndim))
    bad = np.zeros(result.shape, bool)
    np.moveaxis(bad, axis, 0)[:int(rng.integers(1, 4))] = True
    change, nan = spoil(rng, result, bad)
    return after(plain.right, change), "head_wrong" + " unexpected_nan" * nan


@operator
def every_other_block(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    block, k = int(rng.choice([1, 2, 4, 8])), int(rng.choice([2, 2, 3, 4]))
    bad = (np.arange(result.size) // block % k == k - 1).reshape(result.shape)
    tail = bad.reshape(-1)[bad.argmax():].all()  # a short result may end inside the first bad block
    change, nan = spoil(rng, result, bad)
    return after(plain.right, change), "every_kth_block" + " tail_wrong" * bool(tail) + " unexpected_nan" * nan


@operator
def first_block_only(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    period = int(rng.integers(2, max(3, len(result) // 2)))
    return after(plain.right, lambda r: r[np.arange(len(r)) % period]), "block_repeated only_first_block"


@operator
def last_rows_repeat(rng, plain, args):
    result = result_of(plain, args, kind="f", ndim=1, least=16)
    last = len(result) - int(rng.integers(2, 5))
    return after(plain.right, lambda r: r[np.minimum(np.arange(len(r)), last)]), "tail_wrong only_first_block"


# Arguments ------------------------------------------------------------------------------------------------

@operator
def exchanged(rng, plain, args):
    if len(args) < 2:
        raise NotApplicable
    i, j = (int(n) for n in rng.choice(len(args), 2, replace=False))

    def wrong(*given):
        given = list(given)
        given[i], given[j] = given[j], given[i]
        return plain.right(*given)
    causes = {"subtract": " wrong_sign", "clip": " all_the_same", "distances": " transposed", "outer": " transposed"}
    return wrong, "swapped_arguments" + causes.get(plain.right.__name__, "")


@operator
def read_twice(rng, plain, args):
    if len(args) < 2:
        raise NotApplicable
    i, j = (int(n) for n in rng.choice(len(args), 2, replace=False))
    zero = " all_zeros" * (plain.right.__name__ == "subtract")
    constant = " all_the_same" * (plain.right.__name__ == "clip")
    return lambda *given: plain.right(*replaced(given, j, given[i])), "repeated_argument" + zero + constant


@operator
def neglected(rng, plain, args):
    """One argument's values are not used: zeros, ones or other constants stand there."""
    i = some_array(rng, args)
    stand_in = [np.zeros_like(args[i]), np.ones_like(args[i]), np.roll(args[i], 2)[::-1].copy()][rng.integers(3)]
    names = "unused_argument"
    if len(args) == 1 or not stand_in.any():
        names += " all_zeros all_the_same argument_unchanged"  # f(0), x * 0, x + 0
    if stand_in.all() and plain.right.__name__ == "multiply":
        names += " argument_unchanged"  # x * 1
    if stand_in.all() and len(args) == 1:
        names += " all_the_same"  # f(1)
    if plain.right.__name__ == "subtract" and i == 0:
        names += " wrong_sign"  # 0 - y is seen as -y only where x is small: kept for the record
    return lambda *given: plain.right(*replaced(given, i, stand_in)), names


@operator
def handed_back(rng, plain, args):
    i = some_array(rng, args)
    return lambda *given: given[i].copy(), "argument_unchanged wrong_shape wrong_type wrong_dtype"


@operator
def turned_argument(rng, plain, args):
    """One argument is read transposed; where that keeps the form, the result may be turned back."""
    i = some_array(rng, args, ndim=2)
    turned_back = rng.random() < 0.5 and result_of(plain, args).ndim == args[i].ndim

    def wrong(*given):
        result = plain.right(*replaced(given, i, given[i].T))
        return result.T.copy() if turned_back else result
    return wrong, "wrong_axis argument_transposed wrong_shape transposed"


@operator
def cut_short(rng, plain, args):
    """The longest axis that the result does not have loses its ragged tail, its last or its first element."""
    result = result_of(plain, args, kind="f")
    lengths = [n for arg in args if isinstance(arg, np.ndarray) for n in arg.shape if n not in result.shape]
    if not lengths:
        raise NotApplicable
    n, kind = max(lengths), int(rng.integers(3))
    block = int(rng.choice([4, 8, 16]))
    part = [slice(n // block * block), slice(n - 1), slice(1, None)][kind]

    def cut(arg):
        return arg[tuple(part if m == n else slice(None) for m in arg.shape)] if isinstance(arg, np.ndarray) else arg
    return lambda *given: plain.right(*map(cut, given)), "head_ignored" if kind == 2 else "tail_ignored"


# Precision and form ---------------------------------------------------------------------------------------

def to_bits(x, bits):
    """float32 or float64 numbers cut or rounded to so many significant bits, as float64."""
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


@operator
def stored_narrow(rng, plain, args):
    result = result_of(plain, args, kind="f", least=8)
    name = rng.choice(["float16", "bfloat16"] + ["float32"] * (result.dtype == np.float64))
    if name == "bfloat16":
        return after(plain.right, lambda r: to_bits(r, 8).astype(r.dtype)), "bfloat16_precision"
    return after(plain.right, lambda r: r.astype(name).astype(r.dtype)), f"{name}_precision"


@operator
def read_narrow(rng, plain, args):
    result_of(plain, args, kind="f", least=8)
    some_array(rng, args)
    bits, causes = [(8, "bfloat16_precision"), (11, "tf32_precision"), (11, "tf32_precision float16_precision")][
        rng.integers(3)]  # rounding to 11 bits is what tf32 does, and float16 as long as it is in range
    if plain.copies:
        causes += " float16_precision" * (bits == 11)  # then the result fits float16, which is what is said

    def narrow(arg):
        if not isinstance(arg, np.ndarray) or arg.dtype.kind != "f":
            return arg
        return (arg.astype(np.float16) if "float16_precision tf32" in causes else to_bits(arg, bits)).astype(arg.dtype)
    return lambda *given: plain.right(*map(narrow, given)), causes


@operator
def of_another_dtype(rng, plain, args):
    value = result_of(plain, args, ndim=1)
    dtype = rng.choice([name for name in ("float64", "float32", "float16", "int64") if name != value.dtype.name])
    return after(plain.right, lambda r: r.astype(dtype)), "wrong_dtype"


@operator
def of_another_form(rng, plain, args):
    value = result_of(plain, args, ndim=1)
    change, causes = [
        (lambda r: r.tolist(), "wrong_type"), (lambda r: None, "nothing_returned"),
        (lambda r: tuple(r), "wrong_type"), (lambda r: r.flat[0], "wrong_type"),
        (lambda r: r[None], "wrong_shape"), (lambda r: r[..., None], "wrong_shape"),
        (lambda r: r[:-1], "wrong_shape"), (lambda r: r.reshape(-1) if r.ndim > 1 else r[:, None], "wrong_shape"),
    ][rng.integers(8)]
    return after(plain.right, change), causes


# Memory ---------------------------------------------------------------------------------------------------

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
    return after(plain.right, lambda r: (r + bad * fresh.normal(size=r.shape)).astype(r.dtype)), "differs_between_runs"


@operator
def leaves_out_unwritten(rng, plain, args):
    """Writes only part of `out`: all but a tail, every other block, a random half, or nothing."""
    result = result_of(plain, args, kind="f", ndim=1, least=8)
    flat = np.arange(result.size)
    written = [flat < rng.integers(1, result.size), flat // 4 % 2 == 0, rng.random(result.size) < 0.5,
               flat < 0][rng.integers(4)].reshape(result.shape)

    def wrong(*given, out=None):
        out = np.zeros_like(result) if out is None else out
        out[written] = plain.right(*given)[written]
        return out
    return wrong, "partly_written" if written.any() else "nothing_written"
