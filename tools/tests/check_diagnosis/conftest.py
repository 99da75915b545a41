"""The kernels of softmax, layer norm and attention that make mistakes."""

import sys
from pathlib import Path

import pytest

from tools import worker

FILE = Path(__file__).parent / "lessons" / "wrong_attention.py"


@pytest.fixture(scope="module")
def formulas():
    """The lesson, in a process that simulates, also where there is a GPU."""
    pytest.importorskip("triton")
    module = worker.proxy("wrong_attention", FILE)
    sys.modules["wrong_attention"] = module
    yield module
    del sys.modules["wrong_attention"]
