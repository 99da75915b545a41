"""For tests of the simulators."""

import sys

import pytest


@pytest.fixture
def garbage():
    """Things of which one goes whenever a function or a generator is entered or left, as by a collector of garbage."""
    things = []
    sys.setprofile(lambda *_: things and things.pop(0))
    yield things
    sys.setprofile(None)
