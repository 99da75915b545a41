"""What a lesson raised, as plain facts: a simulator's refusals are known by name, and nobody else's class is one."""

from tools.sim.faults import Fault as OfTheSimulator
from tools.sim.faults import Spot
from tools.worker import raised_from


class Fault(Exception):
    """A learner's own."""


class Refused(Exception):
    """Another."""


def test_a_refusal_of_the_simulator_has_its_name():
    assert raised_from(OfTheSimulator(Spot("", 0, "f"), "race", "It races."), []).type_name == "Fault"


def test_a_learners_class_of_that_name_is_no_refusal():
    for kind in (Fault, Refused):
        assert raised_from(kind("mine"), []).type_name == f"test_raised.{kind.__name__}"


def test_any_other_class_has_its_plain_name():
    assert raised_from(ValueError("no"), []).type_name == "ValueError"
