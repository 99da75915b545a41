"""The compiler's process may begin as a copy, of this process or of a stem, and is else what a new process is."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import ROOT
from tools.selfcheck.recording import recorded

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux; found another system; nothing to do")

LESSON = """
import os, signal, sys
import heavy

def facts() -> list:
    return [os.environ.get("COURSE_COMPILE"), os.environ.get("TRITON_INTERPRET"), os.environ.get("OURS"),
            os.getsid(0) == os.getpid(), "" in sys.path, len(os.listdir("/proc/self/fd")), sys.stdin.read()]

def said() -> int:
    print("from the lesson")
    return os.getpid()

def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)
"""
HEAVY = "open('imported', 'a').write('x')\n"
SCRIPT = """
import os, sys, threading
from pathlib import Path
sys.path.insert(0, "")
import heavy
from tools.worker import Died, Lesson, forked, stem
os.environ |= {{"OURS": "1", "TRITON_INTERPRET": "1"}}
held = open(os.devnull)
lesson = Lesson("lesson", Path("lesson.py"), "compile")
{}
"""


COPIES = ["lesson.begin(copied=True); lesson.start()", "stem.keep(); lesson.start()"]


@pytest.fixture
def prints(tmp_path):
    """prints(code) -> what Python prints that has imported a heavy module and does that with a lesson."""
    (tmp_path / "lesson.py").write_text(LESSON)
    (tmp_path / "heavy.py").write_text(HEAVY)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COURSE_", "TRITON_"))}

    def run(code: str) -> str:
        command = [sys.executable, "-c", SCRIPT.format(code)]
        done = subprocess.run(command, cwd=tmp_path, env=recorded(kept | {"PYTHONPATH": f"{ROOT}:{tmp_path}"}),
                              capture_output=True, text=True, timeout=120)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def imports(tmp_path: Path) -> int:
    return len((tmp_path / "imported").read_text())


def test_what_is_imported_here_is_not_imported_again(prints, tmp_path):
    assert prints("lesson.begin(copied=True); lesson.start(); print(forked.usable())") == "True"
    assert imports(tmp_path) == 1
    prints("lesson.begin(); lesson.start()")
    assert imports(tmp_path) == 1 + 2


@pytest.mark.parametrize("copies", COPIES)
def test_it_sees_what_a_new_process_sees(prints, copies):
    says = "print(lesson.functions['facts']())"
    copied = prints(f"{copies}; {says}")
    assert copied == prints(f"lesson.begin(); lesson.start(); {says}")
    assert copied.startswith("['1', None, '1', True, False, ")


@pytest.mark.parametrize("copies", COPIES)
def test_it_tells_what_it_prints_and_a_crash_by_its_signal(prints, copies):
    code = f"""
{copies}
print(lesson.functions["said"]() != os.getpid())
try:
    lesson.functions["crash"]()
except Died as died:
    print(died.reason)"""
    assert prints(code).splitlines() == ["from the lesson", "True", "segmentation fault (signal 11)"]


@pytest.mark.parametrize("copies", COPIES)
def test_close_ends_it(prints, copies):
    code = f"""
{copies}
process = lesson.functions["said"]()
lesson.close()
print(os.path.exists(f"/proc/{{process}}"))"""
    assert prints(code).endswith("False")


def test_each_mode_without_a_gpu_has_a_stem_of_its_own_that_ends_with_whoever_keeps_it(prints, tmp_path):
    (tmp_path / "lesson.py").write_text(LESSON.replace("import heavy", "import os; stem = os.getppid()"))
    code = """
stem.keep()
modes = ["compile", "interpret", "compile", "interpret", "gpu"]
lessons = [Lesson(f"lesson{number}", Path("lesson.py"), mode) for number, mode in enumerate(modes)]
for each in lessons:
    each.start()
print(*(each.constants["stem"] for each in lessons), os.getpid())"""
    one, other, again_one, again_other, new, keeper = prints(code).split()
    assert (one, other, new) == (again_one, again_other, keeper)
    assert len({one, other, keeper}) == 3
    ends = time.monotonic() + 10
    while os.path.exists(f"/proc/{one}"):
        assert time.monotonic() < ends


@pytest.mark.parametrize("why", [
    "threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "sys.modules['triton'] = None",
    "from tools import gpu; gpu.installed_card = lambda: object()",
])  # fmt: skip
def test_where_a_copy_would_not_do_it_is_a_new_process(prints, tmp_path, why):
    assert prints(f"{why}\nlesson.begin(copied=True); lesson.start(); print(forked.usable())") == "False"
    assert imports(tmp_path) == 2
