"""Mutations of what a function does with its arguments."""

import numpy as np

from tools.tests.check_diagnosis.operators import NotApplicable, operator, replaced, result_of, some_array


@operator
def exchanged(rng, plain, args):
    if len(args) < 2:
        raise NotApplicable
    i, j = (int(n) for n in rng.choice(len(args), 2, replace=False))

    def wrong(*given):
        given = list(given)
        given[i], given[j] = given[j], given[i]
        return plain.right(*given)

    also = {"subtract": " wrong_sign", "clip": " all_the_same", "distances": " transposed", "outer": " transposed"}
    return wrong, "swapped_arguments" + also.get(plain.right.__name__, "")


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
    stand_in = [0 * args[i], 0 * args[i] + 1, np.roll(args[i], 2)[::-1].copy()][rng.integers(3)]
    names = "unused_argument"
    if len(args) == 1 or not stand_in.any():
        names += " all_zeros all_the_same argument_unchanged"  # f(0), x * 0, x + 0
    if stand_in.all() and plain.right.__name__ == "multiply":
        names += " argument_unchanged"  # x * 1
    if stand_in.all() and len(args) == 1:
        names += " all_the_same"  # f(1)
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
        if not isinstance(arg, np.ndarray):
            return arg
        return arg[tuple(part if m == n else slice(None) for m in arg.shape)]

    return lambda *given: plain.right(*map(cut, given)), "head_ignored" if kind == 2 else "tail_ignored"
