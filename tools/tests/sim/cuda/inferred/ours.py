"""The types that the simulator finds for the variables of a function."""

import sys

import numpy as np

from tools.sim.cuda.run.values import OfArray, type_of
from tools.sim.cuda.translate.inference import Inference
from tools.sim.cuda.translate.program import program


def of_simulator(function, arguments) -> dict[str, set[str]]:
    """All types that each variable has, in one place or another, as seen before every step of the last pass."""
    inference, kernel = Inference(()), program(function)
    arguments = [
        inference.space.array("x", "global", each.dtype, each.shape)
        if isinstance(each, np.ndarray)
        else np.array(each)[()]
        for each in arguments
    ]
    found: dict[str, set[str]] = {}

    def look(frame, event, _):
        for name, value in frame.f_locals.items():
            if name in function.__code__.co_varnames and type(value).__name__ not in ("Undefined", "NoneType"):
                found.setdefault(name, set()).add(described(type_of(value)))
        return look

    def enter(frame, event, _):
        if frame.f_code is kernel.code[True]:
            found.clear()
            frame.f_trace_opcodes = True
            return look

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        version = kernel.version(tuple(arguments))
    finally:
        sys.settrace(before)
    assert version.unclear == []
    return found


def described(kind) -> str:
    if isinstance(kind, OfArray):
        return f"{kind.dtype}[{kind.ndim}]"
    return f"({', '.join(map(described, kind[1:]))})" if type(kind) is tuple else str(kind)
