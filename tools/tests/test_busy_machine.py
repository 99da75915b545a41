"""Tests of the tools say the same on a machine that has other work."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st


def slowly(number: int) -> int:
    time.sleep(0.4)
    return number


@given(st.integers().map(slowly))
@settings(max_examples=4)
def test_examples_may_take_their_time(number):
    """As on two cores that eight processes share."""
    time.sleep(0.25)
