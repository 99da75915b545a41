"""The compiler's process starts as soon as a task that it will be asked about is right, while other tests still run."""

import sys

import pytest

from tools.check.compiled import prepare_compiler
from tools.course import catalogue
from tools.pytest_course.marks import stage_of, tasks_of
from tools.pytest_course.run import item_unit

WAITING = pytest.StashKey[set]()  # (unit name, task) of collected `compiled` tests whose compiler has not started


def pytest_collection_modifyitems(config, items):
    config.stash[WAITING] = {(item_unit(item), task) for item in items if item.get_closest_marker("compiled")
                             for task in tasks_of(item)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield  # raises if the test fails, and then there is nothing to compile yet
    unit, waiting = item_unit(item), item.config.stash[WAITING]
    if stage_of(item) == "correctness" and any((unit, task) in waiting for task in tasks_of(item)):
        waiting -= {(name, task) for name, task in waiting if name == unit}
        prepare_compiler(sys.modules[catalogue.unit(unit).module])
    return result
