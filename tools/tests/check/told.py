"""What assert_matches tells of a wrong function."""

import textwrap

import pytest

from tools.check import Mismatch, assert_matches


def failure(function, *args, **kwargs) -> str:
    """The text."""
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, **kwargs)
    assert caught.value.text == str(caught.value)
    return caught.value.text


def cause_of(function, *args, **kwargs) -> str | None:
    """The name of the cause that it gives."""
    with pytest.raises(Mismatch) as caught:
        assert_matches(function, *args, **kwargs)
    return caught.value.cause


def expect(actual: str, wanted: str) -> None:
    """wanted: may be indented, with empty lines around it."""
    assert actual == textwrap.dedent(wanted).strip("\n")
