"""Where a command prints to may be full, closed or gone: one line says so, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import ROOT
from tools.cli import say
from tools.cli.__main__ import main

FULL = Path("/dev/full")
COMMANDS = ["--help", "status", "quiz --help"]


def run(command: str, **streams) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tools.cli", *command.split()],
        cwd=ROOT,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        **streams,
    )


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, which Linux has; nothing to do")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_below_the_output_is_one_line(command):
    with FULL.open("w") as full:
        ended = run(command, stdout=full, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (2, "The output cannot be written (No space left on device).\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_who_has_gone_is_told_nothing(command):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as gone:
        ended = run(command, stdout=gone, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that can close a stream; nothing to do")
def test_closed_streams_are_no_crash():
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    for closed, code, said in (
        (">&-", 2, "Standard output is closed, so there is nowhere to print to.\n"),
        ("2>&-", 2, ""),
        (">&- 2>&-", 2, ""),
    ):
        ended = subprocess.run(
            ["sh", "-c", f'"{sys.executable}" -m tools.cli hint week1/day99 {closed}'],
            cwd=ROOT,
            text=True,
            timeout=120,
            **both,
        )
        assert (ended.returncode, ended.stdout) == (code, said)


def test_an_error_of_the_system_that_has_nothing_to_do_with_the_output_is_raised(tmp_path, monkeypatch):
    def broken(root):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("tools.cli.status.show", broken)
    with pytest.raises(OSError, match="Input/output error"):
        main(["status"], tmp_path)


@pytest.mark.parametrize("columns, widest", [("40", 40), ("200", 80), ("0", 80), ("3", 20)])
def test_what_is_said_fits_the_terminal_and_80_columns(columns, widest, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", columns)
    say("some words " * 30, lead="  ")
    lines = capsys.readouterr().out.splitlines()
    assert widest - 10 <= max(map(len, lines)) <= widest
