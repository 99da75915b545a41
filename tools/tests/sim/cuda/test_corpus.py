"""Correct kernels run through with every check on; with one safeguard less, none does unnoticed."""

from pathlib import Path

import numpy as np
import pytest

from tools.sim.cuda.faults import Fault
from tools.sim.cuda.host.errors import CUDAError
from tools.tests.sim.cuda.corpus.correct import CASES
from tools.tests.sim.cuda.corpus.excused import EXCUSED
from tools.tests.sim.cuda.corpus.faulty import FAULTY, Faulty, past_the_end
from tools.tests.sim.cuda.corpus.inject import Mutant, inject

pytestmark = pytest.mark.filterwarnings("ignore::tools.sim.cuda.host.errors.NumbaPerformanceWarning")
FILES = sorted({Path(case.make.__code__.co_filename) for case in CASES})
MUTANTS = [mutant for file in FILES for mutant in inject(file)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_correct_kernel_is_right_and_raises_no_alarm(case):
    assert case.run() == ""


def test_the_correct_kernels_are_at_least_forty_different_ones():
    assert len({case.name for case in CASES}) == len(CASES) >= 40


def test_barriers_masks_and_guards_are_all_taken_away_in_turn():
    kinds = [mutant.kind for mutant in MUTANTS]
    texts = [file.read_text(encoding="utf-8") for file in FILES]
    barriers = sum(text.count("cuda.syncthreads()") + text.count("cuda.syncwarp()") for text in texts)
    assert kinds.count("barrier") == barriers
    assert kinds.count("mask") == sum(text.count("_sync(") for text in texts)
    assert kinds.count("guard") > 80


def outcome(mutant: Mutant, folder: Path) -> str:
    """The kind of fault, "wrong result", or "" if nobody notices. Every case runs that the change can reach."""
    module = mutant.load(folder)
    reached = [
        case
        for case in module.CASES
        if case.name == mutant.function or mutant.function in case.kernel.py_func.__code__.co_names
    ]
    assert reached, f"no case runs {mutant.function}"
    for case in reached:
        try:
            if case.run():
                return "wrong result"
        except Fault as fault:
            return fault.kind
    return ""


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_kernel_without_one_of_its_safeguards_is_found_out(mutant, tmp_path):
    found = outcome(mutant, tmp_path)
    reason = EXCUSED.get((mutant.function, mutant.kind, mutant.removed))
    if reason:
        assert not found, f"it is excused, but found out: {found}. The excuse was: {reason}"
    elif mutant.kind == "guard":
        assert found, "it runs through, and the result is right"
    else:
        assert found not in ("", "wrong result"), f"no fault is raised{' though the result is wrong' if found else ''}"


def test_every_excuse_is_for_a_mutant_that_exists():
    assert set(EXCUSED) <= {(mutant.function, mutant.kind, mutant.removed) for mutant in MUTANTS}


# Faults by name ----------------------------------------------------------------------------------


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda faulty: f"{faulty.name}: {faulty.kind}")
def test_a_fault_says_what_happened_where_and_to_whom(faulty: Faulty):
    with pytest.raises(Fault) as caught:
        faulty.run()
    fault = caught.value
    assert fault.kind == faulty.kind, fault.text
    assert (fault.file, fault.function) == ("tools/tests/sim/cuda/corpus/faulty.py", faulty.name)
    assert faulty.at in fault.source
    assert [word for word in faulty.words if word not in fault.text] == [], fault.text
    assert {name: getattr(fault, name) for name in faulty.where} == faulty.where


def test_too_many_threads_are_refused_as_by_the_driver():
    with pytest.raises(CUDAError, match="1,025 threads.*1,024"):
        past_the_end[1, 1025](np.zeros(2000, np.float32))


def test_the_text_of_a_fault_fits_a_terminal():
    for faulty in FAULTY:
        with pytest.raises(Fault) as caught:
            faulty.run()
        lines = caught.value.text.splitlines()
        assert len(lines) <= 6 and max(map(len, lines)) <= 80, caught.value.text


# The injection itself ----------------------------------------------------------------------------

KERNEL = """
from tools.sim import cuda


@cuda.jit
def kernel(x, m):
    t = cuda.threadIdx.x
    if t < 8 and t < x.size:
        x[t] = 1 if t > 3 else x[0]
        cuda.syncthreads()
    if t > 8 or t == 4:
        return
    cuda.syncwarp(m)
    y = cuda.shfl_sync(0xFFFFFFFF,
                       t, 0)


def no_kernel(x):
    cuda.syncthreads()
"""


def test_one_thing_is_changed_and_the_lines_stay_where_they_are(tmp_path):
    file = tmp_path / "one.py"
    file.write_text(KERNEL, encoding="utf-8")
    before, changes = KERNEL.splitlines(), {}
    for mutant in inject(file):
        after = mutant.text.splitlines()
        different = [line for line, (old, new) in enumerate(zip(before, after, strict=True), start=1) if old != new]
        assert different == [mutant.line]
        changes.setdefault(mutant.kind, []).append(after[mutant.line - 1].strip())
    assert sorted(changes["barrier"]) == ["pass", "pass"]
    assert sorted(changes["mask"]) == ["cuda.syncwarp(0xFFFFFFFF)", "y = cuda.shfl_sync(0x1,"]
    assert sorted(changes["guard"]) == [
        "if False or t == 4:",
        "if True and t < x.size:",
        "if t < 8 and True:",
        "if t > 8 or False:",
        "x[t] = 1 if False else x[0]",
    ]
