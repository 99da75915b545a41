"""Arguments that are not used: with another value nothing changes, or a usual one explains the result."""

from inspect import signature

import numpy as np

from tools.check.diagnosis.arguments import equals, used_at_all, with_argument
from tools.check.diagnosis.ignored import is_ignored
from tools.check.diagnosis.numbers import sample
from tools.check.diagnosis.symptoms import Symptoms
from tools.check.diagnosis.words import Cause, cause
from tools.check.patience import SLOW_REPEAT, allowed
from tools.sim.counters import Counters

USUAL = (1, 4, 8, 2)  # bytes of float32, float64 and float16 among them


def neutral_argument(symptoms: Symptoms) -> Cause | None:
    """One argument might as well have been all zeros, or all ones."""
    if len(symptoms.args) < 2:
        return None
    for i, arg in enumerate(symptoms.args):
        if _left_out(symptoms, i):
            name = symptoms.name_of(i)
            return cause("unused_argument", f"What came back is right without {name}:", used_at_all(symptoms, i))
        for filler in (0, 1) if isinstance(arg, (np.ndarray, float)) else ():
            constant = _constant(arg, filler)
            if symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, i, constant))):
                return cause("unused_argument", f"{equals(symptoms, {i: str(filler)})}:", used_at_all(symptoms, i))
    return None


def _left_out(symptoms: Symptoms, i: int) -> bool:
    """Does the oracle explain the result without this array, where its default is None?"""
    if not isinstance(symptoms.args[i], np.ndarray) or symptoms.oracle is None:
        return False
    try:
        parameters = list(signature(symptoms.oracle).parameters.values())
    except (TypeError, ValueError):  # a built-in function may have none
        return False
    optional = i < len(parameters) and parameters[i].default is None
    return optional and symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, i, None)))


def usual_number(symptoms: Symptoms) -> Cause | None:
    """A whole number, a size or a count, might as well have been 1, or the size of a usual dtype: it is ignored."""
    for usual in USUAL:
        for i, arg in enumerate(symptoms.args):
            if (
                _is_another(arg, usual)
                and symptoms.holds(lambda call: symptoms.ask(*with_argument(call.args, i, usual)))
                and is_ignored(symptoms, i)
            ):
                return _right_for(symptoms.name_of(i), usual)
        for name, value in symptoms.keywords.items():
            if (
                _is_another(value, usual)
                and symptoms.holds(lambda call: symptoms.ask(*call.args, **{name: usual}))
                and is_ignored(symptoms, name)
            ):
                return _right_for(name, usual)
    return None


def _is_another(value: object, usual: int) -> bool:
    return type(value) is int and value > 1 and value != usual


def _right_for(name: str, usual: int) -> Cause:
    return cause("unused_argument", f"It is right for {name} = {usual}.", f"Is {name} used at all?")


def _constant(like: np.ndarray | float, value: int) -> np.ndarray | float:
    """The number in the form of `like`; an array costs no memory."""
    if isinstance(like, np.ndarray):
        return np.broadcast_to(like.dtype.type(value), like.shape)
    return float(value)


def unused_argument(symptoms: Symptoms) -> Cause | None:
    """Other values for one argument should change the result, and do not. Costs a few calls for each argument."""
    if not symptoms.comparable or symptoms.is_slow:
        return None
    got = sample(symptoms.here.got)
    if got.dtype.kind != "f" or not np.isfinite(got).all() or len(np.unique(got)) < 0.3 * len(got) or not got.any():
        return None  # NaN, whole numbers and what saturates stay the same whatever the arguments are
    for i, arg in list(enumerate(symptoms.args))[:4]:
        telling = isinstance(arg, float) or (isinstance(arg, np.ndarray) and arg.size > 3)
        if telling and is_ignored(symptoms, i):
            return cause(
                "unused_argument", f"With another {symptoms.name_of(i)} the same comes back.", "Is it used at all?"
            )
    return None


def unused_keyword(counters: Counters) -> str | None:
    """A number that the call was given by its name, and that changes nothing of what is counted."""
    call = getattr(counters, "call", None)
    if call is None or call.seconds >= allowed(SLOW_REPEAT):
        return None
    for name, value in call.keywords.items():
        if type(value) is not int or not 1 < value < call.longest:
            continue  # a block that holds all there is may be any larger size
        others = [other for size in (2 * value, value // 2) if (other := call.counted(**{name: size})) is not None]
        if others and all(other.to_plain() == counters.to_plain() for other in others):
            return f"With another {name} than {value} the same is counted. Where is {name} used?"
    return None
