"""A checkout whose needs this Python meets, and a bare one, which needs more than this Python has."""

import os
import sys

import pytest

from tools.tests.course_script.checkout import ABSENT, Checkout


@pytest.fixture
def checkout(tmp_path, monkeypatch) -> Checkout:
    """A checkout whose needs this Python meets; the test stands in its root."""
    if os.name == "nt":
        pytest.skip("needs a POSIX shell for the stand-ins; this is Windows; nothing to do")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Checkout(tmp_path)
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def bare(checkout) -> Checkout:
    """A checkout that needs more than this Python has."""
    checkout.depend(ABSENT)
    return checkout
