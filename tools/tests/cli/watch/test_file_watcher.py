"""Every way to save a unit's files is noticed once, with watchfiles and without."""

import os
import sys
import threading
import time
import types

import pytest

from tools.cli.watch import file_watcher
from tools.cli.watch.file_watcher import Saves
from tools.tests.course.miniature import make

PATIENCE = 60.0  # seconds
QUIET = 0.4  # a loaded machine may stop a test for a while between two writes of one save
LONG_ENOUGH = 1.2  # for a second call to come, if there were one; longer than two looks and QUIET


class Count:
    """How often it was called; wait until that is so many times."""

    def __init__(self):
        self.calls, self._changed = 0, threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self.calls += 1
            self._changed.notify_all()

    def reaches(self, calls: int) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.calls >= calls, PATIENCE)


@pytest.fixture(params=["watchfiles", "polling"])
def watched(request, tmp_path, monkeypatch):
    """A unit, and the count of its saves."""
    monkeypatch.setattr(file_watcher, "QUIET", QUIET)
    if request.param == "polling":
        monkeypatch.setitem(sys.modules, "watchfiles", None)
    else:
        pytest.importorskip("watchfiles", reason="needs watchfiles; found none; pip install watchfiles")
    unit, count = make(tmp_path), Count()
    watching = Saves(unit, count)
    yield unit, count
    watching.stop()


def rewrite(unit):
    unit.lesson.write_text("x = 1\n")


def rename_over(unit):
    new = unit.folder / ".small.py.swp"
    new.write_text("x = 1\n")
    os.replace(new, unit.lesson)


def move_away_and_write_anew(unit):
    os.replace(unit.lesson, unit.folder / "small.py~")
    time.sleep(0.02)
    unit.lesson.write_text("x = 1\n")


def several_files(unit):
    for file in (unit.lesson, unit.tests, unit.folder / "day.toml"):
        file.write_text(file.read_text() + "\n")


def same_text_again(unit):
    unit.lesson.write_text(unit.lesson.read_text())


WAYS = [rewrite, rename_over, move_away_and_write_anew, several_files, same_text_again]


def test_each_way_to_save_is_noticed_once(watched):
    unit, count = watched
    for calls, save in enumerate(WAYS, start=1):
        save(unit)
        assert count.reaches(calls), save.__name__
    time.sleep(LONG_ENOUGH)
    assert count.calls == len(WAYS)


def test_a_file_that_is_written_in_pieces_is_one_save(watched, monkeypatch):
    monkeypatch.setattr(file_watcher, "QUIET", 0.8)
    monkeypatch.setattr(file_watcher, "PATIENCE", PATIENCE)
    unit, count = watched
    with open(unit.lesson, "w") as file:
        for _ in range(12):
            print("x = 1", file=file, flush=True)
            time.sleep(0.05)
    assert count.reaches(1)
    time.sleep(LONG_ENOUGH)
    assert count.calls == 1


def test_a_lesson_that_goes_and_one_that_comes_back_are_noticed(watched):
    unit, count = watched
    unit.lesson.unlink()
    assert count.reaches(1)
    unit.lesson.write_text("x = 1\n")
    assert count.reaches(2)


def test_other_files_in_the_folder_are_nobodys_save(watched):
    unit, count = watched
    (unit.folder / "4913").write_text("")  # vim asks so whether it may write
    (unit.folder / "__pycache__").mkdir()
    (unit.folder / "__pycache__/small.pyc").write_text("")
    time.sleep(LONG_ENOUGH)
    assert count.calls == 0


def test_a_folder_that_goes_and_comes_back_is_watched_again(watched):
    unit, count = watched
    away = unit.folder.with_name("away")
    os.rename(unit.folder, away)
    assert count.reaches(1)
    os.rename(away, unit.folder)
    assert count.reaches(2)
    rewrite(unit)
    assert count.reaches(3)


def test_a_file_system_that_reports_nothing_is_looked_at_all_the_same(tmp_path, monkeypatch):
    def watch(*folders, stop_event, rust_timeout, yield_on_timeout=False, **others):
        while not stop_event.wait(rust_timeout / 1000):
            if yield_on_timeout:
                yield set()

    monkeypatch.setitem(sys.modules, "watchfiles", types.SimpleNamespace(watch=watch))
    unit, count = make(tmp_path), Count()
    watching = Saves(unit, count)
    rewrite(unit)
    assert count.reaches(1)
    watching.stop()


def test_after_stop_nothing_is_called(tmp_path):
    unit, count = make(tmp_path), Count()
    Saves(unit, count).stop()
    rewrite(unit)
    time.sleep(LONG_ENOUGH)
    assert count.calls == 0
