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
    """`function`, then `change` of its result, in the dtype that the result had."""

    def changed(*args):
        result = function(*args)
        value = change(result)
        return value.astype(result.dtype) if hasattr(result, "dtype") and hasattr(value, "astype") else value

    return changed


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
    arrays = [(i, arg) for i, arg in enumerate(args) if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    found = [i for i, array in arrays if array.ndim >= ndim]
    if not found:
        raise NotApplicable
    return int(rng.choice(found))


def replaced(args, index, value):
    return (*args[:index], value, *args[index + 1 :])


# Importing a theme registers its mutations.
from tools.tests.check_diagnosis.operators import arguments, form, places, values  # noqa: E402, F401
