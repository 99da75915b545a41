"""A program that hangs, crashes or is not there costs a limited time and one answer, never more."""

import os
import sys
import threading
import time

import pytest

from tools.doctor import isolated, subprocesses
from tools.doctor.self_tests import RIGHT, SELF_TESTS
from tools.doctor.self_tests import ask as self_test
from tools.doctor.subprocesses import ask

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell for the stand-ins; this is Windows")


def shell(script):
    return ["sh", "-c", script]


def test_both_outputs_and_the_exit_status_come_back(tmp_path):
    reply = ask(
        shell("echo one; echo two >&2; pwd; echo $WORD; exit 3"), 5, folder=tmp_path, environment={"WORD": "three"}
    )
    assert (reply.code, reply.text.split()) == (3, ["one", "two", str(tmp_path), "three"])


def test_a_program_that_is_not_there_answers_that(tmp_path):
    reply = ask([str(tmp_path / "absent")], 5)
    assert (reply.code, reply.text) == (127, "No such file or directory")


def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    alive = tmp_path / "alive"
    began = time.monotonic()
    reply = ask(shell(f"echo first; (sleep 1; touch {alive}) & sleep 60"), 0.3)
    assert (reply.code, reply.text) == (None, "first\n")
    assert time.monotonic() - began < 5
    time.sleep(1.2)
    assert not alive.exists()


def test_a_grandchild_that_holds_the_output_is_not_waited_for():
    began = time.monotonic()
    assert ask(shell("sleep 30 & echo done"), 20).text == "done\n"
    assert time.monotonic() - began < 10


def test_stopping_ends_what_runs_and_asks_no_more():
    replies = []
    asked = threading.Thread(target=lambda: replies.append(ask(shell("echo here; sleep 60"), 50)))
    began = time.monotonic()
    asked.start()
    time.sleep(0.3)
    try:
        subprocesses.stop()
        asked.join(10)
        assert ask(shell("echo more"), 5) == subprocesses.Reply(None, "")
    finally:
        subprocesses.begin()
    assert time.monotonic() - began < 10
    assert [reply.text for reply in replies] == ["here\n"]
    assert ask(shell("echo again"), 5).text == "again\n"


def stand_in(tmp_path, monkeypatch, **behaviour):
    """In place of Python: for each self-test in turn, what a shell does."""
    cases = "\n".join(f"{name}) {script};;" for name, script in behaviour.items())
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nshift 2\nfor name; do case $name in\n{cases}\nesac; done\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


@pytest.mark.parametrize(
    "does, said",
    [
        ("kill -SEGV $$", "nothing, its process was ended by signal 11"),
        ("exit 4", "nothing, exit status 4"),
        ("sleep 60", "nothing for 1 s"),
    ],
)
def test_a_self_test_that_ends_its_process_is_blamed_and_the_others_answer(tmp_path, monkeypatch, does, said):
    stand_in(tmp_path, monkeypatch, first=r"printf 'first\t1 2\n'", second=does, third=r"printf 'third\t3 4\n'")
    found = isolated.answers(["first", "second", "third"], {}, seconds=1)
    assert found == {"first": "1 2", "second": said, "third": "3 4"}


def test_every_simulator_adds_right_in_a_process_of_its_own():
    names = ["numpy", "cuda simulator", "cupy stand-in"]
    assert isolated.answers(names, {"COURSE_SIM": "1"}) == dict.fromkeys(names, RIGHT)


def test_cuda_cpp_adds_right_where_there_is_a_compiler():
    from tools.sim.cupy.raw import NoCompiler, toolchain

    try:
        toolchain.compiler()
    except NoCompiler as missing:
        pytest.skip(f"needs g++ or clang++; found none; {str(missing).splitlines()[1].strip()}")
    assert self_test("raw kernel") == RIGHT


def test_a_wrong_sum_and_an_error_are_answers_too(monkeypatch):
    monkeypatch.setitem(SELF_TESTS, "returns zeros", lambda: [0] * 8)
    monkeypatch.setitem(SELF_TESTS, "cannot be imported", lambda: __import__("no_such_library"))
    assert self_test("returns zeros") == "0 0 0 0 0 0 0 0"
    assert self_test("cannot be imported") == "ModuleNotFoundError: No module named 'no_such_library'"
