"""A run tells its text, its failures and its focus, and ends when it is told to, with all that it started."""

import os
import queue
import time
from pathlib import Path

import pytest

from tools.cli.watch.prestart import Ahead
from tools.cli.watch.runs import Run
from tools.selfcheck.recording import recorded
from tools.tests.course.miniature import make

PATIENCE = 30.0  # seconds
PYTEST = """# Stands in for pytest.
import pathlib, subprocess, sys, time
xml = sys.argv[2].partition("=")[2]
{}
"""
XML = """pathlib.Path(xml).write_text('''<testsuites><testsuite><testcase name="test_one"/>
<testcase name="test_two"><failure message="m">Task 2 is
yours</failure></testcase><testcase name="small.py"><error message="m">broken</error></testcase>
<testcase name="test_three"><skipped message="m">why</skipped></testcase></testsuite></testsuites>''')"""


@pytest.fixture
def start(tmp_path):
    """start(code) -> a run of a pytest that does that, and the queue that its outcome comes in."""
    unit, runs, ahead = make(tmp_path), [], Ahead()

    def start(code: str, **more):
        (tmp_path / "pytest.py").write_text(PYTEST.format(code))
        outcomes = queue.Queue()
        runs.append(Run(unit, lambda run, outcome: outcomes.put((run, outcome)), ahead, **more))
        return runs[-1], outcomes

    start.ahead, start.unit = ahead, unit
    yield start
    ahead.stop()
    for run in runs:
        run.stop()


def outcome(outcomes):
    return outcomes.get(timeout=PATIENCE)[1]


def test_the_exit_code_and_both_streams_are_told(start):
    run, outcomes = start("print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)")
    told_by, ended = outcomes.get(timeout=PATIENCE)
    assert told_by is run
    assert (ended.code, ended.text, ended.failures) == (3, "out\nerr\n", ())
    assert 0 < ended.seconds < PATIENCE


def test_every_failure_is_told_in_full(start):
    _, outcomes = start(XML)
    assert outcome(outcomes).failures == (("test_two", "Task 2 is\nyours"), ("small.py", "broken"))


def test_a_report_cut_short_has_no_failures(start):
    _, outcomes = start("pathlib.Path(xml).write_text('<testsuites><testcase')")
    assert outcome(outcomes).failures == ()


@pytest.mark.parametrize(("line", "focus"), [
    ("Stuck? The next hint for task 12: pytest week1/day1 --hint", 12),
    (r"\x1b[31mStuck? The next \x1b[0mhint for task 3: pytest week1/day1 --hint", 3),
    ("Green. Next: ./course quiz week1/day1", None),
])  # fmt: skip
def test_the_task_in_focus_is_the_one_whose_hint_is_offered(start, line, focus):
    _, outcomes = start(f"print('{line}')")
    assert outcome(outcomes).focus == focus


def test_the_test_in_focus_is_the_one_that_is_shown_if_the_report_has_it(start):
    _, outcomes = start(XML + "\nprint('3 tests\\n\\nFAILED test_two\\n  in line 3')")
    assert outcome(outcomes).failed == "test_two"
    _, outcomes = start(XML + "\nprint('FAILED test_four')")
    assert outcome(outcomes).failed is None


def test_pytest_gets_the_one_test_that_is_to_run(start):
    _, outcomes = start("print(sys.argv[1])", test="test_two[a b]")
    assert outcome(outcomes).text == f"week1/day1/{start.unit.tests.name}::test_two[a b]\n"


def test_pytest_gets_the_unit_the_width_and_whether_to_colour(start):
    says = "import os; print(sys.argv[1], os.environ['COLUMNS'], sys.argv[3:4])"
    assert outcome(start(says, columns=60, colour=True)[1]).text == "week1/day1 60 ['--color=yes']\n"
    assert outcome(start(says)[1]).text == "week1/day1 80 ['--color=no']\n"


@pytest.mark.parametrize(("more", "last"), [
    ({}, "--exitfirst"), ({"follows": True}, "--color=no"), ({"test": "test_two"}, "--color=no"),
])  # fmt: skip
def test_all_tests_run_up_to_the_first_that_fails_unless_one_has_failed(start, more, last):
    assert outcome(start("print(sys.argv[-1])", **more)[1]).text == f"{last}\n"


@pytest.mark.parametrize(("code", "line", "early"), [
    (1, "!!!! stopping after 1 failures !!!!", True),
    (1, r"\x1b[31m!!!! stopping after 1 failures !!!!\x1b[0m", True),
    (1, "1 failed", False),
    (2, "!!!! stopping after 1 failures !!!!", False),  # the lesson cannot be imported: no other test can run
])  # fmt: skip
def test_it_is_known_whether_a_run_stopped_before_other_tests(start, code, line, early):
    assert outcome(start(f"print('{line}'); sys.exit({code})")[1]).early is early


def test_each_run_is_a_copy_of_a_process_that_has_imported_pytorch_before(start, tmp_path):
    (tmp_path / "torch.py").write_text("import os, pathlib; open('imported', 'a').write(f'{os.getpid()}\\n')")
    start.unit.lesson.write_text("import torch\n")
    start.ahead.prepare(start.unit)
    warm = until_written(tmp_path / "imported")
    says = "import os, torch; print(os.getppid()); pathlib.Path('run').write_text(str(os.getpid()))"
    runs = set()
    for _ in range(2):
        assert outcome(start(says)[1]).text == warm
        runs.add(until_written(tmp_path / "run"))
    assert len(runs) == 2 and (tmp_path / "imported").read_text() == warm


def test_what_a_run_spoils_and_how_it_ends_is_nothing_to_the_next(start, tmp_path):
    (tmp_path / "torch.py").write_text("right = True")
    start.unit.lesson.write_text("import torch\n")
    spoils = "import os, random, torch; torch.right = False; os.environ['HOME'] = ''; print(random.random())"
    first = outcome(start(f"{spoils}; sys.stdout.flush(); os.kill(os.getpid(), 9)")[1])
    assert first.code == -9
    says = "import os, random, torch; print(torch.right, os.environ['HOME'] != ''); print(random.random())"
    right, number = outcome(start(says)[1]).text.splitlines()
    assert right == "True True" and number != first.text.strip()


def test_another_unit_needs_another_process_and_one_that_was_lost_is_replaced(start, tmp_path):
    plain = start.ahead.prepare(start.unit)
    assert start.ahead.prepare(start.unit) is plain
    start.unit.lesson.write_text("import torch\n")
    with_torch = start.ahead.prepare(start.unit)
    assert with_torch is not plain and not plain.lives
    with_torch.end()
    assert outcome(start("print('ran')")[1]).text == "ran\n"


def test_a_run_sees_the_course_as_pytest_does_and_reads_nothing(start, tmp_path):
    says = "import tools, json; print(sys.path[0], sys.argv[1], sys.stdin.read() == '', json.__name__)"
    (tmp_path / "tools.py").write_text("")
    assert outcome(start(says)[1]).text == f"{tmp_path} week1/day1 True json\n"


def test_the_process_ends_with_whoever_made_it(start):
    warm = start.ahead.prepare(start.unit)
    warm._orders.close()
    assert warm._process.wait(PATIENCE) == 0


def test_without_a_fork_each_run_is_a_process_of_its_own(start, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import os; del os.fork")
    monkeypatch.setenv("PYTHONPATH", recorded({"PYTHONPATH": str(tmp_path)})["PYTHONPATH"])
    says = "import os; print(os.getpid()); sys.exit(3)"
    first, second = outcome(start(says)[1]), outcome(start(says)[1])
    assert first.code == second.code == 3 and first.text != second.text


def test_a_run_can_be_stopped_before_the_imports_are_done(start, tmp_path):
    (tmp_path / "torch.py").write_text("import time; open('imports', 'w').write('x'); time.sleep(60)")
    start.unit.lesson.write_text("import torch\n")
    run, outcomes = start("print('ran')")
    until_written(tmp_path / "imports")
    began = time.monotonic()
    run.stop()
    assert time.monotonic() - began < PATIENCE and outcomes.empty()
    start.unit.lesson.write_text("")
    assert outcome(start("print('ran')")[1]).text == "ran\n"


DEAF = """import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
pathlib.Path('pids').write_text(f'{__import__("os").getpid()} {child.pid}')
time.sleep(60)"""


def test_stop_ends_even_a_run_that_is_deaf_and_what_it_started_and_tells_nothing(start, tmp_path):
    run, outcomes = start(DEAF)
    pids, end = until_written(tmp_path / "pids"), time.monotonic() + PATIENCE
    run.stop()
    for pid in map(int, pids.split()):
        while is_alive(pid):  # a child of nobody is collected by the system, a little later
            assert time.monotonic() < end
            time.sleep(0.02)
    assert outcomes.empty()
    run.stop()  # harmless


def until_written(file: Path) -> str:
    end = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return file.read_text()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
