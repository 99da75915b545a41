"""Whatever a lesson does to its process, the caller is told and lives on."""

import inspect
import os
import signal
import struct
import subprocess
import sys
import time

import pytest

from tools import ROOT, wire, worker
from tools.worker import Died, LessonError, TooSlow, process


@pytest.fixture
def alive(hostile):
    """After the test, the lesson must answer again."""
    with worker.deadline(60):
        yield
        assert hostile.fine() == "fine"


def died(function, *args):
    with pytest.raises(Died) as caught:
        function(*args)
    return caught.value


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize(
    "name, type_name, message",
    [("leave", "SystemExit", "bye"), ("interrupt", "KeyboardInterrupt", ""), ("sly", "Sly", "")],
)
def test_whatever_is_raised_is_an_error_and_no_end(hostile, name, type_name, message):
    starts = hostile.fine.lesson.starts
    error = worker.call(getattr(hostile, name)).error
    assert (error.type_name, error.message) == (type_name, message)
    assert error.frames[0].function == name and hostile.fine.lesson.starts == starts


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize(
    "name, reason",
    [
        ("vanish", "the lesson ended its own process (exit status 3)"),
        ("segfault", "segmentation fault (signal 11)"),
        ("abort", "aborted (signal 6)"),
        ("fork_and_die", "killed (signal 9)"),
        ("close_everything", "the lesson ended its own process (exit status 1)"),
        ("write_everywhere", "something else than an answer came out of the lesson's process"),
        ("answer_twice", "something else than an answer came out of the lesson's process"),
    ],
)
def test_a_lesson_that_dies_says_of_what(hostile, name, reason):
    assert died(getattr(hostile, name)).reason == reason


@pytest.mark.usefixtures("alive")
def test_a_crash_tells_where_and_what_was_printed_last(hostile):
    crash = died(hostile.segfault)
    assert crash.printed == "about to"
    assert crash.frames[-1].source == "ctypes.string_at(0)" and crash.frames[-1].function == "segfault"
    assert str(crash) == "segmentation fault (signal 11)\nLast printed:\nabout to"


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize(
    "name, source",
    [("loop", "pass"), ("sleep_in_c", "ctypes.CDLL(None).sleep(60)"), ("deaf", ""), ("print_for_ever", "")],
)
def test_a_lesson_that_does_not_end_is_ended(hostile, name, source, monkeypatch):
    if source:  # it will say where it is, however busy this machine may be
        monkeypatch.setattr(process, "_LAST_WORDS", 20)
        monkeypatch.setattr(process, "_LOOK_AGAIN", 0.5)
    hostile.fine()
    start = time.monotonic()
    with pytest.raises(TooSlow, match=r"no answer within 0\.2 s") as caught, worker.deadline(0.2):
        getattr(hostile, name)()
    assert 0.2 <= time.monotonic() - start < 30
    assert not source or caught.value.frames[-1].source in (source, "while True:")


def test_the_innermost_deadline_counts(hostile):
    hostile.fine()
    with worker.deadline(30), worker.deadline(0.1), worker.deadline(20), pytest.raises(TooSlow, match=r"within 0\.1 s"):
        hostile.loop()


@pytest.mark.usefixtures("alive")
def test_a_megabyte_of_print_is_cut_to_its_end(hostile):
    outcome = worker.call(hostile.print_a_megabyte)
    assert outcome.value == 1 and outcome.printed == "e" * 2000


@pytest.mark.usefixtures("alive")
def test_print_from_c_is_seen_too(hostile, monkeypatch):
    hostile.fine.lesson.close()
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # with it C would not buffer either
    assert worker.call(hostile.print_from_c).printed == "python\nfrom C\n"


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize(
    "name, value",
    [("fork", False), ("fork_and_leave", "parent"), ("close_output", None), ("let_a_child_write_everywhere", 0)],
)
def test_forks_and_closed_output_do_not_disturb_the_answers(hostile, name, value):
    starts = hostile.fine.lesson.starts
    assert getattr(hostile, name)() == value
    assert [hostile.fine() for _ in range(3)] == ["fine"] * 3 and hostile.fine.lesson.starts == starts


def test_waiting_for_a_lesson_that_closed_its_output_costs_no_time(hostile):
    hostile.fine.lesson.close()
    hostile.close_output()
    start = time.process_time()
    hostile.wait(0.5)
    assert time.process_time() - start < 0.25
    hostile.fine.lesson.close()


def test_children_of_a_lesson_end_with_it(hostile):
    child = hostile.child()
    os.kill(child, 0)
    hostile.fine.lesson.close()
    assert has_ended(child)


ORPHAN = """
from tools import worker
lesson = worker.proxy("week9.day1.hostile", {file!r})
print(lesson.own_number(), flush=True)
lesson.loop()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_an_endless_loop_does_not_outlive_the_tests(hostile):
    tests = subprocess.Popen(
        [sys.executable, "-c", ORPHAN.format(file=hostile.__file__)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with tests:
        orphan = int(tests.stdout.readline())
        time.sleep(0.2)  # idle, it would end of itself; it must be in its loop
        assert is_running(orphan)
        tests.kill()
    assert has_ended(orphan)


def has_ended(process):
    for _ in range(1000):
        if not is_running(process):
            return True
        time.sleep(0.02)
    return False


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.usefixtures("alive")
def test_a_lesson_that_dies_between_calls_is_noticed_at_the_next(hostile):
    number = hostile.own_number()
    hostile.lie_in_wait()
    time.sleep(0.2)
    assert has_ended(number)  # on a busy machine it takes longer
    assert died(hostile.fine).reason == "the lesson ended its own process (exit status 0)"


def frame(header, lengths=(), magic=b"gpu1"):
    prelude = magic + b"NUMBER__" + struct.pack("<II", len(header), len(lengths))
    return prelude + struct.pack(f"<{len(lengths)}Q", *lengths) + header


NOTHING = b', {"regions": [], "changed": [], "arrays": []}]'


@pytest.mark.usefixtures("alive")
@pytest.mark.parametrize(
    "reply",
    [
        frame(b"[" * 100_000),
        frame(b"[1" + NOTHING),
        frame(b'[["tuple", "answer", 1]' + NOTHING),
        frame(b'[["tuple", "answer", 1, ["tuple", "E", "m", ["tuple", 1]], ["list"]]' + NOTHING),
        frame(b'[["tuple", "answer", ["function", "os"], null, ["list"]]' + NOTHING),
        frame(b'[["tuple", "answer", ["array", 0], null, ["list"]]' + NOTHING),
        frame(b"", [2**40]),
        frame(b"[1" + NOTHING, magic=b"gpu2"),
    ],
    ids=["nested", "number", "short", "frames", "function", "array", "length", "magic"],
)
def test_a_forged_reply_is_the_death_of_its_sender(hostile, reply):
    with pytest.raises(Died, match="something else than an answer"):
        hostile.forge(reply)


def test_a_forged_reply_of_the_right_shape_is_a_value_like_any_other(hostile):
    assert hostile.forge(frame(b'[["tuple", "answer", 42, null, ["list"]]' + NOTHING)) == 42
    hostile.fine.lesson.close()


@pytest.mark.usefixtures("alive")
def test_odd_objects_and_long_words_are_taken_calmly(hostile):
    assert hostile.odd().type_name == "Odd"
    assert len(worker.call(hostile.long_words).error.message) == 2000
    assert isinstance(inspect.signature(hostile.bad_signature).parameters["x"].default, wire.Handle)


@pytest.mark.parametrize(
    "source, message, line",
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero", 2),
        ("def f(:\n", "SyntaxError: invalid syntax", 1),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", 1),
        ("import sys\nsys.exit('done')\n", "SystemExit: done", 2),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt: ", 1),
    ],
    ids=["raises", "syntax", "import", "exit", "interrupt"],
)
def test_a_lesson_that_cannot_be_imported_says_why_and_where(write, source, message, line):
    file = write(source)
    with pytest.raises(LessonError) as caught:
        worker.proxy("week9.day1.broken", file)
    assert str(caught.value) == message
    (frame,) = caught.value.raised.frames
    assert (frame.file, frame.line, frame.source) == ("lesson.py", line, source.splitlines()[line - 1])


def test_a_lesson_may_die_or_hang_at_import_too(write):
    with pytest.raises(Died, match="exit status 1"):
        worker.proxy("week9.day1.broken", write("import os\nos._exit(1)\n", "dies.py"))
    with pytest.raises(TooSlow), worker.deadline(0.5):
        worker.proxy("week9.day1.broken", write("while True: pass\n", "hangs.py"))


def test_a_call_that_is_interrupted_does_not_leave_its_process_behind(hostile):
    def ring(*_):
        raise KeyboardInterrupt

    hostile.fine()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            hostile.loop()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not hostile.fine.lesson.running and hostile.fine() == "fine"


def test_a_local_call_lets_ctrl_c_and_the_loss_of_a_lesson_pass(hostile):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        worker.call(interrupted)
    with pytest.raises(Died):
        worker.call(lambda: hostile.vanish())
