"""gradcheck: is the backward of a function the derivative of its forward? PyTorch's own check, told in words."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tools import worker
from tools.check import arrays, explain, text
from tools.check.case import Case, copied
from tools.check.compare import Discrepancy, Rule
from tools.check.matching import Mismatch, raise_gap
from tools.check.tolerances import Tolerance
from tools.worker.gradcheck import ABSOLUTE, RELATIVE

STEPS = Tolerance(RELATIVE, "differences in float64", "float64")
BESIDE = "Got: what the backward returns for a random d_out.\nWanted: how the result changes when an element moves."


def gradcheck(function: Callable, *args: object, full: bool = False, **kwargs: object) -> None:
    """Assert that torch.autograd.gradcheck passes for function(*args, **kwargs), its float tensors in float64.

    It compares the backward with differences (f(x + h) - f(x - h)) / 2h of the function itself, and so needs no oracle;
    but a function that computes in less than float64 does not pass. Small tensors are enough.

    full: every entry of the Jacobian, at the price of two calls for each element of each argument; else gradcheck's
        fast mode, some random combinations of them.

    Raises Mismatch with the first argument whose gradient is wrong; or NotImplementedError for a gap.
    """
    __tracebackhide__ = True
    own_args, own_kwargs = copied((args, kwargs))
    case = Case(worker.checked(function), own_args, own_kwargs, function, Rule())
    outcome = worker.call(case.function, args, kwargs | ({"_full": True} if full else {}))
    raise_gap(outcome)
    head, found = text.call_lines(case.name, case.arguments), outcome.value
    if outcome.error:
        raise Mismatch(text.compose(head, Discrepancy("raised", outcome.error), None), "raised")
    if isinstance(found, str):
        raise Mismatch(text.printable("\n".join([*head, "", *text.wrapped(f"PyTorch says: {found}")])), "gradcheck")
    if found is not None:
        raise _mismatch(head, *_read(found))


def _read(found: Any) -> tuple[str, np.ndarray, np.ndarray]:
    match found:
        case (str(name), mine, right) if all(map(arrays.is_tensor, (mine, right))) and mine.shape == right.shape:
            return name, arrays.to_numpy(mine), arrays.to_numpy(right)
    raise worker.Died("something else than gradients came out of the lesson's process")


def _mismatch(head: list[str], name: str, mine: np.ndarray, right: np.ndarray) -> Mismatch:
    wrong = np.abs(mine - right) > ABSOLUTE + RELATIVE * np.abs(right)  # not where no step was tried
    found = Discrepancy("values", mine, right, f"the gradient of {name}", wrong, STEPS)
    words, cause = (None, None) if np.isnan(right).any() else explain.cause_of_values(found)
    return Mismatch(text.compose(head, found, f"{BESIDE}\n{words}" if words else BESIDE), cause)
