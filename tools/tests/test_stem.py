"""A stem imports once, and its copies are what new processes would be."""

import json
import os
import signal
import subprocess

import pytest

from tools.stem import POSSIBLE, Stem

pytestmark = pytest.mark.skipif(not POSSIBLE, reason="needs Linux; found another system; nothing to do")

HEAVY = "open('imported', 'a').write('x')\n"
WORK = """
import json, os, sys, time
import heavy

def tell(pipe):
    facts = [os.getcwd(), dict(os.environ), os.getsid(0) == os.getpid(), sys.stdin.read(), "" in sys.path]
    os.write(pipe, json.dumps(facts).encode())
    print("printed")
    print("said", file=sys.stderr)

def fail():
    os._exit(3)

def rest():
    time.sleep(60)
"""


@pytest.fixture
def stem(tmp_path, monkeypatch):
    """A stem that can import `work`, with what it needs, in a folder of the test's."""
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "work.py").write_text(WORK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Stem()


@pytest.fixture
def nothing():
    with open(os.devnull) as file:
        yield file.fileno()


def test_a_copy_has_its_folder_variables_streams_and_a_session_of_its_own(stem, tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "input").write_text("asked")
    given, (ours, theirs) = {"PYTHONPATH": str(tmp_path), "OURS": "1"}, os.pipe()
    with open(tmp_path / "input") as stdin, open(tmp_path / "errors", "w") as stderr:
        copy = stem.copy("work:tell", given, tmp_path / "below", stdin.fileno(), stderr.fileno(), [theirs], ["work"])
    assert copy.wait(60) == 0
    folder, environment, leads, asked, here = json.loads(os.read(ours, 10_000))
    assert (folder, environment, leads, asked, here) == (str(tmp_path / "below"), given, True, "asked", False)
    assert copy.stdout.read() == b"printed\n"
    assert (tmp_path / "errors").read_text() == "said\n"


def test_what_a_copy_needs_is_imported_once_for_all(stem, nothing, tmp_path):
    copies = [
        stem.copy("work:fail", {"PYTHONPATH": str(tmp_path)}, tmp_path, nothing, imports=["work", "not_there"])
        for _ in range(3)
    ]
    assert [copy.wait(60) for copy in copies] == [3, 3, 3]
    assert (tmp_path / "imported").read_text() == "x"


def test_a_copy_that_is_at_work_is_waited_for_in_vain(stem, nothing, tmp_path):
    copy = stem.copy("work:rest", {"PYTHONPATH": str(tmp_path)}, tmp_path, nothing)
    with pytest.raises(subprocess.TimeoutExpired):
        copy.wait(0.05)
    copy.send_signal(signal.SIGKILL)
    assert copy.wait(60) == -signal.SIGKILL
