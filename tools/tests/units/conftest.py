"""Tests that are made for each unit, of what lies beside its lesson and in its reference. Its check runs its own.

pytest tools/tests/units --unit week1/day4    # those of one unit; without the option those of all
"""

from pathlib import Path

import pytest

from tools import ROOT
from tools.course.content import catalogue
from tools.course.content.answers import reference_file
from tools.course.content.workload import workloads
from tools.tests.sim.cuda.corpus.inject import inject

HERE = Path(__file__).parent


def pytest_addoption(parser):
    parser.addoption("--unit", metavar="UNIT", help="for tests that are made for each unit: those of this one")


def pytest_generate_tests(metafunc):
    """A test that asks for `workload` or `mutant` is made for each of each unit, with the `name` of that."""
    for argument, listed in (("workload", _workloads), ("mutant", _mutants)):
        if argument in metafunc.fixturenames:
            cases = [
                pytest.param(name, each, id=f"{name}:{label}")
                for name in _names(metafunc.config)
                for label, each in listed(name)
            ]
            metafunc.parametrize(("name", argument), cases)


def pytest_collection_modifyitems(config, items):
    """Leave out what is made for other units, and what pytest makes of a test where a unit has nothing for it."""
    names = _names(config)  # the items are those of the whole session, of other rooms too
    items[:] = [item for item in items if HERE not in item.path.parents or item.callspec.params["name"] in names]


def _names(config: pytest.Config) -> list[str]:
    one = config.getoption("--unit", None)  # no such option where pytest was asked for a folder above
    return [one] if one else catalogue.names()


def _workloads(name):
    return [(each.function, each) for each in workloads(catalogue.unit(name))]


def _mutants(name):
    has_solutions = (ROOT / "reference").is_dir()
    return [(str(each), each) for each in inject(reference_file(name))] if has_solutions else []
