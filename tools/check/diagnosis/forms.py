"""Results of the wrong form: None, or a whole number where a fraction is wanted; the right numbers in another shape."""

import math

import numpy as np

from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.sim import tables


def no_return(symptoms: Symptoms) -> Cause | None:
    """None, from a function that has no return, or a way to its end without one."""
    if symptoms.kind != "nothing_returned" or symptoms.source is None or not symptoms.source.returns_nothing():
        return None
    return Cause("nothing_returned", "Is a return missing?")


def another_length(symptoms: Symptoms) -> Cause | None:
    """More or fewer entries than are wanted, in a tuple or a list that the lesson itself returned."""
    got, want = symptoms.got, symptoms.want
    rows = all(isinstance(each, (tuple, list)) for each in (got, want))
    if symptoms.kind != "values" or not rows or len(got) == len(want) or symptoms.is_of_tests:
        return None
    asks = "Which ones are left out?" if len(got) < len(want) else "Which ones are too many?"
    return cause("another_length", f"It has {tables.quantity(len(got), 'entry')}, wanted {len(want)}.", asks)


def rounded_down(symptoms: Symptoms) -> Cause | None:
    """A fraction rounded down, as // or an int leaves it; or an int that was no fraction."""
    got, want = symptoms.got, symptoms.want
    if not isinstance(want, float) or not math.isfinite(want) or isinstance(got, bool):
        return None
    if type(got) is int and got == math.floor(want) and _divides(symptoms):
        seen = "An int came back" if got == want else f"{got} is {want:.6g} rounded down"
        return cause("rounded_down", f"{seen}, as // gives it.", "Is there a division that should keep the fraction?")
    if type(got) is int and got == want and symptoms.source and symptoms.source.returns == "float":
        return cause("an_int", f"The annotation says float, and {got} is an int.", "Which line returns it?")
    if symptoms.kind == "values" and symptoms.holds(lambda call: np.floor(call.want)):
        return cause("rounded_down", "It is what was wanted, rounded down.", "Is there a // that should be a / ?")
    return None


def _divides(symptoms: Symptoms) -> bool:
    """Is there a // in the function, or do further calls give ints where fractions are wanted, rounded down?"""
    if symptoms.source and symptoms.source.divides_whole:
        return True
    fractions = [call for call in symptoms.elsewhere if (call.want != np.floor(call.want)).any()]
    return bool(fractions) and all(
        call.got.dtype.kind == "i" and np.array_equal(call.got, np.floor(call.want)) for call in symptoms.elsewhere
    )


def reshaped(symptoms: Symptoms) -> Cause | None:
    """Last of all that speaks about shapes: the recognisers of order and axes know more."""
    got, want = symptoms.here.got, symptoms.here.want
    if symptoms.kind != "wrong_shape" or got is None or want is None:
        return None
    if got.size == want.size > 0 and np.array_equal(got.reshape(-1), want.reshape(-1), equal_nan=True):
        asks = "Where is an axis added, or dropped?" if got.ndim != want.ndim else "Which axis comes first?"
        return cause("reshaped", "The numbers are the right ones.", asks)
    return None
