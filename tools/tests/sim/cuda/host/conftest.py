"""Each test has a device of its own, whose clock begins at 0."""

import pytest

from tools.sim import host


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.delenv(host.CHIP, raising=False)
    host.reset()
    yield host.device()
    host.reset()
