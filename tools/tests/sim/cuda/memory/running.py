"""Launches that have to fail."""

import pytest

from tools.sim.cuda.faults import Fault


def fault_of(kernel, configuration, *arguments) -> Fault:
    """The fault that the launch ends with."""
    with pytest.raises(Fault) as caught:
        kernel[configuration](*arguments)
    return caught.value


def race_of(kernel, configuration, *arguments) -> Fault:
    """The same, which is a race."""
    fault = fault_of(kernel, configuration, *arguments)
    assert fault.kind == "race"
    return fault
