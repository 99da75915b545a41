"""How `course` makes .venv: once, one terminal at a time; whatever goes wrong is said, and repaired."""

import os
import re
import shutil
import signal
import sys

import pytest

from tools.tests.course_script.checkout import ABSENT, WORKS, wait_until

WORKED = "asked .venv: -m pytest week1/day1"
THIS = "{}.{}".format(*sys.version_info)


def test_set_up_makes_venv_installs_and_hands_over_once(bare):
    first = bare.run("week1/day1")
    venv, upgrade, install = bare.asked()
    assert venv == f"venv {bare.root}/.venv"
    assert upgrade.endswith(" pip>=24.1")
    assert install.endswith(f"--editable {bare.root}[compilers] --constraint {bare.root}/constraints.txt")
    assert first.code == 0 and first.out == WORKED
    begins, _, size = first.err.splitlines()[:3]
    assert begins == f"Setting up .venv with Python {THIS}, once; if stopped, the next run starts again."
    assert re.search(r"GB to download.* GB on disk \(\d+ GB are free\)", size)

    again = bare.run("week1/day1")
    assert (again.code, again.out, again.err) == (0, WORKED, "")
    assert bare.steps() == ["venv", "pip", "pip"]


def test_progress_shows_large_packages_and_no_noise(bare):
    told = bare.run("week1/day1").err
    assert "\n  torch 2.13.0, 526.6 MB\n  unpacking 2 packages" in told
    assert "pluggy" not in told and "Progress" not in told


@pytest.mark.parametrize("driver, extra, told", [
    ("580.159.03", "cuda13", None),
    ("610.10", "cuda13", None),
    ("550.54.15", "compilers", "The NVIDIA driver 550.54.15 is too old for CUDA 13 (580 or newer): no CuPy for now."),
    ("NVIDIA-SMI has failed because it could not communicate with the driver.", "compilers", None),
])  # fmt: skip
def test_cupy_comes_where_the_driver_serves_it(bare, driver, extra, told):
    bare.stub("nvidia-smi", f'#!/bin/sh\necho "{driver}"\necho "{driver}"')  # two cards
    ran = bare.run("week1/day1")
    assert ran.code == 0
    assert f"--editable {bare.root}[{extra}] --constraint" in bare.asked()[-1]
    assert (told in ran.err.splitlines()) if told else "driver" not in ran.err


WITH_COMPILERS_FAILS = """case "$*" in *'[compilers]'*) exit 1;; esac"""


def test_compilers_without_a_build_are_left_out_in_a_line_and_stay_out(bare):
    bare.depend(ABSENT, compilers='"numba-cuda[cu13]>=0.20"')
    bare.pip(NO_VERSION, WITH_COMPILERS_FAILS)
    ran = bare.run("week1/day1")
    assert ran.out == WORKED
    assert ran.err.splitlines()[-1] == "Done without numba-cuda: pip cannot install it here."
    tries = [line.partition(f"--editable {bare.root}")[2].partition(" ")[0] for line in bare.asked()[2:]]
    assert tries == ["[compilers]", ""]
    assert bare.run("week1/day1").err == ""


def test_network_that_fails_is_no_missing_build(bare):
    bare.pip(NO_NETWORK, WITH_COMPILERS_FAILS)
    assert bare.run("week1/day1").told("pip cannot reach the package index.")
    assert bare.steps() == ["venv", "pip", "pip"]


def test_no_line_ends_in_mid_word_on_a_narrow_terminal(bare):
    bare.stub("nvidia-smi", '#!/bin/sh\necho "550.54.15"')
    bare.pip("")
    plain = bare.run("week1/day1").err
    shutil.rmtree(bare.root / ".venv")
    ours, theirs = os.openpty()
    process = bare.start("week1/day1", stderr=theirs, COLUMNS="40")
    process.wait(timeout=30)
    said = re.sub(r"\r +\r", "", os.read(ours, 10_000).decode())
    assert max(map(len, said.splitlines())) <= 40
    assert said.split() == plain.split()


# What can go wrong -------------------------------------------------------------------------------

NO_NETWORK = """\
WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection
broken by 'NameResolutionError("Failed to resolve 'pypi.org'")': /simple/numpy/
ERROR: Could not find a version that satisfies the requirement numpy>=2 (from versions: none)
ERROR: No matching distribution found for numpy>=2
"""
NO_ROOM = """\
Installing collected packages: sortedcontainers, numpy, hypothesis
ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device
"""
NO_VERSION = """\
ERROR: Could not find a version that satisfies the requirement torch<2.14,>=2.11 (from versions: none)
ERROR: No matching distribution found for torch<2.14,>=2.11
"""
FULL = "The disk is full. .venv takes up to 5.7 GB, and pip more while it unpacks."


@pytest.mark.parametrize("says, told", [
    (NO_NETWORK, "pip cannot reach the package index."),
    (NO_ROOM, FULL),
    (NO_NETWORK + NO_ROOM, FULL),
    (NO_VERSION, f"There is no build of torch<2.14,>=2.11 for Python {THIS} on this system."),
    ("ERROR: something new\n\n", "The set-up of .venv failed: ERROR: something new"),
    ("", "The set-up of .venv failed: it said nothing"),
], ids=["no network", "full disk", "slow network, full disk", "no build", "unknown", "silent"])  # fmt: skip
def test_failing_pip_is_explained_and_the_next_run_starts_anew(bare, says, told):
    bare.pip(says, "exit 1")
    assert bare.run("week1/day1").told(told)
    bare.forget()
    bare.pip(WORKS)
    assert bare.run("week1/day1").out == WORKED
    assert bare.steps() == ["venv", "pip", "pip"]


def test_missing_ensurepip_names_the_package_to_install(bare):
    bare.stub("sitecustomize.py", "import sys; sys.modules['ensurepip'] = None")
    ran = bare.run("week1/day1")
    assert ran.told("This Python cannot make a virtual environment: its module ensurepip is missing.")
    assert f"sudo apt install python{THIS}-venv" in ran.err


def test_disk_that_fills_up_while_venv_is_made_is_explained(bare):
    bare.stub("venv.py", "raise SystemExit('Error: [Errno 28] No space left on device')")
    assert bare.run("week1/day1").told(FULL)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom file permissions bind")
def test_folder_that_cannot_be_written_to_is_explained(bare):
    bare.root.chmod(0o555)
    assert bare.run("week1/day1").told(f"This folder cannot be written to: {bare.root}")


def test_other_errors_of_the_system_are_told_without_a_traceback(bare):
    bare.write(".course", "a file where a folder should be")
    assert bare.run("week1/day1").told(f"[Errno 17] File exists: '{bare.root}/.course'")


# Interrupted, and two at once --------------------------------------------------------------------

WAITING = "Another terminal is setting up .venv; waiting for it.\n"


def start_and_pause_in_pip(bare):
    """The script, whose pip waits until there is a file `go`."""
    bare.pip(WORKS, 'until test -e "$STUBS/go"; do sleep 0.02; done')
    process = bare.start("week1/day1")
    wait_until(lambda: bare.steps() == ["venv", "pip"])
    return process


def test_ctrl_c_stops_pip_and_the_next_run_starts_anew(bare):
    process = start_and_pause_in_pip(bare)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to pip as well
    told = process.communicate(timeout=40)[1]
    assert process.returncode == 130 and "Traceback" not in told
    assert told.splitlines()[-1] == "Stopped. If .venv was being set up, the next run starts that again."
    bare.forget()
    bare.pip(WORKS)
    assert bare.run("week1/day1").out == WORKED
    assert bare.steps() == ["venv", "pip", "pip"]


def test_second_terminal_waits_and_installs_nothing(bare):
    first = start_and_pause_in_pip(bare)
    second = bare.start("week1/day0")
    assert second.stderr.readline() == WAITING
    bare.stub("go", "")
    assert first.communicate(timeout=40)[0] == "asked .venv: -m pytest week1/day1\n"
    assert second.communicate(timeout=40)[0] == "asked .venv: -m pytest week1/day0\n"
    assert bare.steps() == ["venv", "pip", "pip"]


def test_pip_of_a_killed_script_holds_the_lock_until_it_ends(bare):
    first = start_and_pause_in_pip(bare)
    first.kill()
    first.communicate()
    second = bare.start("week1/day0")
    assert second.stderr.readline() == WAITING
    assert bare.steps() == ["venv", "pip"]
    bare.stub("go", "")
    assert second.communicate(timeout=40)[0] == "asked .venv: -m pytest week1/day0\n"
    assert bare.steps() == ["venv", "pip", "venv", "pip", "pip"]
