"""The lessons that these tests call: a friendly one, here and in a process of its own, and a hostile one."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tools import worker

LESSONS = Path(__file__).parent / "lessons"


@pytest.fixture(scope="session")
def here():
    """The friendly lesson as a module of this process."""
    name = "week9.day1.friendly_here"
    spec = importlib.util.spec_from_file_location(name, LESSONS / "friendly.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="session")
def there():
    """The friendly lesson in another process."""
    return worker.proxy("week9.day1.friendly", LESSONS / "friendly.py")


@pytest.fixture(params=["here", "there"])
def lesson(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def hostile():
    return worker.proxy("week9.day1.hostile", LESSONS / "hostile.py")


@pytest.fixture
def write(tmp_path):
    """Writes a lesson file and gives its path."""

    def write(source, name="lesson.py"):
        file = tmp_path / name
        file.write_text(source)
        return file

    return write
