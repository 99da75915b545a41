"""Names outside a kernel, as one launch finds them: arrays of the device, and constants that have changed since."""

import warnings
from typing import Any

from tools.sim.cuda.faults import Unknown, learner_frame
from tools.sim.cuda.host.arrays import elements_of
from tools.sim.cuda.memory.storage import GlobalArray, Storage
from tools.sim.cuda.types import NUMBERS


class ConstantWarning(Warning):
    """A name outside a kernel stands for something else than when the kernel was compiled."""


class Outside:
    """storage: makes the memory of an array argument of this name. See memory.space.Outside."""

    def __init__(self, storage: Any) -> None:
        self._storage = storage
        self._captured: dict[int, tuple[GlobalArray, Storage]] = {}
        self._begun: set[int] = set()
        self._frame: Any = learner_frame()  # of the launch

    def captured(self, thing: Any) -> tuple[GlobalArray, Storage]:
        """Raises Unknown for elements that are not simulated."""
        if id(thing) not in self._captured:
            name, elements = "a device array", elements_of(thing)
            if elements.dtype not in NUMBERS:
                raise Unknown("The simulator knows device arrays of numbers as globals. A GPU may know others.")
            array = GlobalArray(name, elements, thing.address)
            self._captured[id(thing)] = array, self._storage(name, array)
            self._captured[id(thing)][1].watched = True
        return self._captured[id(thing)]

    def begins(self, version: Any) -> None:
        """Warn once a launch for each function whose constants have changed."""
        if id(version) in self._begun:
            return
        self._begun.add(id(version))
        for name, value in version.frozen.changed().items():
            _warn(name, value, version.program.name, self._frame)


def _warn(name: str, value: object, function: str, frame: Any) -> None:
    shown = f"{value!r}" if len(repr(value)) <= 40 and "\n" not in repr(value) else "something else"
    text = (
        f"{name} was {shown} when {function} was compiled, and a GPU goes on with that, as this launch does: to "
        "Numba, a name outside a kernel is a constant. Pass it as an argument, or define the kernel again."
    )
    warnings.warn_explicit(
        text,
        ConstantWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
