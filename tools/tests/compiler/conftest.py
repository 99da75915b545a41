"""The lessons that these tests compile, in the process that compiles them."""

from pathlib import Path

import pytest

from tools import worker

pytest.importorskip("triton")

LESSONS = Path(__file__).parent / "lessons"


def lesson_in(name: str):
    return worker.proxy(f"week9.day2.{name}", LESSONS / f"{name}.py", mode="compile")


@pytest.fixture(scope="session")
def doubtful():
    return lesson_in("doubtful")


@pytest.fixture(scope="session")
def plain():
    return lesson_in("plain")
