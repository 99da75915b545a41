"""A lesson to differentiate and to measure, in this process and in one of its own; and what the diagnosis says."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tools import worker

NAME, FILE = "week9.day4.norms", Path(__file__).parent / "lessons" / "norms.py"


@pytest.fixture(scope="module")
def norms_here():
    pytest.importorskip("triton")
    spec = importlib.util.spec_from_file_location(NAME, FILE)
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[NAME]


@pytest.fixture(scope="module")
def norms_there(norms_here):
    return worker.proxy(NAME, FILE)


@pytest.fixture(params=["here", "there"])
def norms(request):
    return request.getfixturevalue(f"norms_{request.param}")


@pytest.fixture
def cause(monkeypatch):
    """Decides what the diagnosis says: nothing, unless told."""

    def says(found):
        monkeypatch.setattr("tools.check.diagnosis.diagnose", lambda evidence: found)

    says(None)
    return says
